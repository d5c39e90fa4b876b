"""Speed-up by a second process: the same pages through a pool of one process and a pool of two."""

import json
import multiprocessing
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path
from threading import BrokenBarrierError

from domain.article import Article
from domain.errors import PlumblineError
from domain.outcome import Outcome
from extractor import extract

CHUNK = 8  # pages per request to a process
WARM_SECONDS = 60.0  # timeout for the start of a process


def two_process_gain(jobs: Path, rounds: int) -> float:
    """Return wall seconds with one process divided by those with two; each is the best of alternating `rounds`."""
    pages = [(job["bytes"], job["url"]) for job in json.loads(jobs.read_text(encoding="utf-8"))]
    times = [(wall_seconds(pages, 1), wall_seconds(pages, 2)) for _ in range(rounds)]
    return min(one for one, _ in times) / min(two for _, two in times)


def wall_seconds(pages: list[tuple[str, str]], processes: int) -> float:
    """Measure from the first page to the last, after all processes are warm."""
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(processes + 1)
    with context.Pool(processes, warm_up, (ready,)) as pool:
        try:
            ready.wait(WARM_SECONDS)
        except BrokenBarrierError as error:
            raise PlumblineError("the processes of the pool did not start: does `extract` work at all?") from error
        start = time.monotonic()
        for _ in pool.imap_unordered(extract_file, pages, CHUNK):
            pass
        return time.monotonic() - start


def warm_up(ready: Barrier) -> None:
    """Import everything, then wait for the other processes."""
    extract(
        f"<html><body><h1>预热</h1><p>{'这是一段预热用的文字，共有两句话。' * 40}</p></body></html>",
        "http://example.com/",
    )
    ready.wait(WARM_SECONDS)


def extract_file(page: tuple[str, str]) -> Article | Outcome:
    """Extract one page, given by file and URL."""
    file, url = page
    return extract(Path(file).read_bytes(), url)
