"""How the suite runs: independent of the shell, slow files first, no process left behind, failures with their logs.

- The environment of the shell (signals, locale, time zone, terminal, PLUMB_* variables) does not reach the tests.
- `tests/durations.json` has the recorded durations (`--record-durations` updates it): the longest files start first,
  `make check` leaves out tests of a quarter of a second or more (`slow`), and `make test` those of a second or more
  (`exhaustive`) unless they are marked `always`.
- Temporary files are in memory where it is large enough: on a disk, tests of stores take 30% more CPU time.
- Every process of a run inherits PLUMB_TEST_RUN. Those that still live at the end are listed, killed, and fail the run.
- A failed test shows the ends of the logs in its folder and the command that repeats it alone.
"""

import gc
import json
import os
import shlex
import signal
import tempfile
import time
import uuid
from collections import defaultdict
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DURATIONS = Path(__file__).with_name("durations.json")
RUN_ID = "PLUMB_TEST_RUN"
KEPT_VARIABLES = {RUN_ID, "PLUMB_TEST_SHARDS", "PLUMB_TEST_ZOTERO"}
ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONUTF8": "1",
    # Most tests use Solr briefly: the first compiler tier starts fastest.
    "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    # Tests of lexical search load no model; tests of semantic search switch it on again.
    "PLUMB_EMBED_MODEL": "off",
}
SHELL_VARIABLES = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "LANG", "LANGUAGE", "PYTHONDONTWRITEBYTECODE")
SERVER_FIXTURES = {
    "solr_node": "solr",
    "solr_cluster": "solr",
    "postgres_url": "postgres",
    "chromium": "browser",
    "cluster": "process",
    "s3_server": "process",
}
RESOURCE_TRACKER = "from multiprocessing.resource_tracker import main"
LOG_LINES = 30
SLOW_SECONDS, EXHAUSTIVE_SECONDS = 0.25, 1.0  # on two quiet cores
MEMORY_FOLDER = Path("/dev/shm")
MIN_FREE_BYTES, MIN_MEMORY_BYTES = 6 << 30, 14 << 30  # a run fills up to 2 GB, its processes another 6
GC_THRESHOLDS = (10_000, 20, 50)  # allocations, and collections of the next younger generation
LOG_FILES = 6
SHUTDOWN_SECONDS = 120.0  # a loaded machine stops servers slowly


def isolate_environment() -> None:
    """Set the variables and signals that tests rely on. Child processes inherit them."""
    for name in list(os.environ):
        if name in SHELL_VARIABLES or (name.startswith("PLUMB_") and name not in KEPT_VARIABLES):
            del os.environ[name]
    os.environ.update(ENVIRONMENT)
    time.tzset()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored under `nohup make test &`


def use_memory_for_temporary_files() -> None:
    """Set TMPDIR to a file system in memory that is large enough, unless TMPDIR is set or the machine is small."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if "TMPDIR" in os.environ or memory < MIN_MEMORY_BYTES or not os.access(MEMORY_FOLDER, os.W_OK | os.X_OK):
        return
    files = os.statvfs(MEMORY_FOLDER)
    if files.f_bavail * files.f_frsize >= MIN_FREE_BYTES and not files.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY_FOLDER)


isolate_environment()
use_memory_for_temporary_files()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option --record-durations."""
    parser.addoption("--record-durations", action="store_true", help="update tests/durations.json from this run")


def pytest_configure(config: pytest.Config) -> None:
    """Set the id of the run, in the process that the user started."""
    if not hasattr(config, "workerinput"):
        os.environ[RUN_ID] = uuid.uuid4().hex


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by the servers they use and by their recorded duration, and start the longest files first."""
    durations: dict[str, dict[str, float]] = json.loads(DURATIONS.read_text("utf-8"))
    for item in items:
        seconds = durations["tests"].get(item.nodeid, 0.0)
        if seconds >= SLOW_SECONDS:
            item.add_marker("slow")
        if seconds >= EXHAUSTIVE_SECONDS and not item.get_closest_marker("always"):
            item.add_marker("exhaustive")
        for fixture in getattr(item, "fixturenames", ()):
            if mark := SERVER_FIXTURES.get(fixture):
                item.add_marker(mark)
    items.sort(key=lambda item: -durations["files"].get(item.nodeid.partition("::")[0], 0.0))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Make the garbage collector visit less: it took a fifth of the CPU time of the short tests.

    Modules, test items and dictionaries live until the end of the run, so full collections of them free nothing.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(*GC_THRESHOLDS)
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add logs and the command to repeat the test to a failure report."""
    report = yield
    if report.failed:
        report.sections.append(("repeat", f".venv/bin/python -m pytest {shlex.quote(item.nodeid)}"))
        report.sections += [(f"end of {path}", text) for path, text in _log_ends(item)]
    return report


