"""Settings of the search site."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar
from urllib.parse import urlsplit

from domain.errors import SettingsError
from domain.setting import Group, SettingEffect, setting

# Solr allows 1,024 clauses. A character adds at most six: a bigram, itself and a word, each in title and body.
MAX_QUERY_UNITS = 160  # a Latin word is one unit

MAX_LIST_BYTES = 8 * 1024 * 1024  # of an uploaded list of terms or seeds
METRICS_FOLDER_ENV = "PROMETHEUS_MULTIPROC_DIR"  # prometheus-client's folder for the metrics of several processes
PROFILE_NAMES = ("plumbline", "bigram", "domain", "base")
"""The names of `search_ui.query.ranking.PROFILES`, repeated here to avoid its imports."""


@dataclass(frozen=True)
class SignedInSites:
    """The sites whose articles only signed-in readers find.

    Attributes:
        hosts: Each as host[:port].
        domains: Hosts that are included with their subdomains.
        public_hosts: Hosts within `domains` whose articles everyone finds.
    """

    hosts: frozenset[str] = frozenset()
    domains: frozenset[str] = frozenset()
    public_hosts: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.hosts or self.domains)

    def covers(self, host: str) -> bool:
        """True if only signed-in readers find the articles of host[:port]."""
        name = f".{host.partition(':')[0]}"
        in_domain = any(name.endswith(f".{domain}") for domain in self.domains)
        return host in self.hosts or (in_domain and host not in self.public_hosts)

    def covers_url(self, url: str) -> bool:
        """True if only signed-in readers find the article at a canonical URL."""
        return self.covers(urlsplit(url).netloc.rpartition("@")[2])


@dataclass(frozen=True)
class SearchSettings:
    """Section [search]: settings of the search site. Raises SettingsError if a value is invalid."""

    GROUP: ClassVar[Group] = "search"
    site_names: Mapping[str, str] = field(default_factory=dict)  # no setting: the display names of sites by host
    signed_in_sites: SignedInSites = field(default_factory=SignedInSites)  # no setting: from the keys of the sites
    EFFECT: ClassVar = SettingEffect.AT_ONCE
    host: str = setting(
        "127.0.0.1", "IP address or host name to listen on", group="machine", effect=SettingEffect.RESTART
    )
    port: int = setting(
        8080,
        "TCP port to listen on; 0: choose a free port",
        minimum=0,
        maximum=65535,
        group="machine",
        effect=SettingEffect.RESTART,
    )
    base_url: str = setting(
        "",
        "public URL of the site, for example https://search.example.org/, used in feeds and "
        "opensearch.xml; empty: the Host header of each request",
        group="machine",
    )
    title: str = setting("Plumbline", "name shown on every page; if not set, vertical.name")
    profile: str = setting("plumbline", "ranking profile: plumbline, bigram, domain or base", names=PROFILE_NAMES)
    page_size: int = setting(10, "results per page")
    deepest_result: int = setting(1000, "rank of the last result that can be shown")
    longest_query: int = setting(
        MAX_QUERY_UNITS,
        "maximum length of a query, 1 to 160 units; one unit is a Chinese character, a Latin word "
        "or a number; the rest of the query is ignored",
        maximum=MAX_QUERY_UNITS,
    )
    timeout: float = setting(
        1.5, "seconds to wait for Solr before the page reports that the index is not responding", group="machine"
    )
    at_once: int = setting(
        0, "maximum number of concurrent Solr requests; 0: number of CPU cores plus one", minimum=0, group="machine"
    )
    workers: int = setting(
        1, "number of server processes, each with 8 threads", group="machine", effect=SettingEffect.RESTART
    )
    trusted_proxies: int = setting(
        0,
        "number of reverse proxies in front of the site whose X-Forwarded-For and X-Forwarded-Proto "
        "are trusted; 0: none",
        minimum=0,
        group="machine",
        effect=SettingEffect.RESTART,
    )
    log_days: int = setting(
        90, "days that searches stay in the search log, without personal data; 0: no search log", minimum=0
    )
    access_log: bool = setting(
        False,
        "log every response to logs/access.log: kind of page, status and time, without user or query",
        effect=SettingEffect.RESTART,
    )
    developer_tools: bool = setting(
        False,
        "show every user the comparison of lexicons and the choice of a ranking profile; false: signed-in users only",
    )
    originals: bool = setting(True, "show saved pages (sanitized) and offer saved files for download")
    pictures: bool = setting(
        True, "show thumbnails next to results; they are fetched from the sites of the articles and served by this site"
    )

    @property
    def site_url(self) -> str:
        """`base_url` without its last slash; "" if it is not set."""
        return self.base_url.rstrip("/")

    def __post_init__(self) -> None:
        if not re.fullmatch(r"(https?://[^/?#\s]+/?)?", self.base_url):
            raise SettingsError(
                "{path} must be a URL without a path, for example https://search.example.org/, not {value}",
                path="search.base_url",
                value=self.base_url,
            )


def format_address(host: str, port: int) -> str:
    """Return host:port as in a URL, with brackets around an IPv6 address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
