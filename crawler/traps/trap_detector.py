"""Detect crawler traps: infinite or worthless URL spaces. Criteria: the URL, links to it, content, and probes.

A *family* is a set of URLs of a host that are similar in spelling (`/news/0/0.html`, `/shop?*`) or position
(`/soft404/*`, see `url_patterns.py`). Several pages outside the family link to a real page: lists, the home page, a
sitemap. A trap links to itself with URLs that occur only once. Two facts therefore count against a family: links from
its own pages to its own unknown pages, and pages without anything new. A page has something new in its content or in
its links, so a list without text is not a trap.

    link from another family                                follow
    listed in a sitemap or feed                             follow, without a call of `check_link`
    own link, most own links lead to known pages            follow: the site is finite
    own link to the next number (paging, calendars)         follow, up to a thousand, while the pages show something new
    other own link                                          hold back after the first fifty
    suspect link, found again on another page               follow
    any link, if most pages of the family repeat others     do not follow, unless it is found again

A family with suspect URLs or very many pages is probed with nonexistent URLs (`probe_urls.py`). If their pages have new
content, the family is infinite, otherwise it is not.

Nothing here reads a clock, a page or a table. One `TrapDetector` serves one host.
"""

import re
from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from crawler.traps.family_stats import MAX_NEW_SHARE, MIN_FRESH_SHARE, MIN_SAMPLE_SIZE, FamilyStats, FamilyVerdict
from crawler.traps.url_patterns import GENERAL_SUFFIX, FolderStats, folder_pattern, url_pattern
from crawler.urls.canonical import host_of, url_origin
from domain.message import Message

MAX_PAGING_LINKS = 1000
_MAX_FAMILIES = 10_000
_MIN_ENTRY_PAGES = 3
_MAX_PAGE_STEP = 3
_MAX_SEGMENTS = 16
_MAX_PARAMETERS = 12
_MAX_SEGMENT_REPEATS = 2
_MAX_TARGET_FAMILIES = 8
MIN_FOLDERS_OF_GENERAL = 3
_SIGHTINGS_TO_RELEASE = 3  # referring pages of a real page in an infinite family; two may share a token by chance
_PROBE_NOVELTY_SHARE = 0.5  # of the mean novelty of the family's pages
_MAX_PROBE_EXAMPLES = 20  # URLs per family
# At most this many pages that link only to unread URLs count as fresh. robots.txt may forbid these URLs; with
# MIN_FRESH_SHARE, a hundred pages are then enough for a decision.
_MAX_UNREAD_TARGETS = 10
_NUMBER = re.compile(r"[0-9]+")
_MAX_BARREN_PAGES = 20  # pages in a row that show nothing new, before paging counts as a self link


class TrapKind(StrEnum):
    """The kind of trap that a URL belongs to."""

    DEEP = "deep"
    NESTED = "nested"  # a relative link that extends its own path
    FACETS = "facets"
    ENDLESS = "endless"  # a pattern that links to itself without end
    REPETITIVE = "same_again"

    @property
    def message(self) -> Message:
        """The kind as a message for people."""
        return _TRAP_MESSAGES[self]


_TRAP_MESSAGES = {
    TrapKind.DEEP: Message("too many path segments"),
    TrapKind.NESTED: Message("repeated path segments"),
    TrapKind.FACETS: Message("too many parameters"),
    TrapKind.ENDLESS: Message("endless URLs of one kind"),
    TrapKind.REPETITIVE: Message("pages of one kind repeat each other"),
}


def detect_shape_trap(url: str) -> TrapKind | None:
    """Return the trap that a canonical URL shows by its form, or None."""
    path, _, query = url.split("/", 3)[3].partition("?")
    segments = [segment for segment in path.split("/") if segment]
    if len(segments) > _MAX_SEGMENTS:
        return TrapKind.DEEP
    words = Counter(segment for segment in segments if not segment.isdigit())
    if len(segments) > _MAX_SEGMENT_REPEATS and words and max(words.values()) > _MAX_SEGMENT_REPEATS:
        return TrapKind.NESTED
    return TrapKind.FACETS if query.count("&") >= _MAX_PARAMETERS else None


