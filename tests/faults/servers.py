"""A loopback server that misbehaves by recipe: bombs, slow hosts, redirects, robots.txt, protocol errors, odd pages.

Each recipe has its own host (an address of 127.0.0.0/8), so that failures of one do not affect the pages of another.
"""

import gzip
import socket
import struct
import time
import zlib
from collections.abc import Callable, Mapping
from functools import cache
from socketserver import BaseRequestHandler, ThreadingTCPServer
from typing import Any

SENTENCE = "大庆油田今天宣布，今年产量超过去年同期，创下新高。"
PAGE = f"<html><title>石油</title><h1>石油新闻</h1><p>{SENTENCE * 8}</p>".encode()
MEGABYTE = 1 << 20
STEP = 1.0  # seconds between two bytes of a slow server
Recipe = Mapping[str, Any]


class HostileServer(ThreadingTCPServer):
    """Serves `recipes` by host address; counts its connections.

    `errors` contains, by host, what prevented the server from following its recipe.
    """

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 512

    def __init__(self, recipes: Mapping[str, Recipe]) -> None:
        super().__init__(("0.0.0.0", 0), BaseRequestHandler)
        self.port = int(self.server_address[1])
        self.recipes = recipes
        self.connections = 0
        self.errors: dict[str, str] = {}

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Send one response per connection."""
        self.connections += 1
        with request:
            name = request.getsockname()[0]
            recipe = self.recipes.get(name, {})
            try:
                request.settimeout(120)
                if uses_tls(recipe):
                    never_handshake(request)
                    return
                head = b""
                while b"\r\n\r\n" not in head and (part := request.recv(65536)):
                    head += part
                path = head.split(b" ", 2)[1].decode("latin-1") if head.count(b" ") > 1 else "/"
                answer(request, recipe, path, f"http://{name}:{self.port}")
            except OSError:
                return  # the client has left: what many recipes are about
            except Exception as error:  # noqa: BLE001 (fails the row of this recipe)
                self.errors[name] = f"{type(error).__name__} {error}"

    def url(self, host: str) -> str:
        """Return the home page of a host."""
        return f"{'https' if uses_tls(self.recipes[host]) else 'http'}://{host}:{self.port}/"


def answer(to: socket.socket, recipe: Recipe, path: str, base: str) -> None:
    """Respond to one request by its recipe. Raises KeyError if the recipe is unknown."""
    if path == "/robots.txt":
        (ROBOTS[recipe["robots"]] if "robots" in recipe else no_robots)(to, base)
    elif "body" in recipe:
        send_body(to, recipe)
    elif "slow" in recipe:
        SLOW[recipe["slow"]](to)
    elif "redirect" in recipe:
        REDIRECTS[recipe["redirect"]](to, base, path)
    elif "proto" in recipe:
        to.sendall(PROTOCOL[recipe["proto"]])
        if recipe["proto"] in RESET:
            to.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closing sends RST
    elif recipe.keys() <= {"robots"}:
        plain(to, PAGE)
    else:
        raise KeyError(*recipe)


def uses_tls(recipe: Recipe) -> bool:
    """True if the client must connect by https."""
    return recipe.get("slow") == "tls_never_handshake"


def never_handshake(to: socket.socket) -> None:
    """Read the first message of a TLS handshake and never answer. Raises ValueError if the client sends another one."""
    if to.recv(1) != TLS_HANDSHAKE:
        raise ValueError("the client did not begin a TLS handshake")
    while to.recv(65536):
        continue  # until the client leaves


def plain(to: socket.socket, body: bytes, status: str = "200 OK", **headers: str) -> None:
    """Send a complete response."""
    fields = {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body)), "Connection": "close"}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items() if value)
    to.sendall(f"HTTP/1.1 {status}\r\n{lines}\r\n".encode("utf-8", "surrogateescape"))
    to.sendall(body)


def send_body(to: socket.socket, recipe: Recipe) -> None:
    """Send a page with a hostile structure, or a body that expands to many bytes."""
    if recipe["body"] == "zeros":
        send_zeros(to, int(recipe["mb"]), str(recipe["encoding"]).split(","), str(recipe.get("status", 200)))
        return
    kind = recipe.get("type", "text/html; charset=utf-8")
    plain(to, body_of(recipe), Content_Type=kind or "")


def send_zeros(to: socket.socket, megabytes: int, codings: list[str], status: str) -> None:
    """Send `megabytes` MB of zeros, compressed once for each of `codings`.

    Codings that Python cannot produce are sent as gzip.
    """
    head = f"HTTP/1.1 {status} x\r\nContent-Type: text/html\r\nConnection: close\r\n"
    location = "Location: /next\r\n" if status.startswith("3") else ""
    if codings == ["identity"]:
        to.sendall(f"{head}{location}\r\n".encode())
        for _ in range(megabytes):
            to.sendall(bytes(MEGABYTE))
        return
    data = packed_zeros(megabytes, codings[0])
    for _ in codings[1:]:
        data = gzip.compress(data, 1)
    to.sendall(f"{head}{location}Content-Encoding: {', '.join(codings)}\r\n\r\n".encode())
    to.sendall(data)


@cache
def packed_zeros(megabytes: int, coding: str) -> bytes:
    """Return compressed zeros."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 15 if coding == "deflate" else 31)
    return b"".join([*(packer.compress(bytes(MEGABYTE)) for _ in range(megabytes)), packer.flush()])


