"""Opens slow connections: `python -m benchmarks.slow_holder HOST PORT CONNECTIONS`, for `benchmarks.slow_clients`.

A small separate process, so that it does not delay the measuring process. Requests are sent and responses read at one
byte per second. A connection that the site closes is opened again. It exits when its standard input ends.
"""

import random
import select
import selectors
import socket
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass

KINDS = ("head", "body", "reader")
DRIP_SECONDS = 1.0  # between two bytes of a connection
HEAD = b"GET /search?q=a HTTP/1.1\r\nHost: site\r\nX-Slow: "
FORM = b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 200000"
BODY = b"POST /admin/login HTTP/1.1\r\nHost: site\r\n" + FORM + b"\r\n\r\n"
READER = b"GET /static/style.css HTTP/1.1\r\nHost: site\r\n\r\n"  # the largest response that the site need not compute
FIRST: Mapping[str, bytes] = {"head": HEAD, "body": BODY, "reader": READER}


@dataclass
class Slow:
    """One slow connection."""

    kind: str
    socket: socket.socket
    next_at: float


def hold(place: tuple[str, int], connections: int) -> tuple[float, int]:
    """Run `connections` slow connections until standard input ends; prints a line when they are open.

    Returns the mean number of open connections, and the number that the site closed.
    """
    selector, closed = selectors.DefaultSelector(), 0
    held: list[int] = []
    missing = [KINDS[n % len(KINDS)] for n in range(connections)]
    while not select.select([sys.stdin], [], [], 0.02)[0]:
        missing = [kind for kind in missing if not opened(selector, place, kind)]
        if not held:
            print("open", flush=True)
        gone = [one for one in due(selector) if not dripped(one)]
        for one in gone:
            selector.unregister(one.socket)
            one.socket.close()
        closed += len(gone)
        missing += [one.kind for one in gone]
        held.append(len(selector.get_map()))
    return sum(held) / max(len(held), 1), closed


def due(selector: selectors.BaseSelector) -> list[Slow]:
    """Yield the connections whose next byte is due."""
    now = time.monotonic()
    found = [key.data for key in selector.get_map().values() if key.data.next_at <= now]
    for one in found:
        one.next_at = now + DRIP_SECONDS
    return found


def opened(selector: selectors.BaseSelector, place: tuple[str, int], kind: str) -> bool:
    """Open a slow connection of this kind, if the site accepts it."""
    try:
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)  # unread data stays on the site's side
        connection.settimeout(2.0)
        connection.connect(place)
        connection.sendall(FIRST[kind])
        connection.setblocking(False)
    except OSError:
        connection.close()
        return False
    selector.register(connection, selectors.EVENT_READ, Slow(kind, connection, time.monotonic() + random.random()))
    return True


def dripped(one: Slow) -> bool:
    """Send or read a byte. Returns False if the site has closed the connection."""
    try:
        if one.kind == "reader":
            return one.socket.recv(1) != b""
        one.socket.send(b"a")
        return one.socket.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


if __name__ == "__main__":
    print(*hold((sys.argv[1], int(sys.argv[2])), int(sys.argv[3])))
