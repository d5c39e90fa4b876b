"""One HTTP request within limits. Returns a Page, or the reason why there is none.

Requests are GETs, except those of a login (`login_session.py`). Proxies are used only if the settings define them for a
site, cookies also if the site set them in this run (`run_cookies.py`). `connections.py` limits the total time;
`content_encoding.py` limits the size before and after decompression. Redirects are reported, not followed: their target
is a URL with its own frontier entry, robots rules and throttle. Library errors become a `FetchError`.
"""

import hashlib
import re
import socket
import ssl
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from http.client import HTTPException, RemoteDisconnected

import urllib3.exceptions as u3
from urllib3 import BaseHTTPResponse, Timeout

from crawler.http.connections import ConnectionPool, RequestState
from crawler.http.content_encoding import ACCEPT_ENCODING, ContentDecodingError, TooLargeError, decode_body
from crawler.http.content_type import parse_content_type
from crawler.http.document_types import (
    NO_DOCUMENTS,
    TEXT_PLAIN,
    DocumentRules,
    parse_document_rules,
    stored_content_type,
)
from crawler.http.ip_policy import IpPolicy, PrivateAddressError
from crawler.http.login_secrets import find_secret
from crawler.http.login_session import LoginError, Logins, LoginSession, LoginUnavailableError
from crawler.http.login_state import LoginState
from crawler.http.run_cookies import RunCookies
from crawler.memory_budget import MemoryBudget, Reservation
from crawler.settings import CrawlSettings
from crawler.sitemaps.timestamps import parse_timestamp
from crawler.urls.canonical import NON_PAGE_EXTENSIONS, UrlForms, parse_url_forms, path_extension, split_host_port
from domain.file_formats import HTML_FORMAT
from domain.frontier import FrontierEntry
from domain.message import Message, error_message
from domain.outcome import Outcome, Reason
from domain.page import Page

_CHUNK_BYTES = 1 << 16
_MAX_LOGIN_PAGE_BYTES = 2_000_000
_CONNECTION_CLOSED_ERRORS = (RemoteDisconnected, ConnectionResetError, BrokenPipeError)
_USUAL_COMPRESSION_RATIO = 16  # HTML is compressed to a tenth; a body with a higher ratio reserves the maximum size
_REDIRECT_STATUSES = frozenset((301, 302, 303, 307, 308))
_SUCCESS_STATUSES = frozenset((200, 203))
_TRANSIENT_REASONS = frozenset((Reason.UNREACHABLE, Reason.TIMED_OUT, Reason.MALFORMED_RESPONSE))
_TRANSIENT_STATUSES = frozenset(("429", "500", "502", "503", "504"))
_HTML_TYPES = frozenset(("text/html", "application/xhtml+xml"))
_AMBIGUOUS_TYPES = frozenset(
    ("", "text/plain", "application/octet-stream", "application/xml", "text/xml", "unknown/unknown")
)
_HTML_START = re.compile(
    rb"(?>\s+|<!--.*?-->)*+<(?:!doctype html|html|head|body|meta|title|script|div|table|p|h1|a)\b", re.I | re.S
)
_BINARY_SIGNATURES = (
    b"%PDF-",
    b"PK\x03\x04",
    b"GIF8",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"\x1f\x8b\x08",
    b"Rar!",
    b"\xd0\xcf\x11\xe0",
)
_VALID_VALIDATOR = re.compile(r"[\x21-\x7e][\x20-\x7e]{0,499}")
# urllib3 messages begin with the connection object.
_CONNECTION_PREFIX = re.compile(r"^_PolicyHTTPS?Connection\(.*?\): ")
_CONTROL_CHARS = re.compile(r"[\x00-\x1f\x7f]+")


class FetchError(Exception):
    """The request failed, or its response is not usable. Becomes an `Outcome`."""

    def __init__(self, reason: Reason, detail: str = "", host_failed: bool = False) -> None:
        super().__init__(detail)
        is_message = isinstance(detail, Message)
        self.outcome = Outcome(reason, detail if is_message else _CONTROL_CHARS.sub(" ", detail)[:300])
        self.host_failed = host_failed

    @property
    def fetch_result(self) -> "FetchResult":
        """The error as the result of a request."""
        return FetchResult(self.outcome, host_failed=self.host_failed)


