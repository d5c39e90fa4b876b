"""The part `follow` of `make bench-readers`: what followers get over kills and restores, and how long matching takes.

Run as a program, `python -m benchmarks.readers_follow CONFIG` delivers what is due, as the end of a run does.
"""

import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager, suppress
from email import message_from_bytes, policy
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from rich.console import Console

from benchmarks.generated_articles import GeneratedPage, generate_page, load_vocabulary
from benchmarks.results import OURS, Figure
from benchmarks.speed_vertical import save
from docstore.follows import FOLLOWS_FILE
from domain.article import document_id
from domain.follow import Follow, FollowChannel, Interval
from indexer.embedded_solr import EmbeddedSolr, find_free_port
from pipeline import stages
from pipeline.engine import Engine
from pipeline.follows.delivery import match_due, open_services
from pipeline.follows.tools import mark_seen
from pipeline.maintenance.backup import create_backup, restore_backup
from pipeline.progress import NullProgress, TerminalProgress
from pipeline.runs.notifications import deliver_follows
from pipeline.settings import load_settings
from search_ui.services.follow import find_new_articles, parse_followed_query

RESTORE_EVERY, BACKUP_BEFORE = 10, 3  # rounds
FOLLOWERS, NEW_PER_ROUND = 200, 20
WORD_RANKS = 400, 20_000  # of the words that are followed
TOML = """[index]
start_timeout = 600.0
[embed]
model = ""
[search]
base_url = "https://search.example/"
[alerts]
mail_from = "search@plumb.example"
smtp = "127.0.0.1:{port}"
"""


class Receiver:
    """A mail server that keeps (recipient, message id, article URLs), as a mailbox that drops repeated ids would."""

    def __init__(self) -> None:
        self.urls: dict[tuple[str, str], list[str]] = {}
        self.repeated = 0

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        """Keep a mail."""
        mail = message_from_bytes(envelope.content, policy=policy.default)
        key = (str(mail["To"]), str(mail["Message-ID"]))
        self.repeated += key in self.urls
        lines = mail.get_content().splitlines()
        self.urls[key] = [line.strip() for line in lines if line.startswith("   http://")]
        return "250 kept"


