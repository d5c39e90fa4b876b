"""The settings of work that several machines share."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from docstore.errors import SettingsError

LOCAL, DASK = "local", "dask"


def is_http_url(text: str) -> bool:
    """May a page link there: http or https, and a host?"""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and text.isprintable() and " " not in text


@dataclass(frozen=True)
class ClusterSettings:
    """Who does the work. With more than one machine the store is PostgreSQL (store.url)."""

    engine: str = field(
        default=LOCAL,
        metadata={
            "help": "what computes: local, processes of this machine; dask, the workers of a Dask cluster (needs the "
            "extra cluster, and store.url)",
            "names": (LOCAL, DASK),
        },
    )
    scheduler: str = field(
        default="", metadata={"help": "address of the Dask scheduler, as tcp://scheduler.example.org:8786"}
    )
    dashboard: str = field(
        default="",
        metadata={
            "help": "where operators find Dask's own pages, as https://dask.example.org/status: what /admin links to, "
            "for a proxy before them; empty: as the scheduler says (it shows them if bokeh is installed there)"
        },
    )
    crawlers: int = field(
        default=0,
        metadata={
            "help": "crawlers at the same time on the workers, each asking other hosts; 0: this machine crawls alone",
        },
    )
    block: int = field(default=1000, metadata={"help": "pages or articles that a worker does in one piece of work"})
    heartbeat_seconds: float = field(
        default=10.0,
        metadata={
            "help": "seconds after which a machine says again that it is still at its work; after three without a word "
            "others take it over"
        },
    )

    def __post_init__(self) -> None:
        if self.dashboard and not is_http_url(self.dashboard):
            raise SettingsError(
                f"cluster.dashboard = {self.dashboard!r}: expected an http or https URL, as "
                "https://dask.example.org/status"
            )
