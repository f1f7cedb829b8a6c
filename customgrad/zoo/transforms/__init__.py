"""Functions that plain autograd runs well, and vmap, func.grad or forward mode do not."""
