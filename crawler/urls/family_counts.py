"""What is counted of one family of URLs, and what follows from it: whether it ends, what may be followed of it."""

from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from enum import StrEnum

MAX_OF_OWN = 50  # a trap has some entrances besides, and is to cost a hundred pages at most
FEWEST_JUDGED = 20  # pages or links by which a pattern is judged
MIN_FRESH = 0.1
MAX_NEW = 0.3
_RECENT = 2000  # links by which a pattern is judged, before old ones fade
_MAX_HELD = 2000
_MORE_PER_ARTICLE = 10
_MANY_STALE, _MIXED = 20, 0.2  # pages, and part of those read, that say nothing new
_ONTO_NEW = 0.1  # part of its pages that lead on and on
_PORTION = 20  # of what came last, tried at once
_FEW_READ = 5  # pages that show how new its pages usually are
_STALE_IN_DOUBT = 8  # pages that say nothing new, after which the site is asked whether the family ends
_READ_IN_DOUBT = 40  # pages of a family after which the site is asked whether it ends


class FamilyVerdict(StrEnum):
    """What the site has said of a family when it was asked for pages that cannot exist."""

    UNKNOWN = "unknown"
    ASKED = "asked"
    ENDS = "ends"  # there are none
    ANSWERS_ALL = "answers_all"  # it answers, with nothing new: how it says "not found", or what the family is like
    ENDLESS = "endless"  # it has something new for anything


@dataclass
class PatternCount:
    """What one family has led to.

    Links from its own pages (`own`, `own_new` of them to unknown URLs) and those followed (`taken`, `next` as paging);
    pages that were read (`read`), are not there or another page's to the digit
    (`empty`), had something new to say (`fresh`, `news` the parts of them),
    were worth keeping (`articles`), led to unknown URLs of other families of the host (`onward`, by the first few
    families) or of more families and other hosts (`elsewhere`), or mostly to unknown ones of its own (`onto_new`).
    `places` are some pages elsewhere that lead in,
    `held` URLs not followed so far, each with the pages that it was found on. They are let go in portions that grow,
    the next one once so many pages were read (`portion`, `waits_until`). `promised` are URLs that its fresh pages lead
    to, `folders` some of those that its pages are in.
    """

    own: int = 0
    own_new: int = 0
    taken: int = 0
    next: int = 0
    read: int = 0
    empty: int = 0
    fresh: int = 0
    news: float = 0.0
    articles: int = 0
    elsewhere: int = 0
    onward: Counter[str] = field(default_factory=Counter)
    onto_new: int = 0
    waits_until: int = 0
    portion: int = _PORTION
    folders: set[str] = field(default_factory=set)
    promised: dict[str, None] = field(default_factory=dict)
    places: set[str] = field(default_factory=set)
    held: OrderedDict[str, tuple[str, ...]] = field(default_factory=OrderedDict)
    verdict: FamilyVerdict = FamilyVerdict.UNKNOWN

    @property
    def is_fresh(self) -> bool:
        """Is there something new on its pages themselves?"""
        return self.fresh >= MIN_FRESH * self.read

    @property
    def comes_to_an_end(self) -> bool:
        """Do its pages lead mostly to pages that are known, or has the site said that it has no others?"""
        is_known = self.own >= FEWEST_JUDGED and self.own_new <= MAX_NEW * self.own
        leads_on = self.onto_new >= FEWEST_JUDGED and self.onto_new >= _ONTO_NEW * self.read
        return (is_known and not leads_on) or self.ends

    @property
    def ends(self) -> bool:
        """Has the site said that there are no others than those that it has?"""
        return self.verdict is FamilyVerdict.ENDS or (self.verdict is FamilyVerdict.ANSWERS_ALL and not self.is_mixed)

    @property
    def is_mixed(self) -> bool:
        """Do many of its pages say nothing new, if not nearly all? Then those that only one page leads to come last."""
        stale = self.read - self.fresh
        return stale >= _MANY_STALE and stale >= _MIXED * self.read

    @property
    def lets_pass(self) -> bool:
        """May its own links be followed, however many there are?"""
        return self.comes_to_an_end and not self.is_mixed

    @property
    def room(self) -> int:
        """How many more of its own links may be followed before it has proved to end."""
        return MAX_OF_OWN + _MORE_PER_ARTICLE * self.articles - self.taken

    @property
    def is_in_doubt(self) -> bool:
        """Is it time to ask the site?"""
        enough = _FEW_READ if self.held else _STALE_IN_DOUBT if not self.is_fresh else _READ_IN_DOUBT
        return self.verdict is FamilyVerdict.UNKNOWN and self.read >= enough

    @property
    def is_whole(self) -> bool:
        """Has the site said that it ends, and is it there at all? Then it may say what it likes: lists, for one, say
        what others say and lead to what is known, and are no trap."""
        return self.verdict is FamilyVerdict.ENDS and not self.is_empty

    @property
    def is_empty(self) -> bool:
        """Is there hardly any page in it?"""
        return self.empty > (1 - MIN_FRESH) * self.read

    @property
    def free(self) -> int:
        """How many of those held back may be followed now."""
        if self.comes_to_an_end and (self.ends or not self.is_mixed):
            return min(self.portion, len(self.held)) if self.read >= self.waits_until else 0
        return max(min(self.room, len(self.held)), 0)

    def let_go(self, number: int) -> list[str]:
        """So many of those held back, the oldest first."""
        self.taken += number
        if number and self.comes_to_an_end:
            self.waits_until, self.portion = self.read + number, self.portion * (1 if self.is_mixed else 2)
        return [self.held.popitem(last=False)[0] for _ in range(number)]

    def promise(self, url: str) -> None:
        """A page of the family that had something new to say leads to a URL of it, or several pages do."""
        if len(self.promised) < _MAX_HELD:
            self.promised[url] = None

    def found(self, new: bool, number: int = 1) -> None:
        """So many links from one of its own pages; old ones count less and less."""
        self.own += number
        self.own_new += new * number
        if self.own > _RECENT:
            self.own, self.own_new = self.own // 2, self.own_new // 2

    def hold(self, url: str, parent: str) -> None:
        """Keep a URL for later."""
        if len(self.held) < _MAX_HELD:
            self.held.setdefault(url, (parent,))
