"""The exercise silu."""
