"""Splits the path of a URL into segments."""

from urllib.parse import unquote, urlsplit


def path_segments(url: str) -> list[str]:
    """Return the segments of a URL's path, unquoted and in lower case; an empty list if the URL is malformed."""
    try:
        return [segment for segment in unquote(urlsplit(url).path).lower().split("/") if segment]
    except ValueError:
        return []