@dataclass(frozen=True)
class HttpResponse:
    """An HTTP response. `responded_at` is monotonic seconds. `body` is decoded, or empty if it was not requested.

    `sets_cookie` is True if the next request for the URL will send other cookies.
    """

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    responded_at: float
    sets_cookie: bool = False

    def header(self, header_name: str) -> str:
        """Return all values of a header, joined by commas, or "" if it is absent. The name must be in lower case."""
        return self._values_by_header.get(header_name, "")

    @cached_property
    def _values_by_header(self) -> dict[str, str]:
        values: dict[str, str] = {}
        for key, value in self.headers:
            name = key.lower()
            values[name] = f"{values[name]}, {value}" if name in values else value
        return values

    @property
    def content_type(self) -> str:
        """Value of the Content-Type header, or ""."""
        return self.header("content-type")

    def declared_format(self, document_rules: DocumentRules) -> str:
        """Return the document format that the headers declare, or ""."""
        return document_rules.declared_format(self.url, self.content_type, self.header("content-disposition"))

    @property
    def redirect_url(self) -> str | Reason | None:
        """Canonical URL of the redirect target, a Reason if it is invalid, or None without a redirect."""
        redirect = self.redirect_forms
        return redirect.url if isinstance(redirect, UrlForms) else redirect

    @property
    def redirect_forms(self) -> UrlForms | Reason | None:
        """Both forms of the redirect target, a Reason if it is invalid, or None without a redirect."""
        location = self.header("location").strip()
        if self.status not in _REDIRECT_STATUSES or not location:
            return None
        return parse_url_forms(_decode_location(location), self.url)

    def file_result(self, now: float) -> "FetchResult":
        """The response as the result of a request that is not for a page. `now` is epoch seconds."""
        if self.status >= 400:
            return _error_result(self, now)
        return FetchResult(Outcome(Reason.FETCHED), responded_at=self.responded_at)


@dataclass(frozen=True)
class FetchResult:
    """The result of one request.

    Attributes:
        redirect_url: canonical URL of the redirect target, or "".
        is_permanent_redirect: True for status 301 and 308.
        preferred_request_url: other spelling of the same canonical URL that the site redirects to, or "".
        retry_after: seconds that the host requested.
        host_failed: True if the host is unreachable or overloaded.
        responded_at: monotonic time of the response start, None without a response.
        sets_cookie: True if the next request for the URL will send other cookies.
    """

    outcome: Outcome
    page: Page | None = None
    redirect_url: str = ""
    is_permanent_redirect: bool = False
    preferred_request_url: str = ""
    etag: str = ""
    last_modified: str = ""
    retry_after: float | None = None
    host_failed: bool = False
    responded_at: float | None = None
    sets_cookie: bool = False

    @property
    def is_transient_failure(self) -> bool:
        """True if the failure of the host may be temporary."""
        return self.outcome.reason in _TRANSIENT_REASONS or self.outcome.detail in _TRANSIENT_STATUSES


