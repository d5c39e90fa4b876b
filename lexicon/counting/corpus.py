"""The corpus to mine. Documents are read again whenever needed, so no copy stays in memory."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from domain.article import Block


@dataclass(frozen=True)
class CorpusDocument:
    """A document. `blocks` are the blocks of its body with their kinds, such as code; () if unknown."""

    document_id: int
    title: str
    body: str
    blocks: tuple[Block, ...] = ()


class Corpus(Protocol):
    """Source of the documents to mine."""

    def iter_digests(self) -> Iterator[tuple[int, str]]:
        """Yield id and digest of every document by ascending id. Equal digests mean equal title and body."""

    def iter_documents(self, document_ids: Sequence[int]) -> Iterator[CorpusDocument]:
        """Yield the documents with these ids, which must ascend. Deleted documents are skipped."""


class InMemoryCorpus:
    """In-memory corpus of titles and bodies, with ids from 0."""

    def __init__(self, texts: Iterable[tuple[str, str]]) -> None:
        self._documents = [CorpusDocument(index, *text) for index, text in enumerate(texts)]

    def iter_digests(self) -> Iterator[tuple[int, str]]:
        return ((document.document_id, document_digest(document)) for document in self._documents)

    def iter_documents(self, document_ids: Sequence[int]) -> Iterator[CorpusDocument]:
        return (self._documents[index] for index in document_ids)


def document_digest(document: CorpusDocument) -> str:
    """Return the SHA-256 (hex) of title and body."""
    return hashlib.sha256(f"{document.title}\0{document.body}".encode("utf-8", "surrogatepass")).hexdigest()