def self_linking_pattern(url: str, parent: str) -> str:
    """Return the shared pattern if `parent` and the URL belong to one family, or "" if they do not.

    A query that gains or loses parameters (facets) stays in the family. A query with other parameters is another page
    of a program-generated site.
    """
    if host_of(url) != host_of(parent):
        return ""
    pattern, parent_pattern = url_pattern(url), url_pattern(parent)
    if not pattern.endswith("?*"):
        return pattern if pattern == parent_pattern else ""
    own_names, parent_names = _parameter_names(url), _parameter_names(parent)
    same_path = pattern.partition("?")[0] == parent_pattern.partition("?")[0]
    return pattern if same_path and parent_names and (own_names <= parent_names or parent_names <= own_names) else ""


def _parameter_names(url: str) -> set[str]:
    query = url.partition("?")[2]
    return {part.partition("=")[0].lower() for part in query.split("&")} if query else set()


def is_next_page(url: str, parent: str) -> bool:
    """True if the URL differs from its parent in one number only, by at most `_MAX_PAGE_STEP`, or is the next date.

    After `/2024/12/31` comes `/2025/1/1`: a number grows by 1, and the numbers after it begin again.
    """
    if _NUMBER.sub("0", url) != _NUMBER.sub("0", parent):
        return False
    changes = [
        (int(own_number[:18]), int(parent_number[:18]))
        for own_number, parent_number in zip(_NUMBER.findall(url), _NUMBER.findall(parent), strict=True)
        if own_number != parent_number
    ]
    if len(changes) == 1:
        return abs(changes[0][0] - changes[0][1]) <= _MAX_PAGE_STEP
    if not changes or "&" in url:  # facets
        return False
    first_step = changes[0][0] - changes[0][1]
    return abs(first_step) == 1 and all(pair[0 if first_step > 0 else 1] <= 1 for pair in changes[1:])


