"""gunicorn's worker that answers readers: waitress takes requests in and gives answers out, whoever is slow at either.

A thread of the site sees whole requests only, and hands its answer to a buffer; so a slow client costs a socket and
some kilobytes, and no thread. What takes too long is closed: a request head, a body, an answer that is not read, a
connection that says nothing. One address may hold so many connections; those of the machine itself may hold all, since
a proxy in front has one address for all readers.
"""

import ipaddress
import logging
import os
import resource
import socket
import time
from typing import Any

from gunicorn.workers.base import Worker
from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.server import TcpWSGIServer

from search_ui.security import MAX_LIST_BYTES

HEADER_TIMEOUT_SECONDS = 10.0  # from the first byte of a request to the end of its head
BODY_TIMEOUT_SECONDS = 30.0  # from there to the end of its body
RESPONSE_READ_TIMEOUT_SECONDS = 60.0  # for an answer to be read, from when it is ready
IDLE_TIMEOUT_SECONDS = 15.0  # a connection without a request
MAX_CONNECTIONS = 1000  # beyond it the one that has waited longest for its request is closed
MAX_CONNECTIONS_PER_IP = 64
MAX_HEADER_BYTES = 16_384  # bytes of a request's first line and headers
RESERVED_FILE_DESCRIPTORS = 64  # descriptors that a worker needs beside connections: store, logs, Solr
POLL_SECONDS = 1.0

logging.getLogger("waitress").setLevel(logging.ERROR)  # it warns of every queue and of every client that leaves


class TimedChannel(HTTPChannel):  # type: ignore[misc]
    """A connection that knows since when it waits for its client (`waiting_since`, epoch seconds)."""

    request_count = 0  # requests of this connection

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._phase: tuple[str, int] = ("", 0)
        self.waiting_since = time.time()

    def allowed_seconds(self) -> float:
        """Seconds that the client may take for what is waited for now; 0 while the site is at work for it."""
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
        """One request, in a thread."""
        super().service()
        self.request_count += 1

    def is_timed_out(self, now: float) -> bool:
        """Has the client taken longer than it may?"""
        seconds = self.allowed_seconds()
        return bool(seconds) and now - self.waiting_since > seconds

    @property
    def is_idle(self) -> bool:
        """Neither a request is coming in nor an answer going out."""
        return not self.requests and not self.total_outbufs_len and self.request is None


class BoundedServer(TcpWSGIServer):  # type: ignore[misc]
    """Holds so many connections in all and from one address."""

    channel_class = TimedChannel
    next_channel_cleanup = 0.0

    def readable(self) -> bool:
        """Is there room for a connection, or can room be made?"""
        now = time.time()
        if now >= self.next_channel_cleanup:
            self.next_channel_cleanup = now + POLL_SECONDS
            self.maintenance(now)
        return bool(self.accepting)

    def handle_accept(self) -> None:
        """Take a connection in; see the module's docstring for who has to go."""
        try:
            accepted = self.accept()
            if accepted is None:
                return
            connection, ip_address = accepted
            self.set_socket_options(connection)
        except OSError:  # it has gone already
            return
        if not is_loopback(ip_address[0]) and self.count_connections(ip_address[0]) >= MAX_CONNECTIONS_PER_IP:
            connection.close()
            return
        if len(self.active_channels) >= self.adj.connection_limit:
            self.close_longest_waiting()
        self.channel_class(self, connection, ip_address, self.adj, map=self._map)

    def count_connections(self, ip_address: str) -> int:
        """How many connections an address holds."""
        return sum(channel.addr[0] == ip_address for channel in self.active_channels.values())

    def close_longest_waiting(self) -> None:
        """Close the connection that has waited longest for its client."""
        waiting = [channel for channel in self.active_channels.values() if channel.allowed_seconds()]
        if waiting:
            min(waiting, key=lambda channel: channel.waiting_since).handle_close()

    def maintenance(self, now: float) -> None:
        """Close what is late."""
        for channel in list(self.active_channels.values()):
            if channel.is_timed_out(now):
                channel.handle_close()


class WaitressWorker(Worker):  # type: ignore[misc]
    """See the module's docstring."""

    def run(self) -> None:
        """Answer until told to stop, or until the arbiter has gone; then finish what is under way."""
        [listener] = self.sockets
        server = create_server(listener.sock, self.wsgi, self.cfg.threads)
        while self.alive and self.ppid == os.getppid():
            self.notify()
            poll_once(server)
        server.accepting = False
        wasyncore.dispatcher.del_channel(server)
        self.drain(server, time.monotonic() + self.cfg.graceful_timeout)
        server.task_dispatcher.shutdown(timeout=0)

    def drain(self, server: BoundedServer, deadline: float) -> None:
        """Let requests that have begun come in, and answers go out."""
        while time.monotonic() < deadline:
            self.notify()
            for channel in list(server.active_channels.values()):
                if channel.is_idle:
                    channel.handle_close()
            if not server.active_channels:
                return
            poll_once(server, 0.1)


def poll_once(server: BoundedServer, seconds: float = POLL_SECONDS) -> None:
    """Wait so long at most for something to happen, and see to it."""
    wasyncore.loop(seconds, use_poll=True, map=server._map, count=1)


def create_server(listener: socket.socket, application: Any, threads: int) -> BoundedServer:
    """A server on a socket that listens already; nothing of it runs by itself but the threads that answer."""
    max_open_files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    options = {
        "threads": threads,
        "connection_limit": max(min(MAX_CONNECTIONS, max_open_files - RESERVED_FILE_DESCRIPTORS), 1),
        "max_request_header_size": MAX_HEADER_BYTES,
        "max_request_body_size": 2 * MAX_LIST_BYTES,  # the site says itself, and in words, what is too large for it
        "clear_untrusted_proxy_headers": False,  # search.trusted_proxies says whose headers count
        "ident": None,
        "sockets": [listener],
    }
    socket_info = (listener.family, listener.type, listener.proto, listener.getsockname())
    adjustments = Adjustments(**options)
    return BoundedServer(application, {}, True, listener, adj=adjustments, bind_socket=False, sockinfo=socket_info)


def is_loopback(ip_address: str) -> bool:
    """Is this an address of the machine itself?"""
    return ipaddress.ip_address(ip_address.partition("%")[0]).is_loopback
