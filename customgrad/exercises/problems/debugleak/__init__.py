"""The exercise debugleak."""
