"""Settings of the section `[cluster]`: work shared by several machines."""

from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import urlsplit

from domain.errors import SettingsError
from domain.setting import Group, SettingEffect, setting

LOCAL, DASK = "local", "dask"


def is_http_url(text: str) -> bool:
    """True if a page can link to `text`: an http or https URL with a host."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and text.isprintable() and " " not in text


@dataclass(frozen=True)
class ClusterSettings:
    """Compute backend of the pipeline stages. With more than one machine the store must be PostgreSQL (store.url)."""

    GROUP: ClassVar[Group] = "machine"
    EFFECT: ClassVar = SettingEffect.RUN_AND_RESTART
    engine: str = setting(
        LOCAL,
        "compute backend: local (processes of this machine) or dask (the workers of a Dask cluster; needs "
        "the extra cluster and store.url)",
        names=(LOCAL, DASK),
    )
    scheduler: str = setting(
        "", "address of the Dask scheduler, such as tcp://scheduler.example.org:8786", is_file_only=True
    )
    dashboard: str = setting(
        "",
        "URL of the Dask dashboard behind a proxy, such as https://dask.example.org/status; /admin links "
        "to it; empty: the URL that the scheduler reports (the dashboard needs bokeh on the scheduler)",
    )
    crawlers: int = setting(
        0,
        "crawlers that run on the workers at the same time, each on its own hosts; 0: only this machine crawls",
        minimum=0,
    )
    block: int = setting(1000, "pages or articles in one task of a worker")
    heartbeat_seconds: float = setting(
        10.0,
        "interval of the heartbeat of each machine, in seconds; after three missed heartbeats other "
        "machines take over its work",
    )

    def __post_init__(self) -> None:
        if self.dashboard and not is_http_url(self.dashboard):
            raise SettingsError("{path}: expected an http or https URL", path="cluster.dashboard")
