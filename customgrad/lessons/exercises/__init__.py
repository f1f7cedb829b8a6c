"""The pages of the exercises: an example of each, and what the grader says of a wrong answer."""
