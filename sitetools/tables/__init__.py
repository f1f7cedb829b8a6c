"""Tables of the catalogue, made from probes and from the stored benchmarks; each `render()` gives name → Markdown."""
