"""Find responses that many URLs of a host share in a run: an unknown challenge page, or a redirect of every URL to one.

A visit that replaces or removes an article by a short text or a redirect waits until the end of the run. The article
stays, and the visit becomes BLOCKED, if other URLs had the same response:

    short text             at one more page that had another text before; at three more, if the text is longer
    new page, hardly links the same short text at five pages
    redirect of all URLs   of three; of ten, if the target is the front page

With a login form in the text, the visit becomes NEEDS_LOGIN instead, and so does each redirect that ends at a page that
asks for a login.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from crawler.parsing.status_pages import LOGIN_OUTCOME
from crawler.urls.canonical import url_origin
from crawler.workers.fetch_pool import PageResult
from domain.frontier import FrontierEntry, UrlKind, Visit
from domain.message import Message
from domain.outcome import FETCH_SUCCESS_REASONS, Outcome, Reason
from domain.page import Host

_MIN_SHARED_SHARE = 0.8  # of the bytes of a text; ids and times differ
_SHORT_TEXT_BYTES = 1_000
_MAX_LINKS_OF_NEW_PAGES, _MIN_NEW_PAGES = 3, 5
_MAX_OWN_PAGE_SHARE = 0.1
_MAX_SENTENCES, _MAX_VISITS, _MAX_BYTES = 100_000, 1000, 16_000_000
_MAX_REDIRECTING_URLS, _MAX_REDIRECTS = 10_000, 20  # of all hosts; of one URL
_MAX_BLOCKED_VISITS = 3  # in a row; later the text is what the site has, such as a number that changes every day
_Sentences = tuple[tuple[int, int], ...]  # hash and bytes of each
_SAME_TEXT = Outcome(Reason.BLOCKED, Message("other URLs of the site have the same text"))


class SharedResponses:
    """The shared responses of a run. `build_visit` builds a visit without a page. Memory is bounded."""

    def __init__(self, build_visit: Callable[[FrontierEntry, Outcome], Visit]) -> None:
        self._build_visit = build_visit
        self._sources: dict[tuple[Host, int], set[str]] = {}  # (host, sentence) -> earlier digests, or new URLs
        self._own_pages: Counter[Host] = Counter()  # pages with a response of their own
        # (host, redirect target) -> own pages of the host at the first redirect, and redirected URLs
        self._redirects: dict[tuple[Host, str], tuple[int, list[FrontierEntry]]] = {}
        # text, redirect target, whether the visit waits, outcome if the text is shared
        self._visits: list[tuple[Visit, _Sentences, str, bool, Outcome]] = []
        self._redirect_by_url: dict[str, tuple[FrontierEntry, str]] = {}  # also of seeds and hubs
        self._login_urls: set[str] = set()  # they ask for a login
        self._waiting_bytes = 0

    def must_wait(self, visit: Visit, result: PageResult) -> bool:
        """Count a response. Returns True if the visit must not be recorded before `judge` returns it."""
        entry, target, has_content = visit.entry, result.fetch_result.redirect_url, bool(visit.page or visit.is_gone)
        if not target and (entry.host, entry.url) not in self._redirects:
            self._own_pages[entry.host] += visit.outcome.reason in FETCH_SUCCESS_REASONS
        if visit.outcome.reason is Reason.NEEDS_LOGIN and len(self._login_urls) < _MAX_VISITS:
            self._login_urls.add(entry.url)
        if target and visit.outcome.reason is Reason.REDIRECTED_TO_KNOWN_URL:
            self._redirect_by_url[entry.url] = entry, target
            if len(self._redirect_by_url) > _MAX_REDIRECTING_URLS:
                del self._redirect_by_url[next(iter(self._redirect_by_url))]
        if entry.kind in (UrlKind.SEED, UrlKind.HUB):
            return False
        if target and visit.outcome.reason is Reason.REDIRECTED_TO_KNOWN_URL:
            redirects = self._redirects.setdefault((entry.host, target), (self._own_pages[entry.host], []))
            if len(redirects[1]) < _MAX_VISITS:
                redirects[1].append(entry)
            if len(self._redirects) > _MAX_VISITS:
                del self._redirects[next(iter(self._redirects))]
        elif has_content and result.is_bare:
            for key in ((entry.host, sentence) for sentence, _ in result.fingerprint.sentence_hashes):
                sources = self._sources.setdefault(key, set())
                if len(sources) < _MIN_NEW_PAGES:
                    sources.add(entry.digest or entry.url)
            while len(self._sources) > _MAX_SENTENCES:
                del self._sources[next(iter(self._sources))]
        else:
            return False
        waits = has_content and bool(entry.digest)
        hardly_links = len(result.links) <= _MAX_LINKS_OF_NEW_PAGES or result.has_login_form
        if waits or (not target and hardly_links):
            text = result.fingerprint.sentence_hashes  # not the result: it holds the page
            shared_outcome = LOGIN_OUTCOME if result.has_login_form else _SAME_TEXT
            self._visits.append((visit if waits else replace(visit, page=None), text, target, waits, shared_outcome))
            self._waiting_bytes += len(visit.page.body) if waits and visit.page else 0
        return waits

    def forget(self, entry: FrontierEntry) -> None:
        """Forget the responses of a URL that is fetched again."""
        self._visits = [item for item in self._visits if item[0].entry.url_id != entry.url_id]
        self._redirect_by_url.pop(entry.url, None)
        self._login_urls.discard(entry.url)
        for _, entries in self._redirects.values():
            entries[:] = [other for other in entries if other.url_id != entry.url_id]

    def judge(self, is_end: bool = True) -> list[Visit]:
        """Return the visits that wait, as they are or BLOCKED, and BLOCKED visits of URLs that were recorded before.

        Unless it is the end of the run, returns them only if they are too many to wait.
        """
        if not is_end and len(self._visits) < _MAX_VISITS and self._waiting_bytes < _MAX_BYTES:
            return []
        logins = {entry.url_id: entry for entry, target in self._redirect_by_url.values() if self._asks_login(target)}
        self._redirect_by_url.clear()
        visits, self._visits, self._waiting_bytes, results = self._visits, [], 0, list[Visit]()
        blocked = {key: urls for key, (count, urls) in self._redirects.items() if self._are_all(key, count, len(urls))}
        self._redirects.clear()
        for (_, target), entries in blocked.items():
            text = Message("all URLs redirect to {url}", url=target[:280])
            blocked_entries = [entry for entry in entries if entry.url_id not in logins]
            results += [self._build_visit(entry, Outcome(Reason.BLOCKED, text)) for entry in blocked_entries]
        results += [self._build_visit(entry, LOGIN_OUTCOME) for entry in logins.values()]
        for visit, sentences, target, waits, shared_outcome in visits:
            if not target and self._is_shared_text(visit.entry, sentences):
                # The stored page of a URL that was new is no article.
                results.append(replace(self._build_visit(visit.entry, shared_outcome), is_gone=not waits))
            elif waits and (visit.entry.host, target) not in blocked and visit.entry.url_id not in logins:
                results.append(visit)
        return results

    def _asks_login(self, url: str) -> bool:
        """True if a URL asks for a login, or redirects to such a URL."""
        for _ in range(_MAX_REDIRECTS):
            if url in self._login_urls or url not in self._redirect_by_url:
                break
            url = self._redirect_by_url[url][1]
        return url in self._login_urls

    def _are_all(self, key: tuple[Host, str], own_pages_before: int, url_count: int) -> bool:
        """True if hardly any URL of the host had a response of its own since the first redirect to the target."""
        min_urls = 10 if key[1] == url_origin(key[1]) + "/" else 3
        return url_count >= min_urls and self._own_pages[key[0]] - own_pages_before <= _MAX_OWN_PAGE_SHARE * url_count

    def _is_shared_text(self, entry: FrontierEntry, sentences: _Sentences) -> bool:
        if entry.attempts >= _MAX_BLOCKED_VISITS:
            return False
        total = sum(size for _, size in sentences)
        min_changed = 2 if total <= _SHORT_TEXT_BYTES else 4
        shared = 0
        for sentence, size in sentences:
            sources = self._sources.get((entry.host, sentence), set())
            changed = sum("/" not in source for source in sources)  # a digest
            is_shared = len(sources) >= _MIN_NEW_PAGES or (bool(entry.digest) and changed >= min_changed)
            shared += size if is_shared else 0
        return 0 < total * _MIN_SHARED_SHARE <= shared
