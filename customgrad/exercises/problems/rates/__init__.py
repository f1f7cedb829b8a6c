"""The exercise rates."""
