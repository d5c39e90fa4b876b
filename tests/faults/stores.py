"""Damage to saved data: bits of the database, its logs, the seen filter, WARC and state files.

Only faults that need processes start them: sixty stores are damaged, checked and repaired in the time of a few runs.
"""

import random
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

from crawler.state_files import CHECKSUM_KEY
from docstore.store import open_sqlite_store
from docstore.warc_archive import WarcArchive
from pipeline.engine import Engine
from pipeline.maintenance.backup import create_backup
from pipeline.maintenance.integrity_check import Fault
from pipeline.maintenance.preflight import check_all
from pipeline.maintenance.repair import RepairStep, repair_vertical
from pipeline.progress import NullProgress
from pipeline.settings import Settings, load_settings
from tests.builders import add, mute, operate
from tests.crash_harness import Vertical
from tests.faults.tally import Tally

PAGE_BYTES = 4096

# All data that users, reviewers or crawls depend on, without the times of extraction.
CONTENT = (
    "SELECT url, a.doc_id, title, body, published, a.digest, blocks FROM articles a JOIN urls USING (url_id)",
    "SELECT text, status, category, synonyms, broader, weight, tag, version, decided_by FROM terms",
    "SELECT * FROM term_acts", "SELECT * FROM term_changes",
    "SELECT version, text, frequency, tag, synonyms FROM lexicon_entries", "SELECT * FROM accounts",
    "SELECT * FROM operations", "SELECT * FROM alert_mutes", "SELECT * FROM api_tokens", "SELECT * FROM term_comments",
    "SELECT * FROM term_assignments",
    "SELECT url, p.digest, warc_file, warc_offset FROM pages p JOIN urls USING (url_id)",
    "SELECT url, host FROM urls",
)  # fmt: skip


class Damaged:
    """A vertical to damage, its backup, and its expected content."""

    def __init__(self, source: Vertical, folder: Path) -> None:
        self._base, self._folder = folder / "base", folder / "vertical"
        shutil.copytree(source.folder, self._base, ignore=shutil.ignore_patterns("solr"))
        add_account(self._base / "data")
        settings = load_settings(self._base / "vertical.toml")
        self.backup = create_backup(settings, self._base / "vertical.toml", folder / "backups")
        self.truth = content(self._base / "data" / "store.db")

    def fresh(self) -> Path:
        """Create an intact copy; return its data folder."""
        shutil.rmtree(self._folder, ignore_errors=True)
        shutil.copytree(self._base, self._folder)
        return self._folder / "data"

    @property
    def settings(self) -> Settings:
        """Settings of the copy."""
        return load_settings(self._folder / "vertical.toml")

    @property
    def config(self) -> Path:
        """Config file of the copy."""
        return self._folder / "vertical.toml"

    def opened(self) -> Engine:
        """Open the copy."""
        return Engine(self.settings, NullProgress())

    def check(self) -> list[Fault]:
        """Return its faults, without checking the index."""
        return check_all(self.settings, self.opened, with_index=False)

    def repair(self, faults: list[Fault], with_backup: bool = True) -> list[RepairStep]:
        """Repair it; return the actions and losses."""
        return list(repair_vertical(self.settings, self.opened, faults, [self.backup] if with_backup else []))


def add_account(data: Path) -> None:
    """Add an account, its actions, a muted alert, a token and notes on a term, which must not be lost."""
    from domain.account import Role
    from domain.alert import AlertKey
    from domain.review import TermQuery

    with open_sqlite_store(data) as store:
        store.accounts.create("anna", "hash", [Role.OPERATOR])
        store.operations.record("anna", "site_pause", "a.test", {"hours": 2})
        mute(store, AlertKey("site_down", "a.test"))
        if not store.review_queue.find_page(TermQuery(status=None))[1]:
            add(store, ["抽油机"], by="anna")
        term = store.review_queue.find_page(TermQuery(status=None))[1][0].text
        operate(store, "term_comment", term=term, comment="?")
        operate(store, "term_assign", reviewers={term: "anna"})
        store.api_tokens.create("anna", "report", "hash", ["search"])


def content(database: Path) -> list[list[tuple[object, ...]]]:
    """Return the content of the store that must be equal afterwards."""
    with closing(sqlite3.connect(database)) as connection:
        return [sorted(connection.execute(query).fetchall(), key=repr) for query in CONTENT]


