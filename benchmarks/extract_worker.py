"""Runs one extractor over all pages in a separate process: `python -m benchmarks.extract_worker SYSTEM JOBS ANSWERS`.

JOBS is the file that `benchmarks.extract_pages` writes. Prints a line for each finished page. ANSWERS gets the answers,
the CPU seconds and the peak memory of each set. Uses only the standard library in addition to the extractor, because it
also runs in the peers' environment. Network connections are blocked.
"""

import json
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.extract_systems import SYSTEMS, Answer, Extract, System

PAGE_SECONDS = 30.0
WARM_UPS = (
    ("en", "The harbour was opened again on Monday, the port authority said. " * 40),
    ("zh", "这是一段预热用的文字，共有两句话。" * 80),
)


def main(name: str, jobs: Path, answers: Path) -> None:
    """Warm up, run every page once, write the answers."""
    socket.socket.connect = refuse_connection  # type: ignore[method-assign]
    system = SYSTEMS[name]
    said = run_jobs(system, json.loads(jobs.read_text(encoding="utf-8")), lambda set_name: print(set_name, flush=True))
    answers.write_text(json.dumps(said), encoding="utf-8")


def run_jobs(system: System, jobs: list[dict[str, str]], step: Callable[[str], object]) -> dict[str, Any]:
    """Run one system over all pages in this process.

    Returns `pages` (answers), `sets` (CPU seconds, peak memory) and `start_mb`.
    """
    extract = system.make()
    warm_up(system, extract)
    started_at = peak_megabytes()
    pages, sets = [], {}
    for set_name, group in groupby(jobs, key=lambda job: job["set"]):
        forget_peak()
        seconds = 0.0
        for job in group:
            page = run_page(system, extract, job)
            seconds += page["seconds"]
            pages.append(page)
            step(set_name)
        sets[set_name] = {"seconds": seconds, "peak_mb": peak_megabytes()}
    return {"start_mb": started_at, "sets": sets, "pages": pages}


def run_page(system: System, extract: Extract, job: dict[str, str]) -> dict[str, Any]:
    """Return the answer for one page, its error ("" for none) and its CPU seconds without reading the file."""
    raw = Path(job[system.takes]).read_bytes()
    html = raw if system.takes == "bytes" else raw.decode("utf-8", "surrogatepass")
    answer, error = Answer(), ""
    signal.signal(signal.SIGALRM, stop_page)
    signal.setitimer(signal.ITIMER_REAL, PAGE_SECONDS)
    start = time.process_time()
    try:
        answer = extract(html, job["url"], job["lang"])
    except Exception as raised:  # noqa: BLE001 (a peer may raise what it likes: its output counts as empty)
        error = f"{type(raised).__name__}: {raised}"[:200]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    seconds = time.process_time() - start
    return {"set": job["set"], "id": job["id"], "error": error, "seconds": seconds, **asdict(answer)}


def warm_up(system: System, extract: Extract) -> None:
    """Load imports, dictionaries and compiled expressions before the measurement."""
    for language, text in WARM_UPS:
        page = f"<html><head><title>t</title></head><body><h1>t</h1><p>{text}</p><p>{text}</p></body></html>"
        try:
            extract(
                page.encode() if system.takes == "bytes" else page, "http://example.com/2024/05/01/a.html", language
            )
        except Exception as raised:  # noqa: BLE001 (as above)
            print(f"warm-up of {system.name}: {raised!r}", file=sys.stderr)


def refuse_connection(*_: object) -> None:
    """Replaces `socket.connect` to block all connections."""
    raise OSError("the benchmark has no network")


def stop_page(*_: object) -> None:
    """Raise an error: the extractor exceeded PAGE_SECONDS."""
    raise TimeoutError(f"more than {PAGE_SECONDS:.0f} s")


def forget_peak() -> None:
    """Reset the peak memory (Linux). On other systems the peak includes earlier sets."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def peak_megabytes() -> float:
    """Return the peak memory since `forget_peak`, from /proc, because getrusage starts at the peak of the parent
    process.
    """
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
