"""A corpus for the term miner that is not in a store."""

from collections.abc import Iterable, Iterator, Sequence

from lexicon.counting.corpus import CorpusDocument, document_digest


class InMemoryCorpus:
    """In-memory corpus of titles and bodies, with ids from 0."""

    def __init__(self, texts: Iterable[tuple[str, str]]) -> None:
        self._documents = [CorpusDocument(index, *text) for index, text in enumerate(texts)]

    def iter_digests(self) -> Iterator[tuple[int, str]]:
        return ((document.document_id, document_digest(document)) for document in self._documents)

    def iter_documents(self, document_ids: Sequence[int]) -> Iterator[CorpusDocument]:
        return (self._documents[index] for index in document_ids)
