"""Settings of the search site."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from domain.coded_message import CodedMessage
from domain.errors import SettingsError

# Solr allows 1,024 clauses. A character adds at most six: a bigram, itself and a word, each in title and body.
MAX_QUERY_UNITS = 160  # a Latin word is one unit

METRICS_FOLDER_ENV = "PROMETHEUS_MULTIPROC_DIR"  # prometheus-client's folder for the metrics of several processes
PROFILE_NAMES = ("plumbline", "bigram", "domain", "base")
"""The names of `search_ui.query.ranking.PROFILES`, repeated here to avoid its imports."""


@dataclass(frozen=True)
class SearchSettings:
    """Section [search]: settings of the search site. Raises SettingsError if `longest_query` is out of range."""

    host: str = field(default="127.0.0.1", metadata={"help": "IP address or host name to listen on"})
    port: int = field(default=8080, metadata={"help": "TCP port to listen on; 0: choose a free port", "least": 0})
    base_url: str = field(
        default="",
        metadata={
            "help": "public URL of the site, for example https://search.example.org/, used in feeds and "
            "opensearch.xml; empty: the Host header of each request"
        },
    )
    title: str = field(default="Plumbline", metadata={"help": "name shown on every page; if not set, vertical.name"})
    profile: str = field(
        default="plumbline",
        metadata={"help": "ranking profile: plumbline, bigram, domain or base", "names": PROFILE_NAMES},
    )
    page_size: int = field(default=10, metadata={"help": "results per page"})
    deepest_result: int = field(default=1000, metadata={"help": "rank of the last result that can be shown"})
    longest_query: int = field(
        default=MAX_QUERY_UNITS,
        metadata={
            "help": "maximum length of a query, 1 to 160 units; one unit is a Chinese character, a Latin word "
            "or a number; the rest of the query is ignored"
        },
    )
    timeout: float = field(
        default=1.5,
        metadata={"help": "seconds to wait for Solr before the page reports that the index is not responding"},
    )
    at_once: int = field(
        default=0,
        metadata={"help": "maximum number of concurrent Solr requests; 0: number of CPU cores plus one", "least": 0},
    )
    workers: int = field(default=1, metadata={"help": "number of server processes, each with 8 threads"})
    trusted_proxies: int = field(
        default=0,
        metadata={
            "help": "number of reverse proxies in front of the site whose X-Forwarded-For and X-Forwarded-Proto "
            "are trusted; 0: none",
            "least": 0,
        },
    )
    log_days: int = field(
        default=90,
        metadata={
            "help": "days that searches stay in the search log, without personal data; 0: no search log",
            "least": 0,
        },
    )
    access_log: bool = field(
        default=False,
        metadata={
            "help": "log every response to logs/access.log: kind of page, status and time, without user or query"
        },
    )
    developer_tools: bool = field(
        default=False,
        metadata={"help": "let every user compare lexicons and choose a ranking profile; false: signed-in users only"},
    )
    originals: bool = field(
        default=True,
        metadata={"help": "show saved pages (sanitized) and offer saved files for download"},
    )
    pictures: bool = field(
        default=True,
        metadata={
            "help": "show thumbnails next to results; they are fetched from the sites of the articles and "
            "served by this site"
        },
    )
    site_names: Mapping[str, str] = field(default_factory=dict, metadata={"help": "display names of sites, by host"})

    def __post_init__(self) -> None:
        if not 1 <= self.longest_query <= MAX_QUERY_UNITS:
            text = f"search.longest_query must be 1 to {MAX_QUERY_UNITS}, not {self.longest_query}"
            raise SettingsError(
                CodedMessage(text, "longest_query", maximum=str(MAX_QUERY_UNITS), value=str(self.longest_query))
            )
