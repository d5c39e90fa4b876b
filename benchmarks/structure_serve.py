"""Memory of a running search site and the start-up cost of the commands; part of `make bench-structure`.

    python -m benchmarks.structure_serve [FOLDER]      prints the memory of each process, and the time of each verb

Sets:

    serve   memory_mb         proportional set size of `plumb serve`, its workers and its Solr, after 50 searches
    start   cpu_seconds_max   largest CPU time of `plumb VERB --help` over all verbs
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import requests

from pipeline.cli.main import COMMANDS

ROOT = Path(__file__).resolve().parents[1]
PLUMB = [sys.executable, "-m", "pipeline.cli.main"]
SEARCHES = 50
QUERIES = (
    "世界石油大会",
    "页岩气",
    "什么是压裂",
    "天然气 价格",
    "shale gas",
    "how is LNG stored",
    "oil price forecast",
)
START_SECONDS = 300.0
DEMO_SECONDS = 900.0
IDLE_SECONDS = 8.0  # the site releases what it needs for changes only


def rows(demo: Path | None = None) -> list[tuple[str, str, float]]:
    """Return (set, metric, value) of all figures.

    Args:
        demo: Folder of a demo that was run before; by default a new one is made in a temporary folder.
    """
    return [
        ("serve", "memory_mb", sum(measure_serve_memory(demo).values())),
        ("start", "cpu_seconds_max", max(measure_help_seconds().values())),
    ]


def measure_serve_memory(demo: Path | None = None) -> dict[str, float]:
    """Serve the demo, send 50 searches, and return the proportional set size of each process in MB, by its command."""
    with tempfile.TemporaryDirectory() as temporary_folder:
        folder = demo or Path(temporary_folder)
        if demo is None:
            command = [*PLUMB, "demo", "--folder", str(folder), "--check"]
            subprocess.run(command, cwd=ROOT, check=True, timeout=DEMO_SECONDS, stdout=subprocess.DEVNULL)
        serve = [*PLUMB, "-c", str(folder / "vertical.toml"), "serve", "--port", "0"]
        with subprocess.Popen(
            serve, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
        ) as server:
            try:
                url = read_site_url(server)
                wait_for_index(url)
                for number in range(SEARCHES):
                    query = QUERIES[number % len(QUERIES)]
                    requests.get(f"{url}search", params={"q": query}, timeout=60).raise_for_status()
                time.sleep(IDLE_SECONDS)
                return {name: kilobytes / 1024 for name, kilobytes in process_memory(server.pid, folder).items()}
            finally:
                server.send_signal(signal.SIGINT)


def read_site_url(server: "subprocess.Popen[str]") -> str:
    """Return the URL that `plumb serve` prints. Raises RuntimeError if it ends before."""
    assert server.stdout is not None
    for line in server.stdout:
        if match := re.search(r"search page: (http\S+)", line):
            return match[1]
    raise RuntimeError(f"plumb serve ended with status {server.wait()}")


def wait_for_index(url: str) -> None:
    """Wait until a search of the site has results. Raises RuntimeError after START_SECONDS."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        response = requests.get(f"{url}api/v1/search", params={"q": QUERIES[0]}, timeout=60)
        if response.ok and response.json().get("hits"):
            return
        time.sleep(0.5)
    raise RuntimeError("the index of the demo has no documents")


def process_memory(root: int, folder: Path) -> dict[str, int]:
    """Return the proportional set size in kB of a process, its descendants, and the Solr of `folder` by command."""
    parents, commands = {}, {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(process.name)] = int((process / "stat").read_text().rpartition(")")[2].split()[1])
            commands[int(process.name)] = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue  # it has ended
    members = {pid for pid, command in commands.items() if str(folder / "data" / "solr") in command} | {root}
    while more := {pid for pid, parent in parents.items() if parent in members} - members:
        members |= more
    memory = {}
    for pid in sorted(members):
        smaps = Path(f"/proc/{pid}/smaps_rollup").read_text()
        name = "java" if "java" in commands[pid].split()[0] else commands[pid].partition("-m ")[2].split(" ")[0]
        memory[f"{name} {pid}"] = int(re.search(r"^Pss:\s+(\d+) kB", smaps, re.MULTILINE)[1])  # type: ignore[index]
    return memory


def measure_help_seconds() -> dict[str, float]:
    """Return the CPU seconds of `plumb VERB --help` by verb."""
    return dict(iter_help_seconds())


def iter_help_seconds() -> Iterator[tuple[str, float]]:
    """Run `plumb VERB --help` for every verb; yields (verb, CPU seconds)."""
    for verb in COMMANDS:
        before = os.times()
        subprocess.run([*PLUMB, verb, "--help"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        yield verb, after.children_user + after.children_system - before.children_user - before.children_system


if __name__ == "__main__":
    demo_folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    for process_name, megabytes in measure_serve_memory(demo_folder).items():
        print(f"{process_name:<50} {megabytes:7.1f} MB")
    for verb_name, seconds in measure_help_seconds().items():
        print(f"{verb_name:<50} {seconds:7.2f} s")
