"""The exercise debugnan."""
