"""One request, inside its limits: returns a Page, or why there is none.

Requests are GETs, without cookies or proxies but where the settings name some for a site. Time is bounded in all
(`py`), size before and after decompression (`content_encoding.py`), and redirects are not followed but reported: the
target is a URL like any other, with its own place in the frontier, robots rules and turn at its host. Library
errors end here as a `FetchError`.
"""

import hashlib
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import partial
from http.client import HTTPException, RemoteDisconnected

import urllib3.exceptions as u3
from urllib3 import BaseHTTPResponse, Timeout

from crawler.http.connections import Connections
from crawler.http.content_encoding import ACCEPT_ENCODING, CodingError, TooLargeError, undo
from crawler.http.content_type import content_type_of
from crawler.http.documents import NO_DOCUMENTS, PLAIN, DocumentRules, document_rules, media_of
from crawler.http.ip_policy import InsideAddressError, IpPolicy
from crawler.http.site_requests import site_requests
from crawler.settings import CrawlSettings
from crawler.urls.canonical import Address, address_of, host_and_port, host_of
from docstore.formats import HTML
from docstore.model import FrontierEntry, Outcome, Page, Reason

_CHUNK = 1 << 16
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_PAGE_STATUS = frozenset((200, 203))
_HTML = frozenset(("text/html", "application/xhtml+xml"))
_MAYBE_HTML = frozenset(
    ("", "text/plain", "application/octet-stream", "application/xml", "text/xml", "unknown/unknown")
)
_LOOKS_HTML = re.compile(
    rb"\s*(?:<!--.*?-->\s*)*<(?:!doctype html|html|head|body|meta|title|script|div|table|p|h1|a)\b", re.I | re.S
)
_BINARY = (b"%PDF-", b"PK\x03\x04", b"GIF8", b"\x89PNG", b"\xff\xd8\xff", b"\x1f\x8b\x08", b"Rar!", b"\xd0\xcf\x11\xe0")
_VALIDATOR = re.compile(r"[\x21-\x7e][\x20-\x7e]{0,499}")
_OUR_CONNECTION = re.compile(r"^_CheckedHTTPS?\(.*?\): ")  # urllib3 begins its messages with the object
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")


class FetchError(Exception):
    """The request led to no answer, or to one that cannot be used. Becomes an `Outcome`."""

    def __init__(self, reason: Reason, detail: str = "", host_failed: bool = False) -> None:
        super().__init__(detail)
        self.outcome = Outcome(reason, _CONTROL.sub(" ", detail)[:300])
        self.host_failed = host_failed


@dataclass(frozen=True)
class Answer:
    """An HTTP answer that began at `answered_at` (monotonic). `body` has its codings undone; empty if not wanted."""

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    answered_at: float

    def header(self, name: str) -> str:
        """All values of a header, joined by commas; "" if absent."""
        return ", ".join(value for key, value in self.headers if key.lower() == name)

    @property
    def media(self) -> str:
        """The header Content-Type."""
        return self.header("content-type")

    def claimed(self, documents: DocumentRules) -> str:
        """The format of a document that the head promises, "" for none."""
        return documents.claimed(self.url, self.media, self.header("content-disposition"))

    @property
    def target(self) -> str | Reason | None:
        """Canonical URL that this answer redirects to; None if it does not redirect."""
        found = self.moved_to
        return found.url if isinstance(found, Address) else found

    @property
    def moved_to(self) -> Address | Reason | None:
        """Both forms of the URL that this answer redirects to; None if it does not redirect."""
        location = self.header("location").strip()
        if self.status not in _REDIRECTS or not location:
            return None
        return address_of(_location(location), self.url)


@dataclass(frozen=True)
class FetchResult:
    """What became of one request for a page.

    `redirect` is where the URL has moved (with Outcome DUPLICATE), for good if `moved_for_good`; `spelling` is how
    the site wants the same URL asked for, if it answers no other form of it. `retry_after`
    are seconds the host asked for; `host_failed` says that the host cannot be reached or is overloaded;
    `answered_at` is the monotonic time when the answer began, None if there was none.
    """

    outcome: Outcome
    page: Page | None = None
    redirect: str = ""
    moved_for_good: bool = False
    spelling: str = ""
    etag: str = ""
    last_modified: str = ""
    retry_after: float | None = None
    host_failed: bool = False
    answered_at: float | None = None


