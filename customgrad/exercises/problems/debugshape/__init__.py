"""The exercise debugshape."""
