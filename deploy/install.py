"""`pip install` that tells how far it is: `python deploy/install.py '.[test]'`, in the environment to install into.

Every few seconds a line says what pip does (on a terminal it is written anew in its place). pip's own words are shown
if it fails.
"""

import queue
import re
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REPORT_INTERVAL_SECONDS = 5.0
LINE_WIDTH = 78
PIP_INSTALL_MARKER = "Installing collected packages:"
FAILURE_MESSAGE = (
    "the installation failed, pip's reason is above: see that the package index answers, then run make again"
)


def main(requirement: str) -> int:
    """Install `requirement` by constraints.txt; returns pip's exit status."""
    print_status(f"installing Plumbline into {sys.prefix}: some minutes, the first time")
    started, output = time.monotonic(), ""
    pip = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off"]
    command = [*pip, "-c", str(ROOT / "constraints.txt"), "-e", requirement]
    running = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    last_report = 0.0
    for output in iter_output(running):
        if time.monotonic() - last_report >= REPORT_INTERVAL_SECONDS:
            print_status(describe_step(output, count_installed()), is_permanent=False)
            last_report = time.monotonic()
    status = running.wait()
    if status:
        sys.stderr.write(f"\n{output}")
    print_status(FAILURE_MESSAGE if status else f"installed in {time.monotonic() - started:.0f} s")
    return status


def describe_step(output: str, installed_count: int) -> str:
    """What pip is at, by what it has said; `installed_count`: packages that the environment holds."""
    names = re.findall(r"^Collecting ([\w.-]+)", output, re.M)
    if PIP_INSTALL_MARKER in output:
        return f"  putting {len(names)} packages in place: {min(installed_count, len(names))} done"
    return f"  fetching package {len(names)}: {names[-1]}" if names else "  asking what is needed"


def iter_output(running: "subprocess.Popen[str]") -> Iterator[str]:
    """All that pip has said, each time it says more, and each time it has been silent for a while."""
    lines: queue.Queue[str] = queue.Queue()

    def read() -> None:
        assert running.stdout is not None
        for line in running.stdout:
            lines.put(line)
        lines.put("")

    threading.Thread(target=read, daemon=True).start()
    output = ""
    while True:
        try:
            line = lines.get(timeout=REPORT_INTERVAL_SECONDS)
        except queue.Empty:
            yield output
            continue
        if not line:
            return
        output += line
        yield output


def count_installed() -> int:
    """How many packages the environment holds."""
    return sum(1 for _ in Path(sysconfig.get_path("purelib")).glob("*.dist-info"))


def print_status(text: str, is_permanent: bool = True) -> None:
    """A line; on a terminal the next one takes its place unless it `is_permanent`."""
    if sys.stdout.isatty():
        print(
            f"\r{text[: None if is_permanent else LINE_WIDTH]:<{LINE_WIDTH}}",
            end="\n" if is_permanent else "",
            flush=True,
        )
    else:
        print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
