"""Functions that hold in float64, and fail in another dtype or under autocast."""
