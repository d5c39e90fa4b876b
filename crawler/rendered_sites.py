"""Hosts that the crawl renders in a browser without being named in `crawl.rendered`.

With `crawl.rendered = "auto"`, a host whose pages need JavaScript is rendered in all later crawls. The hosts are
stored in `rendered.json` next to the store, because their pages no longer show the need once they are rendered.
"""

from collections.abc import Iterable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from crawler.settings import CrawlSettings
from crawler.state_files import read_state, write_state
from domain.page import Host

RENDER_AUTOMATICALLY = "auto"  # member of `crawl.rendered`, not a host
_RENDERED_HOSTS_FILE = "rendered.json"


def is_renderer_installed() -> bool:
    """Return True if the extra `render` is installed."""
    return find_spec("playwright") is not None


def can_render_automatically(settings: CrawlSettings) -> bool:
    """Return True if `crawl.rendered` contains "auto" and the extra `render` is installed."""
    return RENDER_AUTOMATICALLY in settings.rendered and is_renderer_installed()


def load_rendered_hosts(folder: Path) -> tuple[Host, ...]:
    """Return the hosts that `add_rendered_hosts` stored in `folder`, in the order of their addition."""
    return tuple(Host(host) for host in read_state(folder / _RENDERED_HOSTS_FILE).get("hosts", ()))


def add_rendered_hosts(folder: Path, hosts: Iterable[Host]) -> None:
    """Store more hosts in `folder`."""
    merged = dict.fromkeys((*load_rendered_hosts(folder), *hosts))
    write_state(folder / _RENDERED_HOSTS_FILE, {"hosts": list(merged)})


def with_rendered_hosts(settings: CrawlSettings, folder: Path) -> CrawlSettings:
    """Return the settings with the stored hosts instead of "auto" in `rendered`; without hosts if none can render."""
    if RENDER_AUTOMATICALLY not in settings.rendered:
        return settings
    named_sites = (text for text in settings.rendered if text != RENDER_AUTOMATICALLY)
    stored_hosts = load_rendered_hosts(folder) if can_render_automatically(settings) else ()
    return replace(settings, rendered=tuple(dict.fromkeys((*named_sites, *stored_hosts))))