def _log_ends(item: pytest.Item) -> Iterator[tuple[Path, str]]:
    """Yield the last lines of the logs in the folders of the test's fixtures, newest first."""
    fixtures = getattr(item, "funcargs", {})
    folders = {value for name in ("tmp_path", "folder") if isinstance(value := fixtures.get(name), Path)}
    folders |= {value for fixture in fixtures.values() if isinstance(value := getattr(fixture, "folder", None), Path)}
    folders |= {value for fixture in fixtures.values() if isinstance(value := getattr(fixture, "home", None), Path)}
    logs = {path for folder in folders for path in folder.rglob("*.log") if path.is_file()}
    for path in sorted(logs, key=lambda path: path.stat().st_mtime, reverse=True)[:LOG_FILES]:
        yield path, "\n".join(path.read_text("utf-8", "replace").splitlines()[-LOG_LINES:])


class _Durations:
    """Collects the durations of files and tests in seconds."""

    def __init__(self) -> None:
        self.files: defaultdict[str, float] = defaultdict(float)
        self.tests: defaultdict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add one phase of one test. A fixture counts for its file only: it is shared with other tests."""
        self.files[report.nodeid.partition("::")[0]] += report.duration
        if report.when == "call":
            self.tests[report.nodeid] += report.duration

    def save(self, path: Path) -> None:
        """Update what took a quarter of a second or more, longest first. What this run left out stays.

        A file keeps its longest duration, because this run may have left out its exhaustive tests.
        """
        known = json.loads(path.read_text("utf-8"))
        files = known["files"] | {name: max(s, known["files"].get(name, 0.0)) for name, s in self.files.items()}
        long = {
            name: {key: round(s, 2) for key, s in sorted(seconds.items(), key=lambda row: -row[1]) if s >= SLOW_SECONDS}
            for name, seconds in (("files", files), ("tests", known["tests"] | self.tests))
        }
        path.write_text(json.dumps(long, indent=0, ensure_ascii=False) + "\n", "utf-8")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Collect durations in the process that receives all reports."""
    if session.config.getoption("--record-durations") and not hasattr(session.config, "workerinput"):
        session.config.pluginmanager.register(_Durations(), "test-durations")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None]:
    """Write the durations after the workers ended; fail if a process of this run is still alive."""
    yield
    if hasattr(session.config, "workerinput"):
        return
    if isinstance(durations := session.config.pluginmanager.getplugin("test-durations"), _Durations):
        durations.save(DURATIONS)
    leftovers = _leftover_processes()
    print(f"\nleftover processes: {len(leftovers)}")
    for pid, command in leftovers.items():
        print(f"  {pid} {command}")
    if leftovers:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _leftover_processes() -> dict[int, str]:
    """Kill processes of this run that do not end by themselves; return their command lines by pid."""
    deadline = time.monotonic() + SHUTDOWN_SECONDS
    while (alive := _processes_of_run()) and time.monotonic() < deadline:
        time.sleep(0.1)
    for pid in alive:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            continue
    return alive


def _processes_of_run() -> dict[int, str]:
    """Return the processes whose environment contains the id of this run.

    The resource tracker of `multiprocessing` is none of them: it ends with this process.
    """
    marker = f"{RUN_ID}={os.environ[RUN_ID]}".encode()
    processes = {}
    for folder in Path("/proc").glob("[0-9]*"):
        pid = int(folder.name)
        try:
            if pid != os.getpid() and marker in (folder / "environ").read_bytes().split(b"\0"):
                processes[pid] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue  # it has just ended, or belongs to another user
    return {pid: command for pid, command in processes.items() if command and RESOURCE_TRACKER not in command}
