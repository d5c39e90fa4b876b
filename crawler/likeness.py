"""Differences between addresses that often mean nothing, and on which sites they do: learned from the pages.

    trait      what it takes away                        two addresses alike but for it
    scheme     https -> http                             http://a.test/x         https://a.test/x
    www        www., www2. before the host               www.a.test/x            a.test/x
    slash      slashes at the end                        a.test/x/               a.test/x
    index      index.html, default.aspx at the end       a.test/x/index.html     a.test/x/
    escapes    escapes of what may stand bare            a.test/x%21              a.test/x!
    case       capitals in path and query                a.test/News             a.test/news
    ?ref       the parameter `ref`                       a.test/x?ref=1          a.test/x?ref=2

Where pages that differ in one trait alone were the same page some times and never another one, the trait is idle on
that site, and addresses are compared without it. Which content is the same is for the caller to say: the digest of
what a reader sees is better than that of the bytes.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import MappingProxyType

from crawler.parameters import without
from crawler.urls import Address

_INDEX = re.compile(r"/(?:index|default|home)\.(?:[sx]?html?|php\d?|aspx?|jsp|cfm)(?=\?|\Z)", re.IGNORECASE)
_WWW = re.compile(r"(?<=://)www\d*\.(?=[^/]*\.)")
_SLASHES_AT_END = re.compile(r"(?<=[^/:])/+(?=\?|\Z)")
_ORIGIN = re.compile(r"[a-z]+://[^/]*/?")
_BARE = re.compile("%(21|24|27|28|29|2A|2C|3A|3B|40)")  # ! $ ' ( ) * , : ; @
_FEWEST_SAME = 5
_MOST_OTHER = 0.02
_MOST_REMEMBERED = 20_000
_MOST_TRAITS = 500
_MOST_PARAMETERS = 20


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
    """A canonical address without any trait but its parameters: what looks alike may be the same page.

    To be believed only where content says so too.
    """
    for take_away in TRAITS.values():
        url = take_away(url)
    return url


def without_trait(url: str, trait: str) -> str:
    """A canonical address without one trait."""
    if not trait.startswith("?"):
        return TRAITS[trait](url)
    path, mark, query = url.partition("?")
    kept = without(query, frozenset((trait[1:],))) if mark else ""
    return f"{path}?{kept}" if kept else path


def traits_of(url: str) -> Iterator[str]:
    """The traits in which the address may differ from another of the same page."""
    yield from TRAITS
    query = url.partition("?")[2]
    for part in query.split("&")[:_MOST_PARAMETERS] if query else ():
        yield "?" + part.partition("=")[0]


@dataclass
class SiteLikeness:
    """What is known of one site (a registrable domain). Bounded in memory; `evidence` can be kept between runs:
    trait -> how often addresses alike but for it were [the same page, another page]."""

    evidence: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._pages: OrderedDict[tuple[str, str], tuple[str, str]] = OrderedDict()
        self._judge()

    def observe(self, url: str, content: str) -> None:
        """A page was read at this canonical address; `content` is a digest of what it says."""
        for trait in dict.fromkeys(traits_of(url)):
            key = (trait, without_trait(url, trait))
            known = self._pages.get(key)
            if known is not None and known[0] != url:
                self._count(trait, known[1] == content)
            self._pages[key] = (url, content)
            self._pages.move_to_end(key)
        while len(self._pages) > _MOST_REMEMBERED:
            self._pages.popitem(last=False)

    def reduced(self, address: Address) -> Address:
        """The address as it is to be compared: without what means nothing on this site."""
        url = address.url
        for trait in self.idle:
            url = without_trait(url, trait)
        return Address(url, address.fetch)

    def _count(self, trait: str, same: bool) -> None:
        if trait in self.evidence or len(self.evidence) < _MOST_TRAITS:
            self.evidence.setdefault(trait, [0, 0])[0 if same else 1] += 1
            self._judge()

    def _judge(self) -> None:
        """`idle` are the traits that mean nothing here, in a fixed order."""
        self.idle = tuple(
            trait
            for trait, (same, other) in sorted(self.evidence.items())
            if same >= _FEWEST_SAME and other <= _MOST_OTHER * (same + other)
        )
