"""Spider traps: URL spaces without end or without worth. Known by the URL, by how links lead in, by content, by asking.

A *family* are the URLs of a host that are alike by spelling (`/news/0/0.html`, `/shop?*`) or by position (`/soft404/*`,
see `families.py`). Pages of a real site are led to from elsewhere (lists, the home page, a sitemap) and from more
than one page; a trap feeds itself with URLs that never come up again. So what counts against a family are links from
its own pages to pages of its own that nobody knew, and pages of it that say nothing new. A page says something new by
its content or by leading to it: a list without a text of its own is no trap.

    links from other families, or declared by a sitemap    follow
    its own links, most of them to known pages             follow: a site that is soon known to its end
    its own links, on to the next number (paging)          follow, up to a thousand
    its own links, else                                    hold back, but for the first fifty
    a link that was held back, from another page           follow: it came up again
    any link, once most pages of it say what others said   do not follow, unless it comes up again

Where pages are held back, or very many of a family have been read, the site is asked for some that cannot exist
(`probes.py`). If it has an answer with something new for anything at all, the family is without end; else it is not.

Nothing here reads a clock, a page or a table; one `TrapWatch` is for one host.
"""

import re
from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from crawler.urls.canonical import host_of, origin_of
from crawler.urls.families import GENERAL, Folders, folder_of, pattern_of
from crawler.urls.family_counts import FEWEST_JUDGED, MAX_NEW, MIN_FRESH, FamilyVerdict, PatternCount

MAX_PAGES_ON = 1000
_MAX_PATTERNS = 10_000
_FEW_PLACES = 3
_LONGEST_STEP = 3
_MAX_SEGMENTS = 16
_MAX_PARAMETERS = 12
_MAX_REPEATS = 2
_MAX_ONWARD = 8
FEW_FOLDERS = 3
_SIGHTS = 3  # pages that lead to a real one of a family without end: of some tokens two do by chance
_AS_NEW = 0.5  # of what is new on the pages of a family
_SHOWN = 20  # URLs of a family in doubt
_MAX_IN_DOUBT = 10  # pages that led to what was not read here: robots may forbid it, so a hundred pages must do
_NUMBER = re.compile(r"[0-9]+")
_NOT_EARLIER, _YEARS_ON = 1990, 2


class Trap(StrEnum):
    """What kind of trap a URL belongs to."""

    DEEP = "deep"  # a path of very many segments
    NESTED = "nested"  # the same segment again and again: a relative link that digs into itself
    FACETS = "facets"  # very many parameters
    CALENDAR = "calendar"  # a day far away
    ENDLESS = "endless"  # a pattern that feeds itself
    SAME_AGAIN = "same_again"  # a pattern whose pages say nothing new


def shape_trap(url: str, year: int) -> Trap | None:
    """The trap that a canonical URL shows by itself; `year` is the present one."""
    path, _, query = url.split("/", 3)[3].partition("?")
    segments = [segment for segment in path.split("/") if segment]
    if len(segments) > _MAX_SEGMENTS:
        return Trap.DEEP
    words = Counter(segment for segment in segments if not segment.isdigit())
    if len(segments) > _MAX_REPEATS and words and max(words.values()) > _MAX_REPEATS:
        return Trap.NESTED
    if query.count("&") >= _MAX_PARAMETERS:
        return Trap.FACETS
    shown = calendar_year(url)
    return Trap.CALENDAR if shown and not _NOT_EARLIER <= shown <= year + _YEARS_ON else None


def calendar_year(url: str) -> int | None:
    """The year in a URL whose only numbers are those of a month or a day, as in `/cal/2024/5`; else None."""
    rest = url.split("/", 3)[3]
    numbers = [int(text[:9]) for text in _NUMBER.findall(rest)]
    if not 2 <= len(numbers) <= 3 or not 1000 <= numbers[0] <= 2999 or not 1 <= numbers[1] <= 12:
        return None
    return None if len(numbers) == 3 and not 1 <= numbers[2] <= 31 else numbers[0]


