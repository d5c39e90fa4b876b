"""The settings of the crawl stage. Nothing here is read from files or the environment."""

from dataclasses import dataclass, field

from docstore.errors import SettingsError

DEFAULT_QUEUES = 101
AUTO = "auto"
FOCUSED = ("fused", "semantic", "topic_library", "semantic_tree", "static_keywords", "vsm")
"""The names of `strategies.focuses.FOCUSES`, without all that it loads."""


@dataclass(frozen=True)
class CrawlSettings:
    """How far, how fast and how often to crawl. Those of Wang Du 2019 (WD-E1) are in docs/papers.md.

    `queues` is prime on purpose: ELFHash's low four bits are those of the last character, so with 100 queues
    URLs that end alike (`...shtml`) reach only 25 of them; with a prime modulus both hashes spread evenly.
    """

    seeds: tuple[str, ...] = field(default=(), metadata={"help": "URLs where the crawl begins"})
    scope: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "what may be fetched: host[:port][/path prefix], or *.host for a host and all below it; "
            "empty: the hosts of the seeds, with www. and without"
        },
    )
    depth: int = field(
        default=1000,
        metadata={"help": "links followed from a seed at most: a last resort, for the nearest pages come first anyway"},
    )
    threads: int = field(default=16, metadata={"help": "pages fetched at the same time"})
    processes: int = field(
        default=1, metadata={"help": "processes that share the hosts among them, each with its part of the threads"}
    )
    minutes: float = field(
        default=240.0,
        metadata={"help": "longest run, in minutes; plumb status foretells how many such runs the sites take"},
    )
    max_pages: int = field(default=0, metadata={"help": "pages fetched in one run at most; 0: no limit"})
    queue_policy: str = field(default="hflp", metadata={"help": "how URLs are spread over queues: hflp, elf or host"})
    queues: int = field(
        default=DEFAULT_QUEUES, metadata={"help": "number of queues; a prime spreads best (unused by host)"}
    )
    delay: float = field(
        default=1.0, metadata={"help": "seconds between two requests to one host at least; but see speed_up"}
    )
    speed_up: float = field(
        default=4.0,
        metadata={
            "help": "a site of which more waits than a run has time for may be asked so many times as often as delay "
            "says, while it answers fast, has not failed and names no Crawl-delay; 1: never"
        },
    )
    per_host: int = field(default=1, metadata={"help": "requests under way at one host at most"})
    per_ip: int = field(default=8, metadata={"help": "requests under way at one IP address at most; 0: no limit"})
    delay_factor: float = field(
        default=2.0,
        metadata={"help": "wait so many times as long as a host takes to answer, if that is longer than delay"},
    )
    quiet_hours: str = field(
        default="", metadata={"help": "hours of the day (local time) in which nothing is asked, as 08:00-18:30"}
    )
    connect_timeout: float = field(default=10.0, metadata={"help": "seconds to wait for a connection"})
    read_timeout: float = field(default=20.0, metadata={"help": "seconds to wait for the next bytes"})
    total_timeout: float = field(default=60.0, metadata={"help": "seconds one fetch may take in all"})
    max_bytes: int = field(default=10_000_000, metadata={"help": "largest page in bytes, after decompression"})
    max_redirects: int = field(default=5, metadata={"help": "redirects in a row at most"})
    user_agent: str = field(
        default="Plumbline/0.1", metadata={"help": "product name sent with every request; robots.txt rules go by it"}
    )
    contact: str = field(
        default="",
        metadata={
            "help": "URL or page of the operator, sent with every request so sites can complain; real sites need it"
        },
    )
    headers: tuple[str, ...] = field(
        default=(), metadata={"help": "headers for some sites alone, each as: news.example.com Name: value"}
    )
    cookies: tuple[str, ...] = field(
        default=(), metadata={"help": "cookies for some sites alone, each as: *.example.com name=value; name=value"}
    )
    proxies: tuple[str, ...] = field(
        default=(), metadata={"help": "proxies for some sites alone, each as: news.example.com http://proxy:3128"}
    )
    rendered: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "sites whose pages scripts make, as news.example.com or *.example.com: chromium shows them before "
            "they are read (needs the extra render); scripts and data may come from these sites alone"
        },
    )
    incremental: str = field(
        default="revisit",
        metadata={"help": "revisit: ask articles again by the revisit rule; new_only: never ask an article twice"},
    )
    revisit_shortest: float = field(
        default=24.0,
        metadata={
            "help": "hours between two visits to an article at least; a new one is asked again after seven times as "
            "long, or what its site has shown"
        },
    )
    revisit_longest: float = field(default=720.0, metadata={"help": "hours between two visits to an article at most"})
    hub_gap: float = field(
        default=0.0, metadata={"help": "hours between two visits to a seed or list page; 0: in every run"}
    )
    sitemaps: bool = field(
        default=True, metadata={"help": "ask each site for its sitemaps and feeds, which tell of new and changed pages"}
    )
    seen_filter: str = field(
        default="rbloom", metadata={"help": "Bloom filter before the exact seen test: rbloom, or pybloom (slower)"}
    )
    topic: str = field(
        default="",
        metadata={"help": "topic that the crawl looks for, made by plumb topic init; empty: all pages are kept"},
    )
    concepts: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "files that say which words mean alike, relative to the TOML file: Cilin, Open Wordnet, HowNet; "
            "used for the topic"
        },
    )
    strategy: str = field(
        default=AUTO,
        metadata={
            "help": "which pages are worth keeping and which links come first: breadth_first, or for a topic fused, "
            "semantic, topic_library, semantic_tree, static_keywords, vsm; auto: fused where there is a topic"
        },
    )
    inside_hosts: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "what may be fetched although it is on a private network: host[:port], *.domain for a domain and "
            "all below it, or a network as 10.0.0.0/8 or fd00::/8"
        },
    )


def strategy_of(settings: CrawlSettings) -> str:
    """The strategy that the settings mean. SettingsError where one needs a topic and there is none."""
    named = settings.strategy
    if named == AUTO:
        return FOCUSED[0] if settings.topic else "breadth_first"
    if named in FOCUSED and not settings.topic:
        raise SettingsError(f"crawl.strategy = {named!r} looks for a topic: name one in crawl.topic (plumb topic init)")
    return named