class Fetcher:
    """Fetches pages; safe to use from many threads, which share its connections.

    `opener` opens one like it, by the system's clock, and can be pickled for another process. `agent` is the User-Agent
    header, `total_timeout` the seconds that one request may take in all, `max_bytes` the size of a page at most,
    `documents` what is taken beside pages. Raises SettingsError for headers, cookies or proxies that cannot be sent,
    and for formats that there are not.
    """

    def __init__(self, settings: CrawlSettings, addresses: IpPolicy, now: Callable[[], float] = time.time) -> None:
        self.opener = partial(Fetcher, settings, addresses)
        self.total_timeout = settings.total_timeout
        self.max_bytes = settings.max_bytes
        self.documents = document_rules(settings)
        self._now = now
        self._connections = Connections(addresses, settings.per_host)
        self._sites = site_requests(settings)
        self._timeout = Timeout(connect=settings.connect_timeout, read=settings.read_timeout)
        self.agent = agent_header(settings)
        self._headers = {
            "User-Agent": self.agent,
            "Accept": "text/html,application/xhtml+xml,text/plain;q=0.8,*/*;q=0.1",
            "Accept-Encoding": ACCEPT_ENCODING,
        }

    def fetch(self, entry: FrontierEntry, spelling: str = "") -> FetchResult:
        """Ask for one page, conditionally if an earlier answer left validators. Never raises for bad answers.

        `spelling` is the form of its URL that an earlier answer asked for.
        """
        validators = _validators(entry)
        try:
            answer = self._ask(spelling or entry.url, validators, self._page_cap)
        except FetchError as error:
            return FetchResult(error.outcome, host_failed=error.host_failed)
        return judge(entry, answer, bool(validators), self._now(), self.documents)

    def ask(
        self,
        url: str,
        headers: Mapping[str, str],
        wanted: Callable[[int, str], bool],
        cap: int | None = None,
        cut: bool = False,
    ) -> Answer:
        """One GET. The body is read if `wanted(status, content type)`.

        A body over `cap` bytes (default: the setting) is an error, or with `cut` (uncoded bodies only) ends there.
        Raises FetchError.
        """
        most = self.max_bytes if cap is None else cap
        return self._ask(url, headers, lambda answer: most if wanted(answer.status, answer.media) else 0, cut)

    def _ask(self, url: str, headers: Mapping[str, str], cap_of: Callable[[Answer], int], cut: bool = False) -> Answer:
        """One GET; `cap_of` says by the head of an answer how many bytes of it are read, 0 for none."""
        wire = self._connections.wire()
        wire.deadline = wire.clock() + self.total_timeout
        try:
            response = self._send(url, {**self._headers, **self._sites.headers_for(host_of(url)), **headers})
            try:
                answer = _answer(url, response, wire.answered_at, cap_of, cut)
                _give_back(response)
                return answer
            finally:
                response.close()  # of no effect on a connection that was given back
        except (InsideAddressError, *_LIBRARY_ERRORS) as error:
            raise fetch_error(error) from error

    def _page_cap(self, answer: Answer) -> int:
        """How many bytes of an answer to read where a page or a document is wanted."""
        if answer.status not in _PAGE_STATUS:
            return 0
        if name := answer.claimed(self.documents):
            return self.documents.cap(name, self.max_bytes)
        return self.max_bytes if content_type_of(answer.media).type in _HTML | _MAYBE_HTML else 0

    def ip_of(self, host: str) -> str:
        """The IP address that host[:port] was last reached at; "" if it never was."""
        return self._connections.ip_of(host_and_port(host)[0])

    def close(self) -> None:
        """Close the connections."""
        self._connections.close()

    def _send(self, url: str, headers: Mapping[str, str]) -> BaseHTTPResponse:
        proxy = self._sites.proxy_for(host_of(url))
        try:
            return self._connections.get(url, headers, self._timeout, proxy)
        except (u3.HTTPError, OSError) as error:
            # A server may close an idle connection in the moment we use it again: that is nobody's failure.
            if not (self._connections.wire().reused and _closed_early(error)):
                raise
            return self._connections.get(url, headers, self._timeout, proxy)


def agent_header(settings: CrawlSettings) -> str:
    """Product name, and how to reach the operator."""
    return f"{settings.user_agent} (+{settings.contact})" if settings.contact else settings.user_agent


