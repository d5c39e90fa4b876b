"""Messages to systemd over a real socket: of the functions, and by the real `plumb schedule` and `plumb serve`."""

import os
import socket
import tempfile
import threading
from collections.abc import Iterator
from configparser import ConfigParser
from pathlib import Path

import pytest

from crawler.progress import CrawlProgress
from domain.outcome import Stage
from pipeline.progress import NullProgress
from pipeline.runs.live_progress import LiveProgress
from pipeline.runs.systemd_notify import Liveness, WatchdogFeeder, notify_systemd, watchdog_interval
from tests.crash_harness import Vertical
from tests.web_fixture import PATIENCE

DEPLOY = Path(__file__).parents[2] / "deploy"


class Manager:
    """A service manager's end of the socket."""

    def __init__(self, place: str) -> None:
        self.place = place
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.settimeout(PATIENCE)
        self._socket.bind("\0" + place[1:] if place.startswith("@") else place)
        self.said: list[str] = []

    def hear(self, wanted: str) -> list[str]:
        """Listen until this line is said; all lines by then."""
        while wanted not in self.said:
            self.said += self._socket.recv(4096).decode().split("\n")
        return self.said

    def close(self) -> None:
        self._socket.close()


@pytest.fixture(params=["/", "@"])
def manager(request: pytest.FixtureRequest) -> Iterator[Manager]:
    with tempfile.TemporaryDirectory() as folder:  # short: a socket's path has at most 107 bytes
        made = Manager(f"{folder}/notify" if request.param == "/" else f"@{folder}")
        yield made
        made.close()


def test_lines_arrive_and_none_can_be_smuggled_in(manager: Manager, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", manager.place)
    notify_systemd("STATUS=a\nWATCHDOG=trigger", "READY=1")
    assert manager.hear("READY=1") == ["STATUS=a WATCHDOG=trigger", "READY=1"]


def test_where_nobody_listens_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("", "/nowhere/notify", "relative", "@nobody-is-there"):
        monkeypatch.setenv("NOTIFY_SOCKET", place)
        notify_systemd("READY=1")


@pytest.mark.parametrize(
    ("usec", "pid", "seconds"), [("", "", 0.0), ("2000000", "", 2.0), ("2000000", "1", 0.0), ("x", "", 0.0)]
)
def test_how_often_the_watchdog_wants_to_be_fed(
    usec: str, pid: str, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", usec)
    monkeypatch.setenv("WATCHDOG_PID", pid)
    assert watchdog_interval() == seconds


def test_the_watchdog_is_fed_while_the_work_gives_signs_of_life_and_no_longer(
    manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", manager.place)
    monkeypatch.setenv("WATCHDOG_USEC", "20000")
    asked, is_well = threading.Event(), [True]

    def well() -> bool:
        asked.set()
        return is_well[0]

    with WatchdogFeeder(well):
        manager.hear("WATCHDOG=1")
        is_well[0] = False
        asked.clear()
        assert asked.wait(PATIENCE)
        asked.clear()
        assert asked.wait(PATIENCE)
        manager._socket.setblocking(False)
        drained(manager)
        asked.clear()
        assert asked.wait(PATIENCE)
        assert drained(manager) == 0


def drained(manager: Manager) -> int:
    """How many messages lay there."""
    count = 0
    while True:
        try:
            manager._socket.recv(4096)
            count += 1
        except BlockingIOError:
            return count


def test_each_step_of_the_work_is_a_sign_of_life(tmp_path: Path) -> None:
    assert not Liveness(max_silent=0.0).is_alive()
    signs = Liveness(max_silent=PATIENCE)
    watched = LiveProgress(NullProgress(), tmp_path / "progress.json", touch=signs.touch)

    def begin_task() -> None:
        with watched.task("extract", 3) as advance:
            assert signs.is_alive()
            signs._last_seen = 0.0
            advance(1)

    crawl = CrawlProgress({}, 0, 1, 1.0, {}, 0, 3, 0.0)

    def report_crawl() -> None:
        with watched.crawl_task() as report:
            report(crawl)

    steps = (lambda: watched.note("line"), begin_task, report_crawl)
    for step in (*steps, lambda: watched.start_stage(7, Stage.CRAWL)):
        signs._last_seen = 0.0
        step()
        assert signs.is_alive()


@pytest.mark.process
@pytest.mark.parametrize("manager", ["@"], indirect=True)
def test_the_scheduler_says_that_it_is_ready_and_feeds_its_watchdog(tmp_path: Path, manager: Manager) -> None:
    vertical = Vertical(tmp_path / "v").write({"crawl": {"seeds": ["http://127.0.0.1:9/"]}})
    environment = {"NOTIFY_SOCKET": manager.place, "WATCHDOG_USEC": "200000"}
    try:
        vertical.start("schedule", environment=environment)
        assert manager.hear("WATCHDOG=1").index("READY=1") == 0
        assert "STATUS=waiting for the next run" in manager.said
    finally:
        vertical.end()


@pytest.mark.parametrize("unit", ["plumbline-serve.service", "plumbline-schedule.service"])
def test_the_units_ask_for_what_the_program_says(unit: str) -> None:
    parsed = ConfigParser(strict=False, interpolation=None)
    parsed.optionxform = str  # type: ignore[assignment, method-assign]
    parsed.read(DEPLOY / unit)
    service = parsed["Service"]
    assert (service["Type"], service["NotifyAccess"]) == ("notify", "main")
    assert int(service["WatchdogSec"]) >= 60 and service["EnvironmentFile"] == "-/etc/plumbline/secrets"
    assert os.path.basename(service["ExecStart"].split()[0]) == "plumb"
