"""The exercise leaky."""
