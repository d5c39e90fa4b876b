"""The settings of the search site."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from docstore.errors import SettingsError

# Solr allows 1,024 clauses. In the worst case a character makes six: a bigram, itself and a word, in title and body.
MAX_QUERY_UNITS = 160  # a Latin word counts as one

PROFILE_NAMES = ("plumbline", "bigram", "domain", "base")
"""The names of `search_ui.query.ranking.PROFILES`, without all that it loads."""


@dataclass(frozen=True)
class SearchSettings:
    """What an operator may change about the search site; `pipeline` fills it."""

    host: str = field(default="127.0.0.1", metadata={"help": "address to listen on"})
    port: int = field(default=8080, metadata={"help": "TCP port to listen on"})
    base_url: str = field(
        default="",
        metadata={
            "help": "where readers find the site, as https://search.example.org/: what feeds and opensearch.xml name; "
            "empty: as each request says in its Host header"
        },
    )
    title: str = field(default="Plumbline", metadata={"help": "name of the vertical, shown on every page"})
    profile: str = field(
        default="plumbline", metadata={"help": "ranking: plumbline, bigram, domain or base", "names": PROFILE_NAMES}
    )
    page_size: int = field(default=10, metadata={"help": "results on a page"})
    deepest_result: int = field(default=1000, metadata={"help": "rank of the last result that can be paged to"})
    longest_query: int = field(
        default=MAX_QUERY_UNITS,
        metadata={"help": "Chinese characters, Latin words and numbers of a query that are searched for, 1 to 160"},
    )
    timeout: float = field(
        default=1.5, metadata={"help": "seconds to wait for Solr before the page says that it does not answer"}
    )
    at_once: int = field(
        default=0,
        metadata={"help": "questions that Solr is asked at the same time; 0: one more than there are cores here"},
    )
    workers: int = field(default=1, metadata={"help": "processes that answer readers, each with 8 threads"})
    trusted_proxies: int = field(
        default=0,
        metadata={"help": "reverse proxies before the site, whose X-Forwarded-For and -Proto are believed; 0: none"},
    )
    log_days: int = field(
        default=90, metadata={"help": "days that searches are logged for, without personal data; 0: not at all"}
    )
    access_log: bool = field(
        default=False,
        metadata={
            "help": "log every answer to logs/access.log: the kind of page, status and time; neither who asked nor for "
            "what"
        },
    )
    developer_tools: bool = field(
        default=False,
        metadata={"help": "readers may compare lexicons and choose a ranking; false: only who is signed in may"},
    )
    originals: bool = field(
        default=True,
        metadata={"help": "show pages as they were fetched, made harmless, and offer the kept files of documents"},
    )
    pictures: bool = field(
        default=True,
        metadata={"help": "small pictures beside results, fetched from the articles' own sites and served by this one"},
    )
    site_names: Mapping[str, str] = field(default_factory=dict, metadata={"help": "name to show for a site, by host"})

    def __post_init__(self) -> None:
        if not 1 <= self.longest_query <= MAX_QUERY_UNITS:
            raise SettingsError(f"search.longest_query must be 1 to {MAX_QUERY_UNITS}, not {self.longest_query}")
