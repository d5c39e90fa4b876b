"""Runs the real `plumb` command in a vertical of its own, kills it with all its processes, and reads what remains.

Nothing here opens the store for writing: only the next `plumb` cleans up after a kill.
"""

import hashlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from docstore.warc_archive import WarcArchive
from domain.article import document_id
from domain.page import WarcPointer
from indexer.embedded_solr import open_solr
from indexer.solr_index import SolrIndex
from pipeline.demo.site import SITE_NAMES, ConditionalHeaders, DemoResponse, DemoServer, write_sites
from pipeline.settings import load_settings
from tests.local_workers import local_workers
from tests.plumb_call import Said as Said
from tests.plumb_call import call_plumb
from tests.settings_text import toml_of
from tests.web_fixture import PATIENCE

PLUMB = str(Path(sys.executable).with_name("plumb"))
HOST = next(iter(SITE_NAMES))


@dataclass(frozen=True)
class Kept:
    """Content of the store that must not depend on kills and restarts."""

    urls: frozenset[str]
    articles: Mapping[str, str]  # URL -> digest
    extracted: Mapping[str, str]  # URL -> reason
    terms: Mapping[str, tuple[str, float]]  # text -> status, score
    versions: Mapping[int, int]  # published version -> terms
    changes: int


class Vertical:
    """A folder with a `vertical.toml` and its data."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config = folder / "vertical.toml"
        self.data = folder / "data"
        self.program: tuple[str, ...] = (PLUMB,)
        self._started: list[subprocess.Popen[str]] = []

    def write(self, sections: Mapping[str, Mapping[str, Any]]) -> Self:
        """Write the settings and return this vertical."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.config.write_text(toml_of(sections), encoding="utf-8")
        return self

    def copy_to(self, folder: Path) -> Self:
        """Copy the vertical to another folder and return the copy."""
        shutil.copytree(self.folder, folder)
        return type(self)(folder)

    @contextmanager
    def copied(self, folder: Path) -> Iterator[Self]:
        """Yield a copy; kill its processes at the end."""
        shutil.rmtree(folder, ignore_errors=True)
        copy = self.copy_to(folder)
        try:
            yield copy
        finally:
            copy.end()

    # -- the command

    def call(self, *arguments: str, environment: Mapping[str, str] | None = None) -> Said:
        """Run `plumb` in this process, for tests of its output and effects, not of the process."""
        return call_plumb("-c", str(self.config), *arguments, environment=environment)

    def plumb(self, *arguments: str, environment: Mapping[str, str] | None = None) -> Said:
        """Run `plumb` in a process and wait for its end."""
        return self.finished(self.start(*arguments, environment=environment))

    def finished(self, running: "subprocess.Popen[str]") -> Said:
        """Wait for the end of a command."""
        out, err = running.communicate(timeout=PATIENCE)
        return Said(running.returncode, out, err)

    def done(self, *arguments: str) -> Said:
        """Run `plumb` and assert that it succeeded."""
        said = self.plumb(*arguments)
        assert said.status == 0, said
        assert "Traceback" not in said.err, said
        return said

    def start(
        self,
        *arguments: str,
        environment: Mapping[str, str] | None = None,
        largest_file: int = 0,
        ignored_signals: str = "",
    ) -> "subprocess.Popen[str]":
        """Start `plumb` in a session of its own, so that all its processes can be found.

        `largest_file` is the maximum size of a file in bytes, 0: no limit. `ignored_signals` (for example "INT TERM")
        are
        ignored from the start, as with `nohup` or `&` in a shell.
        """
        command = [*self.program, "-c", str(self.config), *arguments]
        limited = ["sh", "-c", f'ulimit -f {largest_file // 512} && exec "$@"', "sh"] if largest_file else []
        ignoring = ["sh", "-c", f'trap "" {ignored_signals} && exec "$@"', "sh"] if ignored_signals else []
        running = subprocess.Popen(
            [*ignoring, *limited, *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )
        self._started.append(running)
        return running

    # -- processes

    def processes(self) -> dict[int, str]:
        """Return the command lines of all living processes started here, by pid; Solr has its own sessions."""
        sessions = {running.pid for running in self._started}
        return {
            pid: command
            for pid, session, command in all_processes()
            if session in sessions or (str(self.folder) in command and pid != os.getpid())
        }

    def kill(self, word: str = "") -> None:
        """Kill (SIGKILL) all processes that still live, or those whose command line contains `word`: at least one."""
        victims = [pid for pid, command in self.processes().items() if word in command]
        assert victims or not word, f"no process with {word!r}"
        while victims:
            for pid in victims:
                with suppress(ProcessLookupError):  # a worker may have ended by itself
                    os.kill(pid, signal.SIGKILL)
            until(lambda: not self.processes().keys() & set(victims))  # noqa: B023 (called before the next round)
            # A process may have started another one after they were listed; it would hold the lock of the run.
            victims = [] if word else list(self.processes())

    def end(self) -> None:
        """Kill all remaining processes."""
        deadline = time.monotonic() + PATIENCE
        while alive := self.processes():
            assert time.monotonic() < deadline, alive
            for pid in alive:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            time.sleep(0.05)
        for running in self._started:
            running.communicate(timeout=PATIENCE)

    # -- content of the store

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        """Return rows of the store as other processes see it; an empty list if the table does not exist yet."""
        try:
            with closing(
                sqlite3.connect(f"file:{self.data / 'store.db'}?mode=ro", uri=True, timeout=PATIENCE)
            ) as connection:
                return connection.execute(query).fetchall()
        except sqlite3.OperationalError:
            return []

    def number(self, query: str) -> int:
        """Return the number that `query` selects; 0 if the table does not exist yet."""
        rows = self.ask(query)
        return int(rows[0][0] or 0) if rows else 0

    def failures(self) -> dict[str, tuple[str, str]]:
        """Return reason and detail of each URL that the crawl could not fetch."""
        query = "SELECT u.url, o.reason, o.detail FROM outcomes o JOIN urls u USING (url_id) WHERE o.stage = 'crawl'"
        rows = self.ask(query + " AND o.reason NOT IN ('fetched', 'unchanged')")
        return {url: (reason, detail) for url, reason, detail in rows}

    def kept(self) -> Kept:
        """Return the content of the store (see `Kept`)."""
        pairs = "SELECT u.url, x.{} FROM {} x JOIN urls u USING (url_id)"
        return Kept(
            frozenset(url for (url,) in self.ask("SELECT url FROM urls")),
            dict(self.ask(pairs.format("digest", "articles"))),
            dict(self.ask(pairs.format("reason", "outcomes") + " WHERE x.stage = 'extract'")),
            {text: (status, score) for text, status, score in self.ask("SELECT text, status, score FROM terms")},
            dict(self.ask("SELECT version, COUNT(*) FROM lexicon_entries GROUP BY version")),
            self.number("SELECT COUNT(*) FROM changes"),
        )

    def check_archive(self) -> int:
        """Assert that the WARC record of every page is readable and correct; return the number of pages."""
        rows = self.ask("SELECT warc_file, warc_offset, warc_length, digest FROM pages")
        with WarcArchive(self.data / "warc") as archive:
            for file, offset, length, digest in rows:
                body = archive.read_body(WarcPointer(file, offset, length), digest)
                assert hashlib.sha256(body).hexdigest() == digest
        return len(rows)

    def log(self) -> str:
        """Return the log of all runs."""
        return (self.data / "logs" / "plumb.log").read_text(encoding="utf-8")

    @contextmanager
    def solr(self) -> Iterator[SolrIndex]:
        """Yield the index of the vertical, with its Solr running."""
        settings = load_settings(self.config).index
        with open_solr(settings, self.data / "solr") as url:
            yield SolrIndex(url, settings.collection, settings.request_timeout)


class LocalVertical(Vertical):
    """Like `Vertical`, but only `start` starts a real process: the other commands run in the test process."""

    def plumb(self, *arguments: str, environment: Mapping[str, str] | None = None) -> Said:
        """Run `plumb` in this process and wait for its end."""
        return self.call(*arguments, environment=environment)


def indexed_ids(index: SolrIndex) -> list[str]:
    """Return the ids of all documents in Solr."""
    answer = index.search({"q": "*:*", "fl": "id", "rows": 10_000})["response"]
    assert answer["numFound"] == len(answer["docs"])
    return sorted(doc["id"] for doc in answer["docs"])


def all_processes() -> Iterator[tuple[int, int, str]]:
    """Yield (pid, session, command line) of every living process (Linux).

    The first thread of a killed process is a zombie while the others still end, and until then its locks are held.
    """
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            state, *fields = (folder / "stat").read_text().rpartition(")")[2].split()
            thread_count = len(list((folder / "task").iterdir()))
        except OSError:
            continue  # it has just ended
        if state not in "ZX" or thread_count > 1:
            yield int(folder.name), int(fields[2]), command


def until(condition: Callable[[], object], running: "subprocess.Popen[str] | None" = None) -> None:
    """Wait for `condition`. Fails if `running` ends before it, or after PATIENCE."""
    deadline = time.monotonic() + PATIENCE
    while True:
        started = time.monotonic()
        if condition():
            return
        if running is not None and running.poll() is not None:
            raise AssertionError(f"plumb ended too early: {running.communicate(timeout=PATIENCE)}")
        assert time.monotonic() < deadline, "waited in vain"
        # A costly condition leaves the CPU to plumb, but the test must react in time on a busy machine too.
        time.sleep(min(0.02, max(0.003, 9 * (time.monotonic() - started))))


class PausableSites(DemoServer):
    """The demo sites; records every response and can pause, so that a crawl can be killed."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, 0)
        self.log: list[tuple[str, int]] = []
        self.max_responses: int | None = None
        self.resumed = threading.Event()

    @property
    def seed(self) -> str:
        """Home page of the first site."""
        return f"http://{HOST}:{self.port}/"

    def respond(self, host: str, target: str, conditions: ConditionalHeaders) -> DemoResponse:
        """Respond like the demo sites; during a pause, only after it."""
        if self.max_responses is not None and len(self.log) >= self.max_responses:
            self.resumed.wait(PATIENCE)
        found = super().respond(host, target, conditions)
        self.log.append((f"http://{host}:{self.port}{target}", int(found.status)))
        return found

    @contextmanager
    def paused_after(self, responses: int) -> Iterator[None]:
        """Pause after `responses` more responses: the crawl cannot end before a slow test reacts."""
        self.resumed.clear()
        self.max_responses = len(self.log) + responses
        try:
            yield
        finally:
            self.max_responses = None
            self.resumed.set()

    def sections(self, **crawl: Any) -> dict[str, dict[str, Any]]:
        """Return the settings of a vertical for the first of the sites."""
        index = {"batch": 5, "start_timeout": PATIENCE, "request_timeout": PATIENCE}
        own = {"seeds": [self.seed], "depth": 6, "delay": 0.001, "per_host": 4, "inside_hosts": [f"{HOST}:{self.port}"]}
        return {"crawl": {**own, **crawl}, "index": index, "search": {"port": 0}}


class Undisturbed:
    """A vertical after each stage of an undisturbed run. Later stages are run on first use."""

    def __init__(self, site: PausableSites, folder: Path) -> None:
        self.site, self._folder = site, folder
        self.new = Vertical(folder / "new").write(site.sections())
        self.begun = self._copy_after(self.new, "begun", "crawl", "--max-pages", "40")
        self.crawled = self._copy_after(self.begun, "crawled", "crawl")

    @cached_property
    def extracted(self) -> Vertical:
        """After extraction of every page."""
        with local_workers():
            return self._copy_after(self.crawled, "extracted", "extract")

    @cached_property
    def mined(self) -> Vertical:
        """After mining of candidate terms."""
        return self._copy_after(self.extracted, "mined", "lexicon", "build")

    @cached_property
    def published(self) -> Vertical:
        """After a run to the end of the lexicon stage, which published terms."""
        with local_workers():
            vertical = self._copy_after(self.extracted, "published", "run", "--until", "lexicon")
        assert vertical.kept().versions
        return vertical

    @cached_property
    def decided(self) -> Vertical:
        """After acceptance of the best thirty terms and another mining."""
        vertical = self._copy_after(self.mined, "decided", "lexicon", "accept", "--top", "30")
        call_successfully(vertical, "lexicon", "build")
        assert len(vertical.kept().articles) > 80
        return vertical

    @cached_property
    def indexed(self) -> Vertical:
        """After indexing to an embedded Solr of its own, which is stopped."""
        return self._copy_after(self.decided, "indexed", "index")

    @property
    def ids(self) -> set[str]:
        """The expected ids of the index."""
        return {document_id(url) for url in self.decided.kept().articles}

    def end(self) -> None:
        """Kill all remaining processes."""
        if "indexed" in vars(self):
            self.indexed.end()

    def _copy_after(self, source: Vertical, name: str, *command: str) -> Vertical:
        """Copy `source` to the folder `name` and run a command in the copy."""
        vertical = source.copy_to(self._folder / name)
        call_successfully(vertical, *command)
        return vertical


def call_successfully(vertical: Vertical, *command: str) -> Said:
    """Run `plumb` in this process and expect exit status 0."""
    said = vertical.call(*command)
    assert said.status == 0 and "Traceback" not in said.err, said
    return said


@contextmanager
def undisturbed_run(folder: Path) -> Iterator[Undisturbed]:
    """Yield the reference vertical, with its sites served."""
    write_sites(folder / "sites")
    with PausableSites(folder / "sites") as site:
        made = Undisturbed(site, folder)
        try:
            yield made
        finally:
            made.end()
