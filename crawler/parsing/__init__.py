"""Parse a response: its links, redirects in markup and soft 404s."""
