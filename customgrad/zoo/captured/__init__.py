"""Functions that use a tensor which is no argument, and which therefore gets no gradient."""
