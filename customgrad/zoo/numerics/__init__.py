"""Numbers of every size: overflow, underflow, cancellation and low precision in backward."""
