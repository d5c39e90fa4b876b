"""Turns a finished fetch into the visit to record and the links to follow. Uses no network and no table."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from random import Random
from urllib.parse import urlsplit

from crawler.crawl_context import CrawlContext
from crawler.dedup.deduplicator import Deduplicator
from crawler.dedup.shared_responses import SharedResponses
from crawler.http.fetch import FetchResult
from crawler.parsing.status_pages import COOKIES_OUTCOME, LOGIN_OUTCOME, LOGIN_URL
from crawler.schedule.revisit_policy import RevisitPolicy
from crawler.traps.probe_urls import FamilyProbe, make_probe_urls
from crawler.traps.trap_detector import TrapDetector, detect_shape_trap
from crawler.urls.canonical import host_of, path_extension, rejection_reason
from crawler.urls.path_answers import file_pattern
from crawler.workers.fetch_pool import PageResult
from domain.focused_decision import FocusedDecision
from domain.frontier import FrontierEntry, NewUrl, UrlKind, Visit
from domain.message import Message
from domain.outcome import Outcome, Reason
from domain.page import Host

_MAX_SUSPECT_URLS = 20_000  # URLs that are not followed because their pattern may be a trap
_MAX_REDIRECT_CHAINS = 10_000
_KNOWN_VARIANT_MESSAGE = Message("another form of a known URL")
# Outcomes of a probe that show that there is no such page. Many sites redirect to the home page instead of a 404.
_NOT_FOUND_REASONS = frozenset(
    (Reason.GONE, Reason.REDIRECTED_TO_KNOWN_URL, Reason.SAME_CONTENT, Reason.REDIRECTED_OUT_OF_SCOPE)
)


class ResultHandler:
    """Handles the results of one run with its focused policy and revisit policy."""

    def __init__(self, context: CrawlContext, revisit_policy: RevisitPolicy) -> None:
        self._context = context
        self._plan = context.plan
        self._focused_policy = context.focused_policy
        self.revisit_policy = revisit_policy
        self._url_seen = context.url_seen
        self._tally = context.tally
        self._deduplicator = Deduplicator(context.site_state.dust_rules)
        self.shared_responses = SharedResponses(self.visit_without_page)
        self._trap_detectors: dict[str, TrapDetector] = {}
        self._path_answers = context.site_state.path_answers
        self._asked_patterns: set[tuple[Host, str]] = set()  # by a HEAD request of this run
        self._suspect_urls: dict[str, NewUrl] = {}
        self._probe_by_url: dict[str, FamilyProbe] = {}  # by the URL of the next probe
        self._rng = Random()  # noqa: S311 (no cryptography)
        # URL -> URLs that redirected to it in this run
        self._redirect_chains: dict[str, tuple[FrontierEntry, ...]] = {}
        self._temporary_targets: set[str] = set()  # other pages of this run led to them with a temporary redirect
        self._gated_ids: set[int] = set()
        self.gated_entries: list[FrontierEntry] = []  # to fetch again: they redirected to a page that set a cookie

    def build_visit(self, job_result: PageResult) -> Visit:
        """Build the visit for a finished fetch."""
        entry, result = job_result.job.entry, job_result.fetch_result
        chain = self._redirect_chains.pop(entry.url, ())
        if result.redirect_url:
            return self._redirect_visit(entry, result, chain)
        is_file_name = path_extension(entry.url) in self._plan.file_extensions
        if is_file_name:
            self._record_answer(entry, result.outcome.reason)
        self._leave_gate(chain, [link.url for link in job_result.links] if job_result.is_bare else ())
        visit = self.visit_without_page(entry, result.outcome)
        visit = replace(visit, etag=result.etag, last_modified=result.last_modified)
        if result.page is None:
            if result.outcome.reason is Reason.GONE and entry.kind is UrlKind.UNKNOWN and not is_file_name:
                self._trap_detector(entry.host).record_page(entry.url, novelty=0.0, is_empty=True)
            return replace(visit, discovered_urls=self._select_links(entry, job_result)) if job_result.links else visit
        is_temporary_target = entry.url in self._temporary_targets
        self._temporary_targets.discard(entry.url)
        if job_result.has_login_form and is_temporary_target:
            links = self._select_links(entry, job_result)
            return replace(self.visit_without_page(entry, LOGIN_OUTCOME), discovered_urls=links)
        decision = self._focused_decision(job_result)
        links = (*self._select_links(entry, job_result), *self._canonical_link(entry, job_result.canonical_url))
        equal_url = ""
        if not job_result.is_noindex and (decision is None or decision.is_retained):  # otherwise it is not saved
            equal_url = self._deduplicator.record_page(entry.url, job_result.fingerprint)
            equal_url = "" if entry.digest else equal_url  # a stored article stays
            if self._deduplicator.has_same_content(job_result.canonical_url, job_result.fingerprint):
                equal_url = job_result.canonical_url
        if equal_url and entry.kind not in (UrlKind.SEED, UrlKind.HUB):
            visit = self.visit_without_page(entry, Outcome(Reason.SAME_CONTENT, equal_url[:300]))
        elif decision is not None and not decision.is_retained:
            score, topic = f"{decision.score:.3f}", decision.topic
            detail = Message(
                "Topic “{topic}”, {strategy}, score {score}", strategy=decision.strategy, score=score, topic=topic
            )
            visit = replace(visit, outcome=Outcome(Reason.OFF_TOPIC, detail))
        elif job_result.is_noindex:
            visit = replace(visit, outcome=Outcome(Reason.NOINDEX))
        else:
            return replace(visit, page=result.page, discovered_urls=links, focused_decision=decision)
        return replace(visit, discovered_urls=links, is_gone=bool(entry.digest), focused_decision=decision)

    def _focused_decision(self, job_result: PageResult) -> FocusedDecision | None:
        """Return the policy's decision about a page, or None without a policy. Then every page is saved."""
        if self._focused_policy is None or job_result.tokenized_page is None:
            return None
        return self._focused_policy.decide(
            job_result.tokenized_page, {link.url: link.anchor for link in job_result.links}
        )

    def visit_without_page(self, entry: FrontierEntry, outcome: Outcome) -> Visit:
        """Build a visit without a page: outcome and next due time only."""
        # A clock set back during the run must not make a page due again in the same run.
        visited_at = max(self._context.now(), self._context.due_before + 0.001)
        next_visit = self.revisit_policy.next_visit(entry, outcome.reason, visited_at)
        is_gone = outcome.reason is Reason.GONE
        return Visit(
            entry,
            outcome,
            visited_at,
            next_visit.due_at,
            next_visit.revisit_seconds,
            is_gone=is_gone,
            failed_attempts=next_visit.failed_attempts,
        )

    def make_new_url(self, url: str, depth: int, kind: UrlKind, priority: float, parent: int | None = None) -> NewUrl:
        """Build the table row of a new URL."""
        return NewUrl(url, host_of(url), self._plan.queue_of(url), depth, kind, priority, parent)

    def select_declared_urls(self, urls: Sequence[str]) -> list[str]:
        """Return the new URLs among those that a sitemap or feed lists and the rules allow."""
        rules = self._plan.url_rules
        return self._url_seen.filter_unseen(
            url for url in urls if rejection_reason(url, rules, 1) is None and not self._is_file(url)
        )

    def accept_declared_urls(self, urls: Sequence[str], priority: float) -> list[NewUrl]:
        """Mark new URLs that a sitemap or feed lists as seen."""
        new_urls = [self.make_new_url(url, 1, UrlKind.UNKNOWN, priority) for url in urls]
        self._register_new_urls(new_urls)
        return new_urls

    def rejection_outcome(self, entry: FrontierEntry) -> Outcome | None:
        """Return why a URL of the table is not fetched, or None if it is."""
        reason = rejection_reason(entry.url, self._plan.url_rules, entry.depth)
        if reason is None and entry.kind is not UrlKind.SEED and self._is_file(entry.url):
            reason = Reason.UNSUPPORTED_EXTENSION
        if reason is not None:
            return Outcome(reason)
        trap_detector = self._trap_detectors.get(entry.host)
        is_new = entry.kind is UrlKind.UNKNOWN and not entry.digest
        trap = trap_detector.find_trap(entry.url) if trap_detector is not None and is_new else None
        if trap is None and is_new and self._deduplicator.is_variant(entry.url):
            return Outcome(Reason.REDIRECTED_TO_KNOWN_URL, _KNOWN_VARIANT_MESSAGE)
        return None if trap is None else Outcome(Reason.CRAWLER_TRAP, trap.message)

    def _is_file(self, url: str) -> bool:
        """True if the URL has the extension of a file, and its site has shown that such URLs are no pages."""
        return path_extension(url) in self._plan.file_extensions and self._is_page_pattern(url) is False

    def _is_page_pattern(self, url: str) -> bool | None:
        return self._path_answers.is_page_pattern(host_of(url), file_pattern(url), self._context.due_before)

    def needs_head(self, entry: FrontierEntry) -> bool:
        """True if a HEAD request must show first whether the URL is a page: once for each pattern of a host."""
        if path_extension(entry.url) not in self._plan.file_extensions or entry.kind is UrlKind.SEED:
            return False
        key = entry.host, file_pattern(entry.url)
        is_unknown = key not in self._asked_patterns and self._is_page_pattern(entry.url) is None
        self._asked_patterns.add(key)
        return is_unknown

    def _record_answer(self, entry: FrontierEntry, reason: Reason) -> None:
        """Record whether a URL with the extension of a file is a page. A page counts more than files."""
        if reason is Reason.FETCHED or (reason is Reason.NOT_HTML and self._is_page_pattern(entry.url) is None):
            pattern = file_pattern(entry.url)
            self._path_answers.record(entry.host, pattern, reason is Reason.FETCHED, self._context.due_before)

    def take_harmless_urls(self) -> list[NewUrl]:
        """Return URLs that were suspected of being traps and whose patterns proved harmless."""
        return self._accept_suspect_urls(
            [url for trap_detector in self._trap_detectors.values() for url in trap_detector.take_harmless()]
        )

    def _accept_suspect_urls(self, harmless_urls: Sequence[str]) -> list[NewUrl]:
        candidates = [self._suspect_urls.pop(url) for url in harmless_urls if url in self._suspect_urls]
        new_urls = set(self._url_seen.filter_unseen([new_url.url for new_url in candidates]))
        candidates = [new_url for new_url in candidates if new_url.url in new_urls]
        self._register_new_urls(candidates)
        return candidates

    def start_probes(self, host: Host) -> list[str]:
        """Start a probe for each suspicious URL family. Returns the first probe URL of each (see `handle_probe`)."""
        first_probe_urls: list[str] = []
        for family, urls in self._trap_detector(host).take_probe_candidates().items():
            first, *remaining_urls = make_probe_urls(urls, self._rng)
            self._probe_by_url[first] = FamilyProbe(host, family, remaining_urls)
            first_probe_urls.append(first)
        return first_probe_urls

    def handle_probe(self, url: str, job_result: PageResult | None = None) -> list[str]:
        """Handle a probe result.

        `job_result` is None if the probe was not sent. Only a page, a "not found" response or a redirect shows whether
        the family is finite; after any other result the family is probed again later. Returns the next probe URL, if
        one is needed.
        """
        probe = self._probe_by_url.pop(url, None)
        if probe is None:
            return []
        trap_detector = self._trap_detector(probe.host)
        if job_result is None:
            trap_detector.postpone_probe(probe.family)
            return []
        is_page = job_result.fetch_result.page is not None
        if is_page:
            probe.novelty_scores.append(self._deduplicator.novelty(url, job_result.fingerprint))
            if probe.remaining_urls:
                self._probe_by_url[probe.remaining_urls[0]] = probe
                return [probe.remaining_urls.pop(0)]
        if is_page or job_result.fetch_result.outcome.reason in _NOT_FOUND_REASONS:
            trap_detector.record_probe(probe.family, probe.novelty_scores, is_page)
        else:
            trap_detector.postpone_probe(probe.family)
        return []

    def take_remaining_suspect_urls(self) -> list[NewUrl]:
        """Return the URLs that are still suspects at the end of a run, so that they are not lost."""
        return self._accept_suspect_urls(
            [url for trap_detector in self._trap_detectors.values() for url in trap_detector.remaining_suspects()]
        )

    def _canonical_link(self, entry: FrontierEntry, url: str) -> tuple[NewUrl, ...]:
        """Return the canonical URL of a page if it is new. It gets the depth and priority of the page."""
        if not url or detect_shape_trap(url) or not self._url_seen.filter_unseen([url]):
            return ()
        new_urls = (self.make_new_url(url, entry.depth, UrlKind.UNKNOWN, entry.priority, entry.url_id),)
        self._register_new_urls(new_urls)
        return new_urls

    def _select_links(self, parent: FrontierEntry, job_result: PageResult) -> tuple[NewUrl, ...]:
        """Select the new URLs among a page's links, with their priorities."""
        files = {url for url, *_ in job_result.links if path_extension(url) in self._plan.file_extensions}
        by_url = {link.url: link for link in job_result.links if link.url not in files or not self._is_file(link.url)}
        if len(by_url) < len(job_result.links):
            self._tally.rejected_links[Reason.UNSUPPORTED_EXTENSION] += len(job_result.links) - len(by_url)
        new_urls = self._url_seen.filter_unseen(by_url)
        known_urls = by_url.keys() - set(new_urls)
        novelty = self._deduplicator.novelty(parent.url, job_result.fingerprint)
        new_urls = self._without_known_variants(new_urls, known_urls)
        is_same = self._deduplicator.is_duplicate_content(parent.url, job_result.fingerprint)
        trap_detector = self._trap_detector(parent.host)
        trap_detector.record_page(parent.url, novelty, new_urls, is_same)
        if parent.kind is UrlKind.ARTICLE:
            trap_detector.record_article(parent.url)
        trap_detector.record_known_links(parent.url, known_urls)
        selected_urls: list[NewUrl] = []
        depth, parent_id, queue_of = parent.depth + 1, parent.url_id, self._plan.queue_of
        for url in new_urls:
            link = by_url[url]
            priority = self._focused_policy.link_priority(url) if self._focused_policy else -float(depth)
            if priority is None:
                continue
            priority -= 0.5 * (path_extension(url) in self._plan.file_extensions)  # pages first
            host = host_of(url)
            new_url = NewUrl(
                url, host, queue_of(url), depth, UrlKind.UNKNOWN, priority, parent_id, link.anchor, link.context
            )
            if self._passes_trap_check(new_url, host, parent):
                selected_urls.append(new_url)
        self._register_new_urls(selected_urls)
        return tuple(selected_urls)

    def _without_known_variants(self, new_urls: Sequence[str], known_urls: Iterable[str]) -> list[str]:
        """Drop URLs that are variants of a known URL by the DUST rules of their site."""
        self._deduplicator.record_known_urls(known_urls)
        reduced_by_url = {url: reduced_url for url in new_urls if (reduced_url := self._deduplicator.reduced_url(url))}
        unknown = set(self._url_seen.filter_unseen(reduced_by_url.values()))
        unique_urls = [
            url
            for url in new_urls
            if not self._deduplicator.is_variant(url) and (url not in reduced_by_url or reduced_by_url[url] in unknown)
        ]
        if len(unique_urls) < len(new_urls):
            self._tally.rejected_links[_KNOWN_VARIANT_MESSAGE] += len(new_urls) - len(unique_urls)
        return unique_urls

    def _passes_trap_check(self, new_url: NewUrl, host: Host, parent: FrontierEntry) -> bool:
        trap = detect_shape_trap(new_url.url) or self._trap_detector(host).check_link(
            new_url.url, parent.url, is_known=False
        )
        if trap is None:
            return True
        self._tally.rejected_links[Message("crawler trap ({kind})", kind=trap.message)] += 1
        if len(self._suspect_urls) < _MAX_SUSPECT_URLS:
            self._suspect_urls[new_url.url] = new_url
        return False

    def _trap_detector(self, host: Host) -> TrapDetector:
        return self._trap_detectors.setdefault(host, TrapDetector())

    def _redirect_visit(
        self, entry: FrontierEntry, result: FetchResult, redirect_chain: tuple[FrontierEntry, ...]
    ) -> Visit:
        """Build the visit of a redirect. The target is a new URL with the depth and kind of the redirected one."""
        target = result.redirect_url
        reason = rejection_reason(target, self._plan.url_rules, entry.depth)
        if reason is not None or self._is_file(target):
            reason = Reason.NOT_HTML if reason is None else Reason.REDIRECTED_OUT_OF_SCOPE
            return self.visit_without_page(entry, Outcome(reason, Message("Redirected to {url}", url=target[:280])))
        visited_chain = (*redirect_chain, entry)
        if self._leave_gate(redirect_chain, [target]):
            return self.visit_without_page(entry, Outcome(Reason.REDIRECTED_TO_KNOWN_URL, target[:300]))
        is_loop = any(earlier.url == target for earlier in visited_chain)
        if is_loop or len(visited_chain) > self._plan.settings.max_redirects:
            needs_cookies = is_loop and self._context.fetcher.has_cookies(target)
            outcome = COOKIES_OUTCOME if needs_cookies else Outcome(Reason.TOO_MANY_REDIRECTS, target[:300])
            return self.visit_without_page(entry, outcome)
        if len(self._redirect_chains) < _MAX_REDIRECT_CHAINS:
            self._redirect_chains[target] = visited_chain
            if not result.is_permanent_redirect and _page_path(target) != _page_path(entry.url):
                self._temporary_targets.add(target)
        kind = entry.kind if entry.kind in (UrlKind.SEED, UrlKind.HUB) else UrlKind.UNKNOWN
        link = self.make_new_url(target, entry.depth, kind, entry.priority, entry.url_id)
        self._register_new_urls([link] if self._url_seen.filter_unseen([target]) else [])
        is_login = not result.is_permanent_redirect and LOGIN_URL.search(target) and not LOGIN_URL.search(entry.url)
        outcome = LOGIN_OUTCOME if is_login else Outcome(Reason.REDIRECTED_TO_KNOWN_URL, target[:300])
        is_gone = result.is_permanent_redirect and bool(entry.digest)
        return replace(self.visit_without_page(entry, outcome), discovered_urls=(link,), is_gone=is_gone)

    def _leave_gate(self, chain: Sequence[FrontierEntry], targets: Collection[str]) -> bool:
        """Fetch a URL again that redirected to a gate, if the gate leads back and the site has set a cookie. Once."""
        entries = [entry for entry in chain if entry.url in targets and entry.url_id not in self._gated_ids]
        entries = [entry for entry in entries if self._context.fetcher.has_cookies(entry.url)]
        self.gated_entries += entries
        self._gated_ids.update(entry.url_id for entry in entries)
        return bool(entries)

    def _register_new_urls(self, new_urls: Sequence[NewUrl]) -> None:
        self._url_seen.add([new_url.url for new_url in new_urls])
        self._tally.urls_added += len(new_urls)


def _page_path(url: str) -> str:
    """Return the path of a URL. A redirect to https or another host that keeps it leads to the same page."""
    return urlsplit(url).path.rstrip("/")
