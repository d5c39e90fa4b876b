"""Sign in to sites that ask for a name, and keep their sessions during a run.

    basic, digest, ntlm, bearer, client_credentials   signed in when the site first refuses a request (401, 403)
    form                                              signed in before the first request

A page that shows that nobody is signed in (401, a redirect to the login, its form or its text in place of the page) is
no response: the session signs in again, once for all threads, and sends the request again. Three failures in a row
without a proof of success between them end the requests to the site. A refused login stays so in later runs
(`login_state.py`). Secrets go only to the hosts of the record and to the login page, and never from https to http.
"""

import json
import logging
import threading
import time
from base64 import b64decode, b64encode
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from crawler.http.connections import ConnectionPool
from crawler.http.http_auth import Challenge, digest_header, parse_challenges
from crawler.http.ip_policy import IpPolicy
from crawler.http.login_form import PASSWORD, HtmlPage, LoginForm, field_values, fill_in, parse_html_page, shows_login
from crawler.http.login_state import LoginState
from crawler.http.run_cookies import RunCookies
from crawler.parsing.status_pages import LOGIN_URL
from crawler.site import Site, Sites
from crawler.urls.canonical import UrlForms, host_of, url_origin
from crawler.urls.logout_links import is_logout_url
from crawler.urls.registrable_domains import site_domain
from domain.errors import PlumblineError, SettingsError
from domain.login import LoginKind, LoginStep
from domain.message import Message, error_message

if TYPE_CHECKING:
    from crawler.http.fetch import HttpResponse  # imports this module

logger = logging.getLogger(__name__)

MAX_LOGIN_FAILURES = 3  # in a row
_MAX_FRUITLESS_SIGN_INS = 10  # pages in a row that ask for a login again although the sign-in succeeded
_MAX_REQUESTS_PER_SESSION = 2_000  # of a form: then a new session begins, as people's sessions do
_MAX_REDIRECTS = 5
_MAX_TURN_SECONDS = 60.0  # the thread whose turn it is may wait for memory that this one has reserved
_MAX_STEPS = 20
_SHORTEST_TOKEN_SECONDS, _TOKEN_MARGIN_SECONDS = 10.0, 30.0
_KEPT_REDIRECTS = (307, 308)  # the method stays
_STATIC_KINDS = (LoginKind.BASIC, LoginKind.BEARER, LoginKind.NTLM)  # a refusal shows that the secret is wrong
_SECRET_HEADERS = ("set-cookie", "authentication-info", "www-authenticate")
_STILL_ASKS = Message("The site asks for a login again after the sign-in")
_NO_SECRET = Message("There is no usable password or token: set one in the login of the site")
_REFUSED = Message("The site refuses the user name or the secret")
SESSION_END_OUTCOME = Message("The URL is that of the login, or ends the session")


class LoginError(PlumblineError):
    """The crawl is not signed in to a site. `is_refusal` is False if the site gave no answer about it."""

    is_refusal = True


class LoginUnavailableError(LoginError):
    """The login page or the token endpoint does not respond as expected."""

    is_refusal = False


LoginRequest = Callable[[str, str, Mapping[str, str], bytes | None], "HttpResponse"]
"""Sends a request of a sign-in (method, URL, headers, body), and follows no redirect. Raises LoginUnavailableError."""
Send = Callable[[Mapping[str, str]], "HttpResponse"]
"""Sends the request for a page with more headers."""


class Logins:
    """The sessions of a run, one for each record with a login. Thread-safe."""

    def __init__(self, sites: Sites, open_session: "Callable[[Site], LoginSession]") -> None:
        self._sites, self._open_session = sites, open_session
        self._sessions: dict[str, LoginSession] = {}
        self._lock = threading.Lock()

    def find(self, url: str) -> "LoginSession | None":
        """Return the session for a URL; None if its site has no login, and for robots.txt and unencrypted URLs."""
        site = self._sites.login_site(host_of(url))
        if site is None or _is_downgrade(site, url) or urlsplit(url).path == "/robots.txt":
            return None
        return self._session(site)

    def paused_hosts(self) -> list[str]:
        """Return the single hosts that their record pauses, or a login that failed in an earlier run."""
        return [
            site.host
            for site in self._sites.records
            if site.paused or (site.login and not site.host.startswith("*.") and self._session(site).is_paused)
        ]

    def close(self) -> None:
        """Close the connections of the sessions."""
        for session in self._sessions.values():
            if session.connections is not None:
                session.connections.close()

    def _session(self, site: Site) -> "LoginSession":
        with self._lock:
            if site.host not in self._sessions:
                self._sessions[site.host] = self._open_session(site)
            return self._sessions[site.host]