def measure_follow(searches: int, kills: int) -> Iterator[Figure]:
    """Yield the losses over kills and restores, and the seconds for `searches` on half as many articles.

    `missed` and `twice` count pairs of follower and article. `repeated_mails` are mails that were sent again because a
    process died between the reply of the mail server and its record; they have the same Message-ID.
    """
    with tempfile.TemporaryDirectory() as name, open_vertical(Path(name)) as (config, receiver):
        yield from killed_figures(config, receiver, kills)
    with tempfile.TemporaryDirectory() as name, open_vertical(Path(name)) as (config, _):
        yield from matching_figures(config, searches, max(1, searches // 2))


@contextmanager
def open_vertical(folder: Path) -> Iterator[tuple[Path, Receiver]]:
    """Yield the config file of a new vertical with a running Solr, and what its mail server gets."""
    receiver, config = Receiver(), folder / "vertical.toml"
    controller = Controller(receiver, hostname="127.0.0.1", port=find_free_port())
    config.write_text(TOML.format(port=controller.port))
    controller.start()
    settings = load_settings(config)
    try:
        with EmbeddedSolr(settings.data_dir / "solr", settings.index):
            yield config, receiver
    finally:
        controller.stop()


def followed_words(count: int) -> Sequence[str]:
    """Return distinct words of several characters, alternately Chinese and English."""
    first, last = WORD_RANKS
    pairs = zip(*(load_vocabulary(is_english).words[first:last] for is_english in (False, True)), strict=False)
    return [word for pair in pairs for word in pair if len(word) > 1][:count]


def start_follows(engine: Engine, words: Sequence[str]) -> list[Follow]:
    """Start a follow of each word by a reader of its own."""
    batch = mark_seen(engine)
    follows = [
        Follow("", FollowChannel.MAIL, f"reader{number}@x.example", f"q={word}", Interval.DAILY, "en", batch=batch)
        for number, word in enumerate(words)
    ]
    return [engine.follows.save(follow) for follow in follows]


def matching_figures(config: Path, searches: int, articles: int) -> Iterator[Figure]:
    """Yield the seconds to match followed searches with new articles."""
    with Engine(load_settings(config), TerminalProgress(Console(stderr=True))) as engine:
        start_follows(engine, followed_words(searches))
        with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
            for start in range(0, articles, 500):
                save(engine, list(pool.map(generate_page, range(start, min(start + 500, articles)), chunksize=50)))
        stages.index(engine)
        started = time.perf_counter()
        match_due(engine)
        yield Figure("follow", OURS, "seconds", time.perf_counter() - started)
        yield Figure("follow", OURS, "messages", engine.follows.counts().waiting)


def killed_figures(config: Path, receiver: Receiver, kills: int) -> Iterator[Figure]:
    """Yield what followers missed or got twice, when deliveries are killed and the store is restored in between."""
    chance, pages = random.Random(1), [generate_page(number) for number in range(kills * NEW_PER_ROUND)]
    settings = load_settings(config)
    backup, backed_up_count, restores = Path(), 0, 0
    with Engine(settings, NullProgress()) as engine:
        follows = start_follows(engine, followed_words(FOLLOWERS))
    for number in range(kills):
        new_pages = pages[number * NEW_PER_ROUND : (number + 1) * NEW_PER_ROUND]
        if number % RESTORE_EVERY == RESTORE_EVERY - 1:
            restore(config, backup)
            new_pages = [*pages[backed_up_count : number * NEW_PER_ROUND], *new_pages]  # crawled again
            restores += 1
        with Engine(settings, NullProgress()) as engine:
            save(engine, new_pages)
            stages.index(engine)
        if number % RESTORE_EVERY == RESTORE_EVERY - 1 - BACKUP_BEFORE:
            backup, backed_up_count = (
                create_backup(settings, config, config.parent / "backups"),
                (number + 1) * NEW_PER_ROUND,
            )
        deliver(config, chance.uniform(0, 2))
        pass_a_day(settings.data_dir / FOLLOWS_FILE)
    deliver(config, None)
    urls_by_reader: dict[str, Counter[str]] = {}
    for (address, _), urls in receiver.urls.items():
        urls_by_reader.setdefault(address, Counter()).update(urls)
    with Engine(settings, NullProgress()) as engine:
        missed = sum(
            len(expected_urls(engine, follow, pages) - urls_by_reader.get(follow.address, Counter()).keys())
            for follow in follows
        )
    yield Figure("follow", OURS, "kills", kills)
    yield Figure("follow", OURS, "restores", restores)
    yield Figure("follow", OURS, "mails", len(receiver.urls))
    yield Figure("follow", OURS, "missed", missed)
    twice = sum(count - 1 for urls in urls_by_reader.values() for count in urls.values())
    yield Figure("follow", OURS, "twice", twice)
    yield Figure("follow", OURS, "repeated_mails", receiver.repeated)


def expected_urls(engine: Engine, follow: Follow, pages: Sequence[GeneratedPage]) -> set[str]:
    """Return the URLs of the articles that a follow matches."""
    services = open_services(engine)
    request = parse_followed_query(follow.query, services.settings)
    doc_ids = [document_id(page.article.url) for page in pages]
    return {hit.url for hit in find_new_articles(services.search, request, doc_ids).hits}


def deliver(config: Path, seconds: float | None) -> None:
    """Deliver in a process that is killed after some seconds of its delivery; None: undisturbed."""
    command = [sys.executable, "-m", "benchmarks.readers_follow", str(config)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        if seconds is not None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(seconds)
            process.send_signal(signal.SIGKILL)


def pass_a_day(file: Path) -> None:
    """Make every follow due again."""
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE follows SET delivered_at = delivered_at - 86400")


def restore(config: Path, backup: Path) -> None:
    """Lose the store and restore it from a backup."""
    settings = load_settings(config)
    for name in ("store.db", "store.db-wal", "store.db-shm"):
        (settings.data_dir / name).unlink(missing_ok=True)
    shutil.rmtree(settings.data_dir / "warc")
    restore_backup(backup, settings)


if __name__ == "__main__":
    with Engine(load_settings(Path(sys.argv[1])), NullProgress()) as opened:
        print("ready", flush=True)
        deliver_follows(opened)
