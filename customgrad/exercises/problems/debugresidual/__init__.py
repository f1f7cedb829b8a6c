"""The exercise debugresidual."""
