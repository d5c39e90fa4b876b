"""gunicorn worker for the search site: waitress buffers requests and responses, so slow clients occupy no thread.

A thread of the site receives only complete requests, and writes its response to a buffer. A slow client therefore costs
only a socket and some kilobytes. Slow connections are closed: headers, bodies and idle connections have timeouts, and
so has the reading of a response. The number of connections per IP address is limited, except for loopback, because a
proxy in front of the site has one address for all clients.
"""

import ipaddress
import logging
import os
import resource
import socket
import time
from collections.abc import Callable
from typing import Any

from gunicorn.workers.base import Worker
from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.server import TcpWSGIServer

from search_ui.settings import MAX_LIST_BYTES

HEADER_TIMEOUT_SECONDS = 10.0  # from the first byte of a request to the end of its headers
BODY_TIMEOUT_SECONDS = 30.0  # from the end of the headers to the end of the body
RESPONSE_READ_TIMEOUT_SECONDS = 60.0  # for the client to read a response, from when it is ready
IDLE_TIMEOUT_SECONDS = 15.0  # for a connection without a request
MAX_CONNECTIONS = 1000  # beyond this the connection that has waited longest for its client is closed
MAX_CONNECTIONS_PER_IP = 64
MAX_HEADER_BYTES = 16_384  # request line and headers
RESERVED_FILE_DESCRIPTORS = 64  # that a worker needs in addition to connections: store, logs, Solr
POLL_SECONDS = 1.0

logging.getLogger("waitress").setLevel(logging.ERROR)  # its warnings report every queue and every disconnect


class TimedChannel(HTTPChannel):  # type: ignore[misc]
    """A connection with the time since when it waits for its client (`waiting_since`, epoch seconds)."""

    request_count = 0  # completed requests of this connection

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._phase: tuple[str, int] = ("", 0)
        self.waiting_since = time.time()

    def allowed_seconds(self) -> float:
        """Return the time limit in seconds of the current phase; 0 while the site processes a request."""
        if self.requests:
            phase, seconds = "answered", 0.0
        elif self.total_outbufs_len:
            phase, seconds = "read", RESPONSE_READ_TIMEOUT_SECONDS
        elif self.request is None:
            phase, seconds = "idle", IDLE_TIMEOUT_SECONDS
        elif self.request.headers_finished:
            phase, seconds = "body", BODY_TIMEOUT_SECONDS
        else:
            phase, seconds = "head", HEADER_TIMEOUT_SECONDS
        if (phase, self.request_count) != self._phase:
            self._phase, self.waiting_since = (phase, self.request_count), time.time()
        return seconds

    def service(self) -> None:
        """Process one request in a thread."""
        super().service()
        self.request_count += 1

    def is_timed_out(self, now: float) -> bool:
        """True if the client exceeded the time limit of the current phase."""
        seconds = self.allowed_seconds()
        return bool(seconds) and now - self.waiting_since > seconds

    @property
    def is_idle(self) -> bool:
        """True if no request is being received or processed and no response is being sent."""
        return not self.requests and not self.total_outbufs_len and self.request is None


class BoundedServer(TcpWSGIServer):  # type: ignore[misc]
    """A server that limits the number of connections, in total and per IP address."""

    channel_class = TimedChannel
    next_channel_cleanup = 0.0

    def readable(self) -> bool:
        """True if the server accepts connections. Also runs `maintenance` every POLL_SECONDS."""
        now = time.time()
        if now >= self.next_channel_cleanup:
            self.next_channel_cleanup = now + POLL_SECONDS
            self.maintenance(now)
        return bool(self.accepting)

    def handle_accept(self) -> None:
        """Accept a connection; close it, or the longest-waiting connection, if a limit is reached."""
        try:
            accepted = self.accept()
            if accepted is None:
                return
            connection, ip_address = accepted
            self.set_socket_options(connection)
        except OSError:  # the client has already disconnected
            return
        if not is_loopback(ip_address[0]) and self.count_connections(ip_address[0]) >= MAX_CONNECTIONS_PER_IP:
            connection.close()
            return
        if len(self.active_channels) >= self.adj.connection_limit:
            waiting_channels = [channel for channel in self.active_channels.values() if channel.allowed_seconds()]
            if waiting_channels:
                min(waiting_channels, key=lambda channel: channel.waiting_since).handle_close()
        self.channel_class(self, connection, ip_address, self.adj, map=self._map)

    def count_connections(self, ip_address: str) -> int:
        """Return the number of open connections from an IP address."""
        return sum(channel.addr[0] == ip_address for channel in self.active_channels.values())

    def maintenance(self, now: float) -> None:
        """Close all connections that exceed their time limit. `now` is in epoch seconds."""
        for channel in list(self.active_channels.values()):
            if channel.is_timed_out(now):
                channel.handle_close()


class WaitressWorker(Worker):  # type: ignore[misc]
    """gunicorn worker class that runs a `BoundedServer`."""

    def run(self) -> None:
        """Serve until gunicorn stops the worker or the arbiter is gone; then finish the requests in flight."""
        [listener] = self.sockets
        server = create_server(listener.sock, self.wsgi, self.cfg.threads)
        while self.alive and self.ppid == os.getppid():
            self.notify()
            poll_once(server)
        stop_server(server, time.monotonic() + self.cfg.graceful_timeout, self.notify)


def stop_server(server: BoundedServer, deadline: float, notify: Callable[[], None] = lambda: None) -> None:
    """Accept no more connections, and complete started requests and responses until the deadline (monotonic seconds).

    The listening socket stays open. `notify` is called about every 0.1 seconds.
    """
    server.accepting = False
    wasyncore.dispatcher.del_channel(server)
    while time.monotonic() < deadline and server.active_channels:
        notify()
        for channel in list(server.active_channels.values()):
            if channel.is_idle:
                channel.handle_close()
        poll_once(server, 0.1)
    server.task_dispatcher.shutdown(timeout=0)


def poll_once(server: BoundedServer, seconds: float = POLL_SECONDS) -> None:
    """Wait up to `seconds` for socket events and process them."""
    wasyncore.loop(seconds, use_poll=True, map=server._map, count=1)


def create_server(listener: socket.socket, application: Any, threads: int) -> BoundedServer:
    """Create a server on a listening socket. Only its worker threads run by themselves; the caller polls."""
    max_open_files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    options = {
        "threads": threads,
        "connection_limit": max(min(MAX_CONNECTIONS, max_open_files - RESERVED_FILE_DESCRIPTORS), 1),
        "max_request_header_size": MAX_HEADER_BYTES,
        "max_request_body_size": 2 * MAX_LIST_BYTES,  # the site itself rejects large bodies with a clear message
        "clear_untrusted_proxy_headers": False,  # search.trusted_proxies decides which headers are trusted
        "ident": None,
        "sockets": [listener],
    }
    socket_info = (listener.family, listener.type, listener.proto, listener.getsockname())
    adjustments = Adjustments(**options)
    return BoundedServer(application, {}, True, listener, adj=adjustments, bind_socket=False, sockinfo=socket_info)


def is_loopback(ip_address: str) -> bool:
    """True if this is an address of the local machine."""
    return ipaddress.ip_address(ip_address.partition("%")[0]).is_loopback
