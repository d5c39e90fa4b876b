"""HTTP connections with checked IP addresses and a total deadline, which urllib3 does not provide.

Every connection resolves its host through the `IpPolicy` and connects to exactly that IP address. All waits, name
resolution included, end at the deadline of the whole fetch. A server that sends a byte per second therefore times out.
All threads share the pool of open connections.
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

from crawler.http.ip_policy import IpPolicy, UnrestrictedPolicy
from domain.errors import PlumblineError
from locks.fences import check_request

_MAX_POOLED_HOSTS = 256
_NO_RETRY = Retry(False, redirect=False)
_NO_FURTHER_REQUEST = {"retries": _NO_RETRY, "redirect": False}


class RequestState:
    """State of the request in flight in this thread: deadline, response time, connection reuse."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.deadline = float("inf")
        self.responded_at = 0.0
        self.is_connection_reused = False  # the last request reused an open connection

    def remaining_seconds(self) -> float:
        """Return the seconds until the deadline. Raises TimeoutError after it."""
        seconds_left = self.deadline - self.clock()
        if seconds_left <= 0:
            raise TimeoutError("the fetch exceeded its total timeout")
        return seconds_left


class ConnectionPool:
    """The open connections of a fetcher, at most `per_host` idle ones per host. Thread-safe."""

    def __init__(self, ip_policy: IpPolicy, per_host: int) -> None:
        self._thread_states = threading.local()
        self._ip_by_host: dict[str, str] = {}  # host -> IP address last connected to
        self._ip_policy = ip_policy
        self._options: dict[str, Any] = {"maxsize": per_host, "ssl_context": create_tls_context(), "retries": _NO_RETRY}
        self._manager = PoolManager(_MAX_POOLED_HOSTS, **self._options)
        self._manager.pool_classes_by_scheme = self._pool_classes(ip_policy)
        self._proxies: dict[str, ProxyManager] = {}
        self._lock = threading.Lock()

    def request_state(self) -> RequestState:
        """Return the state of the calling thread."""
        state: RequestState | None = getattr(self._thread_states, "request_state", None)
        if state is None:
            state = self._thread_states.request_state = RequestState()
        return state

    def get(
        self,
        url: str,
        headers: Mapping[str, str],
        timeout: Timeout,
        proxy: str = "",
        method: str = "GET",
        body: bytes | None = None,
    ) -> BaseHTTPResponse:
        """Send a GET or HEAD, or the form of a login, through an http `proxy` if one is given.

        Follows no redirect, retries nothing and does not read the body. Raises the errors of urllib3.
        """
        parts = parse_url(url)
        request_options: dict[str, Any] = {"headers": headers, "timeout": timeout, "body": body, **_NO_FURTHER_REQUEST}
        request_options |= {"assert_same_host": False, "preload_content": False, "decode_content": False}
        if proxy:
            host = str(parts.host)
            if _is_ip_literal(host) or host.rpartition(".")[2] == "localhost":  # the proxy resolves all other names
                self._ip_policy.resolve_allowed(host, parts.port or 80)
            return self._proxy_manager(proxy).urlopen(method, url, **request_options)
        pool = self._manager.connection_from_host(parts.host, parts.port, parts.scheme)
        return pool.urlopen(method, parts.request_uri, **request_options)

    def post(self, url: str, body: bytes, headers: Mapping[str, str], timeout: Timeout) -> int:
        """Send a POST. Returns the status of the response.

        Follows no redirect, retries nothing and does not read the body. Raises the errors of urllib3.
        """
        parts = parse_url(url)
        pool = self._manager.connection_from_host(parts.host, parts.port, parts.scheme)
        request_options: dict[str, Any] = {"headers": headers, "timeout": timeout, **_NO_FURTHER_REQUEST}
        response = pool.urlopen("POST", parts.request_uri, body=body, **request_options, preload_content=False)
        response.close()
        return int(response.status)

    def _proxy_manager(self, proxy: str) -> ProxyManager:
        with self._lock:
            manager = self._proxies.get(proxy)
            if manager is None:
                parts = parse_url(proxy)
                headers = make_headers(proxy_basic_auth=unquote(parts.auth)) if parts.auth else None
                proxy_url = f"http://{parts.netloc}"
                manager = ProxyManager(proxy_url, _MAX_POOLED_HOSTS, proxy_headers=headers, **self._options)
                manager.pool_classes_by_scheme = self._pool_classes(UnrestrictedPolicy())
                self._proxies[proxy] = manager
        return manager

    def _pool_classes(self, ip_policy: IpPolicy) -> Any:
        return {
            "http": _pool_factory(
                HTTPConnectionPool, _PolicyHTTPConnection, ip_policy, self.request_state, self._ip_by_host
            ),
            "https": _pool_factory(
                HTTPSConnectionPool, _PolicyHTTPSConnection, ip_policy, self.request_state, self._ip_by_host
            ),
        }

    def last_ip(self, host: str) -> str:
        """Return the IP address of the last connection to this host name, or "" if there was none."""
        return self._ip_by_host.get(host, "")

    def find_ip(self, host: str, port: int, timeout_seconds: float) -> str:
        """Return the last IP address of this host name, or resolve it once; "" if it has no allowed address."""
        if host not in self._ip_by_host:
            try:
                targets = _resolve_with_timeout(self._ip_policy, host, port, timeout_seconds)
            except (OSError, PlumblineError):  # the connection reports the error
                targets = []
            self._ip_by_host.setdefault(host, targets[0][0] if targets else "")
        return self._ip_by_host[host]

    def close(self) -> None:
        """Close the idle connections. Connections in use close when they are released."""
        for manager in (self._manager, *self._proxies.values()):
            manager.clear()


