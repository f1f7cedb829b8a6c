"""The lessons of the section "Custom backprop"."""
