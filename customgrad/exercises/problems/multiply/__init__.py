"""The exercise multiply."""
