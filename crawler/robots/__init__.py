"""Rules of a site for crawlers: robots.txt by RFC 9309, and robots directives of pages and headers."""
