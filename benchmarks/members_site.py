"""A web site whose pages only signed-in users see, with each kind of login. It counts sign-ins and ends sessions."""

import hashlib
import json
import os
import re
import secrets
import tempfile
import threading
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from benchmarks.generated_articles import ArticleGenerator
from crawler.http.http_auth import parse_challenges
from domain.login import LoginKind

LOOPBACK = "127.0.0.1"
USER, SECRET = "reporter", "correct horse 电池"
TOKEN = "token-4711.abcdefgh"  # of a header, so in ASCII
LOCK_AFTER = 4  # failed sign-ins
FORM_MARK = "Members: please sign in"
SIGNED_IN_TEXT = "Signed in as reporter"


class MembersSite:
    """A running site.

    Attributes:
        end_after: Numbers of member pages after which all sessions end.
        scripted: The form is sent by a script.
        user: The name of the account.
        secret: Its password, or the token.
    """

    def __init__(
        self, kind: LoginKind, pages: int = 12, end_after: tuple[int, ...] = (), scripted: bool = False
    ) -> None:
        self.kind, self.page_count, self.end_after = kind, pages, list(end_after)
        self.scripted, self.secret = scripted, TOKEN if kind is LoginKind.BEARER else SECRET
        self.user = f"OFFICE\\{USER}" if kind is LoginKind.NTLM else USER
        self.failed = self.lockouts = self.sign_ins = self.ended = 0
        self.paths: Counter[str] = Counter()  # requested
        self.served: Counter[str] = Counter()  # to signed-in users
        self.valid: set[str] = set()  # sessions, tokens, nonces
        self.generation = 0
        self.refuses_once = False
        self.hidden: dict[str, str] = {}  # more paths of members: path -> HTML
        self.lock = threading.Lock()
        self._server = _Listener((LOOPBACK, 0), _handler(self))
        self.port = int(self._server.server_address[1])
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def host(self) -> str:
        """host:port of the site."""
        return f"{LOOPBACK}:{self.port}"

    def url(self, path: str = "/") -> str:
        """Return the URL of a path."""
        return f"http://{self.host}{path}"

    def table(self, **values: Any) -> dict[str, Any]:
        """Return the table [[sites]] with the login."""
        table: dict[str, Any] = {"urls": [self.url()], "login": self.kind.value, "login_user": self.user}
        if self.kind is LoginKind.FORM:
            table["login_url"] = self.url("/login")
        if self.kind is LoginKind.CLIENT_CREDENTIALS:
            table["login_url"] = self.url("/token")
        return table | values

    @property
    def article_paths(self) -> list[str]:
        """The paths of all pages of members."""
        return ["/", *(f"/a/{n}" for n in range(self.page_count)), "/help/how-to-log-out"]

    def end_sessions(self) -> None:
        """Sign everybody out."""
        self.valid.clear()
        self.generation += 1
        self.ended += 1
        self.refuses_once = True

    def check(self, is_right: bool) -> bool:
        """Count an attempt to sign in; True if it succeeds."""
        with self.lock:
            if self.failed >= LOCK_AFTER:
                return False
            self.failed = 0 if is_right else self.failed + 1
            self.lockouts += self.failed == LOCK_AFTER
            self.sign_ins += is_right
            return is_right

    def new_session(self) -> str:
        """Return a new session, token or nonce."""
        token = secrets.token_hex(12)
        self.valid.add(token)
        return token

    def __enter__(self) -> "MembersSite":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that close the connection."""


@contextmanager
def ntlm_accounts() -> Iterator[None]:
    """Let the server side of NTLM know the account."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "accounts"
        file.write_text(f"OFFICE:{USER}:{SECRET}\n", "utf-8")
        os.environ["NTLM_USER_FILE"] = str(file)
        try:
            yield
        finally:
            del os.environ["NTLM_USER_FILE"]


