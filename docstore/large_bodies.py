"""The size limit of stored response bodies."""

MAX_BODY_BYTES = 10_000_000  # default of the setting `crawl.max_bytes`


class LargeBodyError(ValueError):
    """The body exceeds the size limit."""