class _DeadlineReadMixin:
    """Mixin for sockets: no read waits beyond the deadline of the fetch."""

    request_state: RequestState | None = None
    read_timeout: float | None = None

    def recv_into(self, *args: Any, **keywords: Any) -> int:
        """Like `socket.recv_into`, but raises TimeoutError at the deadline."""
        if self.request_state is not None:
            seconds_left = self.request_state.remaining_seconds()
            self.settimeout(seconds_left if self.read_timeout is None else min(seconds_left, self.read_timeout))  # type: ignore[attr-defined]
        return super().recv_into(*args, **keywords)  # type: ignore[misc, no-any-return]


class _DeadlineSocket(_DeadlineReadMixin, socket.socket):
    pass


class _DeadlineTlsSocket(_DeadlineReadMixin, ssl.SSLSocket):
    pass


class _PolicyConnectionMixin:
    """Mixin for urllib3 connections: connects to the IP addresses of the policy and passes the deadline to sockets."""

    def __init__(
        self,
        *args: Any,
        ip_policy: IpPolicy,
        request_state: Callable[[], RequestState],
        ip_by_host: dict[str, str],
        **keywords: Any,
    ) -> None:
        super().__init__(*args, **keywords)
        self.ip_policy = ip_policy
        self.ip_by_host = ip_by_host
        self.request_state = request_state
        self.request_count = 0

    def _new_conn(self) -> socket.socket:
        connection: Any = self
        self.request_count = 0
        state = self.request_state()
        deadline = min(state.clock() + float(connection.timeout or 60.0), state.deadline)
        try:
            targets = _resolve_with_timeout(
                self.ip_policy, connection._dns_host, connection.port, deadline - state.clock()
            )
        except socket.gaierror as error:
            raise NameResolutionError(connection.host, connection, error) from error
        except TimeoutError as error:
            raise ConnectTimeoutError(connection, "the name server took too long") from error
        except OSError as error:
            raise NewConnectionError(connection, str(error)) from error
        sock = _connect_first(connection, targets, state, deadline)
        self.ip_by_host[connection._dns_host] = sock.getpeername()[0]
        return sock

    def request(self, *args: Any, **keywords: Any) -> None:
        """Like urllib3's method. Also checks the fences, and records whether the connection was reused.

        Connects first, so that nothing that may take long is between the check and the request.
        """
        connection: Any = self
        if connection.is_closed:
            connection.connect()
        check_request()
        try:
            super().request(*args, **keywords)  # type: ignore[misc]
        finally:
            self.request_state().is_connection_reused = self.request_count > 0
            self.request_count += 1

    def getresponse(self) -> Any:
        """Like urllib3's method. Sets the deadline and read timeout of the socket and records the response time."""
        sock: Any = self.sock  # type: ignore[attr-defined]
        state = self.request_state()
        sock.request_state, sock.read_timeout = state, self.timeout  # type: ignore[attr-defined]
        response = super().getresponse()  # type: ignore[misc]
        state.responded_at = state.clock()
        return response


