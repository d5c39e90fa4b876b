"""What a finished fetch amounts to: the visit to record, with the links worth following. No network, no table."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from random import Random
from time import gmtime

from crawler.crawl_context import CrawlContext
from crawler.pages.probes import Probing, probes_of
from crawler.parallel.fetch_pool import PageDone
from crawler.schedule.revisit import RevisitPolicy
from crawler.urls.canonical import host_of, refuse
from crawler.urls.run_deduplicator import RunDeduplicator
from crawler.urls.traps import TrapWatch, shape_trap
from docstore.frontier.focused_decisions import PageDecision
from docstore.frontier.table import NewUrl, Visit
from docstore.model import FrontierEntry, Host, Kind, Outcome, Reason

_MAX_HELD = 20_000  # URLs of patterns that may be traps
_MAX_CHAINS = 10_000


class ResultHandler:
    """Judges the results of one run by its strategy; `revisit` says when pages are due again."""

    def __init__(self, context: CrawlContext, revisit: RevisitPolicy) -> None:
        self._context = context
        self._plan = context.plan
        self._guide = context.guide
        self._revisit = revisit
        self._seen = context.seen
        self._tally = context.tally
        self._doubles = RunDeduplicator(context.learned.likenesses)
        self._year = gmtime(context.before).tm_year
        self._watches: dict[str, TrapWatch] = {}
        self._held: dict[str, NewUrl] = {}
        self._probes: dict[str, Probing] = {}  # by the URL that is asked for
        self._rng = Random()
        self._chains: dict[str, tuple[str, ...]] = {}  # URL -> those that were redirected to it in this run

    def to_visit(self, done: PageDone) -> Visit:
        """The visit that a finished fetch amounts to."""
        entry, result = done.job.entry, done.result
        chain = self._chains.pop(entry.url, ())
        if result.redirect:
            return self._redirected(entry, result.redirect, result.moved_for_good, chain)
        visit = self.visit(entry, result.outcome)
        visit = replace(visit, etag=result.etag, last_modified=result.last_modified)
        if result.page is None:
            if result.outcome.reason is Reason.GONE and entry.kind is Kind.UNKNOWN:
                self._watch(entry.host).page(entry.url, fresh=0.0, empty=True)
            return visit
        self._doubles.read(entry.url, done.content)
        decision = self._decision(done)
        links = (*self._followed(entry, done), *self._original(entry, done.canonical))
        is_double = entry.kind not in (Kind.SEED, Kind.HUB) and self._doubles.has_said(done.canonical, done.content)
        if is_double and not done.noindex:
            visit = self.visit(entry, Outcome(Reason.DUPLICATE, f"the same as {done.canonical}"[:300]))
        elif decision is not None and not decision.kept:
            detail = f"{decision.strategy} gives it {decision.score:.3f} for {decision.topic}"
            visit = replace(visit, outcome=Outcome(Reason.OFF_TOPIC, detail))
        elif done.noindex:
            visit = replace(visit, outcome=Outcome(Reason.FETCHED, "asks not to be shown, not kept"))
        else:
            return replace(visit, page=result.page, links=links, guidance=decision)
        return replace(visit, links=links, gone=bool(entry.digest), guidance=decision)

    def _decision(self, done: PageDone) -> PageDecision | None:
        """What the guide makes of a page; None where there is none, and all is kept."""
        if self._guide is None or done.reading is None:
            return None
        return self._guide.judge(done.reading, {link.url: link.anchor for link in done.links})

    def visit(self, entry: FrontierEntry, outcome: Outcome) -> Visit:
        """A visit with nothing but its outcome."""
        # A clock set back during the run must not make a page due again in the same run.
        at = max(self._context.now(), self._context.before + 0.001)
        due = self._revisit.after(entry, outcome.reason, at)
        gone = outcome.reason is Reason.GONE
        return Visit(entry, outcome, at, due.next_visit, due.gap, gone=gone, attempts=due.attempts)

    def new_url(self, url: str, depth: int, kind: Kind, priority: float, parent: int | None = None) -> NewUrl:
        """A URL for the table."""
        return NewUrl(url, host_of(url), self._plan.queue_of(url), depth, kind, priority, parent)

    def declared(self, urls: Sequence[str], priority: float) -> list[NewUrl]:
        """The new ones among URLs that a sitemap or feed names and the rules allow."""
        allowed = [url for url in urls if refuse(url, self._plan.rules, 1) is None]
        new = [self.new_url(url, 1, Kind.UNKNOWN, priority) for url in self._seen.new_among(allowed)]
        self._count_new(new)
        return new

    def refused(self, entry: FrontierEntry) -> Outcome | None:
        """Why a URL of the table is not fetched."""
        reason = refuse(entry.url, self._plan.rules, entry.depth)
        if reason is not None:
            return Outcome(reason)
        watch = self._watches.get(entry.host)
        is_new = entry.kind is Kind.UNKNOWN and not entry.digest
        trap = watch.refuse(entry.url) if watch is not None and is_new else None
        return None if trap is None else Outcome(Reason.TRAP, trap)

    def released(self) -> list[NewUrl]:
        """URLs held back as those of a trap, whose patterns have proved to be none."""
        return self._taken([url for watch in self._watches.values() for url in watch.released()])

    def _taken(self, free: Sequence[str]) -> list[NewUrl]:
        found = [self._held.pop(url) for url in free if url in self._held]
        new = set(self._seen.new_among([one.url for one in found]))
        found = [one for one in found if one.url in new]
        self._count_new(found)
        return found

    def doubts(self, host: Host) -> list[str]:
        """Pages that cannot exist, by which the host is to tell which of its families of URLs end (see `probed`)."""
        found: list[str] = []
        for family, urls in self._watch(host).doubts().items():
            first, *others = probes_of(urls, self._rng)
            self._probes[first] = Probing(host, family, others)
            found.append(first)
        return found

    def probed(self, url: str, done: PageDone | None = None) -> list[str]:
        """What came of such a page; None if it could not be asked for. The next one to ask for, if that said little."""
        probing = self._probes.pop(url, None)
        if probing is None:
            return []
        is_page = done is not None and done.result.page is not None
        if done is not None and is_page:
            probing.shares.append(self._doubles.new_share(url, done.content))
            if probing.others:
                self._probes[probing.others[0]] = probing
                return [probing.others.pop(0)]
        self._watch(probing.host).answered(probing.family, probing.shares, is_page)
        return []

    def left(self) -> list[NewUrl]:
        """URLs that are held back still, at the end of a run that had no time for them: so that they are not lost."""
        return self._taken([url for watch in self._watches.values() for url in watch.left()])

    def _original(self, entry: FrontierEntry, url: str) -> tuple[NewUrl, ...]:
        """The URL that a page names as its own, if it is new: it takes the page's place in the order."""
        if not url or shape_trap(url, self._year) or not self._seen.new_among([url]):
            return ()
        new = (self.new_url(url, entry.depth, Kind.UNKNOWN, entry.priority, entry.url_id),)
        self._count_new(new)
        return new

    def _followed(self, parent: FrontierEntry, done: PageDone) -> tuple[NewUrl, ...]:
        """The new ones among a page's links, with their priorities."""
        by_url = {link.url: link for link in done.links}
        new = self._seen.new_among(by_url)
        known = by_url.keys() - set(new)
        fresh = self._doubles.new_share(parent.url, done.content)
        new = self._single(new, known)
        is_same = self._doubles.is_same(parent.url, done.content)
        self._watch(parent.host).page(parent.url, fresh, new, is_same)
        self._watch_known(parent, known)
        followed: list[NewUrl] = []
        depth, number, queue_of = parent.depth + 1, parent.url_id, self._plan.queue_of
        for url in new:
            link = by_url[url]
            priority = self._guide.priority(url) if self._guide else -float(depth)
            if priority is None:
                continue
            host = host_of(url)
            made = NewUrl(url, host, queue_of(url), depth, Kind.UNKNOWN, priority, number, link.anchor, link.context)
            if self._is_free(made, host, parent):
                followed.append(made)
        self._count_new(followed)
        return tuple(followed)

    def _single(self, new: Sequence[str], known: Iterable[str]) -> list[str]:
        """The new URLs that are no other form of a known one, as far as their site has taught."""
        self._doubles.meet(known)
        forms = {url: form for url in new if (form := self._doubles.other_form(url))}
        unknown = set(self._seen.new_among(forms.values()))
        single = [
            url for url in new if not self._doubles.is_another_form(url) and (url not in forms or forms[url] in unknown)
        ]
        if len(single) < len(new):
            self._tally.refused["another form of a known URL"] += len(new) - len(single)
        return single

    def _watch_known(self, parent: FrontierEntry, known: set[str]) -> None:
        """What speaks for a family: its own pages are articles, and lead to pages that are known."""
        watch = self._watch(parent.host)
        if parent.kind is Kind.ARTICLE:
            watch.article(parent.url)
        watch.known_links(parent.url, known)

    def _is_free(self, made: NewUrl, host: Host, parent: FrontierEntry) -> bool:
        trap = shape_trap(made.url, self._year) or self._watch(host).link(made.url, parent.url, known=False)
        if trap is None:
            return True
        self._tally.refused[f"trap ({trap})"] += 1
        if len(self._held) < _MAX_HELD:
            self._held[made.url] = made
        return False

    def _watch(self, host: Host) -> TrapWatch:
        return self._watches.setdefault(host, TrapWatch())

    def _redirected(self, entry: FrontierEntry, target: str, for_good: bool, chain: tuple[str, ...]) -> Visit:
        """The target takes the entry's place: a URL of its own, as deep, a seed if this was one."""
        reason = refuse(target, self._plan.rules, entry.depth)
        if reason is not None:
            reason = Reason.REDIRECTED_OFF_SCOPE if reason is Reason.OFF_SCOPE else reason
            return self.visit(entry, Outcome(reason, f"redirected to {target}"[:300]))
        so_far = (*chain, entry.url)
        if target in so_far or len(so_far) > self._plan.max_redirects:
            return self.visit(entry, Outcome(Reason.TOO_MANY_REDIRECTS, target[:300]))
        if len(self._chains) < _MAX_CHAINS:
            self._chains[target] = so_far
        kind = entry.kind if entry.kind in (Kind.SEED, Kind.HUB) else Kind.UNKNOWN
        link = self.new_url(target, entry.depth, kind, entry.priority, entry.url_id)
        self._count_new([link] if self._seen.new_among([target]) else [])
        visit = self.visit(entry, Outcome(Reason.DUPLICATE, target[:300]))
        return replace(visit, links=(link,), gone=for_good and bool(entry.digest))

    def _count_new(self, new: Sequence[NewUrl]) -> None:
        self._seen.add([one.url for one in new])
        self._tally.added += len(new)
