"""Spider traps: URL spaces without end or without worth. Known by the URL, by how links lead in, by content, by asking.

A *family* are the URLs of a host that are alike by spelling (`/news/0/0.html`, `/shop?*`) or by position (`/soft404/*`,
see `url_patterns.py`). Pages of a real site are led to from elsewhere (lists, the home page, a sitemap) and from more
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

Nothing here reads a clock, a page or a table; one `TrapDetector` is for one host.
"""

import re
from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from crawler.urls.canonical import host_of, origin_of
from crawler.urls.family_stats import MAX_NEW_SHARE, MIN_FRESH_SHARE, MIN_SAMPLE_SIZE, FamilyStats, FamilyVerdict
from crawler.urls.url_patterns import GENERAL_SUFFIX, FolderStats, folder_pattern, url_pattern

MAX_PAGING_LINKS = 1000
_MAX_FAMILIES = 10_000
_MIN_ENTRY_PAGES = 3
_MAX_PAGE_STEP = 3
_MAX_SEGMENTS = 16
_MAX_PARAMETERS = 12
_MAX_SEGMENT_REPEATS = 2
_MAX_TARGET_FAMILIES = 8
MIN_FOLDERS_OF_GENERAL = 3
_SIGHTINGS_TO_RELEASE = 3  # pages that lead to a real one of a family without end: of some tokens two do by chance
_PROBE_NOVELTY_SHARE = 0.5  # of what is new on the pages of a family
_MAX_PROBE_EXAMPLES = 20  # URLs of a family in doubt
_MAX_UNREAD_TARGETS = 10  # pages that led to what was not read here: robots may forbid it, so a hundred pages must do
_NUMBER = re.compile(r"[0-9]+")
_MIN_CALENDAR_YEAR, _MAX_FUTURE_YEARS = 1990, 2


class TrapKind(StrEnum):
    """What kind of trap a URL belongs to."""

    DEEP = "deep"  # a path of very many segments
    NESTED = "nested"  # the same segment again and again: a relative link that digs into itself
    FACETS = "facets"  # very many parameters
    CALENDAR = "calendar"  # a day far away
    ENDLESS = "endless"  # a pattern that feeds itself
    REPETITIVE = "same_again"  # a pattern whose pages say nothing new


def detect_shape_trap(url: str, year: int) -> TrapKind | None:
    """The trap that a canonical URL shows by itself; `year` is the present one."""
    path, _, query = url.split("/", 3)[3].partition("?")
    segments = [segment for segment in path.split("/") if segment]
    if len(segments) > _MAX_SEGMENTS:
        return TrapKind.DEEP
    words = Counter(segment for segment in segments if not segment.isdigit())
    if len(segments) > _MAX_SEGMENT_REPEATS and words and max(words.values()) > _MAX_SEGMENT_REPEATS:
        return TrapKind.NESTED
    if query.count("&") >= _MAX_PARAMETERS:
        return TrapKind.FACETS
    url_year = calendar_year(url)
    return TrapKind.CALENDAR if url_year and not _MIN_CALENDAR_YEAR <= url_year <= year + _MAX_FUTURE_YEARS else None


def calendar_year(url: str) -> int | None:
    """The year in a URL whose only numbers are those of a month or a day, as in `/cal/2024/5`; else None."""
    remainder = url.split("/", 3)[3]
    numbers = [int(text[:9]) for text in _NUMBER.findall(remainder)]
    if not 2 <= len(numbers) <= 3 or not 1000 <= numbers[0] <= 2999 or not 1 <= numbers[1] <= 12:
        return None
    return None if len(numbers) == 3 and not 1 <= numbers[2] <= 31 else numbers[0]


def self_linking_pattern(url: str, parent: str) -> str:
    """The pattern that feeds itself where `parent` leads to the URL, "" if the link comes from elsewhere.

    A query that gains or loses parameters (facets) stays in the family; one with other parameters is another page
    of a site that is made by one program.
    """
    if host_of(url) != host_of(parent):
        return ""
    pattern, other = url_pattern(url), url_pattern(parent)
    if not pattern.endswith("?*"):
        return pattern if pattern == other else ""
    own_names, parent_names = _parameter_names(url), _parameter_names(parent)
    same_path = pattern.partition("?")[0] == other.partition("?")[0]
    return pattern if same_path and parent_names and (own_names <= parent_names or parent_names <= own_names) else ""


def _parameter_names(url: str) -> set[str]:
    query = url.partition("?")[2]
    return {part.partition("=")[0].lower() for part in query.split("&")} if query else set()


