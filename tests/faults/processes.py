"""Faults of processes: Solr down or killed, clock changes, full disks."""

import os
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from tests.crash_harness import Undisturbed, Vertical, indexed_ids, until
from tests.faults.comparison import compare_content, content_of
from tests.faults.kill9 import JAVA
from tests.faults.tally import Tally

# -- Solr


def solr_faults(made: Undisturbed, folder: Path, names: tuple[str, ...] = ()) -> Tally:
    """After each fault of Solr and another run, the index contains exactly the expected ids."""
    tally = Tally("solr", detected=0)
    for name in names or tuple(SOLR):
        with tally.trying(name), made.decided.copied(folder / "v") as vertical:
            tally.said(SOLR[name](vertical))
            began = time.monotonic()
            vertical.done("index")
            tally.worst_s = max(tally.worst_s, time.monotonic() - began)
            with vertical.solr() as index:
                tally.account(made.ids, indexed_ids(index), name)
    return tally


def begun(vertical: Vertical, rows: int) -> "subprocess.Popen[str]":
    """Start the index stage and wait until it has written `rows` documents."""
    running = vertical.start("index")
    until(lambda: vertical.number("SELECT COUNT(*) FROM indexed") >= rows, running)
    return running


def solr_killed(rows: int) -> Callable[[Vertical], bool]:
    """Return a fault that kills Solr after `rows` acknowledged documents."""

    def fault(vertical: Vertical) -> bool:
        running = begun(vertical, rows)
        os.kill(running.pid, signal.SIGSTOP)
        vertical.kill(JAVA)
        os.kill(running.pid, signal.SIGCONT)
        said = vertical.finished(running)
        return said.status == 1 and "run the same command again" in said.complaint

    return fault


def solr_stands_still(vertical: Vertical) -> bool:
    """Stop Solr for some seconds (SIGSTOP)."""
    running = begun(vertical, 20)
    pids = [pid for pid, command in vertical.processes().items() if JAVA in command]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(5)
    for pid in pids:
        os.kill(pid, signal.SIGCONT)
    return vertical.finished(running).status in (0, 1)


def no_solr(vertical: Vertical) -> bool:
    """Use a configured Solr URL without a server."""
    said = vertical.plumb("-s", "index.solr_url=http://127.0.0.1:9/solr", "index")
    return said.status == 1 and "Traceback" not in said.err


def index_is_lost(vertical: Vertical) -> bool:
    """Delete the folder of the embedded Solr."""
    vertical.done("index")
    vertical.end()
    shutil.rmtree(vertical.data / "solr")
    return True


def core_is_damaged(vertical: Vertical) -> bool:
    """Truncate files of the index."""
    vertical.done("index")
    vertical.end()
    files = sorted((vertical.data / "solr").rglob("*.cfs")) or sorted((vertical.data / "solr").rglob("*.si"))
    for file in files:
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    said = vertical.plumb("check")
    shutil.rmtree(vertical.data / "solr")  # as its message advises
    return said.status == 1 and f"delete {vertical.data / 'solr'}" in said.complaint


SOLR: Mapping[str, Callable[[Vertical], bool]] = {
    "down_at_start": no_solr,
    "down_mid_batch": solr_killed(20),
    "kill9_mid_commit": solr_killed(60),
    "kill9_after_ack": solr_killed(100),
    "stands_still": solr_stands_still,
    "index_lost": index_is_lost,
    "core_damaged": core_is_damaged,
}


# -- clocks


CLOCK_CHANGES = {"plus_1d": -86400.0, "minus_1d": 86400.0, "minus_1y": 3.2e7, "dst": 3600.0}  # shifts of stored times
# A visit at a time that is not reached yet makes a URL due.
DUE_URLS = "SELECT url FROM urls WHERE due_at <= unixepoch() OR visited_at > unixepoch() AND due_at IS NOT NULL"


def clock_faults(made: Undisturbed, folder: Path) -> Tally:
    """After a clock change, every stage has the result and requests of one in which the same URLs are due."""
    tally = Tally("clock")
    for command in (("crawl",), ("extract",), ("lexicon", "build"), ("backup", f"{folder}/backups"), ("status",)):
        for name, seconds in CLOCK_CHANGES.items():
            with tally.trying(f"{name} {command[0]}"), made.decided.copied(folder / "v") as vertical:
                move_times(vertical, seconds)
                due_urls = {url for (url,) in vertical.ask(DUE_URLS)}
                visited_urls = visits_of(vertical, made, command)
                with made.decided.copied(folder / "whole") as whole:
                    make_due(whole, due_urls)
                    expected_urls = visits_of(whole, made, command)
                    compare_content(tally, content_of(whole), content_of(vertical), f"{name} {command[0]}")
                assert visited_urls == expected_urls, f"other URLs visited: {sorted(visited_urls ^ expected_urls)[:3]}"
                vertical.check_archive()
    return tally