def _resolve_with_timeout(ip_policy: IpPolicy, host: str, port: int, seconds: float) -> list[tuple[str, int]]:
    """Resolve the host through the IP policy in a daemon thread, because getaddrinfo cannot be interrupted.

    Raises TimeoutError after `seconds`.
    """
    if _is_ip_literal(host):
        return ip_policy.resolve_allowed(host, port)
    results: list[list[tuple[str, int]]] = []
    errors: list[Exception] = []

    def resolve() -> None:
        try:
            results.append(ip_policy.resolve_allowed(host, port))
        except Exception as error:  # noqa: BLE001 (raised below, in the calling thread)
            errors.append(error)

    thread = threading.Thread(target=resolve, name=f"dns-{host}", daemon=True)
    thread.start()
    thread.join(max(seconds, 0.001))
    if errors:
        raise errors[0]
    if not results:
        raise TimeoutError
    return results[0]


def _is_ip_literal(host: str) -> bool:
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def _connect_first(
    connection: Any, candidates: list[tuple[str, int]], request_state: RequestState, deadline: float
) -> socket.socket:
    """Connect to the first IP address that accepts in time."""
    error: OSError = OSError("no IP address")
    for ip, port in candidates:
        sock = _DeadlineSocket(socket.AF_INET6 if ":" in ip else socket.AF_INET, socket.SOCK_STREAM)
        try:
            sock.settimeout(max(deadline - request_state.clock(), 0.001))
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.connect((ip, port))
            return sock
        except OSError as failure:
            sock.close()
            error = failure
    if isinstance(error, TimeoutError):
        raise ConnectTimeoutError(connection, "connecting took too long") from error
    raise NewConnectionError(connection, str(error)) from error


class _PolicyHTTPConnection(_PolicyConnectionMixin, HTTPConnection):
    pass


class _PolicyHTTPSConnection(_PolicyConnectionMixin, HTTPSConnection):
    pass


def _pool_factory(
    pool: type[HTTPConnectionPool],
    connection: Callable[..., Any],
    ip_policy: IpPolicy,
    request_state: Callable[[], RequestState],
    ip_by_host: dict[str, str],
) -> Callable[..., Any]:
    def make_pool(*args: Any, **keywords: Any) -> Any:
        urllib3_pool = pool(*args, **keywords)
        urllib3_pool.ConnectionCls = functools.partial(
            connection, ip_policy=ip_policy, request_state=request_state, ip_by_host=ip_by_host
        )  # type: ignore[assignment]
        return urllib3_pool

    return make_pool


def create_tls_context() -> ssl.SSLContext:
    """Create the TLS settings of a pool. Each run reads the authorities again, because they change.

    Trusts the authorities of the machine, or those of certifi if the machine has no list: slim images and self-built
    Pythons have none. urllib3 loads the authorities only into a context of its own.
    """
    tls = create_urllib3_context()
    tls.load_default_certs()
    verify_paths = ssl.get_default_verify_paths()
    if not verify_paths.cafile and not (verify_paths.capath and any(Path(verify_paths.capath).iterdir())):
        tls.load_verify_locations(certifi.where())
    tls.sslsocket_class = _DeadlineTlsSocket
    return tls