class LoginSession:
    """The login of one record in one run. Thread-safe; one thread signs in, and the others wait for it.

    Args:
        site: A record with a login.
        find_secret: Returns its secret by its host. A SettingsError becomes the `problem`.
        state: What earlier runs know of the login.
        cookies: An empty store for those of the session.
        send: Sends the requests of a sign-in.

    Attributes:
        problem: Why no more requests are sent; "" while they are.
        is_paused: True if that is since an earlier run.
        generation: Number of sign-ins so far.
        form: The form of the last sign-in; None if there was none.
        page: The page that the sign-in led to; None if there was none.
        steps: The last requests.
        connections: Those that all requests must use, or None.
    """

    def __init__(
        self,
        site: Site,
        find_secret: Callable[[str], str],
        state: LoginState,
        cookies: RunCookies,
        ip_policy: IpPolicy,
        send: LoginRequest,
    ) -> None:
        if site.login_settings is None:
            raise ValueError("the site has no login")
        self.login, self._site, self._state = site.login_settings, site, state
        self.cookies, self._send = cookies, send
        self.form: LoginForm | None = None
        self.page: HtmlPage | None = None
        self.steps: deque[LoginStep] = deque(maxlen=_MAX_STEPS)
        is_ntlm = self.login.kind is LoginKind.NTLM  # it authenticates the connection
        self.connections = ConnectionPool(ip_policy, 1) if is_ntlm else None
        self._lock, self._connection_lock = threading.RLock(), threading.Lock()
        self._turn = threading.Lock()  # the first request after a sign-in is alone: others may be refused too
        self._secret = self._token = self._last_url = ""
        self._expires_at = float("inf")  # of the token, in monotonic seconds
        self._challenges: Sequence[Challenge] = ()
        self._challenge_uses = 0  # requests with its nonce
        self._is_signed_in = self._is_fresh = False  # fresh: no request has succeeded since the sign-in
        self._is_proven = False  # the sign-in itself has shown that the secret is right
        self.generation = self._failures = self._fruitless = self._request_count = 0
        self.problem, self.is_paused = "", False
        self._find_secret = find_secret
        try:
            self._secret = find_secret(site.host)
        except SettingsError as error:
            self.problem = error_message(error)
        if not self._secret or (self.login.kind is LoginKind.BEARER and not self._secret.isascii()):
            self.problem = self.problem or _NO_SECRET
        elif pause := state.find_pause(self.login, self._secret):
            self.problem, self.is_paused = pause, True

    def fetch(self, url: str, method: str, send: Send) -> "HttpResponse":
        """Send a request as the signed-in user.

        Raises LoginError if that is not possible, and for a URL that would end the session. `send` sends the request
        with more headers.
        """
        if self.is_excluded(url):
            raise LoginError(SESSION_END_OUTCOME)
        has_ended = False
        for _ in range(MAX_LOGIN_FAILURES):
            with ExitStack() as stack:
                if self._turn.acquire(timeout=_MAX_TURN_SECONDS):
                    stack.callback(self._turn.release)
                with self._lock:
                    self._begin()
                    generation, is_signed_in, is_fresh = self.generation, self._is_signed_in, self._is_fresh
                if not is_fresh:
                    stack.close()
                response = self._send_signed_in(url, method, send) if is_signed_in else send({})
                self.steps.append(LoginStep(method, without_query(url), response.status))
                if not self._shows_end(url, response, is_signed_in):
                    self._accept(url, response.status, generation, has_ended)
                    headers = [pair for pair in response.headers if pair[0].lower() not in _SECRET_HEADERS]
                    return replace(response, headers=tuple(headers))
                has_ended = True
                self.renew(generation, response)
        raise LoginError(_STILL_ASKS)

    def is_excluded(self, url: str) -> bool:
        """True for a URL that is never requested: that of the login, and those that end the session."""
        return is_logout_url(url) or self._is_login_url(url) or self._state.ends_session(url)

    def renew(self, generation: int, response: "HttpResponse | None" = None, is_repeated: bool = False) -> None:
        """Sign in again after a page that showed the end of a session, unless another thread has done so.

        Args:
            generation: That of the request for the page.
            response: What the site sent in place of the page.
            is_repeated: The page showed the same directly before.

        Raises LoginError if the site refuses the login, or asks for it directly after a sign-in.
        """
        with self._lock:
            if generation != self.generation:
                return
            if self.problem:  # another thread has given up
                raise LoginError(self.problem)
            is_fresh = self._is_fresh or is_repeated
            if self._is_signed_in and (is_fresh or self.login.kind in _STATIC_KINDS):
                self._is_signed_in &= self.login.kind is LoginKind.FORM  # the others prove the next sign-in again
                self._is_fresh &= self._is_signed_in
                self._fruitless += 1
                error = LoginError(_REFUSED if self.login.kind in _STATIC_KINDS else _STILL_ASKS)
                if not self._is_proven:
                    self._count_failure(error)
                if is_fresh or self.problem:
                    raise error
            if self._fruitless >= _MAX_FRUITLESS_SIGN_INS:
                raise LoginError(_STILL_ASKS)
            if self._is_signed_in and self._last_url:
                self._state.record_next(self._last_url, has_ended=True)
            self._sign_in(response)

    def shows_login(self, url: str, body: bytes, content_type: str) -> bool:
        """True if a page, after its scripts ran, is shown because nobody is signed in."""
        return shows_login(url, body, content_type, self.login, self.form)

    def _begin(self) -> None:
        """Sign in if that is due. Raises LoginError while the site is paused."""
        if self.problem:
            raise LoginError(self.problem)
        is_form = self.login.kind is LoginKind.FORM
        if (is_form and (not self._is_signed_in or self._request_count >= _MAX_REQUESTS_PER_SESSION)) or (
            self._is_signed_in and time.monotonic() >= self._expires_at
        ):
            self._sign_in(None)
        self._request_count += 1

    def _shows_end(self, url: str, response: "HttpResponse", is_signed_in: bool) -> bool:
        is_form = self.login.kind is LoginKind.FORM
        is_unproven = not is_form and (self._is_fresh or not is_signed_in)
        if response.status == 401 or (response.status == 403 and is_unproven):
            return True
        target = response.redirect_url
        if is_form and isinstance(target, str):
            is_other_login = LOGIN_URL.search(without_query(target)) and not LOGIN_URL.search(url)
            return self._is_login_url(target) or bool(is_other_login)
        ignores_forms = not is_form or self._site.render  # those before scripts ran
        return shows_login(url, response.body, response.content_type, self.login, self.form, ignores_forms)

    def _accept(self, url: str, status: int, generation: int, has_ended: bool) -> None:
        """Count a response as one to a signed-in user; it proves the sign-in if the one before it was refused."""
        with self._lock:
            if status >= 500 or generation != self.generation:
                return
            self._is_fresh = False
            if has_ended and status < 400:
                self._fruitless = 0
                self._prove()
            elif self._last_url:
                self._state.record_next(self._last_url, has_ended=False)
            self._last_url = url

    def _send_signed_in(self, url: str, method: str, send: Send) -> "HttpResponse":
        if self.login.kind is LoginKind.NTLM:
            with self._connection_lock:
                return self._send_with_ntlm(send)
        return send(self._headers(url, method))

    def _headers(self, url: str, method: str) -> Mapping[str, str]:
        login = self.login
        match login.kind:
            case LoginKind.BASIC:
                return {"Authorization": _basic_header(login.user, self._secret)}
            case LoginKind.BEARER | LoginKind.CLIENT_CREDENTIALS:
                return {"Authorization": f"Bearer {self._token or self._secret}"}
            case LoginKind.DIGEST:
                with self._lock:
                    self._challenge_uses += 1
                    challenges, count = self._challenges, self._challenge_uses
                return {"Authorization": digest_header(challenges, login.user, self._secret, method, url, count) or ""}
            case _:
                return {}

    def _send_with_ntlm(self, send: Send) -> "HttpResponse":
        """Send a request over the kept connection, and authenticate the connection if it is new."""
        response = send({})
        if response.status != 401:
            return response
        spnego, login = _import_spnego(), self.login
        schemes = [challenge.scheme for challenge in self._challenges]
        scheme = "NTLM" if "ntlm" in schemes else "Negotiate"
        context = spnego.client(
            login.user, self._secret, hostname=host_of(response.url), service="http", protocol="ntlm"
        )
        challenge: bytes | None = None
        try:
            while response.status == 401 and not context.complete:  # negotiation, then the answer to a challenge
                token = b64encode(context.step(challenge) or b"").decode()
                response = send({"Authorization": f"{scheme} {token}"})
                challenges = parse_challenges(response.header("www-authenticate"))
                tokens = [item.token for item in challenges if item.scheme == scheme.lower() and item.token]
                challenge = b64decode(tokens[0]) if tokens else b""
        except (spnego.exceptions.SpnegoError, ValueError):  # a broken challenge: the refusal stands
            logger.warning("the NTLM challenge of %s cannot be read", self._site.host)
        return response

    # -- sign in

    def _sign_in(self, response: "HttpResponse | None") -> None:
        """Sign in; `response` is the refusal that caused it. Raises LoginError; a failure is counted."""
        self._is_signed_in = False
        with suppress(SettingsError):  # the file broke during the run: the secret of its beginning stays
            self._secret = self._find_secret(self._site.host) or self._secret
        if pause := self._state.find_pause(self.login, self._secret):  # of another process
            self.problem = pause
            raise LoginError(pause)
        try:
            match self.login.kind:
                case LoginKind.FORM:
                    self._sign_in_by_form()
                    has_logout_link = self.page is not None and self.page.has_logout_link
                    self._is_proven = bool(self.login.signed_in_text) or has_logout_link
                case LoginKind.CLIENT_CREDENTIALS:
                    self._fetch_token()
                    self._is_proven = True
                case _:
                    self._read_challenge(response)
        except LoginError as error:
            self._count_failure(error)
            raise
        if self._is_proven:
            self._prove()
        self._state.end_outage()
        self.generation += 1
        self._is_signed_in = self._is_fresh = True
        self._request_count = 0
        logger.info("signed in to %s", self._site.host)

    def _read_challenge(self, response: "HttpResponse | None") -> None:
        """Check that the site offers the kind of login, so that no secret is sent in another one."""
        self._challenges = parse_challenges(response.header("www-authenticate")) if response is not None else ()
        self._challenge_uses, kind = 0, self.login.kind
        schemes = [challenge.scheme for challenge in self._challenges]
        is_offered = kind.value in schemes or not schemes or (kind is LoginKind.NTLM and "negotiate" in schemes)
        if kind is LoginKind.DIGEST:
            is_offered = digest_header(self._challenges, "", "", "GET", self.login.url, 1) is not None
        if kind is LoginKind.NTLM:
            _import_spnego()
        if not is_offered:
            names = tuple(schemes) or (Message("none"),)
            raise LoginError(
                "The site does not offer the login {kind}; it offers: {offered}", kind=kind.value, offered=names
            )

    def _fetch_token(self) -> None:
        """Get a token of OAuth 2 (RFC 6749, section 4.4)."""
        login = self.login
        fields = {"grant_type": "client_credentials", **field_values(login, login.user, self._secret)}
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        if not any(text.endswith(f"={PASSWORD}") for text in login.fields):
            headers["Authorization"] = _basic_header(login.user, self._secret)
        response = self._request("POST", login.url, headers, urlencode(fields).encode())
        try:
            answer = json.loads(response.body)
            answer = answer if isinstance(answer, dict) else {}
        except (ValueError, RecursionError):
            answer = {}
        token, seconds = answer.get("access_token"), answer.get("expires_in")
        if isinstance(token, str) and token.isascii() and token.isprintable() and token and response.status == 200:
            self._token = token
            if isinstance(seconds, int | float) and not isinstance(seconds, bool):
                seconds = max(float(seconds) - _TOKEN_MARGIN_SECONDS, _SHORTEST_TOKEN_SECONDS)
            else:
                seconds = float("inf")
            self._expires_at = time.monotonic() + seconds
            return
        code = str(answer.get("error", ""))[:60]
        error = LoginError if response.status in (400, 401, 403) else LoginUnavailableError
        status = str(response.status)
        raise error(Message("The token endpoint gives no token: status {status} {code}", status=status, code=code))

    def _sign_in_by_form(self) -> None:
        self.cookies.clear(self.login.url)
        if self._site.render:
            from crawler.http.login_browser import sign_in_with_browser  # late, because few sites need it

            try:
                self.page = sign_in_with_browser(self.login, self._secret, self._request, self.cookies, self._may_visit)
            except LoginError:
                raise
            except PlumblineError as error:
                raise LoginUnavailableError(error_message(error)) from error
        else:
            self.page = self._send_form()
        if problem := self._landing_problem(self.page):
            raise LoginError(problem)

    def _send_form(self) -> HtmlPage | None:
        """Fill in and send the form. Returns the page that it leads to, None if that is no HTML."""
        response = self._follow("GET", self.login.url)
        page = parse_html_page(response.url, response.body, response.content_type)
        self.page = page
        form = page.find_form(self.login) if page else None
        if form is None and response.status >= 400:
            raise _status_error(response)
        if form is None:
            url = self.login.url
            raise LoginUnavailableError("{url} has no form with a password field", url=url)
        self.form = form
        action, schemes = urlsplit(form.action), ("https", urlsplit(response.url).scheme)
        if not self._may_visit(form.action) or action.scheme not in schemes:
            raise LoginError("The form would send the password to {url}", url=without_query(form.action))
        if form.method != "post":
            raise LoginError(Message("The form would send the password as a part of the URL"))
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Referer": response.url,
            "Origin": url_origin(response.url),
        }
        response = self._follow("POST", form.action, headers, fill_in(form, self.login, self._secret))
        if response.status in (401, 403):
            raise LoginError(_REFUSED)
        if response.status >= 500:
            raise _status_error(response)
        return parse_html_page(response.url, response.body, response.content_type)

    def _landing_problem(self, page: HtmlPage | None) -> Message | None:
        """Return why the page that the form led to is not that of a signed-in user, or None."""
        login = self.login
        if page is not None and login.signed_out_text and page.shows(login.signed_out_text):
            return Message("After the sign-in the site shows “{text}”", text=login.signed_out_text)
        page_form = page.find_form() if page is not None else None
        if page_form is not None and (self.form is None or page_form.is_like(self.form)):
            return Message("The site shows the form again: it refuses the user name or the password")
        if login.signed_in_text and (page is None or not page.shows(login.signed_in_text)):
            return Message("After the sign-in the page lacks “{text}”", text=login.signed_in_text)
        return None

    def _follow(
        self, method: str, url: str, headers: Mapping[str, str] | None = None, body: bytes | None = None
    ) -> "HttpResponse":
        """Send a request and follow its redirects, as long as they stay at the site or the login page."""
        for _ in range(_MAX_REDIRECTS + 1):
            response = self._request(method, url, headers or {}, body)
            target = response.redirect_forms
            if not isinstance(target, UrlForms) or not self._may_visit(target.request_url):
                return response
            if response.status not in _KEPT_REDIRECTS:
                method, headers, body = "GET", {}, None
            elif body is not None and url_origin(target.url) != url_origin(url):
                raise LoginError("The form would send the password to {url}", url=without_query(target.url))
            url = target.request_url
        raise LoginUnavailableError(Message("The sign-in ends in a loop of redirects"))

    def _request(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None) -> "HttpResponse":
        try:
            response = self._send(method, url, headers, body)
        except LoginError:
            self.steps.append(LoginStep(method, without_query(url), 0))
            raise
        self.steps.append(LoginStep(method, without_query(url), response.status))
        return response

    def _may_visit(self, url: str) -> bool:
        """True if a request of the sign-in may go to a URL: on the domain of the site or on that of the login page."""
        domains = [site_domain(host_of(self.login.url)), site_domain(self._site.host.removeprefix("*."))]
        site_urls = (self.login.url, *self._site.urls)
        is_encrypted = url.startswith("https://") or any(site_url.startswith("http://") for site_url in site_urls)
        return is_encrypted and site_domain(host_of(url)) in domains

    def _is_login_url(self, url: str) -> bool:
        login, other = urlsplit(self.login.url), urlsplit(url)
        is_own_page = self.login.kind is LoginKind.FORM and login.path.strip("/") != ""
        return is_own_page and login.netloc == other.netloc and login.path.rstrip("/") == other.path.rstrip("/")

    def _prove(self) -> None:
        """Forget the failures: the secret is right."""
        self._failures = 0
        self._state.save_failure("")

    def _count_failure(self, error: LoginError) -> None:
        """Count a failure, and stop all requests to the site after too many."""
        self._failures += 1
        message, count = error_message(error), f"{self._failures} of {MAX_LOGIN_FAILURES}"
        logger.warning("the login of %s failed (%s): %s", self._site.host, count, message)
        if self._failures >= MAX_LOGIN_FAILURES:
            self.problem = message
            self._state.save_failure(message, self.login if error.is_refusal else None, self._secret)


def _status_error(response: "HttpResponse") -> LoginError:
    url, status = without_query(response.url), str(response.status)
    return LoginUnavailableError("{url} responds with status {status}", url=url, status=status)


def _basic_header(user: str, secret: str) -> str:
    return f"Basic {b64encode(f'{user}:{secret}'.encode()).decode()}"


def _is_downgrade(site: Site, url: str) -> bool:
    start_url = next(iter(site.urls), site.login_url)
    return not (url.startswith("https://") or start_url.startswith("http://"))


def without_query(url: str) -> str:
    """Return a URL without query and fragment, which can be secret."""
    return urlsplit(url)._replace(query="", fragment="").geturl()


def _import_spnego() -> Any:
    try:
        return import_module("spnego")
    except ImportError:
        raise LoginUnavailableError(
            Message("The login ntlm needs pyspnego: pip install 'plumbline-search[ntlm]'")
        ) from None
