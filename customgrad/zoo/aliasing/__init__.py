"""Functions that change or share memory that is not theirs."""
