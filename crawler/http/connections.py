"""HTTP connections with two promises that urllib3 does not make: checked addresses and a total deadline.

Every connection asks the `IpPolicy` where it may go and connects to exactly that. Everything that waits looks at
the deadline of the whole fetch, the name server's answer included, so a server that sends a byte a second ends when the
time is up. Connections are kept open and belong to all threads: whoever asks a host next goes on with what is there.
"""

import functools
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import certifi
from urllib3 import BaseHTTPResponse, Retry, Timeout
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError
from urllib3.poolmanager import PoolManager, ProxyManager
from urllib3.util.request import make_headers
from urllib3.util.ssl_ import create_urllib3_context
from urllib3.util.url import parse_url

from crawler.http.ip_policy import AnyAddress, IpPolicy

_HOSTS_KEPT_OPEN = 256
_ONE_TRY = Retry(False, redirect=False)


class Wire:
    """What a thread's connections share about the fetch under way: its deadline, and when it was answered."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.deadline = float("inf")
        self.answered_at = 0.0
        self.reused = False  # the last request went over a connection that had served before

    def remaining(self) -> float:
        """Seconds left. Raises TimeoutError when there are none."""
        left = self.deadline - self.clock()
        if left <= 0:
            raise TimeoutError("the total time of this fetch is up")
        return left


class Connections:
    """The open connections of a fetcher, `per_host` a host at most kept open; safe to use from many threads."""

    def __init__(self, addresses: IpPolicy, per_host: int) -> None:
        self._wires = threading.local()
        self._places: dict[str, str] = {}  # host -> IP address last connected to
        self._addresses = addresses
        tls = create_urllib3_context()
        trust_authorities(tls)
        tls.sslsocket_class = _TimedTlsSocket
        self._options: dict[str, Any] = {"maxsize": per_host, "ssl_context": tls, "retries": _ONE_TRY}
        self._manager = PoolManager(_HOSTS_KEPT_OPEN, **self._options)
        self._manager.pool_classes_by_scheme = self._pools(addresses)
        self._proxies: dict[str, ProxyManager] = {}
        self._lock = threading.Lock()

    def wire(self) -> Wire:
        """That of the calling thread."""
        found: Wire | None = getattr(self._wires, "wire", None)
        if found is None:
            found = self._wires.wire = Wire()
        return found

    def get(self, url: str, headers: Mapping[str, str], timeout: Timeout, proxy: str = "") -> BaseHTTPResponse:
        """Send a GET, through an http `proxy` if one is named. No redirect is followed, nothing tried twice, the body
        not read. Raises what urllib3 raises."""
        parts = parse_url(url)
        how: dict[str, Any] = {"headers": headers, "retries": _ONE_TRY, "redirect": False, "timeout": timeout}
        how |= {"assert_same_host": False, "preload_content": False, "decode_content": False}
        if proxy:
            self._refuse_inside(str(parts.host), parts.port or 80)
            return self._through(proxy).urlopen("GET", url, **how)
        pool = self._manager.connection_from_host(parts.host, parts.port, parts.scheme)
        return pool.urlopen("GET", parts.request_uri, **how)

    def post(self, url: str, body: bytes, headers: Mapping[str, str], timeout: Timeout) -> int:
        """Send a POST; the status of the answer, whose body is not read. No redirect is followed, nothing tried twice.
        Raises what urllib3 raises."""
        parts = parse_url(url)
        pool = self._manager.connection_from_host(parts.host, parts.port, parts.scheme)
        how: dict[str, Any] = {"headers": headers, "retries": _ONE_TRY, "redirect": False, "timeout": timeout}
        answer = pool.urlopen("POST", parts.request_uri, body=body, **how, preload_content=False)
        answer.close()
        return int(answer.status)

    def _refuse_inside(self, host: str, port: int) -> None:
        """Names are for the proxy to look up; what needs no look-up is checked as without one."""
        if _is_literal(host) or host.rpartition(".")[2] == "localhost":
            self._addresses.connect_to(host, port)

    def _through(self, proxy: str) -> ProxyManager:
        with self._lock:
            manager = self._proxies.get(proxy)
            if manager is None:
                parts = parse_url(proxy)
                headers = make_headers(proxy_basic_auth=unquote(parts.auth)) if parts.auth else None
                place = f"http://{parts.netloc}"
                manager = ProxyManager(place, _HOSTS_KEPT_OPEN, proxy_headers=headers, **self._options)
                manager.pool_classes_by_scheme = self._pools(AnyAddress())
                self._proxies[proxy] = manager
        return manager

    def _pools(self, addresses: IpPolicy) -> Any:
        return {
            "http": _pool(HTTPConnectionPool, _CheckedHTTP, addresses, self.wire, self._places),
            "https": _pool(HTTPSConnectionPool, _CheckedHTTPS, addresses, self.wire, self._places),
        }

    def ip_of(self, host: str) -> str:
        """Where the last connection to this host name went; "" if there was none."""
        return self._places.get(host, "")

    def close(self) -> None:
        """Close what is idle; what is in use closes when it is given back."""
        for manager in (self._manager, *self._proxies.values()):
            manager.clear()


class _TimedReads:
    """Mixed into sockets: no read waits beyond the deadline of the fetch."""

    wire: Wire | None = None
    read_timeout: float | None = None

    def recv_into(self, *args: Any, **keywords: Any) -> int:
        """As socket.recv_into; raises TimeoutError at the deadline too."""
        if self.wire is not None:
            left = self.wire.remaining()
            self.settimeout(left if self.read_timeout is None else min(left, self.read_timeout))  # type: ignore[attr-defined]
        return super().recv_into(*args, **keywords)  # type: ignore[misc, no-any-return]


class _TimedSocket(_TimedReads, socket.socket):
    pass


class _TimedTlsSocket(_TimedReads, ssl.SSLSocket):
    pass


class _Checked:
    """Mixed into urllib3 connections: connects where the policy says, and hands sockets the deadline."""

    def __init__(
        self,
        *args: Any,
        addresses: IpPolicy,
        wire: Callable[[], Wire],
        places: dict[str, str],
        **keywords: Any,
    ) -> None:
        super().__init__(*args, **keywords)
        self.addresses = addresses
        self.places = places
        self.wire = wire
        self.served = 0

    def _new_conn(self) -> socket.socket:
        connection: Any = self
        self.served = 0
        wire = self.wire()
        until = min(wire.clock() + float(connection.timeout or 60.0), wire.deadline)
        try:
            targets = _looked_up(self.addresses, connection._dns_host, connection.port, until - wire.clock())
        except socket.gaierror as error:
            raise NameResolutionError(connection.host, connection, error) from error
        except TimeoutError as error:
            raise ConnectTimeoutError(connection, "the name server took too long") from error
        except OSError as error:
            raise NewConnectionError(connection, str(error)) from error
        sock = _connected(connection, targets, wire, until)
        self.places[connection._dns_host] = sock.getpeername()[0]
        return sock

    def request(self, *args: Any, **keywords: Any) -> None:
        """As urllib3's; notes whether it went over a connection that had served before."""
        try:
            super().request(*args, **keywords)  # type: ignore[misc]
        finally:
            self.wire().reused = self.served > 0
            self.served += 1

    def getresponse(self) -> Any:
        """As urllib3's, which has the read timeout by now."""
        sock: Any = self.sock  # type: ignore[attr-defined]
        wire = self.wire()
        sock.wire, sock.read_timeout = wire, self.timeout  # type: ignore[attr-defined]
        response = super().getresponse()  # type: ignore[misc]
        wire.answered_at = wire.clock()
        return response


