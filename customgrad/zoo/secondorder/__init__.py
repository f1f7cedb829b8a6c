"""The second derivative: dropped, wrong, or made of what autograd does not know."""
