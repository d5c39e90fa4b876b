"""The limit of what is kept of a response."""

MAX_BODY = 10_000_000  # bytes, as `crawl.max_bytes`


class LargeBodyError(ValueError):
    """The body is longer than the cap."""
