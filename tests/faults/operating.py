"""Faults of operation: the output of a command agrees with the store, nothing is lost, and no command hangs.

Run as a program, `python -m tests.faults.operating ARGUMENTS` is `plumb ARGUMENTS` whose scheduler retries a run soon.
"""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import requests

from locks.file_locks import stage_lock
from pipeline.cli.main import main
from pipeline.runs import scheduler
from tests.crash_harness import Undisturbed, Vertical, until
from tests.faults.kill9 import JAVA
from tests.faults.serving import served
from tests.faults.stores import add_account, content
from tests.faults.tally import Tally
from tests.pipeline.test_stages import warc
from tests.web_fixture import PATIENCE

RETRY_SECONDS = 2.0
IMPORTED_FILES, PAGES_PER_FILE = 4, 40
PAGE_TEXT = "大庆油田今天宣布，产量创下新高。" * 4_000
KILL_MOMENTS: Mapping[str, Callable[[Path], object]] = {
    "rebuilding": lambda data: (data / "store.db.rebuilding").exists(),
    "filled": lambda data: size(data / "store.db.rebuilding") > 100_000,
    "exchanging": lambda data: (data / "store.db.fresh").exists() or any(data.glob("store.db.damaged-*")),
    "exchanged": lambda data: any(data.glob("store.db.damaged-*")) and size(data / "store.db") > 0,
}
BUSY_STAGES = ("crawl", "extract", "lexicon")
KEYWORDS_ONLY = '\n[embed]\nmodel = "off"\n'


class LieError(AssertionError):
    """A message that does not agree with the store."""


def require_true(is_true: object, message: object) -> None:
    """Raise LieError if a message is not true."""
    if not is_true:
        raise LieError(str(message))


@contextmanager
def judging(tally: Tally, what: str) -> Iterator[None]:
    """Count one fault, and whether it hung or lied."""
    with tally.trying(what):
        try:
            yield
        except (LieError, subprocess.TimeoutExpired) as error:
            tally.figures["lied" if isinstance(error, LieError) else "hung"] += 1
            raise


def operating_faults(name: str, made: Undisturbed, folder: Path) -> Tally:
    """Run the faults of one row."""
    tally = Tally(name, figures={"hung": 0, "lied": 0})
    FAULTS[name](tally, made, folder)
    return tally


def account_content(tally: Tally, expected: list[list[tuple[object, ...]]], vertical: Vertical) -> None:
    """Compare the content of a store with the expected one."""
    found = content(vertical.data / "store.db")
    tally.lost += sum(
        len({*map(repr, rows)} - {*map(repr, others)}) for rows, others in zip(expected, found, strict=True)
    )
    assert found == expected, "the content differs"


def size(file: Path) -> int:
    """Return the size of a file; 0 if there is none."""
    return file.stat().st_size if file.exists() else 0


