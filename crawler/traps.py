"""Spider traps: address spaces without end or without worth. Known by the address, by how links lead in, by content.

A *pattern* is an address with its numbers and ids taken out: `/news/0/0.html`, `/shop?*`. Pages of a real
site are led to from elsewhere (lists, the home page, a sitemap); a trap feeds itself. So what counts against a pattern
are links from its own pages to pages of its own that nobody knew, and pages of it that say nothing new. A page says
something new by its content or by leading to it: a list without a text of its own is no trap.

    links from other patterns, or declared by a sitemap    follow
    its own links, most of them to known pages             follow: a site that is soon known to its end
    its own links, on to the next number (paging)          follow, up to a thousand
    its own links, else                                    hold back, but for the first eighty
    any link, once most pages of it say what others said   do not follow

Nothing here reads a clock, a page or a table; one `TrapWatch` is for one host.
"""

import re
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

from crawler.urls import host_of, origin_of

MOST_OF_OWN = 80  # a trap has some entrances besides, and is to cost a hundred pages at most
MOST_PAGES_ON = 1000
_MOST_PATTERNS = 10_000
_FEWEST_JUDGED = 20  # pages or links by which a pattern is judged
_LEAST_FRESH = 0.1
_MOST_NEW = 0.3
_RECENT = 2000  # links by which a pattern is judged, before old ones fade
_MOST_HELD = 2000
_FEW_PLACES = 3
_MORE_PER_ARTICLE = 10
_LONGEST_STEP = 3
_MOST_SEGMENTS = 16
_MOST_PARAMETERS = 12
_MOST_REPEATS = 2
_MOST_ONWARD = 8
_MOST_IN_DOUBT = 10  # pages that led to what was not read here: robots may forbid it, so a hundred pages must do
_NUMBER = re.compile(r"[0-9]+")
_ID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F-]{13,}|(?=[a-zA-Z]*[0-9])[0-9a-zA-Z_-]{16,}")
_NOT_EARLIER, _YEARS_ON = 1990, 2


class Trap(StrEnum):
    """What kind of trap an address belongs to."""

    DEEP = "deep"  # a path of very many segments
    NESTED = "nested"  # the same segment again and again: a relative link that digs into itself
    FACETS = "facets"  # very many parameters
    CALENDAR = "calendar"  # a day far away
    ENDLESS = "endless"  # a pattern that feeds itself
    SAME_AGAIN = "same_again"  # a pattern whose pages say nothing new


def shape_trap(url: str, year: int) -> Trap | None:
    """The trap that a canonical address shows by itself; `year` is the present one."""
    path, _, query = url.split("/", 3)[3].partition("?")
    segments = [segment for segment in path.split("/") if segment]
    if len(segments) > _MOST_SEGMENTS:
        return Trap.DEEP
    words = Counter(segment for segment in segments if not segment.isdigit())
    if len(segments) > _MOST_REPEATS and words and max(words.values()) > _MOST_REPEATS:
        return Trap.NESTED
    if query.count("&") >= _MOST_PARAMETERS:
        return Trap.FACETS
    shown = calendar_year(url)
    return Trap.CALENDAR if shown and not _NOT_EARLIER <= shown <= year + _YEARS_ON else None


def calendar_year(url: str) -> int | None:
    """The year in an address whose only numbers are those of a month or a day, as in `/cal/2024/5`; else None."""
    rest = url.split("/", 3)[3]
    numbers = [int(text[:9]) for text in _NUMBER.findall(rest)]
    if not 2 <= len(numbers) <= 3 or not 1000 <= numbers[0] <= 2999 or not 1 <= numbers[1] <= 12:
        return None
    return None if len(numbers) == 3 and not 1 <= numbers[2] <= 31 else numbers[0]


@lru_cache(maxsize=65_536)
def pattern_of(url: str) -> str:
    """An address with its numbers and ids taken out, in small letters; of a query the name, of a longer one nothing."""
    path, _, query = url.split("/", 3)[3].partition("?")
    shape = "/" + _NUMBER.sub("0", _ID.sub("0", path)).lower()
    if not query:
        return shape
    return f"{shape}?*" if "&" in query else f"{shape}?{query.partition('=')[0].lower()}"


def family_of(url: str, parent: str) -> str:
    """The pattern that feeds itself where `parent` leads to the address, "" if the link comes from elsewhere.

    A query that gains or loses parameters (facets) stays in the family; one with other parameters is another page
    of a site that is made by one program.
    """
    if host_of(url) != host_of(parent):
        return ""
    pattern, other = pattern_of(url), pattern_of(parent)
    if not pattern.endswith("?*"):
        return pattern if pattern == other else ""
    here, there = _names(url), _names(parent)
    same_path = pattern.partition("?")[0] == other.partition("?")[0]
    return pattern if same_path and there and (here <= there or there <= here) else ""


def _names(url: str) -> set[str]:
    query = url.partition("?")[2]
    return {part.partition("=")[0].lower() for part in query.split("&")} if query else set()


def is_next(url: str, parent: str) -> bool:
    """Does the address differ from its parent's by one number alone, and by few: is it the next page?"""
    here, there = _NUMBER.findall(url), _NUMBER.findall(parent)
    if len(here) != len(there) or _NUMBER.sub("0", url) != _NUMBER.sub("0", parent):
        return False
    steps = [abs(int(one[:18]) - int(other[:18])) for one, other in zip(here, there, strict=True) if one != other]
    return len(steps) == 1 and steps[0] <= _LONGEST_STEP


