"""A corpus of any size on disk: real articles, repeated with some words replaced."""

import json
import random
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from docstore.articles.row_mapping import block_to_list, blocks_from_lists
from domain.article import Block
from lexicon.counting.corpus import CorpusDocument
from text.segment import cut_by_dictionary

SUBSTITUTED = 0.1  # of the distinct words, each time the articles are gone through
WORDS_FROM = 2_000  # articles, in which these words are looked for
SYLLABLES = [first + vowel for first in "bcdfghklmnprstv" for vowel in "aeiou"]


class FileCorpus:
    """Numbered documents in files; a later file has the newer version. Implements `Corpus`."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._paths = list(paths)
        self._places: dict[int, tuple[int, int]] = {}
        for number, path in enumerate(self._paths):
            with path.open("rb") as lines:
                place = 0
                for line in lines:
                    self._places[int(line[: line.index(b"\t")])] = (number, place)
                    place += len(line)
        self._numbers = array("q", sorted(self._places))

    def iter_digests(self) -> Iterator[tuple[int, str]]:
        """Yield the digests: the position of a document identifies its version."""
        return ((number, str(self._places[number])) for number in self._numbers)

    def iter_documents(self, document_ids: Sequence[int]) -> Iterator[CorpusDocument]:
        """See `Corpus`."""
        files = [path.open("rb") for path in self._paths]
        try:
            for number in document_ids:
                file, place = self._places[number]
                files[file].seek(place)
                title, body, blocks = json.loads(files[file].readline().partition(b"\t")[2])
                yield CorpusDocument(number, title, body, blocks_from_lists(blocks, body))
        finally:
            for opened in files:
                opened.close()


def write_documents(documents: Iterable[CorpusDocument], path: Path) -> int:
    """Write a file for `FileCorpus`. Returns the number of characters."""
    characters = 0
    with path.open("w", encoding="utf-8", errors="replace") as file:
        for document in documents:
            said = [document.title, document.body, [block_to_list(block) for block in document.blocks]]
            file.write(f"{document.document_id}\t{json.dumps(said, ensure_ascii=False)}\n")
            characters += len(document.title) + len(document.body)
    return characters


def multiplied(articles: Sequence[CorpusDocument], wanted: int) -> Iterator[CorpusDocument]:
    """Yield `wanted` documents, numbered from 1: the articles unchanged, then repeatedly with words replaced."""
    chance = random.Random(7)
    words = sorted(
        {word for article in articles[:WORDS_FROM] for word in cut_by_dictionary(article.body) if is_long(word)}
    )
    others: Mapping[str, str] = {}
    for number in range(1, wanted + 1):
        place = (number - 1) % len(articles)
        if place == 0 and number > 1:
            chosen = chance.sample(words, int(len(words) * SUBSTITUTED))
            others = {word: another(word, chance) for word in chosen}
        yield replace(rewritten(articles[place], others), document_id=number)


def changed(documents: Iterable[CorpusDocument], share: float) -> Iterator[CorpusDocument]:
    """Yield a random `share` of the documents, with some words replaced."""
    chance = random.Random(8)
    for document in documents:
        if chance.random() < share:
            words = sorted({word for word in cut_by_dictionary(document.body) if is_long(word)})
            chosen = chance.sample(words, int(len(words) * SUBSTITUTED))
            yield rewritten(document, {word: another(word, chance) for word in chosen})


def rewritten(document: CorpusDocument, others: Mapping[str, str]) -> CorpusDocument:
    """Replace words of a document by `others`."""

    def words(text: str) -> str:
        return "".join(others.get(word, word) for word in cut_by_dictionary(text)) if others else text

    def block(one: Block) -> Block:
        return replace(one, text=words(one.text), links=())

    return CorpusDocument(
        document.document_id, words(document.title), words(document.body), tuple(map(block, document.blocks))
    )


def is_long(word: str) -> bool:
    """True for a word that may be replaced."""
    return len(word) > 1 and word.isalpha()


def another(word: str, chance: random.Random) -> str:
    """Return an invented word of the same script and about the same length."""
    if word.isascii():
        made = "".join(chance.choices(SYLLABLES, k=(len(word) + 1) // 2))
        return made.capitalize() if word[0].isupper() else made
    return "".join(chr(chance.randrange(0x4E00, 0x9000)) for _ in word)