def body_of(recipe: Recipe) -> bytes:
    """Return the page of a recipe."""
    made: Mapping[str, Callable[[], str]] = {
        "nested": lambda: f"<{recipe['tag']}>" * recipe["depth"] + SENTENCE * 8,
        "links": lambda: "".join(f"<a href=/{n}>{n}</a>" for n in range(recipe["count"])),
        "attrs": lambda: "<p " + " ".join(f"a{n}={n}" for n in range(recipe["count"])) + f">{SENTENCE * 8}",
        "entities": lambda: "<p>" + "&amp;&#x4e00;" * recipe["count"] + SENTENCE,
        "no_close_comment": lambda: f"<p>{SENTENCE * 8}</p><!--" + "x" * (recipe["mb"] * MEGABYTE),
        "no_close_script": lambda: f"<p>{SENTENCE * 8}</p><script>" + "x" * (recipe["mb"] * MEGABYTE),
        "one_attr": lambda: f'<p title="{"x" * (recipe["kb"] * 1024)}">{SENTENCE * 8}',
        "cjk_no_space": lambda: "<p>" + "油" * (recipe["mb"] * MEGABYTE // 3),
        "nul_every": lambda: "<p>" + "\0".join([SENTENCE] * (recipe["kb"] * 14)),
        "paragraphs": lambda: filled(f"<p>{SENTENCE * 6}</p>\n", recipe["mb"]),
        "list_items": lambda: filled(f"<li class=a><span>1</span><a href=/x>b</a> {SENTENCE}</li>\n", recipe["mb"]),
        "nodes": lambda: "<b>x</b>" * recipe["count"],
        "quadratic_attrs": lambda: "".join(f"<p a{n}={n} b{n}={n}>{n}" for n in range(recipe["count"])),
        "pdf_magic": lambda: "%PDF-1.4\n" + SENTENCE,
        "html": lambda: PAGE.decode(),
        "empty": lambda: "",
    }
    return made[recipe["body"]]().encode()


def filled(unit: str, megabytes: int) -> str:
    """Repeat `unit` for a page of a bit less than `megabytes` * 1,000,000 bytes."""
    return f"<title>石油</title><h1>石油新闻</h1>{unit * ((megabytes * 1_000_000 - 1000) // len(unit.encode()))}"


def dripping(head: bytes, rest: bytes) -> Callable[[socket.socket], None]:
    """Send `head` at once, then `rest` one byte at a time."""

    def talk(to: socket.socket) -> None:
        to.sendall(head)
        for at in range(len(rest)):
            to.sendall(rest[at : at + 1])
            time.sleep(STEP)

    return talk


def silent(head: bytes) -> Callable[[socket.socket], None]:
    """Send `head` at once, then keep the connection open without data."""

    def talk(to: socket.socket) -> None:
        to.sendall(head)
        to.recv(1)  # until the client leaves

    return talk


OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
FRAMED = OK + b"Content-Length: %d\r\n\r\n" % len(PAGE)
SLOW: Mapping[str, Callable[[socket.socket], None]] = {
    "header_1_byte_per_s": dripping(b"", FRAMED + PAGE),
    "body_1_byte_per_s": dripping(FRAMED, PAGE),
    "stall_after_50_percent": silent(FRAMED + PAGE[: len(PAGE) // 2]),
    "never_body": silent(FRAMED),
    "never_close": silent(OK + b"\r\n" + PAGE),
    "never_header": silent(b""),
}


def redirect(location: str, status: str = "302 Found") -> Callable[[socket.socket, str, str], None]:
    """Send a redirect; `{base}` and `{next}` are replaced."""

    def talk(to: socket.socket, base: str, path: str) -> None:
        number = int(path.rpartition("/")[2] or 0) if path.rpartition("/")[2].isdecimal() else 0
        plain(to, b"", status, Location=location.replace("{base}", base).replace("{next}", str(number + 1)))

    return talk


def meta_refresh(to: socket.socket, base: str, path: str) -> None:
    """Send a page that refreshes to itself."""
    plain(to, f'<meta http-equiv=refresh content="0;url={base}{path}">{SENTENCE}'.encode())


REDIRECTS: Mapping[str, Callable[[socket.socket, str, str], None]] = {
    "self": redirect("{base}/"),
    "ping_pong": redirect("{base}/?{next}"),
    "endless": redirect("{base}/{next}"),
    "no_location": lambda to, base, path: plain(to, b"", "302 Found"),
    "empty_location": lambda to, base, path: to.sendall(
        b"HTTP/1.1 302 Found\r\nLocation:\r\nContent-Length: 0\r\n\r\n"
    ),
    "to_file": redirect("file:///etc/passwd"),
    "to_rebind": redirect("http://rebind.test/"),
    "to_metadata": redirect("http://169.254.169.254/latest/"),
    "to_solr": redirect("http://127.0.0.1:8983/solr/admin/cores"),
    "https_downgrade": redirect("http://169.254.169.254/"),
    "crlf_location": redirect("{base}/%0d%0aSet-Cookie:x=1"),
    "gbk_location": lambda to, base, path: to.sendall(
        b"HTTP/1.1 302 Found\r\nLocation: /" + "石油".encode("gbk") + b"\r\nContent-Length: 0\r\n\r\n"
    ),
    "meta_refresh_loop": meta_refresh,
}

TLS_HANDSHAKE = b"\x16"  # type of the first record
RESET = frozenset({"rst_mid_body"})  # end with RST instead of FIN
PROTOCOL: Mapping[str, bytes] = {
    "gzip_truncated": OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(PAGE)[:-20],
    "gzip_not_gzip": OK + b"Content-Encoding: gzip\r\n\r\n" + PAGE,
    "gzip_bad_crc": OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(PAGE)[:-8] + b"12345678",
    "http09": PAGE,
    "header_no_colon": OK + b"this is no header\r\n\r\n" + PAGE,
    "header_nul": OK + b"X-Nul: a\0b\r\n\r\n" + PAGE,
    "close_mid_body": FRAMED + PAGE[:100],
    "rst_mid_body": FRAMED + PAGE[:100],
    "503_retry_after_date": b"HTTP/1.1 503 x\r\nRetry-After: Fri, 31 Dec 2099 23:59:59 GMT\r\n\r\n",
    "429_retry_after_1e9": b"HTTP/1.1 429 x\r\nRetry-After: 1000000000\r\nContent-Length: 0\r\n\r\n",
    "two_content_length": OK + b"Content-Length: 5\r\nContent-Length: 50\r\n\r\n" + PAGE,
    "te_and_length": OK + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    "length_negative": OK + b"Content-Length: -1\r\n\r\n" + PAGE,
    "chunk_overflow": OK + b"Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF1\r\nabc",
    "obs_fold": OK + b"X-Fold: a\r\n b\r\n\r\n" + PAGE,
    "status_999": b"HTTP/1.1 999 x\r\nContent-Length: 0\r\n\r\n",
    "headers_10000": OK + b"".join(b"X-%d: y\r\n" % n for n in range(10_000)) + b"\r\n" + PAGE,
}


def no_robots(to: socket.socket, base: str) -> None:
    """Respond with 404."""
    plain(to, b"", "404 Not Found")


def robots(text: str | bytes) -> Callable[[socket.socket, str], None]:
    """Send these rules."""
    body = text.encode() if isinstance(text, str) else text
    return lambda to, base: plain(to, body, Content_Type="text/plain")


def never_ends(to: socket.socket, base: str) -> None:
    """Send very many rules."""
    to.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nUser-agent: *\n")
    for number in range(10_000):
        to.sendall(f"Disallow: /{number}x{'y' * 1000}\n".encode() * 10)


ROBOTS: Mapping[str, Callable[[socket.socket, str], None]] = {
    "wildcard_redos": robots("User-agent: *\nDisallow: /" + "*a" * 500 + "$\n"),
    "dollar_redos": robots("User-agent: *\nDisallow: /" + "$*" * 500 + "\n"),
    "gbk_paths": robots("User-agent: *\nDisallow: /石油\n".encode("gbk")),
    "no_newlines": robots("User-agent: * Disallow: /x " * 10_000),
    "crawl_delay_1e9": robots("User-agent: *\nCrawl-delay: 1000000000\n"),
    "ua_case": robots("USER-AGENT: PLUMBLINE\nDISALLOW: /secret\n"),
    "changes_each_time": lambda to, base: plain(to, f"User-agent: *\n# {time.time()}\n".encode()),
    "never_ends": never_ends,
    "redirect_loop": lambda to, base: plain(to, b"", "302 Found", Location=f"{base}/robots.txt"),
    "redirect_other_host": lambda to, base: plain(to, b"", "302 Found", Location="http://169.254.169.254/robots.txt"),
}
