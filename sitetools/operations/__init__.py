"""The catalogue's entries, one module a family; each has `OPERATIONS`, in the order of the table."""
