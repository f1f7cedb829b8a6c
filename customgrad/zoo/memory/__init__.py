"""Functions that keep more memory alive than their backward needs, or keep it the wrong way."""
