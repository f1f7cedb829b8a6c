"""The exercise momentum."""
