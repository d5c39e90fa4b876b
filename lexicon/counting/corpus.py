"""What is mined: documents by their numbers, read as often as they are asked for. No copy of them is held."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from docstore.model import Block


@dataclass(frozen=True)
class CorpusDocument:
    """One document: `blocks` are those of its body, with what is code and what is not; () where that is not known."""

    document_id: int
    title: str
    body: str
    blocks: tuple[Block, ...] = ()


class Corpus(Protocol):
    """The documents to mine."""

    def iter_digests(self) -> Iterator[tuple[int, str]]:
        """The number and a digest of every document, by rising numbers. Equal digests: the same title and body."""

    def iter_documents(self, document_ids: Sequence[int]) -> Iterator[CorpusDocument]:
        """The documents of these numbers, which rise; what is no more is left out."""


class InMemoryCorpus:
    """A corpus in memory, of titles and bodies; numbered from 0 on."""

    def __init__(self, texts: Iterable[tuple[str, str]]) -> None:
        self._documents = [CorpusDocument(index, *text) for index, text in enumerate(texts)]

    def iter_digests(self) -> Iterator[tuple[int, str]]:
        """See `Corpus`, here and below."""
        return ((document.document_id, document_digest(document)) for document in self._documents)

    def iter_documents(self, document_ids: Sequence[int]) -> Iterator[CorpusDocument]:
        return (self._documents[index] for index in document_ids)


def document_digest(document: CorpusDocument) -> str:
    """sha256 (hex) of a title and a body."""
    return hashlib.sha256(f"{document.title}\0{document.body}".encode("utf-8", "surrogatepass")).hexdigest()