def flip(data: bytes, chance: random.Random, bits: int = 3) -> bytes:
    """Return `data` with some random bits flipped."""
    spoilt = bytearray(data)
    for place in chance.sample(range(len(spoilt) * 8), bits):
        spoilt[place // 8] ^= 1 << (place % 8)
    return bytes(spoilt)


def sqlite_faults(source: Vertical, folder: Path, stores: int) -> Tally:
    """Overwrite a random page of each of `stores` stores, then apply all SQLITE_RECIPES."""
    tally, made = Tally("sqlite", detected=0), Damaged(source, folder)
    chance = random.Random(19)
    for number in range(stores):
        with tally.trying(f"a page, store {number}"):
            file = made.fresh() / "store.db"
            overwrite_page(file, chance)
            put_right(tally, made)
    for name, spoil in SQLITE_RECIPES.items():
        with tally.trying(name):
            data = made.fresh()
            spoil(data / "store.db")
            if name in HARMLESS:
                tally.said(True)
                assert not made.check(), name
                assert content(data / "store.db") == made.truth, name
            else:
                put_right(tally, made)
    return tally


def put_right(tally: Tally, made: Damaged) -> None:
    """Assert that the damage is detected, and that the repair restores everything."""
    faults = made.check()
    is_free_page = not faults and content(made.settings.data_dir / "store.db") == made.truth
    tally.said(faults or is_free_page)
    assert faults or is_free_page, "undetected"
    done = made.repair(faults)
    found = content(made.settings.data_dir / "store.db")
    lost = sum(len(set(want) - set(have)) for want, have in zip(made.truth, found, strict=True))
    tally.lost += lost
    assert found == made.truth, f"{lost} rows lost after {done}"
    left = made.check()
    assert not left, left


def overwrite_page(file: Path, chance: random.Random) -> None:
    """Overwrite a random page of the database with random bytes."""
    number = chance.randrange(file.stat().st_size // PAGE_BYTES)
    with file.open("r+b") as stream:
        stream.seek(number * PAGE_BYTES)
        stream.write(chance.randbytes(PAGE_BYTES))


def zero(count: int) -> Callable[[Path], None]:
    """Return a fault that overwrites the first `count` bytes with zeros."""

    def spoil(file: Path) -> None:
        file.write_bytes(bytes(count) + file.read_bytes()[count:])

    return spoil


def cut(file: Path) -> None:
    """Truncate the file to half of its size."""
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def beside(name: str, data: bytes) -> Callable[[Path], None]:
    """Return a fault that puts a foreign file next to the store, as after a wrong copy."""

    def spoil(file: Path) -> None:
        file.with_name(file.name + name).write_bytes(data)

    return spoil


SQLITE_RECIPES: Mapping[str, Callable[[Path], None]] = {
    "zero_page_1": zero(4096),
    "zero_header": zero(100),
    "cut in half": cut,
    "gone": lambda file: file.unlink(),
    "stale_wal": beside("-wal", bytes(random.Random(3).randbytes(50_000))),
    "hot_journal": beside("-journal", bytes(random.Random(4).randbytes(5_000))),
    "delete_wal": lambda file: file.with_name(file.name + "-wal").unlink(missing_ok=True),
}
HARMLESS = frozenset({"hot_journal", "stale_wal", "delete_wal"})  # SQLite detects that it belongs to another store


def bloom_faults(source: Vertical, folder: Path) -> Tally:
    """Remove, truncate or flip the seen filter, other small files, and WARC files."""
    tally, made = Tally("bloom", detected=0), Damaged(source, folder)
    chance = random.Random(23)
    data = made.fresh()
    names = ["seen.bloom", *(str(one.relative_to(data)) for one in sorted(data.glob("*.json")))]
    names += [str(one.relative_to(data)) for one in sorted((data / "lexicon").glob("*"))]
    warcs = [str(one.relative_to(data)) for one in sorted((data / "warc").glob("*"))]
    spoils: Mapping[str, Callable[[bytes], bytes | None]] = {
        "missing": lambda _: None,
        "cut": lambda whole: whole[: len(whole) // 2],
        "flipped": lambda whole: flip_but_key(whole, chance),
        "zeroed": lambda whole: bytes(len(whole)),
        "other_version": lambda whole: b"XXXXXXXX" + whole[8:],
    }
    for name in [*names, *warcs]:
        for how, spoil in spoils.items():
            with tally.trying(f"{name} {how}"):
                file = made.fresh() / name
                spoilt = spoil(file.read_bytes())
                file.unlink() if spoilt is None else file.write_bytes(spoilt)
                spoilt_file(tally, made, is_gone=spoilt is None and name not in warcs)
    return tally


def flip_but_key(whole: bytes, chance: random.Random) -> bytes:
    """Flip a byte, not in the name of the checksum: a state file without one is of an older version and is read."""
    key = f'"{CHECKSUM_KEY}"'.encode()
    flipped = flip(whole, chance)
    while (key in whole) != (key in flipped):
        flipped = flip(whole, chance)
    return flipped


def spoilt_file(tally: Tally, made: Damaged, is_gone: bool) -> None:
    """Assert that a damaged file is detected and replaced, a missing one is created again, and nothing is lost."""
    faults = made.check()
    tally.said(faults or is_gone)
    assert faults or is_gone, "undetected"
    made.repair(faults)
    assert content(made.settings.data_dir / "store.db") == made.truth
    left = made.check()
    assert not left, left
    check_archive(tally, made)


def check_archive(tally: Tally, made: Damaged) -> None:
    """Assert that every page is readable."""
    with made.opened() as engine, WarcArchive(engine.settings.data_dir / "warc") as archive:
        for _, pointer, digest in engine.store.integrity.iter_warc_records():
            try:
                archive.read_body(pointer, digest)
            except Exception:
                tally.lost += 1
                raise
