"""Finds title substrings that sound like a part of the query.

`yeyanqi` and `叶岩气` find 页岩气 in titles even if no dictionary has that word. Solr finds the titles by their sound
(`solr_client.solr_fields.TITLE_PINYIN`); the substrings are extracted here.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise, product

from search_ui.query.solr_client import SolrResponse, documents
from search_ui.query.solr_query import Params, SolrQuery, select_params
from solr_client import solr_fields
from text.pinyin import fuzzy_syllable, fuzzy_units, has_han, join_syllables, pinyin_syllables, split_pinyin
from text.segment import Segmenter

MAX_PHONETIC_PIECES = 8
MIN_SYLLABLES = 2
MAX_TITLES_READ = 50
PinyinReading = tuple[str, ...]
"""Syllables as indexed: without tones, similar sounds merged."""


def pinyin_readings(pieces: Iterable[str]) -> dict[str, tuple[PinyinReading, ...]]:
    """Return the pinyin readings of each part of a query. Parts that are no pinyin or too short are omitted."""
    readings_by_piece = {piece: tuple(_iter_readings(piece)) for piece in pieces}
    return dict([(piece, readings) for piece, readings in readings_by_piece.items() if readings][:MAX_PHONETIC_PIECES])


def _iter_readings(piece: str) -> Iterator[PinyinReading]:
    syllable_lists = [pinyin_syllables(piece)] if has_han(piece) else split_pinyin(pinyin_letters(piece))
    for reading in dict.fromkeys(tuple(map(fuzzy_syllable, syllable_list)) for syllable_list in syllable_lists):
        if len(reading) >= MIN_SYLLABLES:
            yield reading


def pinyin_letters(piece: str) -> str:
    """Return the letters of a part of a query, without separators between syllables."""
    return join_syllables(pinyin_syllables(piece))


def title_sound_params(readings: Mapping[str, Sequence[PinyinReading]]) -> Params:
    """Build the request for titles that sound like one of the parts."""
    runs = dict.fromkeys(" ".join(reading) for piece_readings in readings.values() for reading in piece_readings)
    clause = SolrQuery.phrases(solr_fields.TITLE_PINYIN, "sounds", runs, "OR")
    return select_params(clause, rows=MAX_TITLES_READ, fl=[solr_fields.TITLE])


def find_homophones(
    response: SolrResponse, readings: Mapping[str, Sequence[PinyinReading]], base_segmenter: Segmenter
) -> dict[str, list[str]]:
    """Return the title substrings that sound like each part: exact homophones first, then by frequency.

    `base_segmenter` segments as the indexer does.
    """
    titles = [
        _TitlePronunciation(base_segmenter.cut(str(doc.get(solr_fields.TITLE, "")))) for doc in documents(response)
    ]
    return {piece: _rank_homophones(piece, piece_readings, titles) for piece, piece_readings in readings.items()}


class _TitlePronunciation:
    """The characters of a title with their sounds, and the positions of word starts."""

    def __init__(self, words: Sequence[str]) -> None:
        by_word = [units for word in words if (units := fuzzy_units([word]))]
        self.char_sounds = [unit for units in by_word for unit in units]
        self.word_starts = list(accumulate(map(len, by_word), initial=0))

    def iter_matching_runs(self, readings: Sequence[PinyinReading]) -> Iterator[str]:
        """Yield the substrings with one of these readings.

        A substring must begin at a word start and contain a complete word of several characters. Substrings of two
        words (年只 of 今年 and 只) are no words.
        """
        for reading, start in product(readings, self.word_starts):
            end = start + len(reading)
            window = self.char_sounds[start:end]
            is_homophone = tuple(heard for _, heard in window) == reading and all(has_han(char) for char, _ in window)
            if is_homophone and any(
                start <= word_start and word_start + 1 < word_end <= end
                for word_start, word_end in pairwise(self.word_starts)
            ):
                yield "".join(char for char, _ in window)


def _rank_homophones(piece: str, readings: Sequence[PinyinReading], titles: Sequence[_TitlePronunciation]) -> list[str]:
    runs = Counter(run for title in titles for run in set(title.iter_matching_runs(readings)))
    letters = pinyin_letters(piece)
    return sorted(
        runs.keys() - {piece}, key=lambda run: (join_syllables(pinyin_syllables(run)) != letters, -runs[run], run)
    )