def family_of(url: str, parent: str) -> str:
    """The pattern that feeds itself where `parent` leads to the URL, "" if the link comes from elsewhere.

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
    """Does the URL differ from its parent's by one number alone, and by few: is it the next page?"""
    here, there = _NUMBER.findall(url), _NUMBER.findall(parent)
    if len(here) != len(there) or _NUMBER.sub("0", url) != _NUMBER.sub("0", parent):
        return False
    steps = [abs(int(one[:18]) - int(other[:18])) for one, other in zip(here, there, strict=True) if one != other]
    return len(steps) == 1 and steps[0] <= _LONGEST_STEP


@dataclass
class TrapWatch:
    """The families of one host. Bounded in memory."""

    counts: OrderedDict[str, PatternCount] = field(default_factory=OrderedDict)
    folders: Folders = field(default_factory=Folders)

    def __post_init__(self) -> None:
        self._holding = {pattern for pattern, count in self.counts.items() if count.held}
        self._doubtful: dict[str, list[str]] = {}  # family -> some of its URLs
        self._stale = ""  # the last page read, if it said nothing new
        self._page = ""  # the last page read
        self._found: dict[str, list[int]] = {}  # its own families -> links to [known, unknown] URLs of theirs

    def link(self, url: str, parent: str, known: bool, declared: bool = False) -> Trap | None:
        """Why a link found on `parent` is not followed, None if it may be; counts it.

        `known` says whether the URL was known before, `declared` whether a sitemap or feed names it. What is
        ENDLESS is not lost: see `released`.
        """
        families = self._families(url)
        own = [] if declared else self._shared(url, parent)
        if not known:
            self.folders.led_into(url, parent)
        came_up_again = self._came_up_again(families, url, parent)
        if not declared:
            trap = self._worthless(families)
            if trap is not None and not came_up_again and not (own and self._is_fresh(parent)):
                self._hold(families[-1], url, parent)
                return trap
        if not own:
            return self._from_elsewhere(families, url, parent, known or declared or came_up_again)
        for family in own:
            new = not known and not came_up_again and url not in self._count(family).held
            self._count(family).found(new)
            if parent == self._page:
                self._tell(family, not new, new)
        if known or came_up_again:
            return None
        return self._own_link(own, url, parent)

    def _families(self, url: str) -> list[str]:
        return list(self._kinds(url).values())

    def _kinds(self, url: str) -> dict[str, str]:
        """The families of a URL, by kind."""
        found = {"spelled": pattern_of(url), "folder": folder_of(url), "general": self.folders.general(url)}
        return {kind: family for kind, family in found.items() if family}

    def _shared(self, url: str, parent: str) -> list[str]:
        """The families that feed themselves where `parent` leads to the URL; none if the link comes from elsewhere."""
        if host_of(url) != host_of(parent):
            return []
        folder, spelled, general = folder_of(url), family_of(url, parent), self.folders.general(url)
        is_folder = folder == folder_of(parent)
        is_general = bool(general) and not is_folder and self.folders.lies_in(parent, general)
        found = (spelled, folder if is_folder else "", general if is_general else "")
        return [one for one in found if one]

    def _came_up_again(self, families: Sequence[str], url: str, parent: str) -> bool:
        """Was it held back, and stands on another page too? Then it is held no longer. Queries are no case of it: some
        facets in any order come up again by chance."""
        if "?" in url:
            return False
        for family in families:
            count = self.counts.get(family)
            parents = count.held.get(url, ()) if count is not None else ()
            if count is None or not parents or parent in parents:
                continue
            if len(parents) + 1 >= (_SIGHTS if self._worthless([family]) else 2):
                del count.held[url]
                count.promise(url)
                return True
            count.held[url] = (*parents, parent)
        return False

    def _worthless(self, families: Sequence[str]) -> Trap | None:
        counts = {family: self.counts[family] for family in families if family in self.counts}
        is_whole = any(count.is_whole for count in counts.values())
        for family, count in counts.items():
            if is_whole and not count.is_empty:
                continue
            if self._says_nothing_new(count) and (not family.endswith(GENERAL) or len(count.folders) >= FEW_FOLDERS):
                return Trap.SAME_AGAIN
            if count.verdict is FamilyVerdict.ENDLESS:
                return Trap.ENDLESS
        return None

    def _from_elsewhere(self, families: Sequence[str], url: str, parent: str, is_free: bool) -> Trap | None:
        """Links from one list or two may be the trap's own entrance; from more, it is a part of the site."""
        mixed = next((one for one in families if self._count(one).is_mixed), None)
        if mixed is not None and not is_free:
            self._hold(mixed, url, parent)
            return Trap.SAME_AGAIN
        for family in families:
            count = self._count(family)
            if len(count.places) < _FEW_PLACES:
                count.places.add(parent)
                count.taken += len(count.places) < _FEW_PLACES
        return None

    def _own_link(self, families: Sequence[str], url: str, parent: str) -> Trap | None:
        ends = calendar_year(url) is None
        counts = [self._count(family) for family in families]
        if ends and is_next(url, parent) and counts[0].next < MAX_PAGES_ON:
            counts[0].next += 1
        elif all(one.room > 0 for one in counts) or (
            ends and self._stale != parent and (counts[-1].ends or all(one.room > 0 or one.lets_pass for one in counts))
        ):
            for one in counts:
                one.taken += 1
        else:
            if ends:
                self._hold(families[-1], url, parent)
            return Trap.ENDLESS
        for one in counts:
            one.held.pop(url, None)
        if self._is_fresh(parent):
            counts[-1].promise(url)
        return None

    def _is_fresh(self, page: str) -> bool:
        return page == self._page != self._stale

    def _hold(self, family: str, url: str, parent: str) -> None:
        count = self._count(family)
        count.hold(url, parent)
        self._holding.add(family)
        self._doubt(family, count, url)

    def released(self) -> list[str]:
        """URLs that were held back and may be followed now, for their families proved to end or to be worth it."""
        free: list[str] = []
        for family in sorted(self._holding):
            count = self.counts.get(family) or PatternCount()
            free += count.let_go(0 if self._worthless([family]) else count.free)
            if not count.held:
                self._holding.discard(family)
        return free

    def left(self) -> list[str]:
        """URLs that are held back still, of families that have not proved worthless: not to be lost at a run's end."""
        families = [family for family in sorted(self._holding) if family in self.counts]
        return [url for one in families if not self._worthless([one]) for url in self.counts[one].held]

    def page(self, url: str, fresh: float, new: Sequence[str] = (), empty: bool = False) -> None:
        """A page was read; `fresh` is the part of its content that is unlike that of every page before, `new` are the
        URLs on it that nobody knew; `empty` says that there is no such page, or that it is another
        one's to the digit. Its links are told afterwards
        (`known_links`, `link`)."""
        self._end_page()
        self._page, self._found = url, {}
        start = origin_of(url) + "/"
        here = [link for link in new if link.startswith(start)]
        for kind, family in self._kinds(url).items():
            onward = dict.fromkeys((self._kinds(link).get(kind) or folder_of(link)) for link in here)
            self._count(family).empty += empty
            if len(self._count(family).folders) < FEW_FOLDERS:
                self._count(family).folders.add(folder_of(url))
            self._read(self._count(family), fresh, [one for one in onward if one != family], len(here) < len(new))
            if kind != "spelled":
                self._doubt(family, self._count(family), url)
        self.folders.page(url)
        self._stale = "" if fresh else url

    def _end_page(self) -> None:
        """The links of the last page were all told."""
        for family, (known, new) in self._found.items():
            self._count(family).onto_new += new > (1 - MAX_NEW) * (known + new)
        self._found = {}

    def _tell(self, family: str, known: int, new: int) -> None:
        """Links of the last page to URLs of its own family."""
        told = self._found.setdefault(family, [0, 0])
        told[0] += known
        told[1] += new

    def _read(self, count: PatternCount, fresh: float, onward: Sequence[str], elsewhere: bool) -> None:
        count.read += 1
        count.fresh += fresh > 0
        count.news += fresh
        for family in onward:
            if family in count.onward or len(count.onward) < _MAX_ONWARD:
                count.onward[family] += 1
            else:
                elsewhere = True
        count.elsewhere += elsewhere

    def article(self, url: str) -> None:
        """A page proved to be an article, now or in an earlier run."""
        for family in self._families(url):
            self._count(family).articles += 1

    def known_links(self, parent: str, urls: Iterable[str]) -> None:
        """What speaks for a family: its own pages lead to pages that are known. Counted all at once, as `link` would
        one by one: nearly all links of a site are of this kind."""
        start, pattern, folder = origin_of(parent) + "/", pattern_of(parent), folder_of(parent)
        mine = [url for url in urls if url.startswith(start)]
        for family, count in (
            (pattern, sum(pattern_of(url) == pattern for url in mine)),
            (folder, sum(folder_of(url) == folder for url in mine)),
        ):
            if family and count:
                self._tell(family, count, 0)
                self._count(family).found(new=False, number=count)

    def refuse(self, url: str) -> Trap | None:
        """Why a URL that was taken up earlier is no longer fetched: its family proved worthless since. What a page of
        the family that had something new to say leads to is fetched all the same: real pages may be among them."""
        families = self._families(url)
        if any(one in self.counts and url in self.counts[one].promised for one in families):
            return None
        return self._worthless(families)

    def doubts(self) -> dict[str, list[str]]:
        """Families of which the site is to be asked whether they end, each with some of its URLs; named once."""
        doubtful, self._doubtful = self._doubtful, {}
        found: dict[str, list[str]] = {}
        for family, urls in doubtful.items():
            count = self.counts.get(family)
            if count is not None and count.is_in_doubt and not self._says_nothing_new(count):
                count.verdict = FamilyVerdict.ASKED
                found[family] = urls
        return found

    def answered(self, family: str, shares: Sequence[float], is_page: bool) -> None:
        """What the site has said of a family: the parts of the pages that cannot exist that were new, in the order in
        which they came (the first may have shown how it says "not found"); whether the last one was a page."""
        count = self._count(family)
        if not is_page:
            count.verdict = FamilyVerdict.ENDS
        else:
            usual = count.news / max(count.read, 1)
            as_new = len(shares) > 1 and usual > 0 and all(one >= _AS_NEW * usual for one in shares[1:])
            count.verdict = FamilyVerdict.ENDLESS if as_new else FamilyVerdict.ANSWERS_ALL

    def _doubt(self, family: str, count: PatternCount, url: str) -> None:
        if count.is_in_doubt:
            urls = self._doubtful.setdefault(family, [])
            if len(urls) < _SHOWN:
                urls.append(url)

    def _says_nothing_new(self, count: PatternCount) -> bool:
        """Have most of its pages said what others said, and led to no more than that?"""
        if count.read < FEWEST_JUDGED or count.is_fresh or count.is_whole:
            return False
        led, in_doubt = 0, count.elsewhere
        for pattern, pages in count.onward.items():
            other = self.counts.get(pattern)
            if other is None or not other.read:
                in_doubt += pages
            elif other.is_fresh:
                led += pages
        return led + min(in_doubt, _MAX_IN_DOUBT) < MIN_FRESH * count.read

    def _count(self, pattern: str) -> PatternCount:
        count = self.counts.setdefault(pattern, PatternCount())
        self.counts.move_to_end(pattern)
        if len(self.counts) > _MAX_PATTERNS:
            self.counts.popitem(last=False)
        return count