def is_next_page(url: str, parent: str) -> bool:
    """Does the URL differ from its parent's by one number alone, and by few: is it the next page?"""
    own_numbers, parent_numbers = _NUMBER.findall(url), _NUMBER.findall(parent)
    if len(own_numbers) != len(parent_numbers) or _NUMBER.sub("0", url) != _NUMBER.sub("0", parent):
        return False
    steps = [
        abs(int(own_number[:18]) - int(parent_number[:18]))
        for own_number, parent_number in zip(own_numbers, parent_numbers, strict=True)
        if own_number != parent_number
    ]
    return len(steps) == 1 and steps[0] <= _MAX_PAGE_STEP


@dataclass
class TrapDetector:
    """The families of one host. Bounded in memory."""

    stats_by_family: OrderedDict[str, FamilyStats] = field(default_factory=OrderedDict)
    folder_stats: FolderStats = field(default_factory=FolderStats)

    def __post_init__(self) -> None:
        self._families_with_held = {pattern for pattern, stats in self.stats_by_family.items() if stats.held_urls}
        self._probe_candidates: dict[str, list[str]] = {}  # family -> some of its URLs
        self._stale_page = ""  # the last page read, if it said nothing new
        self._current_page = ""  # the last page read
        self._self_links_of_page: dict[
            str, list[int]
        ] = {}  # its own families -> links to [known, unknown] URLs of theirs

    def check_link(self, url: str, parent: str, is_known: bool, is_declared: bool = False) -> TrapKind | None:
        """Why a link found on `parent` is not followed, None if it may be; counts it.

        `is_known` says whether the URL was known before, `is_declared` whether a sitemap or feed names it. What is
        ENDLESS is not lost: see `take_released`.
        """
        families = self._families(url)
        self_families = [] if is_declared else self._self_linking_families(url, parent)
        if not is_known:
            self.folder_stats.record_link(url, parent)
        came_up_again = self._release_if_seen_again(families, url, parent)
        if not is_declared:
            trap = self._worthless_trap(families)
            if trap is not None and not came_up_again and not (self_families and self._is_fresh_current_page(parent)):
                self._hold_back(families[-1], url, parent)
                return trap
        if not self_families:
            return self._check_entry_link(families, url, parent, is_known or is_declared or came_up_again)
        for family in self_families:
            new = not is_known and not came_up_again and url not in self._stats_for(family).held_urls
            self._stats_for(family).count_self_links(new)
            if parent == self._current_page:
                self._count_self_links(family, not new, new)
        if is_known or came_up_again:
            return None
        return self._check_self_link(self_families, url, parent)

    def _families(self, url: str) -> list[str]:
        return list(self._families_by_kind(url).values())

    def _families_by_kind(self, url: str) -> dict[str, str]:
        """The families of a URL, by kind."""
        family_by_kind = {
            "spelled": url_pattern(url),
            "folder": folder_pattern(url),
            "general": self.folder_stats.general_pattern(url),
        }
        return {kind: family for kind, family in family_by_kind.items() if family}

    def _self_linking_families(self, url: str, parent: str) -> list[str]:
        """The families that feed themselves where `parent` leads to the URL; none if the link comes from elsewhere."""
        if host_of(url) != host_of(parent):
            return []
        folder, self_linking_family, general = (
            folder_pattern(url),
            self_linking_pattern(url, parent),
            self.folder_stats.general_pattern(url),
        )
        is_folder = folder == folder_pattern(parent)
        is_general = bool(general) and not is_folder and self.folder_stats.is_inside(parent, general)
        families = (self_linking_family, folder if is_folder else "", general if is_general else "")
        return [family for family in families if family]

    def _release_if_seen_again(self, families: Sequence[str], url: str, parent: str) -> bool:
        """Was it held back, and stands on another page too? Then it is held no longer. Queries are no case of it: some
        facets in any order come up again by chance."""
        if "?" in url:
            return False
        for family in families:
            stats = self.stats_by_family.get(family)
            parents = stats.held_urls.get(url, ()) if stats is not None else ()
            if stats is None or not parents or parent in parents:
                continue
            if len(parents) + 1 >= (_SIGHTINGS_TO_RELEASE if self._worthless_trap([family]) else 2):
                del stats.held_urls[url]
                stats.add_promised(url)
                return True
            stats.held_urls[url] = (*parents, parent)
        return False

    def _worthless_trap(self, families: Sequence[str]) -> TrapKind | None:
        counts = {family: self.stats_by_family[family] for family in families if family in self.stats_by_family}
        is_whole = any(stats.is_proven_site_part for stats in counts.values())
        for family, stats in counts.items():
            if is_whole and not stats.is_mostly_empty:
                continue
            if self._is_repetitive(stats) and (
                not family.endswith(GENERAL_SUFFIX) or len(stats.example_folders) >= MIN_FOLDERS_OF_GENERAL
            ):
                return TrapKind.REPETITIVE
            if stats.verdict is FamilyVerdict.ENDLESS:
                return TrapKind.ENDLESS
        return None

    def _check_entry_link(self, families: Sequence[str], url: str, parent: str, is_exempt: bool) -> TrapKind | None:
        """Links from one list or two may be the trap's own entrance; from more, it is a part of the site."""
        stale_family = next(
            (other_family for other_family in families if self._stats_for(other_family).is_partly_stale), None
        )
        if stale_family is not None and not is_exempt:
            self._hold_back(stale_family, url, parent)
            return TrapKind.REPETITIVE
        for family in families:
            stats = self._stats_for(family)
            if len(stats.entry_pages) < _MIN_ENTRY_PAGES:
                stats.entry_pages.add(parent)
                stats.followed_links += len(stats.entry_pages) < _MIN_ENTRY_PAGES
        return None

    def _check_self_link(self, families: Sequence[str], url: str, parent: str) -> TrapKind | None:
        is_not_calendar = calendar_year(url) is None
        counts = [self._stats_for(family) for family in families]
        if is_not_calendar and is_next_page(url, parent) and counts[0].paging_links < MAX_PAGING_LINKS:
            counts[0].paging_links += 1
        elif all(stats.remaining_self_links > 0 for stats in counts) or (
            is_not_calendar
            and self._stale_page != parent
            and (
                counts[-1].is_confirmed_finite
                or all(stats.remaining_self_links > 0 or stats.allows_self_links for stats in counts)
            )
        ):
            for stats in counts:
                stats.followed_links += 1
        else:
            if is_not_calendar:
                self._hold_back(families[-1], url, parent)
            return TrapKind.ENDLESS
        for stats in counts:
            stats.held_urls.pop(url, None)
        if self._is_fresh_current_page(parent):
            counts[-1].add_promised(url)
        return None

    def _is_fresh_current_page(self, page: str) -> bool:
        return page == self._current_page != self._stale_page

    def _hold_back(self, family: str, url: str, parent: str) -> None:
        stats = self._stats_for(family)
        stats.hold_url(url, parent)
        self._families_with_held.add(family)
        self._add_probe_candidate(family, stats, url)

    def take_released(self) -> list[str]:
        """URLs that were held back and may be followed now, for their families proved to end or to be worth it."""
        released_urls: list[str] = []
        for family in sorted(self._families_with_held):
            stats = self.stats_by_family.get(family) or FamilyStats()
            released_urls += stats.release(0 if self._worthless_trap([family]) else stats.releasable_count)
            if not stats.held_urls:
                self._families_with_held.discard(family)
        return released_urls

    def remaining_held(self) -> list[str]:
        """URLs that are held back still, of families that have not proved worthless: not to be lost at a run's end."""
        families = [family for family in sorted(self._families_with_held) if family in self.stats_by_family]
        return [
            url
            for other_family in families
            if not self._worthless_trap([other_family])
            for url in self.stats_by_family[other_family].held_urls
        ]

    def record_page(self, url: str, novelty: float, new_urls: Sequence[str] = (), is_empty: bool = False) -> None:
        """A page was read; `novelty` is the part of its content that is unlike that of every page before, `new_urls` are the
        URLs on it that nobody knew; `is_empty` says that there is no such page, or that it is another
        one's to the digit. Its links are told afterwards
        (`record_known_links`, `check_link`)."""
        self._finish_page()
        self._current_page, self._self_links_of_page = url, {}
        start = origin_of(url) + "/"
        same_host_urls = [link for link in new_urls if link.startswith(start)]
        for kind, family in self._families_by_kind(url).items():
            onward = dict.fromkeys(
                (self._families_by_kind(link).get(kind) or folder_pattern(link)) for link in same_host_urls
            )
            self._stats_for(family).empty_pages += is_empty
            if len(self._stats_for(family).example_folders) < MIN_FOLDERS_OF_GENERAL:
                self._stats_for(family).example_folders.add(folder_pattern(url))
            self._update_stats(
                self._stats_for(family),
                novelty,
                [other_family for other_family in onward if other_family != family],
                len(same_host_urls) < len(new_urls),
            )
            if kind != "spelled":
                self._add_probe_candidate(family, self._stats_for(family), url)
        self.folder_stats.record_page(url)
        self._stale_page = "" if novelty else url

    def _finish_page(self) -> None:
        """The links of the last page were all told."""
        for family, (known_count, new_count) in self._self_links_of_page.items():
            self._stats_for(family).pages_linking_to_new_own += new_count > (1 - MAX_NEW_SHARE) * (
                known_count + new_count
            )
        self._self_links_of_page = {}

    def _count_self_links(self, family: str, known_count: int, new_count: int) -> None:
        """Links of the last page to URLs of its own family."""
        self_links = self._self_links_of_page.setdefault(family, [0, 0])
        self_links[0] += known_count
        self_links[1] += new_count

    def _update_stats(self, stats: FamilyStats, novelty: float, onward: Sequence[str], elsewhere: bool) -> None:
        stats.pages_read += 1
        stats.fresh_pages += novelty > 0
        stats.novelty_sum += novelty
        for family in onward:
            if family in stats.pages_by_target_family or len(stats.pages_by_target_family) < _MAX_TARGET_FAMILIES:
                stats.pages_by_target_family[family] += 1
            else:
                elsewhere = True
        stats.pages_linking_elsewhere += elsewhere

    def record_article(self, url: str) -> None:
        """A page proved to be an article, now or in an earlier run."""
        for family in self._families(url):
            self._stats_for(family).article_pages += 1

    def record_known_links(self, parent: str, urls: Iterable[str]) -> None:
        """What speaks for a family: its own pages lead to pages that are known. Counted all at once, as `check_link` would
        one by one: nearly all links of a site are of this kind."""
        start, pattern, folder = origin_of(parent) + "/", url_pattern(parent), folder_pattern(parent)
        same_host_urls = [url for url in urls if url.startswith(start)]
        for family, stats in (
            (pattern, sum(url_pattern(url) == pattern for url in same_host_urls)),
            (folder, sum(folder_pattern(url) == folder for url in same_host_urls)),
        ):
            if family and stats:
                self._count_self_links(family, stats, 0)
                self._stats_for(family).count_self_links(is_new=False, number=stats)

    def find_trap(self, url: str) -> TrapKind | None:
        """Why a URL that was taken up earlier is no longer fetched: its family proved worthless since. What a page of
        the family that had something new to say leads to is fetched all the same: real pages may be among them."""
        families = self._families(url)
        if any(
            family in self.stats_by_family and url in self.stats_by_family[family].promised_urls for family in families
        ):
            return None
        return self._worthless_trap(families)

    def take_probe_candidates(self) -> dict[str, list[str]]:
        """Families of which the site is to be asked whether they end, each with some of its URLs; named once."""
        doubtful, self._probe_candidates = self._probe_candidates, {}
        candidates: dict[str, list[str]] = {}
        for family, urls in doubtful.items():
            stats = self.stats_by_family.get(family)
            if stats is not None and stats.needs_probe and not self._is_repetitive(stats):
                stats.verdict = FamilyVerdict.PROBING
                candidates[family] = urls
        return candidates

    def record_probe(self, family: str, novelty_scores: Sequence[float], is_page: bool) -> None:
        """What the site has said of a family: the parts of the pages that cannot exist that were new, in the order in
        which they came (the first may have shown how it says "not found"); whether the last one was a page."""
        stats = self._stats_for(family)
        if not is_page:
            stats.verdict = FamilyVerdict.FINITE
        else:
            mean_novelty = stats.novelty_sum / max(stats.pages_read, 1)
            is_as_novel = (
                len(novelty_scores) > 1
                and mean_novelty > 0
                and all(novelty >= _PROBE_NOVELTY_SHARE * mean_novelty for novelty in novelty_scores[1:])
            )
            stats.verdict = FamilyVerdict.ENDLESS if is_as_novel else FamilyVerdict.CATCH_ALL

    def _add_probe_candidate(self, family: str, stats: FamilyStats, url: str) -> None:
        if stats.needs_probe:
            urls = self._probe_candidates.setdefault(family, [])
            if len(urls) < _MAX_PROBE_EXAMPLES:
                urls.append(url)

    def _is_repetitive(self, stats: FamilyStats) -> bool:
        """Have most of its pages said what others said, and led to no more than that?"""
        if stats.pages_read < MIN_SAMPLE_SIZE or stats.has_fresh_content or stats.is_proven_site_part:
            return False
        fresh_targets, unread_targets = 0, stats.pages_linking_elsewhere
        for pattern, pages in stats.pages_by_target_family.items():
            other = self.stats_by_family.get(pattern)
            if other is None or not other.pages_read:
                unread_targets += pages
            elif other.has_fresh_content:
                fresh_targets += pages
        return fresh_targets + min(unread_targets, _MAX_UNREAD_TARGETS) < MIN_FRESH_SHARE * stats.pages_read

    def _stats_for(self, pattern: str) -> FamilyStats:
        stats = self.stats_by_family.setdefault(pattern, FamilyStats())
        self.stats_by_family.move_to_end(pattern)
        if len(self.stats_by_family) > _MAX_FAMILIES:
            self.stats_by_family.popitem(last=False)
        return stats
