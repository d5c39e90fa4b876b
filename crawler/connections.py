"""HTTP connections with two promises that requests does not make: checked addresses and a total deadline.

Every connection asks the `AddressPolicy` where it may go and connects to exactly that. Every read looks at the
deadline of the whole fetch, so a server that sends a byte a second ends when the time is up.
"""

import functools
import socket
import ssl
import time
from collections.abc import Callable
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError
from urllib3.poolmanager import PoolManager
from urllib3.util.ssl_ import create_urllib3_context

from crawler.addresses import AddressPolicy

_HOSTS_KEPT_OPEN = 8  # per thread


class Wire:
    """What one thread's connections share about the fetch under way: its deadline, and when it was answered."""

    def __init__(self, addresses: AddressPolicy, clock: Callable[[], float] = time.monotonic) -> None:
        self.addresses = addresses
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

    def __init__(self, *args: Any, wire: Wire, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self.wire = wire
        self.served = 0

    def _new_conn(self) -> socket.socket:
        connection: Any = self
        self.served = 0
        try:
            targets = self.wire.addresses.connect_to(connection._dns_host, connection.port)
        except socket.gaierror as error:
            raise NameResolutionError(connection.host, connection, error) from error
        except OSError as error:
            raise NewConnectionError(connection, str(error)) from error
        return _connected(connection, targets, self.wire)

    def request(self, *args: Any, **keywords: Any) -> None:
        """As urllib3's; notes whether it went over a connection that had served before."""
        try:
            super().request(*args, **keywords)  # type: ignore[misc]
        finally:
            self.wire.reused = self.served > 0
            self.served += 1

    def getresponse(self) -> Any:
        """As urllib3's, which has the read timeout by now."""
        sock: Any = self.sock  # type: ignore[attr-defined]
        sock.wire, sock.read_timeout = self.wire, self.timeout  # type: ignore[attr-defined]
        response = super().getresponse()  # type: ignore[misc]
        self.wire.answered_at = self.wire.clock()
        return response


def _connected(connection: Any, targets: list[tuple[str, int]], wire: Wire) -> socket.socket:
    """The first target that answers, within the connect timeout in all."""
    until = min(wire.clock() + float(connection.timeout or 60.0), wire.deadline)
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


def _pool(pool: type[HTTPConnectionPool], connection: Callable[..., Any], wire: Wire) -> Callable[..., Any]:
    def make(*args: Any, **keywords: Any) -> Any:
        made = pool(*args, **keywords)
        made.ConnectionCls = functools.partial(connection, wire=wire)  # type: ignore[assignment]
        return made

    return make


class CheckedAdapter(HTTPAdapter):
    """The requests adapter over such connections."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._tls = create_urllib3_context()
        self._tls.sslsocket_class = _TimedTlsSocket
        super().__init__(pool_connections=_HOSTS_KEPT_OPEN, pool_maxsize=1)

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **keywords: Any) -> None:
        """A pool manager whose pools make checked connections."""
        manager = PoolManager(connections, maxsize=maxsize, block=block, ssl_context=self._tls, **keywords)
        classes: Any = {
            "http": _pool(HTTPConnectionPool, _CheckedHTTP, self._wire),
            "https": _pool(HTTPSConnectionPool, _CheckedHTTPS, self._wire),
        }
        manager.pool_classes_by_scheme = classes
        self.poolmanager = manager


class _OneHop(requests.Session):
    """A session that never looks at redirects: requests reads a redirect's whole body even when told not to follow."""

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        """None: the fetcher follows redirects, hop by hop."""
        return None


def session(wire: Wire) -> requests.Session:
    """A session for one thread: checked connections, no environment proxies or netrc, no cookies."""
    made = _OneHop()
    made.trust_env = False
    made.cookies.set_policy(_NoCookies())
    adapter = CheckedAdapter(wire)
    made.mount("http://", adapter)
    made.mount("https://", adapter)
    return made


class _NoCookies(requests.cookies.cookielib.DefaultCookiePolicy):  # type: ignore[name-defined, misc]
    def set_ok(self, cookie: Any, request: Any) -> bool:
        return False
