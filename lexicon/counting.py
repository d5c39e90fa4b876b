"""Counting a corpus by blocks, each remembered in a file: the nightly run reads all texts but counts only new ones.

    articles 1 ... 2133 | 2134 ... 4702 | 4703 ... 5100
    2f0c….npz             81b7….npz       (not seen before: counted, then saved)

A block is known by a digest of its texts, and ends where the texts themselves say so: an article more or less moves no
border but its own.
"""

import hashlib
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from lexicon.candidates import readable
from lexicon.learned import Models, TermMiner, model_digest
from lexicon.ngrams import NgramTable

BLOCK_DOCUMENTS = 2048  # on average
CHUNK_CHARACTERS = 250_000  # counted at a time: the spans of so much text are held at once


def count_texts(texts: Iterable[str], models: Models, progress: Callable[[int], None] | None = None) -> NgramTable:
    """The spans of all texts, counted. `progress` is told the number of texts read so far."""
    miner = TermMiner(models)
    for chunk in _chunks(texts):
        miner.add(chunk)
        if progress:
            progress(miner.table.documents)
    return miner.table


def count_again(
    texts: Iterable[str], models: Models, folder: Path, progress: Callable[[int], None] | None = None
) -> NgramTable:
    """As `count_texts`, with what was counted before taken from `folder`, which afterwards holds just these blocks."""
    folder.mkdir(parents=True, exist_ok=True)
    table, used = NgramTable(), set()
    for block in _blocks(texts):
        path = folder / f"{_digest(block, models)}.npz"
        if not path.exists():
            _save(count_texts(block, models), path)
        table.add_table(NgramTable.load(path))
        used.add(path)
        if progress:
            progress(table.documents)
    for old in set(folder.glob("*.npz")) - used:
        old.unlink()
    return table


def _save(table: NgramTable, path: Path) -> None:
    unfinished = path.with_suffix(".part")
    table.save(unfinished)
    unfinished.replace(path)


def _digest(block: list[str], models: Models) -> str:
    digest = hashlib.sha256(model_digest(models).encode())
    for text in block:
        content = text.encode("utf-8", "replace")
        digest.update(len(content).to_bytes(8, "little") + content)
    return digest.hexdigest()[:32]


def _blocks(texts: Iterable[str]) -> Iterator[list[str]]:
    block: list[str] = []
    for text in texts:
        block.append(text)
        if zlib.crc32(text[:1000].encode("utf-8", "replace")) % BLOCK_DOCUMENTS == 0:
            yield block
            block = []
    if block:
        yield block


def _chunks(texts: Iterable[str]) -> Iterator[list[str]]:
    chunk: list[str] = []
    size = 0
    for text in texts:
        chunk.append(readable(text))
        size += len(text)
        if size >= CHUNK_CHARACTERS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
