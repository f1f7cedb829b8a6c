"""The exercise debugview."""
