"""Counts of one URL family, and decisions from them: whether it is finite, and which URLs may be followed."""

from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from enum import StrEnum

MAX_SELF_LINKS = 50  # a trap also has other entrances, and must cost at most a hundred pages
MIN_SAMPLE_SIZE = 20  # minimum pages or links for a decision
MIN_FRESH_SHARE = 0.1
MAX_NEW_SHARE = 0.3
_DECAY_AFTER_LINKS = 2000  # self links before older ones are discounted
_MAX_SUSPECT_URLS = 2000
_EXTRA_LINKS_PER_ARTICLE = 10
_MIN_STALE_PAGES, _MIN_STALE_SHARE = 20, 0.2  # minimum count and share of pages without new content
_MIN_ONWARD_SHARE = 0.1  # minimum share of pages that link to many new pages of the family
_FIRST_RELEASE_SIZE = 20  # oldest suspect URLs, tried at once
_PAGES_BEFORE_PROBE_IF_SUSPECT = 5  # enough pages to know their usual novelty
_PAGES_BEFORE_PROBE_IF_STALE = 8  # pages without new content before a probe
_PAGES_BEFORE_PROBE = 40  # pages of any family before a probe


class FamilyVerdict(StrEnum):
    """Result of the probes of a family: requests for nonexistent pages."""

    UNKNOWN = "unknown"
    PROBING = "asked"
    FINITE = "ends"  # nonexistent pages are not found
    CATCH_ALL = "answers_all"  # nonexistent pages have no new content: a "not found" page or the usual content
    ENDLESS = "endless"  # nonexistent pages have new content


