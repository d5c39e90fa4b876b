"""Splits a URL into its parts, and its path into segments. No URL raises an exception."""

from urllib.parse import SplitResult, unquote, urlsplit

NO_PARTS = SplitResult("", "", "", "", "")


def split_url(url: str) -> SplitResult:
    """Return the parts of a URL; all are empty if the URL is malformed."""
    try:
        return urlsplit(url)
    except ValueError:
        return NO_PARTS


def path_segments(url: str) -> list[str]:
    """Return the segments of a URL's path, unquoted and in lower case; an empty list if the URL is malformed."""
    return [segment for segment in unquote(split_url(url).path).lower().split("/") if segment]