def _looked_up(addresses: IpPolicy, host: str, port: int, seconds: float) -> list[tuple[str, int]]:
    """Where the policy says to connect, or TimeoutError. A name server cannot be interrupted: it is left waiting in a
    thread of its own."""
    if _is_literal(host):
        return addresses.connect_to(host, port)
    found: list[list[tuple[str, int]]] = []
    failed: list[Exception] = []

    def ask() -> None:
        try:
            found.append(addresses.connect_to(host, port))
        except Exception as error:  # noqa: BLE001 (raised below, in the thread that asked)
            failed.append(error)

    thread = threading.Thread(target=ask, name=f"dns-{host}", daemon=True)
    thread.start()
    thread.join(max(seconds, 0.001))
    if failed:
        raise failed[0]
    if not found:
        raise TimeoutError
    return found[0]


def _is_literal(host: str) -> bool:
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def _connected(connection: Any, targets: list[tuple[str, int]], wire: Wire, until: float) -> socket.socket:
    """The first target that answers in time."""
    error: OSError = OSError("no address")
    for address, port in targets:
        sock = _TimedSocket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
        try:
            sock.settimeout(max(until - wire.clock(), 0.001))
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.connect((address, port))
            return sock
        except OSError as failure:
            sock.close()
            error = failure
    if isinstance(error, TimeoutError):
        raise ConnectTimeoutError(connection, "connecting took too long") from error
    raise NewConnectionError(connection, str(error)) from error


class _CheckedHTTP(_Checked, HTTPConnection):
    pass


class _CheckedHTTPS(_Checked, HTTPSConnection):
    pass


def _pool(
    pool: type[HTTPConnectionPool],
    connection: Callable[..., Any],
    addresses: IpPolicy,
    wire: Callable[[], Wire],
    places: dict[str, str],
) -> Callable[..., Any]:
    def make(*args: Any, **keywords: Any) -> Any:
        made = pool(*args, **keywords)
        made.ConnectionCls = functools.partial(connection, addresses=addresses, wire=wire, places=places)  # type: ignore[assignment]
        return made

    return make


def trust_authorities(tls: ssl.SSLContext) -> None:
    """Trust whom the machine trusts; where it has no list of its own (a slim image, a Python built by hand), certifi's.

    urllib3 does so for a context of its own alone.
    """
    tls.load_default_certs()
    places = ssl.get_default_verify_paths()
    if not places.cafile and not (places.capath and any(Path(places.capath).iterdir())):
        tls.load_verify_locations(certifi.where())
