"""Functions of several outputs whose backward forgets one of them."""
