"""The exercises, one folder each; `ladder.toml` has their order."""
