"""The steps of a URL's path, as many rules look at them."""

from urllib.parse import unquote, urlsplit


def path_segments(url: str) -> list[str]:
    """The steps of a URL's path in lower case; none of a broken one."""
    try:
        return [segment for segment in unquote(urlsplit(url).path).lower().split("/") if segment]
    except ValueError:
        return []
