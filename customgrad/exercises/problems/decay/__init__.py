"""The exercise decay."""
