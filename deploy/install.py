"""`pip install` with progress lines: `python deploy/install.py '.[test]'`, run in the environment to install into.

Every few seconds a line reports the current step of pip; a terminal shows it in place. The output of pip is printed if
the installation fails.
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
    "the installation failed; see the output of pip above. "
    "Check that the package index is reachable, then run make again"
)


def main(requirement: str) -> int:
    """Install `requirement` with constraints.txt; return the exit status of pip."""
    print_status(f"installing Plumbline into {sys.prefix}; the first installation takes some minutes")
    started_at, output = time.monotonic(), ""
    pip = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off"]
    command = [*pip, "-c", str(ROOT / "constraints.txt"), "-e", requirement]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    last_report = 0.0
    for output in iter_output(process):
        if time.monotonic() - last_report >= REPORT_INTERVAL_SECONDS:
            print_status(describe_step(output, count_installed()), is_permanent=False)
            last_report = time.monotonic()
    exit_status = process.wait()
    if exit_status:
        sys.stderr.write(f"\n{output}")
    print_status(FAILURE_MESSAGE if exit_status else f"installed in {time.monotonic() - started_at:.0f} s")
    return exit_status


def describe_step(output: str, installed_count: int) -> str:
    """Describe the current step of pip from its output.

    `installed_count` is the number of packages in the environment.
    """
    names = re.findall(r"^Collecting ([\w.-]+)", output, re.M)
    if PIP_INSTALL_MARKER in output:
        return f"  installing {len(names)} packages: {min(installed_count, len(names))} done"
    return f"  downloading package {len(names)}: {names[-1]}" if names else "  resolving dependencies"


def iter_output(process: "subprocess.Popen[str]") -> Iterator[str]:
    """Yield the whole output of pip so far: after each line, and after each interval without output."""
    lines: queue.Queue[str] = queue.Queue()

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
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
    """Return the number of packages in the environment."""
    return sum(1 for _ in Path(sysconfig.get_path("purelib")).glob("*.dist-info"))


def print_status(text: str, is_permanent: bool = True) -> None:
    """Print a line. On a terminal the next line replaces it unless `is_permanent`."""
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
