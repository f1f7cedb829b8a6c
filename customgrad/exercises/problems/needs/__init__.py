"""The exercise needs."""
