"""The exercise rounding."""
