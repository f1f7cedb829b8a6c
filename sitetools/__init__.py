"""What builds the site and keeps it true: page parsing, the collector, generated figures, the MkDocs hook."""
