"""Functions that read a tensor's memory without its strides, its offset or its conjugate bit."""