def damage(vertical: Vertical, seed: int = 1) -> None:
    """Overwrite pages of the database that are in use."""
    file = vertical.data / "store.db"
    data, chance = bytearray(file.read_bytes()), random.Random(seed)
    for page in chance.sample(range(1, len(data) // 4096), len(data) // 4096 // 4):
        data[page * 4096 : page * 4096 + 4096] = chance.randbytes(4096)
    file.write_bytes(data)


def foreign_backup(tally: Tally, made: Undisturbed, folder: Path) -> None:
    """Repair and restore a vertical from a folder that has newer backups of another one."""
    backups = folder / "backups"
    with made.extracted.copied(folder / "alpha") as alpha, named_vertical(folder / "beta", "beta") as beta:
        add_account(alpha.data)
        alpha.config.write_text(f'{alpha.config.read_text()}\n[vertical]\nname = "alpha"\n')
        expected = content(alpha.data / "store.db")
        beta.done("import", str(alpha.data / "warc"))
        own = backups / alpha.done("backup", str(backups)).out.split()[-1]
        time.sleep(1.1)  # a later name
        foreign = backups / beta.done("backup", str(backups)).out.split()[-1]
        with judging(tally, "repair"):
            damage(alpha)
            said = alpha.plumb("check", "--repair", "--no-index", "--backup", str(backups))
            require_true(str(own) in said.out and str(foreign) not in said.out, said)
            account_content(tally, expected, alpha)
            require_true(said.status == 0 or "lost:" in said.out, said)
        with judging(tally, "repair from the foreign one"):
            damage(alpha, 2)
            said = alpha.plumb("check", "--repair", "--no-index", "--backup", str(foreign))
            require_true(said.status == 1 and "another store" in said.complaint, said)
        with judging(tally, "restore of the foreign one"):
            shutil.rmtree(alpha.data)
            said = alpha.plumb("restore", str(foreign))
            require_true(said.status == 1 and not (alpha.data / "store.db").exists(), said)
        with judging(tally, "restore"):
            said = alpha.done("restore", str(backups))
            require_true(str(own) in said.out, said)
            account_content(tally, expected, alpha)


@contextmanager
def named_vertical(folder: Path, name: str) -> Iterator[Vertical]:
    """Yield an empty vertical that fetches nothing; kill its processes at the end."""
    vertical = Vertical(folder).write({"vertical": {"name": name}, "crawl": {"seeds": ["http://127.0.0.1:9/"]}})
    try:
        yield vertical
    finally:
        vertical.end()


def killed_repair(tally: Tally, made: Undisturbed, folder: Path) -> None:
    """Kill a repair at several moments; no command may take the vertical for a new one, and the next repair ends it."""
    for number, (name, is_reached) in enumerate(KILL_MOMENTS.items()):
        with judging(tally, name), made.extracted.copied(folder / "v") as vertical:
            add_account(vertical.data)
            expected = content(vertical.data / "store.db")
            vertical.done("backup", str(folder / f"backups{number}"))
            damage(vertical, number)
            running = vertical.start("check", "--repair", "--no-index")
            until(lambda: is_reached(vertical.data) or running.poll() is not None)  # noqa: B023 (called at once)
            vertical.kill()
            running.communicate(timeout=PATIENCE)
            said = vertical.plumb("status", "--json")
            require_true(said.status == 1 or vertical.number("SELECT count(*) FROM urls"), said)
            repaired = vertical.plumb("check", "--repair", "--no-index")
            account_content(tally, expected, vertical)
            require_true(repaired.status == 0 or "lost:" in repaired.out, repaired)


def killed_import(tally: Tally, made: Undisturbed, folder: Path) -> None:
    """Kill the readers of an import, one or all of them; it ends and names their files, and can be repeated."""
    pages = [[f"http://import.test/{n}/{m}" for m in range(PAGES_PER_FILE)] for n in range(IMPORTED_FILES)]
    files = folder / "files"
    files.mkdir()
    for number, urls in enumerate(pages):
        rows = [(url, 200, "text/html", f"<title>{url}</title><p>{url}{PAGE_TEXT}".encode()) for url in urls]
        warc(files / f"{number}.warc.gz", rows)
    for name, victims in {"one reader": 1, "all readers": 2}.items():
        with judging(tally, name), named_vertical(folder / name.replace(" ", "_"), name) as vertical:
            running = vertical.start("import", str(folder), "--processes", "2")
            until(lambda: vertical.number("SELECT count(*) FROM pages") >= 3, running)
            readers = [pid for pid, command in vertical.processes().items() if "spawn_main" in command]
            for pid in readers[:victims]:
                os.kill(pid, signal.SIGKILL)
            said = vertical.finished(running)
            stored = {str(url) for (url,) in vertical.ask("SELECT url FROM urls JOIN pages USING (url_id)")}
            unfinished = [urls for urls in pages if not set(urls) <= stored]
            require_true(said.status == 1 and "exit code -9; import it again" in said.complaint, said)
            others = re.search(r"and (\d+) more files", said.complaint)
            require_true(1 + int(others[1] if others else 0) >= len(unfinished), said)
            vertical.done("import", str(folder), "--processes", "2")
            found = [str(url) for (url,) in vertical.ask("SELECT url FROM urls JOIN pages USING (url_id)")]
            tally.account({url for urls in pages for url in urls}, found, name)


def busy_stage(tally: Tally, made: Undisturbed, folder: Path) -> None:
    """Hold the lock of a stage when a scheduled run starts; the scheduler retries, as it says, and the run is made."""
    for stage in BUSY_STAGES:
        with judging(tally, stage), made.extracted.copied(folder / "v") as vertical:
            vertical.program = (sys.executable, "-m", __name__)
            vertical.config.write_text(f"{vertical.config.read_text()}{KEYWORDS_ONLY}")
            urls = [str(url) for (url,) in vertical.ask("SELECT url FROM urls JOIN pages USING (url_id)")]
            with stage_lock(vertical.data, stage):
                running = vertical.start("schedule", "--first-run")
                until(lambda: "run" in spoken(vertical) or vertical.number(ENDED_RUNS), running)
                time.sleep(2 * RETRY_SECONDS)
            until(lambda: vertical.number(SUCCESSFUL_RUNS), running)
            running.send_signal(signal.SIGINT)
            vertical.finished(running)
            tally.account(
                set(urls),
                [str(url) for (url,) in vertical.ask("SELECT url FROM urls JOIN pages USING (url_id)")],
                stage,
            )


ENDED_RUNS = "SELECT count(*) FROM runs WHERE finished_at IS NOT NULL"
SUCCESSFUL_RUNS = f"{ENDED_RUNS} AND report NOT LIKE '%\"failed\"%' AND report LIKE '%\"index\"%'"


def spoken(vertical: Vertical) -> str:
    """Return the log of a vertical; "" before its first line."""
    return vertical.log() if (vertical.data / "logs" / "plumb.log").exists() else ""


def store_away(tally: Tally, made: Undisturbed, folder: Path) -> None:
    """Take the store away at the minute of a run; the scheduler goes on, says so, and makes the run afterwards."""
    with judging(tally, "at the minute of a run"), made.crawled.copied(folder / "v") as vertical:
        vertical.program = (sys.executable, "-m", __name__)
        minute = time.strftime("%H:%M", time.localtime(time.time() + 90))
        vertical.config.write_text(f'{vertical.config.read_text()}{KEYWORDS_ONLY}[schedule]\nat = "{minute}"\n')
        running = vertical.start("schedule")
        until(lambda: vertical.number("SELECT count(*) FROM meta WHERE key = 'planned_runs'"), running)
        file, away = vertical.data / "store.db", vertical.data / "away"
        file.rename(away)
        file.mkdir()  # no program can open it
        until(lambda: "scheduled run failed" in spoken(vertical), running)
        file.rmdir()
        away.rename(file)
        until(lambda: vertical.number(SUCCESSFUL_RUNS), running)
        require_true(vertical.number("SELECT count(*) FROM articles"), "the run extracted nothing")
        running.send_signal(signal.SIGINT)
        vertical.finished(running)


def hung_solr(tally: Tally, made: Undisturbed, folder: Path) -> None:
    """Stop Solr while the site runs; pages that need no index work, the others say what is wrong, in time."""
    with made.indexed.copied(folder / "v") as vertical:
        url, session = served(vertical), requests.Session()
        session.trust_env = False
        before = session.get(f"{url}healthz", timeout=PATIENCE).json()["documents"]
        solr = [pid for pid, command in vertical.processes().items() if JAVA in command]
        for pid in solr:
            os.kill(pid, signal.SIGSTOP)
        expected = {
            "healthz": 503,
            "search?q=油": 503,
            "api/v1/search?q=油": 503,
            "static/style.css": 200,
        }
        for path, status in expected.items():
            with judging(tally, path):
                try:
                    answer = session.get(f"{url}{path}", timeout=20)
                except requests.Timeout as error:
                    raise subprocess.TimeoutExpired(path, 20) from error
                require_true(answer.status_code == status, f"{path}: {answer.status_code}")
        for pid in solr:
            os.kill(pid, signal.SIGCONT)
        with judging(tally, "afterwards"):
            until(lambda: session.get(f"{url}healthz", timeout=PATIENCE).status_code == requests.codes.ok)
            tally.lost += before - session.get(f"{url}healthz", timeout=PATIENCE).json()["documents"]
            assert not tally.lost


FAULTS: Mapping[str, Callable[[Tally, Undisturbed, Path], None]] = {
    "foreign_backup": foreign_backup,
    "killed_repair": killed_repair,
    "killed_import": killed_import,
    "busy_stage": busy_stage,
    "store_away": store_away,
    "hung_solr": hung_solr,
}


if __name__ == "__main__":
    with patch.object(scheduler, "RETRY_SECONDS", RETRY_SECONDS):
        main()
