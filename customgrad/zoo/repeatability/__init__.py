"""The same backward again: caches, buffers, saved tensors and random numbers."""
