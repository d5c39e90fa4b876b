"""Sign in with Chromium where the form needs scripts. The cookies go to the crawl.

The browser has no network access: the crawl sends its requests, to the site and its login page only. Images, fonts and
downloads are rejected. Needs the extra `render`.
"""

import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from crawler.http.login_form import HtmlPage, field_values, parse_html_page
from crawler.http.render import import_playwright, launch_chromium
from crawler.http.run_cookies import RunCookies
from domain.errors import PlumblineError
from domain.login import Login
from locks.fences import in_this_context

_TIMEOUT_MILLISECONDS = 20_000.0
_MAX_REQUESTS = 100
_REJECTED_TYPES = ("image", "media", "font", "websocket", "manifest", "other")
_KEPT_HEADERS = re.compile(r"accept|content-type|cookie|origin|referer|x-.*", re.IGNORECASE)
_PASSWORD_FIELD = "input[type=password]"  # noqa: S105 (a selector)
_USER_FIELD = "input:not([type]), input[type=text], input[type=email], input[type=tel]"
_MAX_REDIRECTS = 5


SendRequest = Callable[[str, str, Mapping[str, str], bytes | None], Any]


def sign_in_with_browser(
    login: Login, secret: str, send: SendRequest, cookies: RunCookies, may_visit: Callable[[str], bool]
) -> HtmlPage | None:
    """Fill in and send the form in a browser; returns the page that it leads to.

    Args:
        send: Sends a request of the browser.
        cookies: Receives the cookies.
        may_visit: Decides where requests may go.

    Raises PlumblineError if the page does not work as expected or the extra is missing, and the errors of `send`.
    """
    with ThreadPoolExecutor(1, "login-browser") as executor:  # the calling thread may be that of the renderer's browser
        return executor.submit(in_this_context(_sign_in), login, secret, _Router(send, may_visit), cookies).result()


def _sign_in(login: Login, secret: str, router: "_Router", cookies: RunCookies) -> HtmlPage | None:
    api = import_playwright()
    with api.sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        try:
            context = browser.new_context(service_workers="block", accept_downloads=False)
            context.set_default_timeout(_TIMEOUT_MILLISECONDS)
            context.route_web_socket("**", lambda socket: socket.close())
            context.route("**/*", router.handle)
            page = context.new_page()
            page.on("dialog", lambda dialog: dialog.dismiss())
            page.goto(login.url, wait_until="domcontentloaded")
            _fill_in(page, login, secret)
            with suppress(api.TimeoutError):
                page.wait_for_selector(_PASSWORD_FIELD, state="detached")
            with suppress(api.TimeoutError):
                page.wait_for_load_state("networkidle")
            for cookie in context.cookies():
                _store_cookie(cookies, cookie, login.url)
            return parse_html_page(page.url, page.content().encode("utf-8", "replace"), "text/html; charset=utf-8")
        except api.Error as error:
            if router.errors:
                raise router.errors[0] from None
            reason = error.message.partition("\n")[0][:200].replace(secret, "***")
            raise PlumblineError("The login page does not work in the browser: {reason}", reason=reason) from None
        finally:
            browser.close()


def _fill_in(page: Any, login: Login, secret: str) -> None:
    password = page.locator(_PASSWORD_FIELD).first
    password.wait_for(state="visible")
    values = field_values(login, login.user, secret)
    for name, value in values.items():
        page.locator(f"[name={name!r}]").first.fill(value)
    if login.user not in values.values():
        page.locator(_USER_FIELD).locator("visible=true").first.fill(login.user)
    if secret not in values.values():
        password.fill(secret)
    password.press("Enter")


def _store_cookie(cookies: RunCookies, cookie: Mapping[str, Any], login_url: str) -> None:
    """Store a cookie of the browser as if its host had set it."""
    host, scheme = str(cookie["domain"]).lstrip("."), "https" if cookie["secure"] else "http"
    attributes = [f"{cookie['name']}={cookie['value']}", f"Path={cookie['path']}"]
    attributes += [f"Domain={host}"] * str(cookie["domain"]).startswith(".") + ["Secure"] * bool(cookie["secure"])
    login_host = urlsplit(login_url)
    netloc = login_host.netloc if host == login_host.hostname else host  # with its port
    cookies.add(f"{scheme}://{netloc}{cookie['path']}", "; ".join(attributes))


class _Router:
    """Sends the requests of the browser by the crawl."""

    def __init__(self, send: SendRequest, may_visit: Callable[[str], bool]) -> None:
        self._send, self._may_visit = send, may_visit
        self._requests_left = _MAX_REQUESTS
        self.errors: list[PlumblineError] = []

    def handle(self, route: Any) -> None:
        """Respond to one request; redirects are followed here, because the browser would follow them by itself."""
        request = route.request
        method, url, body = request.method, request.url, request.post_data_buffer
        sent_headers = request.all_headers().items()
        # In the case of the crawl's own headers, which these replace.
        headers = {name.title(): value for name, value in sent_headers if _KEPT_HEADERS.fullmatch(name)}
        headers.pop("Accept-Encoding", None)
        try:
            for _ in range(_MAX_REDIRECTS + 1):
                self._requests_left -= 1
                is_rejected = request.resource_type in _REJECTED_TYPES or self._requests_left < 0
                if is_rejected or method not in ("GET", "POST") or not self._may_visit(url):
                    break
                response = self._send(method, url, headers, body)
                target = getattr(response.redirect_forms, "request_url", "")
                if not target:
                    set_cookies = [value for name, value in response.headers if name.lower() == "set-cookie"]
                    headers = {"content-type": response.content_type}
                    headers |= {"set-cookie": "\n".join(set_cookies)} if set_cookies else {}
                    route.fulfill(status=response.status, headers=headers, body=response.body)
                    return
                url, headers = target, {name: value for name, value in headers.items() if name.lower() == "accept"}
                if response.status not in (307, 308):
                    method, body = "GET", None
        except PlumblineError as error:
            self.errors.append(error)
        route.abort()
