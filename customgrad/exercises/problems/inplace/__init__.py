"""The exercise inplace."""