def visits_of(vertical: Vertical, made: Undisturbed, command: tuple[str, ...]) -> set[str]:
    """Run a command; return the stored URLs that it requested. Copies of robots.txt and sitemaps age with the clock."""
    made.site.log.clear()
    vertical.done(*command)
    return {url for url, _ in made.site.log} & vertical.kept().urls


def make_due(vertical: Vertical, due_urls: set[str]) -> None:
    """Make exactly these URLs due, without a change of the clock."""
    with closing(sqlite3.connect(vertical.data / "store.db")) as connection, connection:
        connection.execute("UPDATE urls SET due_at = due_at + 1e9 WHERE due_at IS NOT NULL")
        connection.executemany("UPDATE urls SET due_at = 1 WHERE url = ?", [(url,) for url in sorted(due_urls)])


def move_times(vertical: Vertical, seconds: float) -> None:
    """Shift all stored times, which is equivalent to a clock change."""
    with closing(sqlite3.connect(vertical.data / "store.db")) as connection, connection:
        connection.execute(
            "UPDATE urls SET visited_at = visited_at + ?, due_at = due_at + ? WHERE visited_at > 0", (seconds,) * 2
        )
        connection.execute("UPDATE robots SET fetched_at = fetched_at + ?", (seconds,))
        connection.execute("UPDATE runs SET started_at = started_at + ?", (seconds,))
        connection.execute("UPDATE terms SET mined_at = mined_at + ? WHERE mined_at IS NOT NULL", (seconds,))
        connection.execute("UPDATE pages SET fetched_at = fetched_at + ?", (seconds,))


# -- disks


def disk_faults(made: Undisturbed, folder: Path) -> Tally:
    """With a full or read-only disk, or a file size limit, a command prints one line, and works afterwards."""
    tally = Tally("disk", detected=0)
    wanted = {"crawl": made.crawled, "extract": made.extracted, "lexicon build": made.mined, "index": made.indexed}
    sources = {"crawl": made.new, "extract": made.crawled, "lexicon build": made.extracted, "index": made.decided}
    for command, source in sources.items():
        for how in ("full", "read_only", "limit"):
            if how == "limit" and command == "index":  # Java reserves memory files and would not start
                continue
            with tally.trying(f"{command} {how}"), small_disk(folder / "v") as vertical:
                shutil.copytree(source.folder, vertical.folder, dirs_exist_ok=True)
                tally.said(refused(vertical, command.split(), how))
                vertical.done(*command.split())
                compare_content(tally, content_of(wanted[command]), content_of(vertical), command)
                vertical.check_archive()
                if command == "index":
                    with vertical.solr() as index:
                        tally.account(made.ids, indexed_ids(index), command)
    return tally


def refused(vertical: Vertical, command: list[str], how: str) -> bool:
    """Return True if the command fails with one line."""
    if how == "limit":
        said = vertical.finished(vertical.start(*command, largest_file=400_000))
        return said.status == 0 or bool(said.complaint)
    if how == "full":
        room = os.statvfs(vertical.folder)
        (vertical.folder / "filler").write_bytes(bytes(room.f_bavail * room.f_frsize - 60_000))
    else:
        assert mounted("-o", "remount,ro", str(vertical.folder))
    said = vertical.plumb(*command)
    vertical.end()
    if how == "full":
        (vertical.folder / "filler").unlink()
    else:
        assert mounted("-o", "remount,rw", str(vertical.folder))
    assert "Traceback" not in said.err, said.err
    return said.status == 1 and bool(said.complaint)


@contextmanager
def small_disk(folder: Path) -> Iterator[Vertical]:
    """Yield a vertical on a 200 MB tmpfs. Raises AssertionError if mounting is not permitted."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    assert mounted("-t", "tmpfs", "-o", "size=200m", "tmpfs", str(folder)), "cannot mount a tmpfs here"
    vertical = Vertical(folder)
    try:
        yield vertical
    finally:
        vertical.end()
        subprocess.run(["umount", "-l", str(folder)], check=False)


def mounted(*arguments: str) -> bool:
    """Run `mount`; return True on success."""
    return subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode == 0
