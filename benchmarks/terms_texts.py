"""Texts in a file that all miners read, in plain UTF-8: reading it is to take next to no time."""

from collections.abc import Iterable, Iterator
from pathlib import Path

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
