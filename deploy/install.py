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
EVERY_SECONDS = 5.0
WIDTH = 78
PUTTING = "Installing collected packages:"
FAILED = "the installation failed, pip's reason is above: see that the package index answers, then run make again"


def main(what: str) -> int:
    """Install `what` by constraints.txt; returns pip's exit status."""
    say(f"installing Plumbline into {sys.prefix}: some minutes, the first time")
    started, said = time.monotonic(), ""
    pip = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off"]
    command = [*pip, "-c", str(ROOT / "constraints.txt"), "-e", what]
    running = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    told = 0.0
    for said in words_so_far(running):
        if time.monotonic() - told >= EVERY_SECONDS:
            say(step_of(said, installed()), stays=False)
            told = time.monotonic()
    status = running.wait()
    if status:
        sys.stderr.write(f"\n{said}")
    say(FAILED if status else f"installed in {time.monotonic() - started:.0f} s")
    return status


def step_of(said: str, installed: int) -> str:
    """What pip is at, by what it has said; `installed`: packages that the environment holds."""
    names = re.findall(r"^Collecting ([\w.-]+)", said, re.M)
    if PUTTING in said:
        return f"  putting {len(names)} packages in place: {min(installed, len(names))} done"
    return f"  fetching package {len(names)}: {names[-1]}" if names else "  asking what is needed"


def words_so_far(running: "subprocess.Popen[str]") -> Iterator[str]:
    """All that pip has said, each time it says more, and each time it has been silent for a while."""
    lines: queue.Queue[str] = queue.Queue()

    def read() -> None:
        assert running.stdout is not None
        for line in running.stdout:
            lines.put(line)
        lines.put("")

    threading.Thread(target=read, daemon=True).start()
    said = ""
    while True:
        try:
            line = lines.get(timeout=EVERY_SECONDS)
        except queue.Empty:
            yield said
            continue
        if not line:
            return
        said += line
        yield said


def installed() -> int:
    """How many packages the environment holds."""
    return sum(1 for _ in Path(sysconfig.get_path("purelib")).glob("*.dist-info"))


def say(text: str, stays: bool = True) -> None:
    """A line; on a terminal the next one takes its place unless it `stays`."""
    if sys.stdout.isatty():
        print(f"\r{text[: None if stays else WIDTH]:<{WIDTH}}", end="\n" if stays else "", flush=True)
    else:
        print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
