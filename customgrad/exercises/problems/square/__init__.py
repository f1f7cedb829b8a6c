"""The exercise square."""
