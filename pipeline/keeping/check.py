"""Is a vertical what was written? Store, WARC files, state files and index, each against what is known of it.

    file      the pages of a store at rest against their sums, the write-ahead log against its own   (unopened)
    database  SQLite's own check, and the sums of rows that nothing can make again
    copies    the sealed keys by which copies are found
    warc      each page's record: readable where the store says, and with the digest it says
    states    the seen filter, what the crawl has learned, what the miner remembers
    index     the ids in Solr against the ledger of what was written to it

A store that was closed in good order is proven by its page sums alone: that is the cheap form (`quick`), which looks at
WARC files by their sizes then.
"""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.schedule.url_seen import UrlSeenTest
from crawler.state_files import state_in
from docstore.archive import Archive, LostPageError
from docstore.integrity.page_sums import changed_pages, read_sums, sums_file
from docstore.integrity.wal_frames import damaged_frames
from docstore.remote_pages import machine_of, this_machine
from docstore.store import Store
from docstore.warc_reading import DAMAGED, records_of
from pipeline.keeping.digests import damage_in
from pipeline.settings import Settings

if TYPE_CHECKING:
    from indexer.solr import SolrIndex

MAX_NAMED = 5  # keys or files that a fault names


@dataclass(frozen=True)
class Fault:
    """Something that is not what was written. `keys` are url_ids, file names or row keys, by `part`."""

    part: str
    text: str
    keys: tuple[str, ...] = ()
    table: str = ""


def file_faults(database: Path) -> list[Fault]:
    """What is wrong with the bytes of a store that nobody has open."""
    found = []
    if database.exists() and sums_file(database).exists():
        kept = read_sums(sums_file(database))
        if kept is None:
            found.append(Fault("sums", f"{sums_file(database).name} is damaged: it is made anew"))
        elif pages := changed_pages(kept, database):
            found.append(Fault("file", f"{len(pages)} of {len(kept.sums)} pages of {database.name} are damaged"))
    if frames := damaged_frames(database.with_name(database.name + "-wal")):
        found.append(Fault("wal", f"{frames} transactions' pages in the write-ahead log are damaged and lost"))
    return found


def store_faults(store: Store, is_proven: bool, quick: bool) -> Iterator[Fault]:
    """What is wrong inside the database; nothing is asked of one that `is_proven` by the sums of its pages."""
    if is_proven:
        return
    if faults := store.soundness.database_faults(quick):
        yield Fault("database", f"the database is damaged: {'; '.join(faults[:MAX_NAMED])}", tuple(faults))
    for table, keys in store.soundness.damaged_rows().items():
        text = f"{len(keys)} rows of {table} are not what was written ({named(keys)})"
        yield Fault("rows", text, tuple(keys), table)
    if not quick:
        yield from (Fault("copies", fault) for fault in store.sealing.faults())


def warc_faults(store: Store, folder: Path, quick: bool, remote: str = "") -> Iterator[Fault]:
    """Pages whose record is not there any more, by the file."""
    bad: dict[str, list[str]] = {}
    local = {file.name: file.stat().st_size for file in folder.glob("*")}
    with Archive(folder, remote=remote) as archive:
        sizes = {**(archive.remote.sizes() if archive.remote else {}), **local}
        for url_id, pointer, digest in store.soundness.records():
            if pointer.file not in sizes and machine_of(pointer.file) not in ("", this_machine()):
                continue  # its machine has not uploaded it yet
            if pointer.offset + pointer.length > sizes.get(pointer.file, -1):
                bad.setdefault(pointer.file, []).append(str(url_id))
            elif not quick:
                try:
                    archive.read(pointer, digest)
                except LostPageError:
                    bad.setdefault(pointer.file, []).append(str(url_id))
    if not quick:
        bad |= {name: bad.get(name, []) for name in local if not begins_well(folder / name)}
    for name, url_ids in bad.items():
        yield Fault("warc", f"{len(url_ids)} pages cannot be read from {name}", tuple(url_ids), name)


def begins_well(file: Path) -> bool:
    """Is the record that says what the file is there? Other programs read a WARC file from its beginning."""
    try:
        with file.open("rb") as opened:
            return next(records_of(opened), None) is not None
    except DAMAGED:
        return False


def state_faults(settings: Settings) -> Iterator[Fault]:
    """Small files that are damaged."""
    folder, filters = settings.data_dir, settings.crawl.seen_filter
    seen = folder / "seen.bloom"
    if seen.exists() and not UrlSeenTest.is_whole(seen, filters):
        yield Fault("state", "the seen filter seen.bloom is damaged, or of another kind", (seen.name,))
    for file in [*sorted(folder.glob("*.json")), *sorted((folder / "topics").glob("*.toml"))]:
        try:
            tomllib.loads(file.read_text()) if file.suffix == ".toml" else state_in(file.read_bytes())
        except (OSError, ValueError) as error:
            yield Fault("state", f"{file.name} is damaged ({error})", (str(file.relative_to(folder)),))
    if fault := damage_in(folder / "lexicon"):
        yield Fault("state", f"what the miner remembers is damaged: {fault}", ("lexicon",))


def index_faults(store: Store, index: "SolrIndex") -> Iterator[Fault]:
    """Documents that the index lacks or has too many, by the ledger; what waits to be written is neither."""
    index.commit(soft=True)
    held, waiting = store.soundness.ledger()
    found = set(index.ids())
    if missing := sorted(held - found - waiting):
        yield Fault("index", f"{len(missing)} documents are not in the index ({named(missing)})", tuple(missing))
    if extra := sorted(found - held - waiting):
        yield Fault("index", f"{len(extra)} documents of the index are not in the ledger", tuple(extra))


def named(keys: list[str]) -> str:
    """The first few of some keys."""
    more = f" and {len(keys) - MAX_NAMED} more" if len(keys) > MAX_NAMED else ""
    return ", ".join(key[:60] for key in keys[:MAX_NAMED]) + more
