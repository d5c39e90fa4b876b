"""The settings of the crawl stage and their bounds. Reads no files and no environment."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from crawler.schedule.bloom_filters import FILTER_BY_NAME
from crawler.schedule.queues import QUEUE_POLICIES
from docstore.errors import SettingsError

T = TypeVar("T")
DEFAULT_QUEUES = 101
AUTO = "auto"
BREADTH_FIRST = "breadth_first"
FOCUSED_STRATEGIES = ("fused", "semantic", "topic_library", "semantic_tree", "static_keywords", "vsm")
"""The names of `focused.strategy_registry`, repeated here to avoid its imports."""


def setting(default: T, text: str, minimum: float | None = None, names: Collection[str] = ()) -> T:
    """Define a settings field with help text.

    Args:
       default: default value.
       text: help text.
       minimum: minimum of a number. If None, the number must be above 0.
       names: allowed values of a name.

    Returns:
       The field. `minimum` and `names` are in its metadata.
    """
    return field(default=default, metadata={"help": text, "least": minimum, "names": tuple(names)})


@dataclass(frozen=True)
class CrawlSettings:
    """Extent, speed and frequency of a crawl. docs/background/papers.md lists the values of Wang Du 2019 (WD-E1).

    `queues` is prime. The low four bits of ELFHash are those of the last character. With 100 queues, URLs with the same
    ending (`...shtml`) reach only 25 of them. With a prime modulus both hashes are uniform.
    """

    seeds: tuple[str, ...] = setting((), "URLs where the crawl begins")
    scope: tuple[str, ...] = setting(
        (),
        "what may be fetched: host[:port][/path prefix], or *.host for a host and all below it; empty: the hosts of "
        "the seeds, with www. and without",
    )
    depth: int = setting(
        1000, "links followed from a seed at most: a last resort, for the nearest pages come first anyway", minimum=0
    )
    threads: int = setting(16, "pages fetched at the same time")
    processes: int = setting(1, "processes that share the hosts among them, each with its part of the threads")
    minutes: float = setting(240.0, "longest run, in minutes; plumb status foretells how many such runs the sites take")
    max_pages: int = setting(0, "pages fetched in one run at most; 0: no limit", minimum=0)
    queue_policy: str = setting("hflp", "how URLs are spread over queues: hflp, elf or host", names=QUEUE_POLICIES)
    queues: int = setting(DEFAULT_QUEUES, "number of queues; a prime spreads best (unused by host)")
    delay: float = setting(1.0, "seconds between two requests to one host at least; but see speed_up", minimum=0)
    speed_up: float = setting(
        4.0,
        "a site of which more waits than a run has time for may be asked so many times as often as delay says, "
        "while it answers fast, has not failed and names no Crawl-delay; 1: never",
        minimum=1,
    )
    per_host: int = setting(1, "requests under way at one host at most")
    per_ip: int = setting(8, "requests under way at one IP address at most; 0: no limit", minimum=0)
    delay_factor: float = setting(
        2.0, "wait so many times as long as a host takes to answer, if that is longer than delay", minimum=0
    )
    quiet_hours: str = setting("", "hours of the day (local time) in which nothing is asked, as 08:00-18:30")
    connect_timeout: float = setting(10.0, "seconds to wait for a connection")
    read_timeout: float = setting(20.0, "seconds to wait for the next bytes")
    total_timeout: float = setting(60.0, "seconds one fetch may take in all")
    max_bytes: int = setting(10_000_000, "largest page in bytes, after decompression")
    documents: bool = setting(True, "fetch documents (PDF, Word ...) beside pages")
    document_formats: tuple[str, ...] = setting(
        (), "formats of documents that are fetched, as pdf, docx; empty: all that can be read"
    )
    max_document_mb: float = setting(30.0, "largest document in megabytes")
    max_redirects: int = setting(5, "redirects in a row at most", minimum=0)
    user_agent: str = setting("Plumbline/0.1", "product name sent with every request; robots.txt rules go by it")
    contact: str = setting(
        "", "URL or page of the operator, sent with every request so sites can complain; real sites need it"
    )
    headers: tuple[str, ...] = setting((), "headers for some sites alone, each as: news.example.com Name: value")
    cookies: tuple[str, ...] = setting(
        (), "cookies for some sites alone, each as: *.example.com name=value; name=value"
    )
    proxies: tuple[str, ...] = setting((), "proxies for some sites alone, each as: news.example.com http://proxy:3128")
    rendered: tuple[str, ...] = setting(
        (),
        "sites whose pages scripts make, as news.example.com or *.example.com: chromium shows them before they are "
        "read (needs the extra render); scripts and data may come from these sites alone",
    )
    incremental: str = setting(
        "revisit",
        "revisit: ask articles again by the revisit rule; new_only: never ask an article twice",
        names=("new_only", "revisit"),
    )
    revisit_shortest: float = setting(
        24.0,
        "hours between two visits to an article at least; a new one is asked again after seven times as long, or "
        "what its site has shown",
        minimum=0,
    )
    revisit_longest: float = setting(720.0, "hours between two visits to an article at most")
    hub_gap: float = setting(0.0, "hours between two visits to a seed or list page; 0: in every run", minimum=0)
    sitemaps: bool = setting(True, "ask each site for its sitemaps and feeds, which tell of new and changed pages")
    seen_filter: str = setting(
        "rbloom", "Bloom filter before the exact seen test: rbloom, or pybloom (slower)", names=FILTER_BY_NAME
    )
    topic: str = setting("", "topic that the crawl looks for, made by plumb topic init; empty: all pages are kept")
    concepts: tuple[str, ...] = setting(
        (),
        "files that say which words mean alike, relative to the TOML file: Cilin, Open Wordnet, HowNet; used for "
        "the topic",
    )
    strategy: str = setting(
        AUTO,
        "which pages are worth keeping and which links come first: breadth_first, or for a topic fused, semantic, "
        "topic_library, semantic_tree, static_keywords, vsm; auto: fused where there is a topic",
        names=(AUTO, BREADTH_FIRST, *FOCUSED_STRATEGIES),
    )
    inside_hosts: tuple[str, ...] = setting(
        (),
        "what may be fetched although it is on a private network: host[:port], *.domain for a domain and all below "
        "it, or a network as 10.0.0.0/8 or fd00::/8",
    )


def resolve_strategy(settings: CrawlSettings) -> str:
    """Return the strategy name for the settings. Raises SettingsError if the strategy needs a topic and none is set."""
    strategy = settings.strategy
    if strategy == AUTO:
        return FOCUSED_STRATEGIES[0] if settings.topic else BREADTH_FIRST
    if strategy in FOCUSED_STRATEGIES and not settings.topic:
        raise SettingsError(
            f"crawl.strategy = {strategy!r} looks for a topic: name one in crawl.topic (plumb topic init)"
        )
    return strategy


def violated_bound(value: float, metadata: Mapping[str, Any]) -> str:
    """Return the bound that a number violates, such as `0 or more`, or "" if it is valid. NaN violates every bound."""
    minimum = metadata.get("least")
    if minimum is None:
        return "" if value > 0 else "more than 0"
    return "" if value >= minimum else f"{minimum} or more"
