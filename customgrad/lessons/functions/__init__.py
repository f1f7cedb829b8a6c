"""Lessons of the Functions' pages."""
