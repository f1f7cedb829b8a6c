"""Lessons of the pages on `customgrad check`."""
