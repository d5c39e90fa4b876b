"""Builds and starts crawlbench for a benchmark, and reads its control port."""

import json
import subprocess
import time
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any

from benchmarks.results import SHARED
from domain.errors import PlumblineError
from indexer.embedded_solr import find_free_port

SOURCE = SHARED.parent / "tools" / "crawlbench"
_PATIENCE = 120.0


def source_of(data: Path) -> Path:
    """Return the folder with crawlbench's source: DATA itself, in DATA, next to DATA, or the default."""
    places = (data, data / "crawlbench", data / "tools" / "crawlbench", data.parent / "tools" / "crawlbench", SOURCE)
    found = next((place for place in places if (place / "go.mod").exists()), None)
    if found is None:
        raise PlumblineError(f"no source of crawlbench at {data} or {SOURCE}")
    return found.resolve()


def built(source: Path, folder: Path) -> tuple[Path, Path]:
    """Build the site server and the Go crawl loop into `folder`. Raises PlumblineError without Go 1.22."""
    site, ceiling = folder / "crawlbench", folder / "ceiling"
    try:
        for program, package in ((site, "."), (ceiling, "./ceiling")):
            subprocess.run(["go", "build", "-o", str(program), package], cwd=source, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise PlumblineError(f"crawlbench cannot be built, which takes Go 1.22: {error}") from error
    return site, ceiling


class BenchSite:
    """A running crawlbench with the given flags."""

    def __init__(self, program: Path, *flags: str) -> None:
        self._port = find_free_port(1)
        self._running = subprocess.Popen([str(program), "-port", str(self._port), *flags], stderr=subprocess.DEVNULL)
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                self.seeds = self._ask("/seeds").decode().split()
                break
            except OSError as error:
                if time.monotonic() > until:
                    raise PlumblineError("crawlbench does not answer") from error
                time.sleep(0.1)

    def _ask(self, path: str) -> bytes:
        with urllib.request.urlopen(f"http://127.0.0.1:{self._port + 1}{path}", timeout=_PATIENCE) as answer:
            return bytes(answer.read())

    def reset(self) -> None:
        """Reset the counters."""
        self._ask("/reset")

    def turn_to(self, day: int) -> None:
        """Serve the site of another day."""
        self._ask(f"/day?d={day}")

    def truth(self, day: int) -> dict[str, dict[str, Any]]:
        """Return the served content of a day by URL."""
        rows = [json.loads(line) for line in self._ask(f"/truth?day={day}").splitlines()]
        return {row["url"]: row for row in rows}

    def stats(self) -> list[dict[str, Any]]:
        """Return the requests that each host received."""
        return list(json.loads(self._ask("/stats")))

    def __enter__(self) -> "BenchSite":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running.terminate()
        self._running.wait()
