"""The exercise crossentropy."""
