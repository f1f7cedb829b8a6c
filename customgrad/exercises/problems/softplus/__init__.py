"""The exercise softplus."""
