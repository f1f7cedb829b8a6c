"""The exercise modern."""
