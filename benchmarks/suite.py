"""`make bench-suite`: how long the test suite takes, what it covers, and whether it passes in every environment.

Sets:
- `quick`: make check
- `full`: make test
- `sigint_ignored`: make test as `nohup make test &` starts it
- `ordinary_user`: make test without a terminal in a fresh clone, in a folder with a blank in its name, as a user with
  another HOME, time zone and locale; needs root to create that user
- `repeat`: make test several times (`--runs`), some of them beside stress-ng (`--under-load`)
- `coverage`: branches of the product that make test reaches, including the processes it starts
"""

import argparse
import os
import pwd
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from benchmarks.results import Figure, publish

ROOT = Path(__file__).resolve().parents[1]
SYSTEM = "plumbline"
PRODUCT = (
    "domain,locks,maven_jars,solr_client,docstore,text,crawler,focused,extractor,lexicon,indexer,search_ui,pipeline"
)
SETS = ("quick", "full", "sigint_ignored", "ordinary_user", "repeat", "coverage")
CLOSING_LINE = re.compile(r"=+ (?=.*\bpassed\b)(.*) in [\d.]+s.*=+$|^(?=.*\bpassed\b)(.*) in [\d.]+s", re.M)
LOAD = ("stress-ng", "--cpu", "2", "--io", "1", "--vm", "1", "--vm-bytes", "1G")
USER = "plumbline-tests"


@dataclass(frozen=True)
class SuiteRun:
    """How one run of a make target ended. Times in seconds; `cpu_seconds` counts all processes of the run."""

    status: int
    seconds: float
    cpu_seconds: float
    passed: int
    failed: int
    leftover_processes: int

    def figures(self, name: str) -> list[Figure]:
        """The rows of this run as set `name`."""
        values = {
            "seconds": self.seconds,
            "cpu_seconds": self.cpu_seconds,
            "tests": self.passed + self.failed,
            "failures": max(self.failed, int(self.status != 0)),
            "leftover_processes": self.leftover_processes,
        }
        return [Figure(name, SYSTEM, metric, value) for metric, value in values.items()]


def run_target(
    *command: str,
    folder: Path = ROOT,
    environment: Mapping[str, str] | None = None,
    before: Callable[[], None] | None = None,
) -> SuiteRun:
    """Run a command without a terminal and show its output. `before` is called in the new process."""
    started, used = time.monotonic(), cpu_seconds()
    running = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=before,
    )
    assert running.stdout is not None
    output = []
    for line in running.stdout:
        sys.stderr.write(line)
        output.append(line)
    status = running.wait()
    passed, failed, leftover = read_counts("".join(output))
    return SuiteRun(status, time.monotonic() - started, cpu_seconds() - used, passed, failed, leftover)


def cpu_seconds() -> float:
    """CPU seconds of all child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def read_counts(output: str) -> tuple[int, int, int]:
    """Tests passed, tests failed (errors included) and leftover processes that pytest's output names."""
    closing = " ".join("".join(groups) for groups in CLOSING_LINE.findall(output))
    passed, failed, errors = (
        sum(map(int, re.findall(rf"(\d+) {word}", closing))) for word in ("passed", "failed", "error")
    )
    return passed, failed + errors, sum(map(int, re.findall(r"^leftover processes: (\d+)", output, re.M)))


