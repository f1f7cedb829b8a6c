"""The exercise debugcount."""
