"""The exercise sincos."""
