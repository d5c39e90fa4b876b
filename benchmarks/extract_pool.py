"""What a second process gains: the same pages through a pool of one process and through a pool of two."""

import json
import multiprocessing
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path
from threading import BrokenBarrierError

from docstore.errors import PlumblineError
from docstore.model import Article, Outcome
from extractor import extract

CHUNK = 8  # pages handed to a process at once
WARM_SECONDS = 60.0  # a process that needs longer to start never will


def two_process_gain(jobs: Path, rounds: int) -> float:
    """Wall seconds with one process by wall seconds with two, each the best of `rounds`, taken in turn."""
    pages = [(job["bytes"], job["url"]) for job in json.loads(jobs.read_text(encoding="utf-8"))]
    times = [(wall_seconds(pages, 1), wall_seconds(pages, 2)) for _ in range(rounds)]
    return min(one for one, _ in times) / min(two for _, two in times)


def wall_seconds(pages: list[tuple[str, str]], processes: int) -> float:
    """From the first page to the last, once every process is warm."""
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
    """Pay for the imports, then wait for the others."""
    extract(
        f"<html><body><h1>预热</h1><p>{'这是一段预热用的文字，共有两句话。' * 40}</p></body></html>",
        "http://example.com/",
    )
    ready.wait(WARM_SECONDS)


def extract_file(page: tuple[str, str]) -> Article | Outcome:
    """One page, by file and URL."""
    file, url = page
    return extract(Path(file).read_bytes(), url)
