"""The exercise reversal."""
