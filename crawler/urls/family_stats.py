"""What is counted of one family of URLs, and what follows from it: whether it ends, what may be followed of it."""

from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from enum import StrEnum

MAX_SELF_LINKS = 50  # a trap has some entrances besides, and is to cost a hundred pages at most
MIN_SAMPLE_SIZE = 20  # pages or links by which a pattern is judged
MIN_FRESH_SHARE = 0.1
MAX_NEW_SHARE = 0.3
_DECAY_AFTER_LINKS = 2000  # links by which a pattern is judged, before old ones fade
_MAX_HELD_URLS = 2000
_EXTRA_LINKS_PER_ARTICLE = 10
_MIN_STALE_PAGES, _MIN_STALE_SHARE = 20, 0.2  # pages, and part of those read, that say nothing new
_MIN_ONWARD_SHARE = 0.1  # part of its pages that lead on and on
_FIRST_RELEASE_SIZE = 20  # of what came last, tried at once
_PAGES_BEFORE_PROBE_IF_HELD = 5  # pages that show how new its pages usually are
_PAGES_BEFORE_PROBE_IF_STALE = 8  # pages that say nothing new, after which the site is asked whether the family ends
_PAGES_BEFORE_PROBE = 40  # pages of a family after which the site is asked whether it ends


class FamilyVerdict(StrEnum):
    """What the site has said of a family when it was asked for pages that cannot exist."""

    UNKNOWN = "unknown"
    PROBING = "asked"
    FINITE = "ends"  # there are none
    CATCH_ALL = "answers_all"  # it answers, with nothing new: how it says "not found", or what the family is like
    ENDLESS = "endless"  # it has something new for anything


@dataclass
class FamilyStats:
    """What one family has led to.

    Links from its own pages (`self_links`, `new_self_links` of them to unknown URLs) and those followed (`followed_links`, `paging_links` as paging);
    pages that were read (`pages_read`), are not there or another page's to the digit
    (`empty_pages`), had something new to say (`fresh_pages`, `novelty_sum` the parts of them),
    were worth keeping (`article_pages`), led to unknown URLs of other families of the host (`pages_by_target_family`, by the first few
    families) or of more families and other hosts (`pages_linking_elsewhere`), or mostly to unknown ones of its own (`pages_linking_to_new_own`).
    `entry_pages` are some pages elsewhere that lead in,
    `held_urls` URLs not followed so far, each with the pages that it was found on. They are let go in portions that grow,
    the next one once so many pages were read (`release_size`, `next_release_at_pages`). `promised_urls` are URLs that its fresh pages lead
    to, `example_folders` some of those that its pages are in.
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
    held_urls: OrderedDict[str, tuple[str, ...]] = field(default_factory=OrderedDict)
    verdict: FamilyVerdict = FamilyVerdict.UNKNOWN

    @property
    def has_fresh_content(self) -> bool:
        """Is there something new on its pages themselves?"""
        return self.fresh_pages >= MIN_FRESH_SHARE * self.pages_read

    @property
    def seems_finite(self) -> bool:
        """Do its pages lead mostly to pages that are known, or has the site said that it has no others?"""
        is_known = self.self_links >= MIN_SAMPLE_SIZE and self.new_self_links <= MAX_NEW_SHARE * self.self_links
        links_onward = (
            self.pages_linking_to_new_own >= MIN_SAMPLE_SIZE
            and self.pages_linking_to_new_own >= _MIN_ONWARD_SHARE * self.pages_read
        )
        return (is_known and not links_onward) or self.is_confirmed_finite

    @property
    def is_confirmed_finite(self) -> bool:
        """Has the site said that there are no others than those that it has?"""
        return self.verdict is FamilyVerdict.FINITE or (
            self.verdict is FamilyVerdict.CATCH_ALL and not self.is_partly_stale
        )

    @property
    def is_partly_stale(self) -> bool:
        """Do many of its pages say nothing new, if not nearly all? Then those that only one page leads to come last."""
        stale_pages = self.pages_read - self.fresh_pages
        return stale_pages >= _MIN_STALE_PAGES and stale_pages >= _MIN_STALE_SHARE * self.pages_read

    @property
    def allows_self_links(self) -> bool:
        """May its own links be followed, however many there are?"""
        return self.seems_finite and not self.is_partly_stale

    @property
    def remaining_self_links(self) -> int:
        """How many more of its own links may be followed before it has proved to end."""
        return MAX_SELF_LINKS + _EXTRA_LINKS_PER_ARTICLE * self.article_pages - self.followed_links

    @property
    def needs_probe(self) -> bool:
        """Is it time to ask the site?"""
        pages_needed = (
            _PAGES_BEFORE_PROBE_IF_HELD
            if self.held_urls
            else _PAGES_BEFORE_PROBE_IF_STALE
            if not self.has_fresh_content
            else _PAGES_BEFORE_PROBE
        )
        return self.verdict is FamilyVerdict.UNKNOWN and self.pages_read >= pages_needed

    @property
    def is_proven_site_part(self) -> bool:
        """Has the site said that it ends, and is it there at all? Then it may say what it likes: lists, for one, say
        what others say and lead to what is known, and are no trap."""
        return self.verdict is FamilyVerdict.FINITE and not self.is_mostly_empty

    @property
    def is_mostly_empty(self) -> bool:
        """Is there hardly any page in it?"""
        return self.empty_pages > (1 - MIN_FRESH_SHARE) * self.pages_read

    @property
    def releasable_count(self) -> int:
        """How many of those held back may be followed now."""
        if self.seems_finite and (self.is_confirmed_finite or not self.is_partly_stale):
            return min(self.release_size, len(self.held_urls)) if self.pages_read >= self.next_release_at_pages else 0
        return max(min(self.remaining_self_links, len(self.held_urls)), 0)

    def release(self, number: int) -> list[str]:
        """So many of those held back, the oldest first."""
        self.followed_links += number
        if number and self.seems_finite:
            self.next_release_at_pages, self.release_size = (
                self.pages_read + number,
                self.release_size * (1 if self.is_partly_stale else 2),
            )
        return [self.held_urls.popitem(last=False)[0] for _ in range(number)]

    def add_promised(self, url: str) -> None:
        """A page of the family that had something new to say leads to a URL of it, or several pages do."""
        if len(self.promised_urls) < _MAX_HELD_URLS:
            self.promised_urls[url] = None

    def count_self_links(self, is_new: bool, number: int = 1) -> None:
        """So many links from one of its own pages; old ones count less and less."""
        self.self_links += number
        self.new_self_links += is_new * number
        if self.self_links > _DECAY_AFTER_LINKS:
            self.self_links, self.new_self_links = self.self_links // 2, self.new_self_links // 2

    def hold_url(self, url: str, parent: str) -> None:
        """Keep a URL for later."""
        if len(self.held_urls) < _MAX_HELD_URLS:
            self.held_urls.setdefault(url, (parent,))
