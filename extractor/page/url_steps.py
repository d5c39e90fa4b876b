"""The steps of a URL's path, as many rules look at them."""

from urllib.parse import unquote, urlsplit


def steps_of(url: str) -> list[str]:
    """The steps of a URL's path in lower case; none of a broken one."""
    try:
        return [step for step in unquote(urlsplit(url).path).lower().split("/") if step]
    except ValueError:
        return []
