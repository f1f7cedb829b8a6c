"""The exercise cube."""
