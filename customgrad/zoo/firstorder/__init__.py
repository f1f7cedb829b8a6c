"""The first derivative: formulas, scales, and how backward uses the cotangent."""
