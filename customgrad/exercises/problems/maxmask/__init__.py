"""The exercise maxmask."""
