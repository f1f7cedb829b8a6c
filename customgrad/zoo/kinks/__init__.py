"""Points where the derivative jumps: ties, corners and zeros."""