def judge(
    entry: FrontierEntry,
    answer: Answer,
    asked_conditionally: bool,
    now: float,
    documents: DocumentRules = NO_DOCUMENTS,
) -> FetchResult:
    """What an answer means for the page that was asked for. Pure."""
    target = answer.moved_to
    if target is not None:
        return _redirected(entry, answer, target)
    kept = {
        "etag": answer.header("etag"),
        "last_modified": answer.header("last-modified"),
        "answered_at": answer.answered_at,
    }
    if answer.status == 304 and asked_conditionally:
        return FetchResult(Outcome(Reason.UNCHANGED, "304"), **kept)  # type: ignore[arg-type]
    if answer.status not in _PAGE_STATUS:
        return _refused(answer, now)
    found = _format_of(answer, documents)
    if isinstance(found, Reason):
        return FetchResult(Outcome(found, answer.media[:100]), answered_at=answer.answered_at)
    page = _page(entry, answer, now, found)
    if page.digest == entry.digest:
        return FetchResult(Outcome(Reason.UNCHANGED, "same bytes"), **kept)  # type: ignore[arg-type]
    return FetchResult(Outcome(Reason.FETCHED), page, **kept)  # type: ignore[arg-type]


def retry_after(value: str, now: float) -> float | None:
    """Seconds that a Retry-After header asks for (a number or an HTTP date), None if it says nothing usable."""
    value = value.strip()
    if re.fullmatch(r"[0-9]{1,15}", value):
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return None


def fetch_error(error: Exception) -> FetchError:
    """The recorded reason for an error of urllib3, ssl or the URL policy."""
    chain = list(_causes(error))
    host_failed = any(isinstance(cause, u3.NewConnectionError | u3.ConnectTimeoutError) for cause in chain)
    for kinds, reason in _REASONS:
        found = next((cause for cause in chain if isinstance(cause, kinds)), None)
        if found is not None:
            return FetchError(reason, _OUR_CONNECTION.sub("", str(found)), host_failed)
    return FetchError(Reason.UNREACHABLE, str(error), host_failed)


