"""Texts in a plain UTF-8 file that all miners read, so that reading takes almost no time."""

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

from lexicon.counting.corpus import CorpusDocument

END = "\0"
READ = 1 << 20  # characters at a time


def write_texts(texts: Iterable[str], path: Path) -> None:
    """Write a file for `read_texts`."""
    with path.open("w", encoding="utf-8", errors="replace", newline="") as file:
        file.writelines(text.replace(END, " ") + END for text in texts)


def read_texts(path: Path) -> Iterator[str]:
    """Yield the texts in a file."""
    rest = ""
    with path.open(encoding="utf-8", newline="") as file:
        while block := file.read(READ):
            *texts, rest = (rest + block).split(END)
            yield from texts


class TextFile:
    """The texts in a file, as an iterable, and as a corpus for our miner that loads no text into memory (corpus.py)."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __iter__(self) -> Iterator[str]:
        return read_texts(self._path)

    def iter_digests(self) -> Iterator[tuple[int, str]]:
        """Yield the number of each text as its digest."""
        return ((number, "") for number in range(len(self._places) - 1))

    def iter_documents(self, numbers: Sequence[int]) -> Iterator[CorpusDocument]:
        """Yield the texts with these numbers."""
        with self._path.open("rb") as file:
            for number in numbers:
                start, stop = self._places[number : number + 2]
                file.seek(start)
                yield CorpusDocument(number, "", file.read(stop - start - 1).decode())

    @cached_property
    def _places(self) -> "array[int]":
        """Return the byte offset of each text, and the end of the last one."""
        places, done = array("q", [0]), 0
        with self._path.open("rb") as file:
            while block := file.read(READ):
                places.extend(done + found.end() for found in re.finditer(END.encode(), block))
                done += len(block)
        return places
