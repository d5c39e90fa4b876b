"""The strategy of a crawl that looks for something: what its guide says of the page at hand."""

from collections.abc import Callable
from dataclasses import replace

from crawler.packed_reading import Guide
from crawler.parallel.fetch_pool import PageDone
from crawler.strategies import ParentPage, Relevance
from docstore.frontier.focused_decisions import PageDecision
from docstore.frontier.table import Visit
from docstore.model import Link, Outcome, Page, Reason


class Guided:
    """A `Strategy` whose answers are those of a guide. `visit` is called for a page before anything is asked of it."""

    def __init__(self, guide: Guide) -> None:
        self._guide = guide
        self._guidance: PageDecision | None = None

    def visit(self, done: PageDone, judged: Callable[[PageDone], Visit]) -> Visit:
        """The visit that a finished fetch amounts to, with what the guide makes of its page."""
        if done.reading is None:
            return judged(done)
        given = self._guide.judge(done.reading, {link.url: link.anchor for link in done.links})
        self._guidance = given
        visit = replace(judged(done), guidance=given)
        if given.kept or visit.page is not None or visit.outcome.reason is not Reason.FETCHED:
            return visit
        outcome = Outcome(Reason.OFF_TOPIC, f"{given.strategy} gives it {given.score:.3f} for {given.topic}")
        return replace(visit, outcome=outcome, gone=bool(visit.entry.digest))

    def keep(self, page: Page) -> Relevance:
        """What the guide said."""
        del page
        assert self._guidance is not None
        return Relevance(self._guidance.kept, self._guidance.score)

    def link_priority(self, parent: ParentPage, link: Link) -> float | None:
        """What the guide says."""
        del parent
        return self._guide.priority(link.url)

    def learn(self, page: Page) -> None:
        """The guide has seen it."""