def member_page(site: MembersSite, path: str) -> str:
    """Return a page of members: an article that links to the others."""
    numbers = [int(digits[1])] if (digits := re.fullmatch(r"/a/(\d+)", path)) else [0]
    generator = ArticleGenerator(numbers[0])
    words = f"成员文章{numbers[0]}：" + "".join(generator.draw_sentence() for _ in range(12))
    links = " ".join(f'<a href="{other}">第{n}篇 {other}</a>' for n, other in enumerate(site.article_paths))
    return (
        f"<!doctype html><meta charset=utf-8><title>内部新闻 {path}</title><body><h1>内部新闻 {path}</h1>"
        f"<p>{SIGNED_IN_TEXT}. <a href='/user/logout'>Log out</a> <a href='/leave'>退出登录</a></p>"
        f"<article><p>{words}</p></article><p>{links}</p></body>"
    )


def login_page(site: MembersSite, token: str, note: str = "") -> str:
    """Return the page with the form."""
    script = (
        "<script>document.querySelector('form').addEventListener('submit', async e => { e.preventDefault();"
        "const r = await fetch('/api/login', {method: 'POST', headers: {'Content-Type': 'application/json'},"
        "body: JSON.stringify(Object.fromEntries(new FormData(e.target)))});"
        "const a = await r.json(); if (a.session) { document.cookie = 'session=' + a.session + '; path=/';"
        "location.href = '/'; } else { document.title = 'no'; } });</script>"
        if site.scripted
        else ""
    )
    return (
        f"<!doctype html><meta charset=utf-8><title>Sign in</title><body><h1>{FORM_MARK}</h1><p>{note}</p>"
        f"<form action='/session' method='post'><input type='hidden' name='csrf' value='{token}'>"
        "<label>User <input name='account'></label><label>Password <input type='password' name='pass'></label>"
        f"<label><input type='checkbox' name='keep' value='1' checked>Keep</label><button name='go' value='in'>Sign in"
        f"</button></form>{script}</body>"
    )


def sign_parts(*parts: str) -> str:
    """Return the hash of Digest."""
    return hashlib.sha256(":".join(parts).encode()).hexdigest()


