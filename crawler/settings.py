"""The settings of the crawl stage and their bounds. Reads no files and no environment."""

from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

from crawler.schedule.queues import QUEUE_POLICIES
from crawler.site import Sites
from domain.errors import SettingsError
from domain.setting import Group, SettingEffect, setting

DEFAULT_QUEUES = 100
AUTO = "auto"
BREADTH_FIRST = "breadth_first"
NEW_ONLY = "new_only"
RENDER_AUTOMATICALLY = "auto"  # value of `crawl.rendered`
FOCUSED_STRATEGIES = ("fused", "semantic", "topic_library", "semantic_tree", "static_keywords", "vsm")
"""The names of `focused.strategy_registry`, repeated here to avoid its imports."""


@dataclass(frozen=True)
class CrawlSettings:
    """Extent, speed and frequency of a crawl. docs/background/papers.md lists the values of Wang Du 2019 (WD-E1).

    The low four bits of ELFHash are those of the last character: of 100 queues, URLs with the same ending (`...shtml`)
    reach only 25, with the fold hash all 100. With a prime number of queues both hashes are uniform.
    """

    GROUP: ClassVar[Group] = "speed"
    sites: Sites = field(default_factory=Sites)  # no setting: the tables [[sites]]
    folder: Path = field(default=Path())  # no setting: that of the settings file, with the secrets of logins
    data_dir: Path | None = None  # no setting: where the state of logins is saved; None: nowhere
    depth: int = setting(
        1000,
        "maximum number of links from a seed to a page; rarely reached, because near pages come first",
        minimum=0,
        group="what",
    )
    threads: int = setting(16, "number of pages fetched at the same time")
    minutes: float = setting(240.0, "maximum minutes of a run; `plumb status` estimates the number of runs needed")
    max_pages: int = setting(0, "maximum number of pages fetched in one run; 0: no limit", minimum=0)
    queue_policy: str = setting("hflp", "how URLs are assigned to queues: hflp, elf or host", names=QUEUE_POLICIES)
    queues: int = setting(DEFAULT_QUEUES, "number of queues (not used by host); with elf best a prime number")
    delay: float = setting(1.0, "minimum seconds between two requests to one host; see also speed_up", minimum=0)
    speed_up: float = setting(
        4.0,
        "maximum speed-up of crawl.delay for a site with a backlog longer than the run; applies while the site "
        "responds fast, has no errors and sets no Crawl-delay; 1 disables it",
        minimum=1,
    )
    per_host: int = setting(1, "maximum number of requests in flight per host")
    per_ip: int = setting(8, "maximum number of requests in flight per IP address; 0: no limit", minimum=0)
    delay_factor: float = setting(2.0, "minimum delay as a multiple of the host's response time", minimum=0)
    quiet_hours: str = setting("", "hours of the day (local time) without requests, e.g. 08:00-18:30", group="times")
    max_bytes: int = setting(10_000_000, "maximum page size in bytes, after decompression", group="exclusions")
    documents: bool = setting(True, "fetch documents (PDF, Word ...) in addition to pages", group="what")
    document_formats: tuple[str, ...] = setting(
        (), "document formats to fetch, e.g. pdf, docx; empty: all supported formats", group="what"
    )
    max_document_mb: float = setting(30.0, "maximum document size in megabytes", group="exclusions")
    contact: str = setting(
        "",
        "URL or e-mail address of the administrator, sent with every request; required for public sites",
        group="identity",
    )
    user_agent: str = setting(
        "Plumbline/0.1",
        "product name sent with every request; selects the group in robots.txt",
        group="identity",
        effect=SettingEffect.RUN_AND_RESTART,
    )
    inside_hosts: tuple[str, ...] = setting(
        (),
        "hosts on private networks that may be fetched: host[:port], *.domain for a domain and its subdomains, or a "
        "network, e.g. 10.0.0.0/8 or fd00::/8",
        group="identity",
        is_file_only=True,
    )
    connect_timeout: float = setting(10.0, "seconds to wait for a connection", maximum=3600, group="identity")
    read_timeout: float = setting(20.0, "seconds to wait for the next bytes", maximum=3600, group="identity")
    total_timeout: float = setting(60.0, "maximum seconds of one fetch", maximum=86400, group="identity")
    max_redirects: int = setting(5, "maximum number of redirects in a row", minimum=0, group="identity")
    rendered: str = setting(
        "",
        "auto: render sites whose pages need JavaScript in Chromium, if the extra render is installed; a run sets "
        "render in their tables [[sites]]",
        names=("", RENDER_AUTOMATICALLY),
        group="what",
    )
    incremental: str = setting(
        "revisit",
        "revisit: fetch articles again by the revisit policy; new_only: fetch each article once",
        names=(NEW_ONLY, "revisit"),
        group="times",
    )
    revisit_shortest: float = setting(
        24.0,
        "minimum hours between two visits to an article; a new article is visited again after seven times as long, or "
        "by the change rate of its site",
        minimum=0,
        group="times",
    )
    revisit_longest: float = setting(720.0, "maximum hours between two visits to an article", group="times")
    hub_gap: float = setting(
        0.0,
        "minimum hours between two visits to a seed or list page; 0: in every run. List pages that stay unchanged are "
        "visited less often",
        minimum=0,
        group="times",
    )
    sitemaps: bool = setting(
        True, "fetch the sitemaps and feeds of each site to find new and changed pages", group="what"
    )
    topic: str = setting(
        "", "topic of a focused crawl, created by `plumb topic init`; empty: all pages are saved", group="what"
    )
    concepts: tuple[str, ...] = setting(
        (),
        "files with word relations for the topic, relative to the TOML file: Cilin, Open Wordnet, HowNet",
        group="what",
        is_file_only=True,
    )
    strategy: str = setting(
        AUTO,
        "which pages are saved and which links come first: breadth_first, or with a topic fused, semantic, "
        "topic_library, semantic_tree, static_keywords, vsm; auto: fused with a topic, otherwise breadth_first",
        names=(AUTO, BREADTH_FIRST, *FOCUSED_STRATEGIES),
        group="what",
    )


def resolve_strategy(settings: CrawlSettings) -> str:
    """Return the strategy name for the settings. Raises SettingsError if the strategy needs a topic and none is set."""
    strategy = settings.strategy
    if strategy == AUTO:
        return FOCUSED_STRATEGIES[0] if settings.topic else BREADTH_FIRST
    if strategy in FOCUSED_STRATEGIES and not settings.topic:
        raise SettingsError(f"crawl.strategy = {strategy!r} needs a topic: set crawl.topic (plumb topic init)")
    return strategy


def is_renderer_installed() -> bool:
    """Return True if the extra `render` is installed."""
    return find_spec("playwright") is not None


def can_render_automatically(settings: CrawlSettings) -> bool:
    """Return True if `crawl.rendered` is "auto" and the extra `render` is installed."""
    return settings.rendered == RENDER_AUTOMATICALLY and is_renderer_installed()