@dataclass
class PatternCount:
    """What one pattern has led to.

    Links from its own pages (`own`, `own_new` of them to unknown addresses) and those followed (`taken`, `next` as
    paging); pages that were read (`read`), had something new to say (`fresh`), were worth keeping (`articles`), led to
    unknown addresses of other patterns of the host (`onward`, by the first few patterns) or of more patterns and other
    hosts (`elsewhere`). `places` are some pages elsewhere that lead in, `held` addresses not followed so far.
    """

    own: int = 0
    own_new: int = 0
    taken: int = 0
    next: int = 0
    read: int = 0
    fresh: int = 0
    articles: int = 0
    elsewhere: int = 0
    onward: Counter[str] = field(default_factory=Counter)
    places: set[str] = field(default_factory=set)
    held: OrderedDict[str, None] = field(default_factory=OrderedDict)

    @property
    def is_fresh(self) -> bool:
        """Is there something new on its pages themselves?"""
        return self.fresh >= _LEAST_FRESH * self.read

    @property
    def comes_to_an_end(self) -> bool:
        """Do its pages lead mostly to pages that are known?"""
        return self.own >= _FEWEST_JUDGED and self.own_new <= _MOST_NEW * self.own

    @property
    def room(self) -> int:
        """How many more of its own links may be followed before it has proved to end."""
        return MOST_OF_OWN + _MORE_PER_ARTICLE * self.articles - self.taken

    def found(self, new: bool) -> None:
        """A link from one of its own pages; old ones count less and less."""
        self.own += 1
        self.own_new += new
        if self.own > _RECENT:
            self.own, self.own_new = self.own // 2, self.own_new // 2

    def hold(self, url: str) -> None:
        """Keep an address for later."""
        if len(self.held) < _MOST_HELD:
            self.held[url] = None


@dataclass
class TrapWatch:
    """The patterns of one host. Bounded in memory; `counts` can be kept between runs."""

    counts: OrderedDict[str, PatternCount] = field(default_factory=OrderedDict)

    def __post_init__(self) -> None:
        self._holding = {pattern for pattern, count in self.counts.items() if count.held}

    def link(self, url: str, parent: str, known: bool, declared: bool = False) -> Trap | None:
        """Why a link found on `parent` is not followed, None if it may be; counts it.

        `known` says whether the address was known before, `declared` whether a sitemap or feed names it. What is
        ENDLESS is not lost: see `released`.
        """
        if not declared and self._says_nothing_new(self._count(pattern_of(url))):
            return Trap.SAME_AGAIN
        family = "" if declared else family_of(url, parent)
        if not family:
            self._from_elsewhere(url, parent)
            return None
        count = self._count(family)
        count.found(new=not known and url not in count.held)
        trap = None if known else self._own_link(count, url, parent)
        if count.held:
            self._holding.add(family)
        return trap

    def _from_elsewhere(self, url: str, parent: str) -> None:
        """Links from one list or two may be the trap's own entrance; from more, it is a part of the site."""
        count = self._count(pattern_of(url))
        if len(count.places) < _FEW_PLACES:
            count.places.add(parent)
            count.taken += len(count.places) < _FEW_PLACES

    def _own_link(self, count: PatternCount, url: str, parent: str) -> Trap | None:
        ends = calendar_year(url) is None
        if ends and is_next(url, parent) and count.next < MOST_PAGES_ON:
            count.next += 1
        elif count.room > 0 or (ends and count.comes_to_an_end):
            count.taken += 1
        else:
            if ends:
                count.hold(url)
            return Trap.ENDLESS
        count.held.pop(url, None)
        return None

    def released(self) -> list[str]:
        """Addresses that were held back and may be followed now, for their patterns proved to end or to be worth it."""
        free: list[str] = []
        for pattern in sorted(self._holding):
            count = self.counts.get(pattern) or PatternCount()
            number = len(count.held) if count.comes_to_an_end else min(count.room, len(count.held))
            for _ in range(number):
                free.append(count.held.popitem(last=False)[0])
                count.taken += 1
            if not count.held:
                self._holding.discard(pattern)
        return free

    def page(self, url: str, fresh: bool, new: Sequence[str] = ()) -> None:
        """A page was read; `fresh` says whether its content is unlike that of every page before, `new` are the
        addresses on it that nobody knew."""
        own = pattern_of(url)
        count = self._count(own)
        count.read += 1
        count.fresh += fresh
        start, elsewhere = origin_of(url) + "/", False
        for pattern in dict.fromkeys(pattern_of(link) if link.startswith(start) else "" for link in new):
            if pattern and (pattern in count.onward or len(count.onward) < _MOST_ONWARD):
                count.onward[pattern] += 1
            else:
                elsewhere = True
        del count.onward[own]  # more of itself is no news
        count.elsewhere += elsewhere

    def article(self, url: str) -> None:
        """A page proved to be an article, now or in an earlier run."""
        self._count(pattern_of(url)).articles += 1

    def refuse(self, url: str) -> Trap | None:
        """Why an address that was taken up earlier is no longer fetched: its pattern proved worthless since."""
        count = self.counts.get(pattern_of(url))
        return Trap.SAME_AGAIN if count is not None and self._says_nothing_new(count) else None

    def _says_nothing_new(self, count: PatternCount) -> bool:
        """Have most of its pages said what others said, and led to no more than that?"""
        if count.read < _FEWEST_JUDGED or count.is_fresh:
            return False
        led, in_doubt = 0, count.elsewhere
        for pattern, pages in count.onward.items():
            other = self.counts.get(pattern)
            if other is None or not other.read:
                in_doubt += pages
            elif other.is_fresh:
                led += pages
        return led + min(in_doubt, _MOST_IN_DOUBT) < _LEAST_FRESH * count.read

    def _count(self, pattern: str) -> PatternCount:
        count = self.counts.setdefault(pattern, PatternCount())
        self.counts.move_to_end(pattern)
        if len(self.counts) > _MOST_PATTERNS:
            self.counts.popitem(last=False)
        return count