def ignore_sigint() -> None:
    """Ignore SIGINT, as a shell without job control does for a background command."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def run_as_ordinary_user() -> SuiteRun:
    """Run `make test` in a fresh clone as the set `ordinary_user` says."""
    if os.getuid() != 0:
        raise SystemExit("bench-suite: ordinary_user needs root: leave it out with --only")
    try:
        user = pwd.getpwnam(USER)
    except KeyError:
        subprocess.run(["useradd", "--create-home", USER], check=True)
        user = pwd.getpwnam(USER)
    with tempfile.TemporaryDirectory(prefix="plumbline suite ") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "shared").symlink_to(ROOT.parent / "shared")
        as_user = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--init-groups"]
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder / "main")], check=True)
        subprocess.run(["chown", "-R", f"{user.pw_uid}:{user.pw_gid}", name], check=True)
        environment = {"HOME": user.pw_dir, "TZ": "Pacific/Apia", "LC_ALL": "POSIX", "LANG": "de_DE.UTF-8"}
        return run_target(*as_user, "make", "test", folder=folder / "main", environment=environment)


@contextmanager
def load_machine() -> Iterator[None]:
    """Keep both cores, the disk and the memory busy."""
    if shutil.which(LOAD[0]) is None:
        raise SystemExit("bench-suite: stress-ng is missing: apt-get install stress-ng")
    load = subprocess.Popen(LOAD, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        load.terminate()
        load.wait()


def count_failing_runs(runs: int, under_load: int) -> int:
    """How many of `runs` runs of the suite fail; `under_load` of them, evenly spread, run beside other work."""
    failing = 0
    for number in range(runs):
        is_loaded = (number + 1) * under_load // runs > number * under_load // runs
        with load_machine() if is_loaded else nullcontext():
            run = run_target("make", "test")
        failing += run.status != 0
        load = " beside stress-ng" if is_loaded else ""
        print(
            f"run {number + 1} of {runs}{load}: {run.passed} passed, {run.failed} failed, {run.seconds:.0f} s",
            flush=True,
        )
    return failing


def branch_coverage() -> float:
    """Percent of lines and branches of the product that the suite reaches; the product's own processes included."""
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "coverage>=7.10"], check=True)
    with tempfile.TemporaryDirectory(prefix="plumbline-coverage-") as name:
        settings = Path(name, "coveragerc")
        settings.write_text(
            f"[run]\nbranch = True\nparallel = True\nsource_pkgs = {PRODUCT}\npatch = subprocess\n"
            f"data_file = {name}/data\ndisable_warnings = no-data-collected,module-not-imported\n"
        )
        coverage = (sys.executable, "-m", "coverage")
        options = ("-n", "4", "--dist", "loadfile", "--no-loadscope-reorder", "-m", "not exhaustive")
        run_target(*coverage, "run", f"--rcfile={settings}", "-m", "pytest", *options)
        subprocess.run([*coverage, "combine", "--quiet", f"--rcfile={settings}"], check=True, cwd=ROOT)
        command = [*coverage, "report", f"--rcfile={settings}", "--format=total", "--precision=2", "--ignore-errors"]
        return float(subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True).stdout)


def main() -> None:
    """Run the chosen sets and publish their figures; exits with 1 if a run failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(SETS), help="sets, separated by commas")
    parser.add_argument("--runs", type=int, default=10, help="runs of the set repeat")
    parser.add_argument("--under-load", type=int, help="runs of repeat beside stress-ng (default: half)")
    options = parser.parse_args()
    under_load = options.runs // 2 if options.under_load is None else options.under_load
    if not 0 <= under_load <= options.runs:
        parser.error(f"--under-load must be between 0 and --runs ({options.runs}), not {under_load}")
    sets = options.only.split(",")
    if unknown := set(sets) - set(SETS):
        parser.error(f"unknown sets: {', '.join(sorted(unknown))}; known: {', '.join(SETS)}")
    runs: dict[str, Callable[[], SuiteRun]] = {
        "quick": lambda: run_target("make", "check"),
        "full": lambda: run_target("make", "test"),
        "sigint_ignored": lambda: run_target("make", "test", before=ignore_sigint),
        "ordinary_user": run_as_ordinary_user,
    }
    figures = [figure for name, run in runs.items() if name in sets for figure in run().figures(name)]
    if "repeat" in sets:
        failures = count_failing_runs(options.runs, under_load)
        figures.append(Figure("repeat", SYSTEM, f"failures_in_{options.runs}", failures))
    if "coverage" in sets:
        figures.append(Figure("coverage", SYSTEM, "branch_coverage", branch_coverage()))
    publish("suite", figures)
    sys.exit(any("failures" in figure.metric and figure.value for figure in figures))


if __name__ == "__main__":
    main()
