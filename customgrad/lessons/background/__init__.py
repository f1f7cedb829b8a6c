"""Lessons: one module a page of the handbook."""
