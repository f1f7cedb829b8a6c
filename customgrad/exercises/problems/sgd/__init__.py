"""The exercise sgd."""
