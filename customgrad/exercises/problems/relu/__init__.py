"""The exercise relu."""