@dataclass
class FamilyStats:
    """The counts of one URL family.

    Attributes:
        self_links: links from its own pages to its own URLs.
        new_self_links: those to unknown URLs.
        followed_links: links that were followed.
        paging_links: links that were followed as the next page.
        pages_read: pages that were read.
        empty_pages: pages that do not exist or equal another page except for digits.
        fresh_pages: pages with new content.
        novelty_sum: sum of the novelty of all pages.
        article_pages: pages that are articles.
        pages_linking_elsewhere: pages with new links to other hosts or to further families.
        pages_by_target_family: family of the host -> pages with new links to it, for the first few families.
        pages_linking_to_new_own: pages that link mostly to unknown URLs of the family.
        next_release_at_pages: value of `pages_read` at which the next suspect URLs are released.
        release_size: number of suspect URLs in the next release. Grows with each release.
        example_folders: some folders of its pages.
        promised_urls: URLs linked from pages with new content.
        entry_pages: some pages outside the family that link to it.
        suspect_urls: URL not followed so far -> pages that link to it.
        verdict: result of the probes.
        postponed_probes: probes without a result.
    """

    self_links: int = 0
    new_self_links: int = 0
    followed_links: int = 0
    paging_links: int = 0
    pages_read: int = 0
    empty_pages: int = 0
    fresh_pages: int = 0
    novelty_sum: float = 0.0
    article_pages: int = 0
    pages_linking_elsewhere: int = 0
    pages_by_target_family: Counter[str] = field(default_factory=Counter)
    pages_linking_to_new_own: int = 0
    next_release_at_pages: int = 0
    release_size: int = _FIRST_RELEASE_SIZE
    example_folders: set[str] = field(default_factory=set)
    promised_urls: dict[str, None] = field(default_factory=dict)
    entry_pages: set[str] = field(default_factory=set)
    suspect_urls: OrderedDict[str, tuple[str, ...]] = field(default_factory=OrderedDict)
    verdict: FamilyVerdict = FamilyVerdict.UNKNOWN
    postponed_probes: int = 0

    @property
    def has_fresh_content(self) -> bool:
        """True if enough of its pages have new content."""
        return self.fresh_pages >= MIN_FRESH_SHARE * self.pages_read

    @property
    def seems_finite(self) -> bool:
        """True if its pages link mostly to known pages, or if probes confirmed that it is finite."""
        is_known = self.self_links >= MIN_SAMPLE_SIZE and self.new_self_links <= MAX_NEW_SHARE * self.self_links
        links_onward = (
            self.pages_linking_to_new_own >= MIN_SAMPLE_SIZE
            and self.pages_linking_to_new_own >= _MIN_ONWARD_SHARE * self.pages_read
        )
        return (is_known and not links_onward) or self.is_confirmed_finite

    @property
    def is_confirmed_finite(self) -> bool:
        """True if probes confirmed that the family has no other pages."""
        return self.verdict is FamilyVerdict.FINITE or (
            self.verdict is FamilyVerdict.CATCH_ALL and not self.is_partly_stale
        )

    @property
    def is_partly_stale(self) -> bool:
        """True if many, but not most, of its pages have no new content.

        URLs with a single referring page then come last.
        """
        stale_pages = self.pages_read - self.fresh_pages
        return stale_pages >= _MIN_STALE_PAGES and stale_pages >= _MIN_STALE_SHARE * self.pages_read

    @property
    def allows_self_links(self) -> bool:
        """True if any number of its own links may be followed."""
        return self.seems_finite and not self.is_partly_stale

    @property
    def remaining_self_links(self) -> int:
        """Number of its own links that may still be followed before the family is known to be finite."""
        return MAX_SELF_LINKS + _EXTRA_LINKS_PER_ARTICLE * self.article_pages - self.followed_links

    @property
    def needs_probe(self) -> bool:
        """True if the family should be probed now."""
        pages_needed = (
            _PAGES_BEFORE_PROBE_IF_SUSPECT
            if self.suspect_urls
            else _PAGES_BEFORE_PROBE_IF_STALE
            if not self.has_fresh_content
            else _PAGES_BEFORE_PROBE
        )
        return self.verdict is FamilyVerdict.UNKNOWN and self.pages_read >= pages_needed << self.postponed_probes

    @property
    def is_proven_site_part(self) -> bool:
        """True if probes showed that the family is finite and it has real pages.

        Such a family is never a trap, even if its pages (lists) contain no new text.
        """
        return self.verdict is FamilyVerdict.FINITE and not self.is_mostly_empty

    @property
    def is_mostly_empty(self) -> bool:
        """True if hardly any of its URLs is a page."""
        return self.empty_pages > (1 - MIN_FRESH_SHARE) * self.pages_read

    @property
    def releasable_count(self) -> int:
        """Number of suspect URLs that may be followed now."""
        if self.seems_finite and (self.is_confirmed_finite or not self.is_partly_stale):
            return (
                min(self.release_size, len(self.suspect_urls)) if self.pages_read >= self.next_release_at_pages else 0
            )
        return max(min(self.remaining_self_links, len(self.suspect_urls)), 0)

    def release(self, count: int) -> list[str]:
        """Release `count` suspect URLs, oldest first."""
        self.followed_links += count
        if count and self.seems_finite:
            self.next_release_at_pages, self.release_size = (
                self.pages_read + count,
                self.release_size * (1 if self.is_partly_stale else 2),
            )
        return [self.suspect_urls.popitem(last=False)[0] for _ in range(count)]

    def add_promised(self, url: str) -> None:
        """Record a URL of the family that is linked from a page with new content, or from several pages."""
        if len(self.promised_urls) < _MAX_SUSPECT_URLS:
            self.promised_urls[url] = None

    def count_self_links(self, is_new: bool, count: int = 1) -> None:
        """Count links from one of its own pages. Old links are discounted."""
        self.self_links += count
        self.new_self_links += is_new * count
        if self.self_links > _DECAY_AFTER_LINKS:
            self.self_links, self.new_self_links = self.self_links // 2, self.new_self_links // 2

    def hold_url(self, url: str, parent: str) -> None:
        """Hold a URL back for a later release."""
        if len(self.suspect_urls) < _MAX_SUSPECT_URLS:
            self.suspect_urls.setdefault(url, (parent,))
