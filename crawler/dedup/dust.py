"""Learn URL differences that do not change the page of a site (DUST: different URLs with similar text).

    equivalence  what it removes                         URLs that it makes equal
    scheme       https -> http                           http://a.test/x          https://a.test/x
    www          www., www2. before the host             www.a.test/x             a.test/x
    slash        slashes at the end                      a.test/x/                a.test/x
    index        index.html, default.aspx at the end     a.test/x/index.html      a.test/x/
    escapes      escapes of characters that need none    a.test/x%21              a.test/x!
    case         upper case in path and query            a.test/News              a.test/news
    ?ref         the parameter `ref`                     a.test/x?ref=1           a.test/x?ref=2

An equivalence is confirmed on a site if pages that differ only in it were often the same page and hardly ever another
one. URLs are then compared without it. The caller defines equal content. A digest of the visible text is better than
one of the bytes.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from crawler.state_files import load_state, write_state
from crawler.urls.ignored_parameters import remove_parameters
from crawler.urls.registrable_domains import site_domain

_INDEX_FILE = re.compile(r"/(?:index|default|home)\.(?:[sx]?html?|php\d?|aspx?|jsp|cfm)(?=\?|\Z)", re.IGNORECASE)
_WWW_PREFIX = re.compile(r"(?<=://)www\d*\.(?=[^/]*\.)")
_TRAILING_SLASHES = re.compile(r"(?<=[^/:])/+(?=\?|\Z)")
_ORIGIN = re.compile(r"[a-z]+://[^/]*/?")
_OPTIONAL_ESCAPE = re.compile("%(21|24|27|28|29|2A|2C|3A|3B|40)")  # ! $ ' ( ) * , : ; @
_MIN_SAME_PAGES = 5
_MAX_DIFFERENT_SHARE = 0.02
_MAX_URLS_PER_SITE = 2000  # pages
_MAX_SITES_IN_MEMORY = 100
_MAX_SITES_SAVED = 5000
_MAX_EQUIVALENCES = 500
_MAX_PARAMETERS = 20


def _lowercase_path(url: str) -> str:
    origin = _ORIGIN.match(url)
    cut = origin.end() if origin else 0
    return url[:cut] + url[cut:].lower()


def _strip_trailing_slashes(url: str) -> str:
    """Remove the slashes at the end of the path, except for the root."""
    origin = _ORIGIN.match(url)
    cut = origin.end() if origin else 0
    return url[:cut] + _TRAILING_SLASHES.sub("", url[cut:])


EQUIVALENCES: MappingProxyType[str, Callable[[str], str]] = MappingProxyType(
    {
        "scheme": lambda url: re.sub(r"\Ahttps:", "http:", url),
        "www": lambda url: _WWW_PREFIX.sub("", url),
        "escapes": lambda url: _OPTIONAL_ESCAPE.sub(lambda match: chr(int(match[1], 16)), url),
        "case": _lowercase_path,
        "index": lambda url: _INDEX_FILE.sub("/", url),
        "slash": _strip_trailing_slashes,
    }
)


def apply_all_equivalences(url: str) -> str:
    """Apply all equivalences except parameters. Equal results may be the same page, if their content is equal too."""
    for apply in EQUIVALENCES.values():
        url = apply(url)
    return url


def apply_equivalence(url: str, equivalence: str) -> str:
    """Apply one equivalence to a canonical URL."""
    if not equivalence.startswith("?"):
        return EQUIVALENCES[equivalence](url)
    path, mark, query = url.partition("?")
    remaining_query = remove_parameters(query, frozenset((equivalence[1:],))) if mark else ""
    return f"{path}?{remaining_query}" if remaining_query else path


def iter_equivalences(url: str) -> Iterator[str]:
    """Iterate over the equivalences that may apply to the URL."""
    yield from EQUIVALENCES
    query = url.partition("?")[2]
    for part in query.split("&")[:_MAX_PARAMETERS] if query else ():
        yield "?" + part.partition("=")[0]


@dataclass
class SiteDustRules:
    """The DUST rules of one site (a registrable domain). Memory is bounded.

    `evidence_by_equivalence` is saved between runs. It maps an equivalence to counts of URL pairs that differ only in
    it:
    [same page, other page].
    """

    evidence_by_equivalence: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._last_page_by_key: dict[
            int, tuple[str, str]
        ] = {}  # hash of the URL with all equivalences applied -> last such page
        self._first_url_by_form: dict[str, str] = {}  # reduced URL -> first such URL
        self.confirmed_equivalences: tuple[str, ...] = ()
        self._update_confirmed()

    def record_page(self, url: str, content_digest: str) -> str:
        """Record a page at its canonical URL, with a digest of its content.

        Returns the URL of an equal page that differs in one equivalence, or "".
        """
        equal_url = ""
        for key in _candidate_keys(url):
            existing = self._last_page_by_key.pop(key, None)
            if existing is not None and existing[0] != url and self._compare_pages(existing, (url, content_digest)):
                equal_url = existing[0]
            self._last_page_by_key[key] = (url, content_digest)
        _evict_oldest(self._last_page_by_key)
        return equal_url

    def reduce_url(self, url: str) -> str:
        """Return the URL without the parts that are redundant on this site."""
        for equivalence in self.confirmed_equivalences:
            url = apply_equivalence(url, equivalence)
        return url

    def first_variant(self, url: str) -> str:
        """Return the first URL seen with the same reduced form; `url` itself if it is the first."""
        if not self.confirmed_equivalences:
            return url
        first = self._first_url_by_form.setdefault(self.reduce_url(url), url)
        _evict_oldest(self._first_url_by_form)
        return first

    def _compare_pages(self, left_page: tuple[str, str], right_page: tuple[str, str]) -> bool:
        """Add evidence if the URLs of two pages differ in exactly one equivalence. Returns True if they are equal."""
        for equivalence in dict.fromkeys((*iter_equivalences(left_page[0]), *iter_equivalences(right_page[0]))):
            if apply_equivalence(left_page[0], equivalence) == apply_equivalence(right_page[0], equivalence):
                self._add_evidence(equivalence, left_page[1] == right_page[1])
                return left_page[1] == right_page[1]
        return False

    def _add_evidence(self, equivalence: str, is_same_content: bool) -> None:
        if equivalence in self.evidence_by_equivalence or len(self.evidence_by_equivalence) < _MAX_EQUIVALENCES:
            self.evidence_by_equivalence.setdefault(equivalence, [0, 0])[0 if is_same_content else 1] += 1
            self._update_confirmed()

    def _update_confirmed(self) -> None:
        """Update the confirmed equivalences, in a fixed order."""
        confirmed_equivalences = tuple(
            equivalence
            for equivalence, (same, other) in sorted(self.evidence_by_equivalence.items())
            if same >= _MIN_SAME_PAGES and other <= _MAX_DIFFERENT_SHARE * (same + other)
        )
        if confirmed_equivalences != self.confirmed_equivalences:
            self.confirmed_equivalences = confirmed_equivalences
            self._first_url_by_form.clear()


class DustRules:
    """The DUST rules of all sites. They are saved between runs for the sites that were seen last."""

    def __init__(self, evidence: Mapping[str, dict[str, list[int]]] = MappingProxyType({})) -> None:
        self._evidence_by_site = dict(evidence)
        self._sites: dict[str, SiteDustRules] = {}

    @classmethod
    def load(cls, path: Path) -> "DustRules":
        """Load the evidence of earlier runs."""
        return load_state(
            path,
            lambda evidence_by_site: cls(
                {
                    site: {str(t): [int(a), int(b)] for t, (a, b) in evidence.items()}
                    for site, evidence in evidence_by_site.items()
                }
            ),
        )

    def save(self, path: Path) -> None:
        """Save the evidence to the file `path`."""
        self._evidence_by_site |= {
            site: site_rules.evidence_by_equivalence
            for site, site_rules in self._sites.items()
            if site_rules.evidence_by_equivalence
        }
        write_state(path, dict(list(self._evidence_by_site.items())[-_MAX_SITES_SAVED:]))

    def for_host(self, host: str) -> SiteDustRules:
        """Return the rules of the site that a host[:port] belongs to."""
        name = site_domain(host)
        site = self._sites.get(name)
        if site is None:
            site = self._sites[name] = SiteDustRules(self._evidence_by_site.get(name, {}))
            if len(self._sites) > _MAX_SITES_IN_MEMORY:
                oldest = next(iter(self._sites))
                self._evidence_by_site[oldest] = self._sites.pop(oldest).evidence_by_equivalence
        return site


def _candidate_keys(url: str) -> Iterator[int]:
    """Yield hashes that the URL shares with URLs that differ in one equivalence."""
    yield hash(apply_all_equivalences(url))
    query = url.partition("?")[2]
    for part in query.split("&")[:_MAX_PARAMETERS] if query else ():
        yield hash(apply_all_equivalences(apply_equivalence(url, "?" + part.partition("=")[0])))


def _evict_oldest(entries: dict[Any, Any]) -> None:
    while len(entries) > _MAX_URLS_PER_SITE:
        del entries[next(iter(entries))]
