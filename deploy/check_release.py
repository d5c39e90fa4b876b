"""`make check-release`: builds the release twice, installs it outside the checkout, and prints a table.

    wheel, source     equal bytes in two builds; `twine check --strict`
    Python of Debian  in an empty environment: installation with hashes, `plumb --version`, `plumb demo --check`
    other Pythons     pip finds a wheel of each pinned package, except those that come as source
    arm64             packages of the lock without a wheel for Linux on arm64
    vulnerabilities   pip-audit, if its data can be reached

Exits with status 1 if one fails. A missing wheel for arm64 and unreachable data are reported only.
"""

import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from build_dist import DIST, LOCK, build_dist
from rich.console import Console
from rich.table import Table

DEBIAN_PYTHONS = Path("/usr/bin")
SUPPORTED_MINORS = range(11, 15)
GLIBC_MINORS = range(17, 29)  # up to that of Debian 10
SOURCE_ONLY = {"jieba", "pybloom-live", "pysolr"}  # no wheel on PyPI; built from source anywhere
UNREACHABLE = "not reachable"


def iter_rows() -> Iterator[tuple[str, str, bool]]:
    """Yield (check, result, whether it passed)."""
    files = build_dist(DIST)
    with tempfile.TemporaryDirectory() as folder:
        for first, second in zip(files, build_dist(Path(folder) / "again"), strict=True):
            is_equal = first.read_bytes() == second.read_bytes()
            yield (
                f"two builds of {first.name}",
                f"{'equal' if is_equal else 'different'}, {first.stat().st_size:,} B",
                is_equal,
            )
    packages = [path for path in files if path.suffix in {".whl", ".gz"}]
    done = run([sys.executable, "-m", "twine", "check", "--strict", *map(str, packages)])
    yield "twine check", "passed" if done.returncode == 0 else done.stdout, done.returncode == 0
    [wheel] = DIST.glob("*.whl")
    installed = set()
    for python in sorted(DEBIAN_PYTHONS.glob("python3.*")):
        if re.fullmatch(r"python3\.\d+", python.name):
            installed.add(int(python.name.partition(".")[2]))
            yield from iter_installation_rows(python, wheel)
    for minor in SUPPORTED_MINORS:
        if minor not in installed:
            missing = find_missing_wheels(f"3.{minor}", "x86_64")
            yield f"wheels for Python 3.{minor}", f"missing: {', '.join(missing) or 'none'}", not missing
    missing = find_missing_wheels("3.13", "aarch64")
    yield "wheels for arm64, Python 3.13", f"missing: {', '.join(missing) or 'none'}", True
    yield "pip-audit", *audit()


def iter_installation_rows(python: Path, wheel: Path) -> Iterator[tuple[str, str, bool]]:
    """Install the wheel with the pinned libraries in an environment of its own; yield its rows."""
    with tempfile.TemporaryDirectory() as folder:
        started_at = time.monotonic()
        run([str(python), "-m", "venv", f"{folder}/venv"])
        pip = [f"{folder}/venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        done = run([*pip, "--require-hashes", "-r", str(LOCK)])
        if done.returncode == 0:
            done = run([*pip, "--no-deps", str(wheel)])
        result = done.stderr or f"installed in {time.monotonic() - started_at:.0f} s"
        yield python.name, result, done.returncode == 0
        ports = ["--port", str(find_free_port()), "--site-port", str(find_free_port())]
        for arguments in (["--version"], ["demo", "--check", *ports]):
            started_at = time.monotonic()
            done = run([f"{folder}/venv/bin/plumb", *arguments], folder)
            last = (done.stderr if done.returncode else done.stdout).strip().splitlines()[-1:]
            result = f"{''.join(last)} ({time.monotonic() - started_at:.0f} s)"
            yield f"{python.name}: plumb {arguments[0]}", result, done.returncode == 0


def find_free_port() -> int:
    """Return a TCP port of loopback that no program listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def find_missing_wheels(version: str, machine: str) -> list[str]:
    """Return the packages of the lock without a wheel for this Python on Linux (glibc) and this machine."""
    platforms = [f"manylinux2014_{machine}", *(f"manylinux_2_{minor}_{machine}" for minor in GLIBC_MINORS)]
    missing: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        lock = Path(folder) / "lock.txt"
        while True:
            lock.write_text(
                re.sub(r"(?m)^([\w.-]+)==(?:.*\\\n)*.*\n", drop_packages({*SOURCE_ONLY, *missing}), LOCK.read_text())
            )
            pip = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--no-deps", "--quiet"]
            options = [option for platform in platforms for option in ("--platform", platform)]
            done = run(
                [
                    *pip,
                    "--only-binary",
                    ":all:",
                    "--python-version",
                    version,
                    *options,
                    "--target",
                    folder,
                    "-r",
                    str(lock),
                ]
            )
            failed = re.search(r"No matching distribution found for ([\w.-]+)", done.stderr)
            if not failed:
                return missing
            missing.append(failed[1])


def drop_packages(names: set[str]) -> "Callable[[re.Match[str]], str]":
    """Return a replacement for re.sub that removes the entries of these packages."""
    return lambda entry: "" if entry[1] in names else entry[0]


def audit() -> tuple[str, bool]:
    """Ask pip-audit for known vulnerabilities; return its result and whether it passed."""
    done = run([sys.executable, "-m", "pip_audit", "--disable-pip", "--require-hashes", "-r", str(LOCK), "--strict"])
    lines = (done.stdout + done.stderr).strip().splitlines()
    if re.search("not found on PyPI|ConnectionError|service error", " ".join(lines)):
        return UNREACHABLE, True
    return lines[0], done.returncode == 0


def run(command: list[str], folder: str | None = None) -> "subprocess.CompletedProcess[str]":
    """Run a command and capture its output."""
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


def main() -> int:
    """Print the table; return the exit status."""
    table, is_ready = Table("check", "result", title="release", title_justify="left"), True
    for name, result, has_passed in iter_rows():
        table.add_row(name, result if has_passed else f"FAILED: {result}")
        is_ready &= has_passed
    Console(width=shutil.get_terminal_size().columns).print(table)
    return int(not is_ready)


if __name__ == "__main__":
    sys.exit(main())
