"""A crawler without network, in a separate process: adds URLs to a frontier, takes them in turns, and exits.

`python -m benchmarks.scale_frontier_worker KIND WHERE LOG URLS HOSTS [STUBS]`: KIND is plumbline (WHERE: the URL of a
database) or urlfrontier (WHERE: host:port; STUBS: a folder with the modules that protoc generated from its API). LOG
gets a line `put N`, `got N` or `done N` for each URL once the frontier has acknowledged it. URLs that LOG already
contains are not added again. At the end it prints a line of JSON with the seconds of adding and of taking. With KIND
urlfrontier it runs in the peers' environment.
"""

import json
import os
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

PUT = 500  # URLs at once
QUEUES, OF_EACH = 10, 10  # queues per request, and URLs of each
HIDDEN = 30  # seconds for which URLFrontier gives a URL to nobody else
PATIENCE = 2.0 * HIDDEN  # seconds without a URL, while some are left
POLL = 0.2  # seconds


class Frontier(Protocol):
    """Interface of a frontier. URLs are numbers here."""

    def put(self, numbers: Sequence[int]) -> None:
        """Add URLs; they are stored when this returns."""

    def get(self) -> list[int]:
        """Return some URLs to fetch; empty if none is available now."""

    def done(self, numbers: Sequence[int]) -> None:
        """Mark URLs as fetched, so that they are not given again; this is stored when it returns."""

    def is_empty(self) -> bool:
        """True if the frontier reports no remaining URLs."""


class Plumbline:
    """`store.frontier`, in this process."""

    def __init__(self, where: str, folder: Path, hosts: int) -> None:
        self._hosts, self._outcome = hosts, import_module("domain.outcome")
        self._module = import_module("domain.frontier")
        self._table = import_module("docstore.store").Store(where, folder).frontier
        self._known: dict[int, Any] = {}
        self._queues: deque[int] = deque()

    def put(self, numbers: Sequence[int]) -> None:
        made, kind = self._module.NewUrl, self._module.UrlKind.UNKNOWN
        self._table.add_urls(
            [made(url_of(n, self._hosts), host_of(n, self._hosts), n % self._hosts, 0, kind, 0.0) for n in numbers]
        )

    def get(self) -> list[int]:
        found: list[Any] = []
        if not self._queues:
            self._queues.extend(self._table.due_counts_by_queue(time.time()))
        for _ in range(min(QUEUES, len(self._queues))):
            queue = self._queues.popleft()
            due = self._table.due_entries(queue, time.time(), OF_EACH)
            if len(due) == OF_EACH:  # it may have more
                self._queues.append(queue)
            found += due
        self._known = {number_of(entry.url): entry for entry in found}
        return list(self._known)

    def done(self, numbers: Sequence[int]) -> None:
        outcome, now = self._outcome.Outcome(self._outcome.Reason.FETCHED), time.time()
        visit = self._module.Visit
        self._table.record_visits([visit(self._known[number], outcome, now, None, 0.0) for number in numbers])

    def is_empty(self) -> bool:
        return not self._table.due_counts_by_queue(time.time())


class UrlFrontier:
    """crawler-commons' URLFrontier, by gRPC.

    It gives URLs of a queue in only one request per second, even without delay, so its speed shows only with many
    hosts.
    """

    def __init__(self, where: str, stubs: Path, hosts: int) -> None:
        sys.path.insert(0, str(stubs))
        self._hosts, grpc = hosts, import_module("grpc")
        self._pb = import_module("urlfrontier_pb2")
        channel = grpc.insecure_channel(where)
        grpc.channel_ready_future(channel).result(PATIENCE)
        self._asked = import_module("urlfrontier_pb2_grpc").URLFrontierStub(channel)
        self._asked.SetDelay(self._pb.QueueDelayParams(delay_requestable=0))

    def put(self, numbers: Sequence[int]) -> None:
        batch = self._pb.DiscoveredBatch(ID="", items=[self._info(number) for number in numbers])
        [ack] = self._asked.PutDiscovered(iter([batch]))
        self._check(ack.statuses, numbers)

    def get(self) -> list[int]:
        wanted = self._pb.GetParams(max_urls_per_queue=OF_EACH, max_queues=QUEUES, delay_requestable=HIDDEN)
        return [number_of(info.url) for info in self._asked.GetURLs(wanted)]

    def done(self, numbers: Sequence[int]) -> None:
        known = self._pb.KnownURLItem
        items = [self._pb.URLItem(known=known(info=self._info(n), refetchable_from_date=0), ID=str(n)) for n in numbers]
        self._check([ack.status for ack in self._asked.PutURLs(iter(items))], numbers)

    def is_empty(self) -> bool:
        stats = self._asked.GetStats(self._pb.QueueWithinCrawlParams())
        return bool(stats.size + stats.inProcess == 0)

    def _info(self, number: int) -> Any:
        return self._pb.URLInfo(url=url_of(number, self._hosts), key=host_of(number, self._hosts))

    def _check(self, statuses: Sequence[int], numbers: Sequence[int]) -> None:
        if len(statuses) != len(numbers) or self._pb.AckMessage.Status.FAIL in statuses:
            raise SystemExit(f"{len(numbers)} URLs sent, and the answer was {statuses}")


def host_of(number: int, hosts: int) -> str:
    """The host of a URL."""
    return f"host{number % hosts}.test"


def url_of(number: int, hosts: int) -> str:
    """Return the URL of a number; adjacent numbers have different hosts."""
    return f"http://{host_of(number, hosts)}/news/{number}.html"


def number_of(url: str) -> int:
    """Return the number of a URL."""
    return int(url.rpartition("/")[2].removesuffix(".html"))


def put_all(frontier: Frontier, log: int, numbers: Iterator[int]) -> None:
    """Add URLs and log the acknowledged ones."""
    while batch := list(islice(numbers, PUT)):
        frontier.put(batch)
        note(log, "put", batch)


def take_all(frontier: Frontier, log: int) -> float:
    """Take URLs and mark them as done until none is left. Returns the seconds until the last one."""
    started = last = time.monotonic()
    while time.monotonic() - last < PATIENCE:
        if got := frontier.get():
            note(log, "got", got)
            frontier.done(got)
            note(log, "done", got)
            last = time.monotonic()
        elif frontier.is_empty():
            break
        else:
            time.sleep(POLL)
    return last - started


def note(log: int, word: str, numbers: Sequence[int]) -> None:
    """Write lines in one call, so that a kill leaves all of them or none."""
    os.write(log, "".join(f"{word} {number}\n" for number in numbers).encode())


def main(kind: str, where: str, path: Path, count: int, hosts: int, stubs: Path) -> None:
    """Add the URLs that are not in the log, then take all."""
    lines = path.read_text().splitlines() if path.exists() else []
    there = {int(line.split()[1]) for line in lines if line.startswith("put")}
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    frontier: Frontier
    if kind == "plumbline":
        frontier = Plumbline(where, path.parent / "warc", hosts)
    else:
        frontier = UrlFrontier(where, stubs, hosts)
    started = time.monotonic()
    put_all(frontier, log, (number for number in range(count) if number not in there))
    putting = time.monotonic() - started
    print(json.dumps({"put_s": putting, "take_s": take_all(frontier, log)}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]), Path(*sys.argv[6:]))