_LIBRARY_ERRORS = (u3.HTTPError, HTTPException, OSError, ValueError)
# The first row that fits anything in the chain of causes decides.
_REASONS: tuple[tuple[tuple[type[BaseException], ...], Reason], ...] = (
    ((InsideAddressError,), Reason.INSIDE_ADDRESS),
    ((TooLargeError,), Reason.TOO_LARGE),
    ((CodingError,), Reason.BAD_RESPONSE),
    ((u3.NameResolutionError, socket.gaierror, ssl.SSLError, u3.SSLError), Reason.UNREACHABLE),
    ((u3.NewConnectionError, RemoteDisconnected), Reason.UNREACHABLE),
    ((u3.TimeoutError, TimeoutError), Reason.TIMED_OUT),
    ((HTTPException, u3.IncompleteRead, u3.InvalidHeader), Reason.BAD_RESPONSE),
    ((u3.LocationParseError,), Reason.BAD_URL),
    ((ConnectionError, OSError, u3.HTTPError), Reason.BAD_RESPONSE),
    ((ValueError,), Reason.BAD_RESPONSE),
)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error, what it wraps and what caused it, inner ones last."""
    pending: list[BaseException] = [error]
    met: set[int] = set()
    while pending:
        cause = pending.pop(0)
        if id(cause) in met:
            continue
        met.add(id(cause))
        yield cause
        inner = (*cause.args, getattr(cause, "reason", None), cause.__cause__, cause.__context__)
        pending.extend(item for item in inner if isinstance(item, BaseException))


def _closed_early(error: Exception) -> bool:
    return any(
        isinstance(cause, RemoteDisconnected | ConnectionResetError | BrokenPipeError) for cause in _causes(error)
    )


def _validators(entry: FrontierEntry) -> dict[str, str]:
    found = {"If-None-Match": entry.etag, "If-Modified-Since": entry.last_modified}
    return {name: value for name, value in found.items() if _VALIDATOR.fullmatch(value)}


def _answer(
    url: str, response: BaseHTTPResponse, answered_at: float, cap_of: Callable[[Answer], int], cut: bool
) -> Answer:
    headers = tuple((key, _CONTROL.sub(" ", value)[:2000]) for key, value in response.headers.items())
    answer = Answer(url, response.status, headers, b"", answered_at)
    cap = cap_of(answer)
    if not cap:
        return answer
    raw = _body(response, cap, cut)
    body = undo(raw, answer.header("content-encoding"), cap)
    return Answer(url, answer.status, headers, body, answered_at)


def _body(response: BaseHTTPResponse, cap: int, cut: bool) -> bytes:
    stated = response.headers.get("Content-Length", "")
    if stated.isdecimal() and int(stated) > cap and not cut:
        raise TooLargeError(f"more than {cap} bytes: {stated[:20]}")
    parts: list[bytes] = []
    size = 0
    for part in response.stream(_CHUNK, decode_content=False):
        parts.append(part)
        size += len(part)
        if size > cap:
            if cut and not response.headers.get("Content-Encoding"):
                break
            raise TooLargeError(f"more than {cap} bytes")
    return b"".join(parts)[: cap if cut else None]


def _give_back(response: BaseHTTPResponse) -> None:
    """The connection may serve again if what is left of the body is short and comes."""
    length = response.headers.get("Content-Length", "")
    if response.status != 304 and not (length.isdecimal() and int(length) <= _CHUNK):
        return
    try:
        response.read(_CHUNK, decode_content=False)
    except (u3.HTTPError, HTTPException, OSError):
        return
    response.release_conn()


def _location(value: str) -> str:
    """Headers are decoded as Latin-1; bytes beyond ASCII are percent-encoded as they came, as browsers do."""
    return "".join(c if c < "\x7f" else f"%{ord(c):02X}" if ord(c) < 256 else c for c in value)


def _redirected(entry: FrontierEntry, answer: Answer, target: Address | Reason) -> FetchResult:
    if isinstance(target, Reason):
        outcome = Outcome(Reason.REDIRECTED_OFF_SCOPE, answer.header("location")[:300])
        return FetchResult(outcome, answered_at=answer.answered_at)
    is_itself = target.url == entry.url and target.fetch != answer.url
    return FetchResult(
        Outcome(Reason.DUPLICATE, target.url[:300]),
        redirect=target.url,
        spelling=target.fetch if is_itself else "",
        moved_for_good=answer.status in (301, 308),
        answered_at=answer.answered_at,
    )


def _refused(answer: Answer, now: float) -> FetchResult:
    busy = answer.status in (429, 503)
    return FetchResult(
        Outcome(_STATUS_REASONS.get(answer.status, Reason.HTTP_ERROR), str(answer.status)),
        retry_after=retry_after(answer.header("retry-after"), now) if busy else None,
        host_failed=busy,
        answered_at=answer.answered_at,
    )


_STATUS_REASONS = {404: Reason.GONE, 410: Reason.GONE, 204: Reason.EMPTY, 205: Reason.EMPTY, 304: Reason.BAD_RESPONSE}


def _format_of(answer: Answer, documents: DocumentRules) -> str | Reason:
    """What a 200 is, `html` or the format of a document; or why it is neither: its type, its emptiness, its bytes."""
    media, body, claimed = content_type_of(answer.media).type, answer.body, answer.claimed(documents)
    if not claimed and media not in _HTML | _MAYBE_HTML:
        return Reason.NOT_HTML
    if not body.strip():
        return Reason.EMPTY
    looks_html = bool(_LOOKS_HTML.match(body.removeprefix(b"\xef\xbb\xbf")[:4096]))
    if looks_html and claimed != "md":  # a document in name alone: a page that asks who is there
        return HTML if media in _HTML | _MAYBE_HTML else Reason.NOT_HTML
    if name := documents.format_of(claimed, body):
        return name
    if body.startswith(_BINARY):
        return Reason.NOT_HTML
    if media == PLAIN:  # documents are not fetched, or its ending is that of a program, a log, a table
        return Reason.NOT_HTML if documents.formats else HTML
    return HTML if media in _HTML else Reason.NOT_HTML


def _page(entry: FrontierEntry, answer: Answer, now: float, name: str) -> Page:
    return Page(
        url_id=entry.url_id,
        url=entry.url,
        final_url=answer.url,
        status=answer.status,
        content_type=media_of(name, answer.media),
        body=answer.body,
        digest=hashlib.sha256(answer.body).hexdigest(),
        fetched_at=now,
        etag=answer.header("etag"),
        last_modified=answer.header("last-modified"),
        headers=answer.headers,
        format=name,
    )
