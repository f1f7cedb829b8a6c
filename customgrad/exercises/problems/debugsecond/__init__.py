"""The exercise debugsecond."""
