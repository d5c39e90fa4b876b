"""What a site allows: robots.txt by RFC 9309, and the directives that pages and headers carry."""
