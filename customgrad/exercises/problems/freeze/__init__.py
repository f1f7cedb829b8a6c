"""The exercise freeze."""
