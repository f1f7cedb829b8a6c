"""Functions that go wrong, or work in vain, when not every input needs a gradient."""