def _handler(site: MembersSite) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        ntlm: Any = None
        ntlm_generation = -1

        def log_message(self, *_: object) -> None:
            """Stay quiet."""

        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            site.paths[path] += 1
            if path == "/robots.txt":
                self.reply(404, "")
            elif path == "/login":
                self.reply(200, login_page(site, site.new_session()))
            elif not self.is_signed_in():
                self.refuse(path)
            elif path in ("/user/logout", "/leave", "/quiet-exit"):
                site.end_sessions()
                self.reply(200, "<title>Bye</title><p>You have left. See you soon, dear member of this site.")
            elif path not in site.article_paths and path not in site.hidden:
                self.reply(404, "<title>Not found</title>")
            else:
                self.serve_member(path)

        def serve_member(self, path: str) -> None:
            site.served[path] += 1
            self.reply(200, site.hidden.get(path) or member_page(site, path))
            if site.end_after and sum(site.served.values()) >= site.end_after[0]:
                site.end_after.pop(0)
                site.end_sessions()

        do_HEAD = do_GET

        def do_POST(self) -> None:
            path, body = urlsplit(self.path).path, self.rfile.read(int(self.headers["Content-Length"] or 0))
            site.paths[path] += 1
            if path == "/api/login":
                answer = json.loads(body)
                is_right = site.check(answer.get("account") == USER and answer.get("pass") == site.secret)
                return self.reply(
                    200, json.dumps({"session": site.new_session()} if is_right else {}), "application/json"
                )
            fields = {name: values[0] for name, values in parse_qs(body.decode()).items()}
            if path == "/token":
                return self.give_token(fields)
            has_token = fields.get("csrf") in site.valid and fields.get("go") == "in" and fields.get("keep") == "1"
            site.valid.discard(fields.get("csrf", ""))
            is_user = fields.get("account") == USER and fields.get("pass") == site.secret
            if path == "/session" and has_token and site.check(is_user):
                cookie = f"session={site.new_session()}; Path=/; HttpOnly"
                return self.reply(302, "", headers={"Location": "/", "Set-Cookie": cookie})
            return self.reply(200, login_page(site, site.new_session(), "Wrong name or password"))

        def give_token(self, fields: dict[str, str]) -> None:
            expected = "Basic " + b64encode(f"{USER}:{site.secret}".encode()).decode()
            is_right = (
                self.headers.get("Authorization") == expected and fields.get("grant_type") == "client_credentials"
            )
            if site.check(is_right):
                answer = {"access_token": site.new_session(), "token_type": "Bearer", "expires_in": 3600}
                return self.reply(200, json.dumps(answer), "application/json")
            return self.reply(401, json.dumps({"error": "invalid_client"}), "application/json")

        def is_signed_in(self) -> bool:
            given = self.headers.get("Authorization", "")
            match site.kind:
                case LoginKind.FORM:
                    cookie = SimpleCookie(self.headers.get("Cookie", ""))
                    return "session" in cookie and cookie["session"].value in site.valid
                case LoginKind.CLIENT_CREDENTIALS:
                    return given.removeprefix("Bearer ") in site.valid
                case LoginKind.BASIC | LoginKind.BEARER:
                    basic = "Basic " + b64encode(f"{USER}:{site.secret}".encode()).decode()
                    expected = basic if site.kind is LoginKind.BASIC else f"Bearer {site.secret}"
                    if not given or not site.check(given == expected):
                        return False
                    is_refused, site.refuses_once = site.refuses_once, False
                    return not is_refused
                case LoginKind.DIGEST:
                    return self.checks_digest(given)
                case _:
                    return self.checks_ntlm(given)

        def checks_digest(self, given: str) -> bool:
            challenges = parse_challenges(given)
            if not challenges or challenges[0].scheme != "digest":
                return False
            values = challenges[0].parameters
            if values.get("nonce") not in site.valid:
                return False
            uri, a1 = values["uri"], sign_parts(USER, "members", site.secret)
            right = sign_parts(
                a1, values["nonce"], values["nc"], values["cnonce"], "auth", sign_parts(self.command, uri)
            )
            is_right = values["response"] == right and uri == self.path and values["username"] == USER
            return site.check(is_right)

        def checks_ntlm(self, given: str) -> bool:
            import spnego

            if self.ntlm_generation == site.generation:
                return True
            if not given.startswith("NTLM "):
                self.ntlm = None
                return False
            self.ntlm = self.ntlm or spnego.server(hostname="members", service="http", protocol="ntlm")
            try:
                self.ntlm_answer = self.ntlm.step(b64decode(given[5:]))
            except spnego.exceptions.SpnegoError:
                self.ntlm = None
                return site.check(False)
            if self.ntlm.complete:
                self.ntlm, self.ntlm_generation = None, site.generation
                return site.check(True)
            return False

        def refuse(self, path: str) -> None:
            match site.kind:
                case LoginKind.FORM if path == "/" or int(hashlib.md5(path.encode()).hexdigest(), 16) % 2:
                    return self.reply(302, "", headers={"Location": f"/login?next={path}"})
                case LoginKind.FORM:
                    return self.reply(200, login_page(site, site.new_session()))
                case LoginKind.DIGEST:
                    nonce = site.new_session()
                    value = f'Digest realm="members", nonce="{nonce}", qop="auth", algorithm=SHA-256, stale=true'
                case LoginKind.NTLM:
                    answer = b64encode(self.ntlm_answer or b"").decode() if self.ntlm is not None else ""
                    value = f"NTLM {answer}".strip()
                case LoginKind.BASIC:
                    value = 'Basic realm="members"'
                case _:
                    value = "Bearer"
            return self.reply(401, f"<title>401</title><p>{FORM_MARK}", headers={"WWW-Authenticate": value})

        def reply(
            self,
            status: int,
            text: str,
            content_type: str = "text/html; charset=utf-8",
            headers: dict[str, str] | None = None,
        ) -> None:
            body = text.encode()
            self.send_response(status)
            for name, value in {
                "Content-Type": content_type,
                "Content-Length": str(len(body)),
                **(headers or {}),
            }.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

    return Handler
