"""Texts in a file that all miners read, in plain UTF-8: reading it is to take next to no time."""

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

from lexicon.counting.corpus import CorpusDocument

END = "\0"
READ = 1 << 20  # characters at a time


def write_texts(texts: Iterable[str], path: Path) -> None:
    """Write a file that `read_texts` reads."""
    with path.open("w", encoding="utf-8", errors="replace", newline="") as file:
        file.writelines(text.replace(END, " ") + END for text in texts)


def read_texts(path: Path) -> Iterator[str]:
    """The texts in a file, one after another."""
    rest = ""
    with path.open(encoding="utf-8", newline="") as file:
        while block := file.read(READ):
            *texts, rest = (rest + block).split(END)
            yield from texts


class TextFile:
    """The texts in a file, one after another; to ours also a corpus, of which no text is held (corpus.py)."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __iter__(self) -> Iterator[str]:
        return read_texts(self._path)

    def digests(self) -> Iterator[tuple[int, str]]:
        """Each text is what it is, by its number."""
        return ((number, "") for number in range(len(self._places) - 1))

    def read(self, numbers: Sequence[int]) -> Iterator[CorpusDocument]:
        """The texts with these numbers."""
        with self._path.open("rb") as file:
            for number in numbers:
                start, stop = self._places[number : number + 2]
                file.seek(start)
                yield CorpusDocument(number, "", file.read(stop - start - 1).decode())

    @cached_property
    def _places(self) -> "array[int]":
        """Where each text begins, and the last one ends, in bytes."""
        places, done = array("q", [0]), 0
        with self._path.open("rb") as file:
            while block := file.read(READ):
                places.extend(done + found.end() for found in re.finditer(END.encode(), block))
                done += len(block)
        return places