class Fetcher:
    """Fetches pages. Thread-safe; all threads share its connections.

    Attributes:
        user_agent: User-Agent header.
        total_timeout: maximum seconds of one request.
        max_page_bytes: maximum size of a page.
        document_rules: documents that are fetched in addition to pages.
        logins: the sessions of the sites with a login.

    Raises:
        SettingsError: invalid document formats.
    """

    def __init__(
        self,
        settings: CrawlSettings,
        ip_policy: IpPolicy,
        now: Callable[[], float] = time.time,
        find_login_secret: Callable[[str], str] | None = None,
    ) -> None:
        self.total_timeout = settings.total_timeout
        self.max_page_bytes = settings.max_bytes
        self.document_rules = parse_document_rules(settings)
        self._now = now
        self._connections = ConnectionPool(ip_policy, settings.per_host)
        self._sites = settings.sites
        self._cookies = RunCookies()
        find_a_secret = find_login_secret or partial(find_secret, settings.folder)
        self.logins = Logins(
            settings.sites,
            lambda site: LoginSession(
                site,
                find_a_secret,
                LoginState(settings.data_dir, site.host),
                cookies := RunCookies(),
                ip_policy,
                partial(self._send_login, cookies),
            ),
        )
        self._connect_seconds = settings.connect_timeout
        self._timeout = Timeout(connect=self._connect_seconds, read=settings.read_timeout)
        self.user_agent = f"{settings.user_agent} (+{settings.contact})" if settings.contact else settings.user_agent
        self._headers = {
            "User-Agent": self.user_agent,
            "Accept": "text/html,application/xhtml+xml,text/plain;q=0.8,*/*;q=0.1",
            "Accept-Encoding": ACCEPT_ENCODING,
        }

    def fetch(self, entry: FrontierEntry, request_url: str = "", reservation: Reservation | None = None) -> FetchResult:
        """Fetch one page, conditionally if an earlier response had validators. HTTP errors never raise.

        Args:
            entry: the URL.
            request_url: preferred spelling of the URL from an earlier response.
            reservation: memory of the body. It waits for other bodies, which does not count as time of the fetch.
        """
        validators = _conditional_headers(entry)
        try:
            response = self._get(request_url or entry.url, validators, self._max_page_bytes, reservation=reservation)
        except FetchError as error:
            return error.fetch_result
        return interpret_response(entry, response, bool(validators), self._now(), self.document_rules)

    def get(
        self,
        url: str,
        headers: Mapping[str, str],
        should_read_body: Callable[[int, str], bool],
        cap: int | None = None,
        truncate: bool = False,
        reservation: Reservation | None = None,
    ) -> HttpResponse:
        """Send one GET. The body is read if `should_read_body(status, content type)` returns True.

        A body over `cap` bytes (default: the setting) is an error. With `truncate`, an uncoded body is cut there
        instead. `reservation` as in `fetch`. Raises FetchError.
        """
        limit = self.max_page_bytes if cap is None else cap
        return self._get(
            url,
            headers,
            lambda response: limit if should_read_body(response.status, response.content_type) else 0,
            truncate,
            reservation,
        )

    def check_page(self, entry: FrontierEntry) -> FetchResult:
        """Ask with HEAD whether there is a page at the URL. The reason is FETCHED for a page, NOT_HTML for a file."""
        try:
            response = self._get(entry.url, {}, lambda _: 0, method="HEAD")
        except FetchError as error:
            return error.fetch_result
        result, media_type = response.file_result(self._now()), parse_content_type(response.content_type).media_type
        is_file = response.status in _SUCCESS_STATUSES and media_type not in _HTML_TYPES
        if isinstance(response.redirect_forms, UrlForms):
            is_file = path_extension(response.redirect_forms.url) in NON_PAGE_EXTENSIONS
        return replace(result, outcome=Outcome(Reason.NOT_HTML, media_type[:100])) if is_file else result

    def _get(
        self,
        url: str,
        headers: Mapping[str, str],
        max_body_bytes: Callable[[HttpResponse], int],
        truncate: bool = False,
        reservation: Reservation | None = None,
        method: str = "GET",
    ) -> HttpResponse:
        """Send one GET or HEAD, as the signed-in user of a site with a login. Other arguments as in `_request`."""
        session = self.logins.find(url)
        if session is None:
            return self._request(url, headers, max_body_bytes, truncate, reservation, method)

        def send(login_headers: Mapping[str, str]) -> HttpResponse:
            return self._request(
                url,
                {**headers, **login_headers},
                max_body_bytes,
                truncate,
                reservation,
                method,
                connections=session.connections,
                cookies=session.cookies,
            )

        try:
            return session.fetch(url, method, send)
        except LoginError as error:
            raise FetchError(Reason.NEEDS_LOGIN, error_message(error)) from None

    def _send_login(
        self, cookies: RunCookies, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> HttpResponse:
        try:
            return self._request(
                url, headers, lambda _: _MAX_LOGIN_PAGE_BYTES, method=method, body=body, cookies=cookies
            )
        except FetchError as error:
            raise LoginUnavailableError(error.outcome.summary) from None

    def _request(
        self,
        url: str,
        headers: Mapping[str, str],
        max_body_bytes: Callable[[HttpResponse], int],
        truncate: bool = False,
        reservation: Reservation | None = None,
        method: str = "GET",
        body: bytes | None = None,
        connections: ConnectionPool | None = None,
        cookies: RunCookies | None = None,
    ) -> HttpResponse:
        """Send one request.

        `max_body_bytes` returns the size limit of the body from the response headers, 0 to skip the body. `cookies` are
        those of a login; they go to the URLs of its site only.
        """
        connections = connections or self._connections
        cookies = self._cookies if cookies is None else cookies
        request_state = connections.request_state()
        request_state.deadline = request_state.clock() + self.total_timeout
        try:
            sent_headers = {**self._headers, **self._sites.for_url(url).request_headers, **headers}
            if cookie_header := cookies.header(url, sent_headers.get("Cookie", "")):
                sent_headers["Cookie"] = cookie_header
            raw_response = self._send(url, sent_headers, method, body, connections)
            try:
                memory = reservation or Reservation(MemoryBudget(sys.maxsize))
                response = _read_response(url, raw_response, request_state, max_body_bytes, truncate, memory)
                _release_connection(raw_response)
                return replace(response, sets_cookie=cookies.store(url, raw_response.headers))
            finally:
                raw_response.close()  # no effect on a released connection
        except (PrivateAddressError, *_LIBRARY_ERRORS) as error:
            raise to_fetch_error(error) from error

    def _max_page_bytes(self, response: HttpResponse) -> int:
        """Return the maximum body size of a page or document response, 0 if the body is not wanted."""
        if response.status not in _SUCCESS_STATUSES:
            return 0
        if name := response.declared_format(self.document_rules):
            return self.document_rules.max_body_bytes(name, self.max_page_bytes)
        return (
            self.max_page_bytes
            if parse_content_type(response.content_type).media_type in _HTML_TYPES | _AMBIGUOUS_TYPES
            else 0
        )

    def last_ip(self, host: str) -> str:
        """Return the last IP address of host[:port], or ""."""
        return self._connections.last_ip(split_host_port(host)[0])

    def find_ip(self, host: str) -> str:
        """Return the last IP address of host[:port]; before the first connection, the one that its name resolves to.

        Returns "" if there is no allowed address, or if a proxy connects to the host.
        """
        name, port = split_host_port(host)
        if self._sites.for_host(host).proxy:
            return ""
        return self._connections.find_ip(name, int(port or 0), self._connect_seconds)

    def has_cookies(self, url: str) -> bool:
        """True if the site has set cookies in this run that the next request for the URL sends."""
        session = self.logins.find(url)
        return bool((session.cookies if session else self._cookies).header(url))

    def close(self) -> None:
        """Close the idle connections of all threads."""
        self._connections.close()
        self.logins.close()

    def _send(
        self, url: str, headers: Mapping[str, str], method: str, body: bytes | None, connections: ConnectionPool
    ) -> BaseHTTPResponse:
        arguments = (url, headers, self._timeout, self._sites.for_url(url).proxy, method, body)
        try:
            return connections.get(*arguments)
        except (u3.HTTPError, OSError) as error:
            # The server may close an idle connection just as it is reused. That is not a failure.
            is_closed = any(isinstance(cause, _CONNECTION_CLOSED_ERRORS) for cause in _iter_causes(error))
            if not (connections.request_state().is_connection_reused and is_closed):
                raise
            return connections.get(*arguments)


def interpret_response(
    entry: FrontierEntry,
    response: HttpResponse,
    is_conditional: bool,
    now: float,
    document_rules: DocumentRules = NO_DOCUMENTS,
) -> FetchResult:
    """Interpret the response to a page request. Pure."""
    target = response.redirect_forms
    if target is not None:
        return _redirect_result(entry, response, target)
    validators = {
        "etag": response.header("etag"),
        "last_modified": response.header("last-modified"),
        "responded_at": response.responded_at,
        "sets_cookie": response.sets_cookie,
    }
    if response.status == 304 and is_conditional:
        return FetchResult(Outcome(Reason.UNCHANGED, "304"), **validators)  # type: ignore[arg-type]
    if response.status not in _SUCCESS_STATUSES:
        return _error_result(response, now)
    format_or_reason = _detect_format(response, document_rules)
    if isinstance(format_or_reason, Reason):
        return FetchResult(Outcome(format_or_reason, response.content_type[:100]), responded_at=response.responded_at)
    page = _build_page(entry, response, now, format_or_reason)
    if page.digest == entry.digest:
        return FetchResult(Outcome(Reason.UNCHANGED, "same bytes"), **validators)  # type: ignore[arg-type]
    return FetchResult(Outcome(Reason.FETCHED), page, **validators)  # type: ignore[arg-type]


def parse_retry_after(value: str, now: float) -> float | None:
    """Return the seconds of a Retry-After header (a number or an HTTP date), or None if it is not usable."""
    value = value.strip()
    if re.fullmatch(r"[0-9]{1,15}(?:\.[0-9]{1,15})?", value):
        return float(value)
    retry_at = parse_timestamp(value)
    return None if retry_at is None else max(0.0, retry_at - now)


def to_fetch_error(error: Exception) -> FetchError:
    """Convert an error of urllib3, ssl or the IP policy to a FetchError with a recorded reason."""
    chain = list(_iter_causes(error))
    host_failed = any(isinstance(cause, u3.NewConnectionError | u3.ConnectTimeoutError) for cause in chain)
    for kinds, reason in _REASON_BY_ERROR:
        matched_cause = next((cause for cause in chain if isinstance(cause, kinds)), None)
        if matched_cause is not None:
            message = error_message(matched_cause)
            is_message = isinstance(message, Message)
            return FetchError(reason, message if is_message else _CONNECTION_PREFIX.sub("", message), host_failed)
    return FetchError(Reason.UNREACHABLE, str(error), host_failed)


_LIBRARY_ERRORS = (u3.HTTPError, HTTPException, OSError, ValueError)
# The first row that matches any error in the chain of causes decides.
_REASON_BY_ERROR: tuple[tuple[tuple[type[BaseException], ...], Reason], ...] = (
    ((PrivateAddressError,), Reason.PRIVATE_ADDRESS),
    ((TooLargeError,), Reason.TOO_LARGE),
    ((ContentDecodingError,), Reason.MALFORMED_RESPONSE),
    ((u3.NameResolutionError, socket.gaierror, ssl.SSLError, u3.SSLError), Reason.UNREACHABLE),
    ((u3.NewConnectionError, RemoteDisconnected), Reason.UNREACHABLE),
    ((u3.TimeoutError, TimeoutError), Reason.TIMED_OUT),
    ((HTTPException, u3.IncompleteRead, u3.InvalidHeader), Reason.MALFORMED_RESPONSE),
    ((u3.LocationParseError,), Reason.INVALID_URL),
    ((ConnectionError, OSError, u3.HTTPError), Reason.MALFORMED_RESPONSE),
    ((ValueError,), Reason.MALFORMED_RESPONSE),
)


def _iter_causes(error: BaseException) -> Iterator[BaseException]:
    """Iterate over the error and its causes, outer errors first."""
    pending: list[BaseException] = [error]
    seen_ids: set[int] = set()
    while pending:
        cause = pending.pop(0)
        if id(cause) in seen_ids:
            continue
        seen_ids.add(id(cause))
        yield cause
        inner = (*cause.args, getattr(cause, "reason", None), cause.__cause__, cause.__context__)
        pending.extend(item for item in inner if isinstance(item, BaseException))


def _conditional_headers(entry: FrontierEntry) -> dict[str, str]:
    headers = {"If-None-Match": entry.etag, "If-Modified-Since": entry.last_modified}
    return {name: value for name, value in headers.items() if _VALID_VALIDATOR.fullmatch(value)}


def _read_response(
    url: str,
    raw_response: BaseHTTPResponse,
    request_state: RequestState,
    max_body_bytes: Callable[[HttpResponse], int],
    truncate: bool,
    reservation: Reservation,
) -> HttpResponse:
    headers = tuple((key, _CONTROL_CHARS.sub(" ", value)[:2000]) for key, value in raw_response.headers.items())
    response = HttpResponse(url, raw_response.status, headers, b"", request_state.responded_at)
    cap = max_body_bytes(response)
    if not cap:
        return response
    body = _read_body(raw_response, cap, truncate, request_state, reservation)
    if content_encoding := response.header("content-encoding"):
        body = _decode_body(body, content_encoding, cap, reservation)
    reservation.resize(len(body))
    return replace(response, body=body)


def _decode_body(body: bytes, content_encoding: str, cap: int, reservation: Reservation) -> bytes:
    """Remove the codings of a body, first within the usual compression ratio, which reserves little memory."""
    usual_size = min(cap, len(body) * _USUAL_COMPRESSION_RATIO)
    reservation.resize(len(body) + 2 * usual_size)
    try:
        return decode_body(body, content_encoding, usual_size)
    except TooLargeError:
        if usual_size == cap:
            raise
    reservation.resize(len(body) + 2 * cap)
    return decode_body(body, content_encoding, cap)


def _read_body(
    raw_response: BaseHTTPResponse, cap: int, truncate: bool, request_state: RequestState, reservation: Reservation
) -> bytes:
    content_length = raw_response.headers.get("Content-Length", "")
    if content_length.isdecimal() and int(content_length) > cap and not truncate:
        raise TooLargeError(Message("More than 1 byte", "More than {n} bytes", n=cap))
    parts: list[bytes] = []
    byte_count = 0
    for part in raw_response.stream(_CHUNK_BYTES, decode_content=False):
        parts.append(part)
        byte_count += len(part)
        request_state.deadline += reservation.resize(2 * byte_count)  # joining the parts copies them
        if byte_count > cap:
            if truncate and not raw_response.headers.get("Content-Encoding"):
                break
            raise TooLargeError(Message("More than 1 byte", "More than {n} bytes", n=cap))
    return b"".join(parts)[: cap if truncate else None]


def _release_connection(raw_response: BaseHTTPResponse) -> None:
    """Release the connection for reuse if the rest of the body is short and arrives."""
    length = raw_response.headers.get("Content-Length", "")
    if raw_response.status != 304 and not (length.isdecimal() and int(length) <= _CHUNK_BYTES):
        return
    try:
        raw_response.read(_CHUNK_BYTES, decode_content=False)
    except (u3.HTTPError, HTTPException, OSError):
        return
    raw_response.release_conn()


def _decode_location(value: str) -> str:
    """Percent-encode non-ASCII bytes of a Location header as they were sent, like browsers.

    Headers are decoded as Latin-1.
    """
    return "".join(c if c < "\x7f" else f"%{ord(c):02X}" if ord(c) < 256 else c for c in value)


def _redirect_result(entry: FrontierEntry, response: HttpResponse, target: UrlForms | Reason) -> FetchResult:
    if isinstance(target, Reason):
        outcome = Outcome(Reason.REDIRECTED_OUT_OF_SCOPE, response.header("location")[:300])
        return FetchResult(outcome, responded_at=response.responded_at)
    is_same_page = target.url == entry.url and (target.request_url != response.url or response.sets_cookie)
    return FetchResult(
        Outcome(Reason.REDIRECTED_TO_KNOWN_URL, target.url[:300]),
        redirect_url=target.url,
        preferred_request_url=target.request_url if is_same_page else "",
        is_permanent_redirect=response.status in (301, 308),
        responded_at=response.responded_at,
        sets_cookie=response.sets_cookie,
    )


def _error_result(response: HttpResponse, now: float) -> FetchResult:
    is_overloaded = response.status in (429, 503)
    is_challenge = response.status == 403 and bool(response.header("www-authenticate"))
    reason = Reason.NEEDS_LOGIN if is_challenge else _REASON_BY_STATUS.get(response.status, Reason.HTTP_ERROR)
    return FetchResult(
        Outcome(reason, str(response.status)),
        retry_after=parse_retry_after(response.header("retry-after"), now) if is_overloaded else None,
        host_failed=is_overloaded,
        responded_at=response.responded_at,
    )


_REASON_BY_STATUS = {
    404: Reason.GONE,
    410: Reason.GONE,
    204: Reason.EMPTY_BODY,
    205: Reason.EMPTY_BODY,
    304: Reason.MALFORMED_RESPONSE,
    401: Reason.NEEDS_LOGIN,
    407: Reason.NEEDS_LOGIN,
}


def _detect_format(response: HttpResponse, document_rules: DocumentRules) -> str | Reason:
    """Return the format of a response with status 200: `html` or a document format, or the Reason why it is neither."""
    media, body = parse_content_type(response.content_type).media_type, response.body
    declared_format = response.declared_format(document_rules)
    if not declared_format and media not in _HTML_TYPES | _AMBIGUOUS_TYPES:
        return Reason.NOT_HTML
    if not body.strip():
        return Reason.EMPTY_BODY
    looks_html = bool(_HTML_START.match(body.removeprefix(b"\xef\xbb\xbf")[:4096]))
    if looks_html and declared_format != "md":  # HTML under a document type, e.g. a login page
        return HTML_FORMAT if media in _HTML_TYPES | _AMBIGUOUS_TYPES else Reason.NOT_HTML
    if name := document_rules.detect_format(declared_format, body):
        return name
    if body.startswith(_BINARY_SIGNATURES):
        return Reason.NOT_HTML
    if media == TEXT_PLAIN:  # document fetching is off, or the extension is excluded
        return Reason.NOT_HTML if document_rules.formats else HTML_FORMAT
    return HTML_FORMAT if media in _HTML_TYPES else Reason.NOT_HTML


def _build_page(entry: FrontierEntry, response: HttpResponse, now: float, format_name: str) -> Page:
    return Page(
        url_id=entry.url_id,
        url=entry.url,
        final_url=response.url,
        status=response.status,
        content_type=stored_content_type(format_name, response.content_type),
        body=response.body,
        digest=hashlib.sha256(response.body).hexdigest(),
        fetched_at=now,
        etag=response.header("etag"),
        last_modified=response.header("last-modified"),
        headers=response.headers,
        format=format_name,
    )
