"""Parse a response: its links, redirects in markup, soft 404s and content fingerprints."""
