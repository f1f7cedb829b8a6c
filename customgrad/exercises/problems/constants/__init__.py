"""The exercise constants."""
