"""What is mined: documents by their numbers, read as often as they are asked for. No copy of them is held."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from docstore.model import Block


@dataclass(frozen=True)
class CorpusDocument:
    """One document: `blocks` are those of its body, with what is code and what is not; () where that is not known."""

    number: int
    title: str
    body: str
    blocks: tuple[Block, ...] = ()


class Corpus(Protocol):
    """The documents to mine."""

    def digests(self) -> Iterator[tuple[int, str]]:
        """The number and a digest of every document, by rising numbers. Equal digests: the same title and body."""

    def read(self, numbers: Sequence[int]) -> Iterator[CorpusDocument]:
        """The documents of these numbers, which rise; what is no more is left out."""


class Listed:
    """A corpus in memory, of titles and bodies; numbered from 0 on."""

    def __init__(self, texts: Iterable[tuple[str, str]]) -> None:
        self._documents = [CorpusDocument(number, *text) for number, text in enumerate(texts)]

    def digests(self) -> Iterator[tuple[int, str]]:
        """See `Corpus`, here and below."""
        return ((document.number, digest_of(document)) for document in self._documents)

    def read(self, numbers: Sequence[int]) -> Iterator[CorpusDocument]:
        return (self._documents[number] for number in numbers)


def digest_of(document: CorpusDocument) -> str:
    """sha256 (hex) of a title and a body."""
    return hashlib.sha256(f"{document.title}\0{document.body}".encode("utf-8", "surrogatepass")).hexdigest()
