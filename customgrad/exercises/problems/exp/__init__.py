"""The exercise exp."""
