"""Differences between URLs that often mean nothing, and on which sites they do: learned from the pages.

    trait      what it takes away                        two URLs alike but for it
    scheme     https -> http                             http://a.test/x         https://a.test/x
    www        www., www2. before the host               www.a.test/x            a.test/x
    slash      slashes at the end                        a.test/x/               a.test/x
    index      index.html, default.aspx at the end       a.test/x/index.html     a.test/x/
    escapes    escapes of what may stand bare            a.test/x%21              a.test/x!
    case       capitals in path and query                a.test/News             a.test/news
    ?ref       the parameter `ref`                       a.test/x?ref=1          a.test/x?ref=2

Where pages that differ in one trait alone were the same page some times and never another one, the trait is idle on
that site, and URLs are compared without it. Which content is the same is for the caller to say: the digest of
what a reader sees is better than that of the bytes.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from crawler.state_files import read_state, write_state
from crawler.urls.parameters import without
from crawler.urls.registered_domains import registrable_domain

_INDEX = re.compile(r"/(?:index|default|home)\.(?:[sx]?html?|php\d?|aspx?|jsp|cfm)(?=\?|\Z)", re.IGNORECASE)
_WWW = re.compile(r"(?<=://)www\d*\.(?=[^/]*\.)")
_SLASHES_AT_END = re.compile(r"(?<=[^/:])/+(?=\?|\Z)")
_ORIGIN = re.compile(r"[a-z]+://[^/]*/?")
_BARE = re.compile("%(21|24|27|28|29|2A|2C|3A|3B|40)")  # ! $ ' ( ) * , : ; @
_FEWEST_SAME = 5
_MAX_OTHER = 0.02
_MAX_REMEMBERED = 2000  # pages of a site
_MAX_SITES = 100
_MAX_SITES_KEPT = 5000
_MAX_EQUIVALENCES = 500
_MAX_PARAMETERS = 20


def _lower(url: str) -> str:
    origin = _ORIGIN.match(url)
    cut = origin.end() if origin else 0
    return url[:cut] + url[cut:].lower()


def _bare(url: str) -> str:
    """Without the slashes at the end of the path; the root keeps its own."""
    origin = _ORIGIN.match(url)
    cut = origin.end() if origin else 0
    return url[:cut] + _SLASHES_AT_END.sub("", url[cut:])


TRAITS: MappingProxyType[str, Callable[[str], str]] = MappingProxyType(
    {
        "scheme": lambda url: re.sub(r"\Ahttps:", "http:", url),
        "www": lambda url: _WWW.sub("", url),
        "escapes": lambda url: _BARE.sub(lambda match: chr(int(match[1], 16)), url),
        "case": _lower,
        "index": lambda url: _INDEX.sub("/", url),
        "slash": _bare,
    }
)


def loose_form(url: str) -> str:
    """A canonical URL without any trait but its parameters: what looks alike may be the same page.

    To be believed only where content says so too.
    """
    for take_away in TRAITS.values():
        url = take_away(url)
    return url


def without_trait(url: str, equivalence: str) -> str:
    """A canonical URL without one trait."""
    if not equivalence.startswith("?"):
        return TRAITS[equivalence](url)
    path, mark, query = url.partition("?")
    kept = without(query, frozenset((equivalence[1:],))) if mark else ""
    return f"{path}?{kept}" if kept else path


def traits_of(url: str) -> Iterator[str]:
    """The traits in which the URL may differ from another of the same page."""
    yield from TRAITS
    query = url.partition("?")[2]
    for part in query.split("&")[:_MAX_PARAMETERS] if query else ():
        yield "?" + part.partition("=")[0]


@dataclass
class SiteDustRules:
    """What is known of one site (a registrable domain). Bounded in memory; `evidence` is kept between runs:
    trait -> how often URLs alike but for it were [the same page, another page]."""

    evidence: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._pages: dict[int, tuple[str, str]] = {}  # hash of a URL without traits -> the last such page
        self._first: dict[str, str] = {}  # a URL without idle traits -> the first such
        self.redundant: tuple[str, ...] = ()
        self._judge()

    def observe(self, url: str, content: str) -> None:
        """A page was read at this canonical URL; `content` is a digest of what it says."""
        for key in _keys(url):
            known = self._pages.pop(key, None)
            if known is not None and known[0] != url:
                self._compare(known, (url, content))
            self._pages[key] = (url, content)
        _shorten(self._pages)

    def reduced(self, url: str) -> str:
        """The URL as it is to be compared: without what means nothing on this site."""
        for equivalence in self.redundant:
            url = without_trait(url, equivalence)
        return url

    def first_of(self, url: str) -> str:
        """The first URL met that is alike but for what means nothing here; `url` itself, if it is that one."""
        if not self.redundant:
            return url
        first = self._first.setdefault(self.reduced(url), url)
        _shorten(self._first)
        return first

    def _compare(self, one: tuple[str, str], other: tuple[str, str]) -> None:
        """Two pages: if their URLs differ in one trait alone, they say something of it."""
        for equivalence in dict.fromkeys((*traits_of(one[0]), *traits_of(other[0]))):
            if without_trait(one[0], equivalence) == without_trait(other[0], equivalence):
                self._count(equivalence, one[1] == other[1])
                return

    def _count(self, equivalence: str, same: bool) -> None:
        if equivalence in self.evidence or len(self.evidence) < _MAX_EQUIVALENCES:
            self.evidence.setdefault(equivalence, [0, 0])[0 if same else 1] += 1
            self._judge()

    def _judge(self) -> None:
        """`redundant` are the traits that mean nothing here, in a fixed order."""
        redundant = tuple(
            equivalence
            for equivalence, (same, other) in sorted(self.evidence.items())
            if same >= _FEWEST_SAME and other <= _MAX_OTHER * (same + other)
        )
        if redundant != self.redundant:
            self.redundant = redundant
            self._first.clear()


class DustRules:
    """All sites of a crawl; what was learned of them outlives a run, but for those that were not met for long."""

    def __init__(self, evidence: Mapping[str, dict[str, list[int]]] = MappingProxyType({})) -> None:
        self._kept = dict(evidence)
        self._sites: dict[str, SiteDustRules] = {}

    @classmethod
    def load(cls, path: Path) -> "DustRules":
        """What earlier runs have learned."""
        try:
            stored = read_state(path)
            return cls({site: {str(t): [int(a), int(b)] for t, (a, b) in of.items()} for site, of in stored.items()})
        except (ValueError, TypeError, AttributeError):
            return cls()

    def save(self, path: Path) -> None:
        """Keep it."""
        self._kept |= {site: one.evidence for site, one in self._sites.items() if one.evidence}
        write_state(path, dict(list(self._kept.items())[-_MAX_SITES_KEPT:]))

    def of(self, host: str) -> SiteDustRules:
        """The site that a host[:port] belongs to."""
        name = _site(host)
        site = self._sites.get(name)
        if site is None:
            site = self._sites[name] = SiteDustRules(self._kept.get(name, {}))
            if len(self._sites) > _MAX_SITES:
                oldest = next(iter(self._sites))
                self._kept[oldest] = self._sites.pop(oldest).evidence
        return site


@lru_cache(maxsize=4096)
def _site(host: str) -> str:
    return registrable_domain(host) or host


def _keys(url: str) -> Iterator[int]:
    """What a URL has in common with those that differ in one trait."""
    yield hash(loose_form(url))
    query = url.partition("?")[2]
    for part in query.split("&")[:_MAX_PARAMETERS] if query else ():
        yield hash(loose_form(without_trait(url, "?" + part.partition("=")[0])))


def _shorten(remembered: dict[Any, Any]) -> None:
    while len(remembered) > _MAX_REMEMBERED:
        del remembered[next(iter(remembered))]
