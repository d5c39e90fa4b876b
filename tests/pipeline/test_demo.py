"""`plumb demo`, as a person runs it: the first time, again, and after a page was changed on disk."""

import json
import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from domain.term import AUTOMATIC_ACTOR
from pipeline.demo.articles import COMPARISON_TERM
from tests.crash_harness import PLUMB, all_processes, until
from tests.plumb_call import call_plumb
from tests.web_fixture import PATIENCE

pytestmark = [pytest.mark.solr, pytest.mark.slow]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting comes from the environment of the tests, and no article is embedded."""
    for name in [name for name in os.environ if name.startswith("PLUMB_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PLUMB_EMBED_MODEL", "off")


@pytest.fixture
def ports() -> tuple[str, ...]:
    """The options for two free ports."""
    with socket.create_server(("127.0.0.1", 0)) as first, socket.create_server(("127.0.0.1", 0)) as second:
        return ("--port", str(first.getsockname()[1]), "--site-port", str(second.getsockname()[1]))


def plumb(*arguments: str, code: int = 0) -> str:
    """What the command prints; its exit status must be `code`."""
    said = call_plumb(*arguments)
    assert said.status == code, said
    assert "Traceback" not in said.out + said.err
    return said.out + said.err


@pytest.mark.exhaustive
@pytest.mark.process
@pytest.mark.parametrize(
    ("model", "number"),
    [
        pytest.param("off", signal.SIGTERM, id="words"),
        pytest.param("default", signal.SIGINT, id="meaning", marks=pytest.mark.exhaustive),
    ],
)
def test_the_demo_from_an_empty_folder(
    tmp_path: Path, ports: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, model: str, number: int
) -> None:
    """The first demo is a real process; while it runs, other commands use its sites and its Solr."""
    monkeypatch.setenv("PLUMB_EMBED_MODEL", model)
    folder = tmp_path / "demo"
    config = str(folder / "vertical.toml")
    with running_demo(folder, ports, number) as first:
        assert re.search(r"extract +\S+ s  extracted \d{3}", first)
        assert re.search(r"solr +\S+ s  Opened in parallel with earlier stages, waited \S+ s", first), first

        changed = plumb("demo", "--folder", str(folder), "--change", *ports)
        times = [float(seconds) for seconds in re.findall(r"\+ *([\d.]+) s", changed)]
        assert times == sorted(times)
        assert len(times) == 4
        assert "finds the page" in changed

        base, domain = json.loads(plumb("-c", config, "compare", COMPARISON_TERM, "--json"))
        assert base["first_whole_rank"] > domain["first_whole_rank"] == 1
        assert AUTOMATIC_ACTOR in plumb("-c", config, "lexicon", "versions")  # no person has published anything
        status = plumb("status", config)
        assert "version 1 published, 1 in the index" in status

    second = plumb("demo", "--folder", str(folder), "--check", *ports)
    assert re.search(r"crawl +\S+ s  unchanged \d{3}", second), second
    assert re.search(r"extract +\S+ s  nothing to do", second), second
    # with vectors, the page that --change has changed is embedded and indexed again
    to_do = r"index +\S+ s  nothing to do" if model == "off" else r"embed +\S+ s  embedded 1\n"
    assert re.search(to_do, second), second
    assert f"articles  {re.findall(r'check passed: ([0-9]+)', second)[0]}" in status


@contextmanager
def running_demo(folder: Path, ports: tuple[str, ...], number: int) -> Iterator[str]:
    """What a demo prints until it waits; `number` (Ctrl-C, or a service manager's stop) ends it and what it started.

    It is started with both signals ignored, as `nohup` and a shell's `&` do.
    """
    ignoring = ["sh", "-c", 'trap "" INT TERM; exec "$@"', "sh"]
    command = [*ignoring, PLUMB, "demo", "--folder", str(folder), *ports]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert running.stdout is not None
    output = ""
    try:
        for line in running.stdout:
            output += line
            if "Ctrl-C stops everything" in line:
                break
        assert processes_in(folder), output
        yield output
        running.send_signal(number)
        output += running.communicate(timeout=PATIENCE)[0]
        assert running.returncode == 130, output
        assert "Traceback" not in output
        until(lambda: not processes_in(folder))
    finally:
        running.kill()
        running.communicate(timeout=PATIENCE)


def processes_in(folder: Path) -> list[str]:
    """The command lines of all processes that name the folder."""
    return [command for pid, _, command in all_processes() if str(folder) in command and pid != os.getpid()]


def test_a_demo_that_was_never_run_cannot_be_changed(tmp_path: Path, ports: tuple[str, ...]) -> None:
    said = plumb("demo", "--folder", str(tmp_path / "demo"), "--change", *ports, code=1)
    assert "run `plumb demo` first" in said


def test_somebody_elses_server_on_the_sites_port(tmp_path: Path, ports: tuple[str, ...]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        said = plumb("demo", "--folder", str(tmp_path / "demo"), *ports[:2], "--site-port", port, code=1)
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


def test_a_folder_from_another_site_port_is_refused(tmp_path: Path, ports: tuple[str, ...]) -> None:
    (tmp_path / "vertical.toml").write_text('seeds = ["http://www.lanwan-gas.localhost:1/"]\n')
    said = plumb("demo", "--folder", str(tmp_path), "--check", *ports, code=1)
    assert "another port of the demo sites" in said and "--site-port" in said
