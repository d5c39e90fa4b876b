"""`plumb demo`, as a person runs it: the first time, again, and after a page was changed on disk."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.web_fixture import PATIENCE

pytestmark = [pytest.mark.solr, pytest.mark.slow]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def plumb(*arguments: str, code: int = 0) -> str:
    """What the command prints; it must leave with `code`."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PLUMB_")}
    command = [sys.executable, "-m", "pipeline.cli.main", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=4 * PATIENCE, env=environment, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_demo_from_an_empty_folder(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    ports = ("--port", str(free_port()), "--site-port", str(free_port()))
    first = plumb("demo", "--folder", str(folder), "--check", *ports)
    assert "check passed" in first
    assert re.search(r"extract +\S+ s  extracted \d{3}", first)
    assert re.search(r"solr +\S+ s  opened beside the stages before, \S+ s longer", first), first

    second = plumb("demo", "--folder", str(folder), "--check", *ports)
    assert re.search(r"crawl +\S+ s  unchanged \d{3}", second), second
    assert re.search(r"extract +\S+ s  nothing to do", second), second
    assert re.search(r"index +\S+ s  nothing to do", second)

    changed = plumb("demo", "--folder", str(folder), "--change", *ports)
    times = [float(seconds) for seconds in re.findall(r"\+ *([\d.]+) s", changed)]
    assert times == sorted(times)
    assert len(times) == 4
    assert "finds the page" in changed

    for number in (signal.SIGINT, signal.SIGTERM):
        stop_running_demo(folder, ports, number)

    config = str(folder / "vertical.toml")
    compared = plumb("-c", config, "compare", "世界石油大会", "--json")
    assert '"first_whole_rank": 1' in compared
    assert f"articles  {re.findall(r'check passed: ([0-9]+)', first)[0]}" in plumb("status", config)


def stop_running_demo(folder: Path, ports: tuple[str, ...], number: int) -> None:
    """Ctrl-C, or a service manager's stop, ends the demo and everything that it started."""
    command = [sys.executable, "-m", "pipeline.cli.main", "demo", "--folder", str(folder), *ports]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert running.stdout is not None
    said = ""
    for line in running.stdout:
        said += line
        if "Ctrl-C stops everything" in line:
            break
    assert str(folder) in processes()
    running.send_signal(number)
    said += running.stdout.read()
    assert running.wait(PATIENCE) == 130, said
    assert "Traceback" not in said
    deadline = time.monotonic() + PATIENCE
    while str(folder) in processes() and time.monotonic() < deadline:
        time.sleep(0.2)
    assert str(folder) not in processes()


def processes() -> str:
    """The command lines of all processes but this one."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
        except OSError:
            continue
    return "\n".join(lines)


def test_a_demo_that_was_never_run_cannot_be_changed(tmp_path: Path) -> None:
    ports = ("--port", str(free_port()), "--site-port", str(free_port()))
    said = plumb("demo", "--folder", str(tmp_path / "demo"), "--change", *ports, code=1)
    assert "run `plumb demo` once first" in said


def test_somebody_elses_server_on_the_sites_port(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        said = plumb("demo", "--folder", str(tmp_path / "demo"), "--site-port", port, code=1)
    assert said.startswith("plumb: ")
    assert port in said and "make demo SITE_PORT=" in said
    assert said.count("\n") == 1


def test_a_taken_port_of_the_search_page_is_said_before_anything_is_done(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        said = plumb("demo", "--folder", str(tmp_path / "demo"), "--port", port, code=1)
    assert said.startswith(f"plumb: port {port} of the search page is taken") and "make demo PORT=" in said
    assert said.count("\n") == 1
    assert not (tmp_path / "demo").exists()
