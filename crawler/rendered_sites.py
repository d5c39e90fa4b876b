"""Whether sites can be rendered in a browser without being named in a table [[sites]]."""

from importlib.util import find_spec

RENDER_AUTOMATICALLY = "auto"  # value of `crawl.rendered`


def is_renderer_installed() -> bool:
    """Return True if the extra `render` is installed."""
    return find_spec("playwright") is not None


def can_render_automatically(rendered: str) -> bool:
    """Return True if `crawl.rendered` is "auto" and the extra `render` is installed."""
    return rendered == RENDER_AUTOMATICALLY and is_renderer_installed()
