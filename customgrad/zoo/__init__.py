"""Small broken Functions, each a minimal form of a real failure, beside their repaired forms."""