@dataclass
class TrapDetector:
    """The URL families of one host. Memory is bounded."""

    stats_by_family: OrderedDict[str, FamilyStats] = field(default_factory=OrderedDict)
    folder_stats: FolderStats = field(default_factory=FolderStats)

    def __post_init__(self) -> None:
        self._families_with_suspects = {
            pattern for pattern, stats in self.stats_by_family.items() if stats.suspect_urls
        }
        self._probe_candidates: dict[str, list[str]] = {}  # family -> some of its URLs
        self._stale_page = ""  # URL of the last page if it had no new content
        self._barren_page = ""  # the same, if it also has no new links to other families
        self._barren_pages_by_url: dict[str, int] = {}  # URL linked from a barren page -> barren pages in a row
        self._current_page = ""  # URL of the last page
        # Own families of the current page -> [links to known URLs, links to unknown URLs].
        self._self_links_of_page: dict[str, list[int]] = {}

    def check_link(self, url: str, parent: str, is_known: bool) -> TrapKind | None:
        """Count a link found on `parent`. Returns the trap if it is not followed, or None.

        Args:
            is_known: whether the URL was known before.

        URLs of an ENDLESS trap are suspects: not followed, but stored. They may be released later: see `take_harmless`.
        """
        families = self._families(url)
        self_families = self._self_linking_families(url, parent)
        if not is_known:
            self.folder_stats.record_link(url, parent)
        seen_again = self._release_if_seen_again(families, url, parent)
        trap = self._worthless_trap(families)
        if trap is not None and not seen_again and not (self_families and self._is_fresh_current_page(parent)):
            self._hold_back(families[-1], url, parent)
            return trap
        if not self_families:
            return self._check_entry_link(families, url, parent, is_known or seen_again)
        for family in self_families:
            is_new = not is_known and not seen_again and url not in self._stats_for(family).suspect_urls
            self._stats_for(family).count_self_links(is_new)
            if parent == self._current_page:
                self._count_self_links(family, not is_new, is_new)
        if is_known or seen_again:
            return None
        return self._check_self_link(self_families, url, parent)

    def _families(self, url: str) -> list[str]:
        return list(self._families_by_kind(url).values())

    def _families_by_kind(self, url: str) -> dict[str, str]:
        """Return the families of a URL by kind: spelled, folder, general."""
        family_by_kind = {
            "spelled": url_pattern(url),
            "folder": folder_pattern(url),
            "general": self.folder_stats.general_pattern(url),
        }
        return {kind: family for kind, family in family_by_kind.items() if family}

    def _self_linking_families(self, url: str, parent: str) -> list[str]:
        """Return the families that both the URL and `parent` belong to, or none."""
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
        """Let the crawl fetch a held-back URL after enough different pages have linked to it.

        A URL of a suspected trap is held back when it is first found. If `parent` is one more page that links to it but
        not enough pages do yet, `parent` is recorded. URLs with a query stay held back: in a faceted list, other pages
        link to the same combination of filters by chance. Pages with nothing new are no evidence, because the months of
        an empty calendar link to each other.

        Returns:
            True if the URL was held back and no longer is.
        """
        if "?" in url or parent == self._barren_page:
            return False
        for family in families:
            stats = self.stats_by_family.get(family)
            parents = stats.suspect_urls.get(url, ()) if stats is not None else ()
            if stats is None or not parents or parent in parents:
                continue
            if len(parents) + 1 >= (_SIGHTINGS_TO_RELEASE if self._worthless_trap([family]) else 2):
                del stats.suspect_urls[url]
                stats.add_promised(url)
                return True
            stats.suspect_urls[url] = (*parents, parent)
        return False

    def _worthless_trap(self, families: Sequence[str]) -> TrapKind | None:
        counts = {family: self.stats_by_family[family] for family in families if family in self.stats_by_family}
        is_site_part = any(stats.is_proven_site_part for stats in counts.values())
        for family, stats in counts.items():
            if is_site_part and not stats.is_mostly_empty:
                continue
            if self._is_repetitive(stats) and (
                not family.endswith(GENERAL_SUFFIX) or len(stats.example_folders) >= MIN_FOLDERS_OF_GENERAL
            ):
                return TrapKind.REPETITIVE
            if stats.verdict is FamilyVerdict.ENDLESS:
                return TrapKind.ENDLESS
        return None

    def _check_entry_link(self, families: Sequence[str], url: str, parent: str, is_exempt: bool) -> TrapKind | None:
        """Check a link from outside the families.

        One or two linking pages may be entrances of a trap; more prove a real part.
        """
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
        counts = [self._stats_for(family) for family in families]
        # Pages in a row, up to this link, that show nothing new and lead to nothing but their family.
        barren_pages = self._barren_pages_by_url.get(parent, 0) + 1 if parent == self._barren_page else 0
        if barren_pages < _MAX_BARREN_PAGES and is_next_page(url, parent) and counts[0].paging_links < MAX_PAGING_LINKS:
            counts[0].paging_links += 1
        elif all(stats.remaining_self_links > 0 for stats in counts) or (
            self._stale_page != parent
            and (
                counts[-1].is_confirmed_finite
                or all(stats.remaining_self_links > 0 or stats.allows_self_links for stats in counts)
            )
        ):
            for stats in counts:
                stats.followed_links += 1
        else:
            self._hold_back(families[-1], url, parent)
            return TrapKind.ENDLESS
        if barren_pages:
            self._barren_pages_by_url[url] = barren_pages
            if len(self._barren_pages_by_url) > _MAX_FAMILIES:
                del self._barren_pages_by_url[next(iter(self._barren_pages_by_url))]
        for stats in counts:
            stats.suspect_urls.pop(url, None)
        if self._is_fresh_current_page(parent):
            counts[-1].add_promised(url)
        return None

    def _is_fresh_current_page(self, page: str) -> bool:
        return page == self._current_page != self._stale_page

    def _hold_back(self, family: str, url: str, parent: str) -> None:
        stats = self._stats_for(family)
        stats.hold_url(url, parent)
        self._families_with_suspects.add(family)
        self._add_probe_candidate(family, stats, url)

    def take_harmless(self) -> list[str]:
        """Return suspect URLs that may be followed now, because their families proved finite or useful."""
        harmless_urls: list[str] = []
        for family in sorted(self._families_with_suspects):
            stats = self.stats_by_family.get(family) or FamilyStats()
            harmless_urls += stats.release(0 if self._worthless_trap([family]) else stats.releasable_count)
            if not stats.suspect_urls:
                self._families_with_suspects.discard(family)
        return harmless_urls

    def remaining_suspects(self) -> list[str]:
        """Return the URLs that are still suspects at the end of a run, except those of worthless families."""
        families = [family for family in sorted(self._families_with_suspects) if family in self.stats_by_family]
        return [
            url
            for other_family in families
            if not self._worthless_trap([other_family])
            for url in self.stats_by_family[other_family].suspect_urls
        ]

    def record_page(self, url: str, novelty: float, new_urls: Sequence[str] = (), is_empty: bool = False) -> None:
        """Record a page that was read. Call it before `record_known_links` and `check_link` for its links.

        Args:
            novelty: share of its content that is new to the host, 0 to 1.
            new_urls: unknown URLs that it links to.
            is_empty: True if the page does not exist or equals another page except for digits.
        """
        self._finish_page()
        self._current_page, self._self_links_of_page = url, {}
        start = url_origin(url) + "/"
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
        leads_elsewhere = any(not link.startswith(start) or url_pattern(link) != url_pattern(url) for link in new_urls)
        self._barren_page = "" if leads_elsewhere else self._stale_page

    def _finish_page(self) -> None:
        """Evaluate the links of the last page, after all of them were recorded."""
        for family, (known_count, new_count) in self._self_links_of_page.items():
            self._stats_for(family).pages_linking_to_new_own += new_count > (1 - MAX_NEW_SHARE) * (
                known_count + new_count
            )
        self._self_links_of_page = {}

    def _count_self_links(self, family: str, known_count: int, new_count: int) -> None:
        """Count links of the current page to URLs of its own family."""
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
        """Record that a page is an article, in this run or an earlier one."""
        for family in self._families(url):
            self._stats_for(family).article_pages += 1

    def record_known_links(self, parent: str, urls: Iterable[str]) -> None:
        """Count links of a page to known pages, which are evidence for its families.

        Equal to calling `check_link` for each link, but faster: most links of a site are of this kind.
        """
        start, pattern, folder = url_origin(parent) + "/", url_pattern(parent), folder_pattern(parent)
        same_host_urls = [url for url in urls if url.startswith(start)]
        for family, link_count in (
            (pattern, [*map(url_pattern, same_host_urls)].count(pattern)),
            (folder, [*map(folder_pattern, same_host_urls)].count(folder)),
        ):
            if family and link_count:
                self._count_self_links(family, link_count, 0)
                self._stats_for(family).count_self_links(is_new=False, count=link_count)

    def find_trap(self, url: str) -> TrapKind | None:
        """Return the trap of an already accepted URL, or None.

        URLs linked from a page with new content stay allowed.
        """
        families = self._families(url)
        if any(
            family in self.stats_by_family and url in self.stats_by_family[family].promised_urls for family in families
        ):
            return None
        return self._worthless_trap(families)

    def take_probe_candidates(self) -> dict[str, list[str]]:
        """Return families to probe, each with some of its URLs.

        Each family is returned once, and again after `postpone_probe`.
        """
        doubtful, self._probe_candidates = self._probe_candidates, {}
        candidates: dict[str, list[str]] = {}
        for family, urls in doubtful.items():
            stats = self.stats_by_family.get(family)
            if stats is not None and stats.needs_probe and not self._is_repetitive(stats):
                stats.verdict = FamilyVerdict.PROBING
                candidates[family] = urls
        return candidates

    def record_probe(self, family: str, novelty_scores: Sequence[float], is_page: bool) -> None:
        """Record the probe result of a family.

        Args:
            novelty_scores: shares of new content of the nonexistent pages, in order. The first may be a "not found"
                page.
            is_page: whether the last response was a page.
        """
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

    def postpone_probe(self, family: str) -> None:
        """Probe a family again after it has doubled, because the probe was not sent or its response shows nothing."""
        stats = self._stats_for(family)
        stats.verdict = FamilyVerdict.UNKNOWN
        stats.postponed_probes += 1

    def _add_probe_candidate(self, family: str, stats: FamilyStats, url: str) -> None:
        if stats.needs_probe:
            urls = self._probe_candidates.setdefault(family, [])
            if len(urls) < _MAX_PROBE_EXAMPLES:
                urls.append(url)

    def _is_repetitive(self, stats: FamilyStats) -> bool:
        """True if most of its pages repeat others and link to nothing more than that."""
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
