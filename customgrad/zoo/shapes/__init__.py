"""Functions that fail for an empty batch, a batch of one, or a shape that broadcasts."""
