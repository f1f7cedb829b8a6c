"""The figures of the handbook: one module a figure, computed from real values."""
