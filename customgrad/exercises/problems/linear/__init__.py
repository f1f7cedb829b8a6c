"""The exercise linear."""
