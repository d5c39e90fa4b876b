"""Runs of characters in titles that sound like what was typed. Pure.

`yeyanqi` is 页岩气 though no dictionary has that word, if a title has it; so is `叶岩气`. Solr finds the titles by
their sound (`docstore.fields.TITLE_SOUND`), and the runs are read off them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise, product

from docstore import fields
from search_ui.query.clauses import Clause, Params, select_params
from search_ui.query.solr_client import Answer
from text.pinyin import blurred, has_han, sound, sounded, spelt_out, syllables
from text.segment import Segmenter

MAX_PIECES = 8  # that are looked for
MIN_SYLLABLES = 2
ROWS = 50  # titles that are read
SoundReading = tuple[str, ...]
"""Syllables as they are indexed: without tones, and blurred."""


def readings_of(pieces: Iterable[str]) -> dict[str, tuple[SoundReading, ...]]:
    """How each piece of a query may be read, Chinese or letters; what is no pinyin, or too short, is left out."""
    found = {piece: tuple(_readings(piece)) for piece in pieces}
    return dict([(piece, readings) for piece, readings in found.items() if readings][:MAX_PIECES])


def _readings(piece: str) -> Iterator[SoundReading]:
    spelt = [syllables(piece)] if has_han(piece) else spelt_out(letters_of(piece))
    for reading in dict.fromkeys(tuple(map(blurred, one)) for one in spelt):
        if len(reading) >= MIN_SYLLABLES:
            yield reading


def letters_of(piece: str) -> str:
    """What was typed in letters, without the signs between syllables."""
    return sound(syllables(piece))


def sound_params(readings: Mapping[str, Sequence[SoundReading]]) -> Params:
    """What asks Solr for titles that sound like one of the pieces."""
    runs = dict.fromkeys(" ".join(reading) for of_piece in readings.values() for reading in of_piece)
    alike = Clause.phrases(fields.TITLE_SOUND, "sounds", runs, "OR")
    return select_params(alike, rows=ROWS, fl=[fields.TITLE])


def runs_in(answer: Answer, readings: Mapping[str, Sequence[SoundReading]], base: Segmenter) -> dict[str, list[str]]:
    """Piece -> the runs in the titles of an answer that sound like it: of the very sound first, then by frequency.

    `base` cuts as the titles were cut when they were indexed.
    """
    titles = [_Title(base.cut(str(doc.get(fields.TITLE, "")))) for doc in answer.get("response", {}).get("docs", ())]
    return {piece: _alike(piece, of_piece, titles) for piece, of_piece in readings.items()}


class _Title:
    """What stands in a title and how it sounds, character by character, and at which of them words begin."""

    def __init__(self, words: Sequence[str]) -> None:
        by_word = [units for word in words if (units := sounded([word]))]
        self.units = [unit for units in by_word for unit in units]
        self.begins = list(accumulate(map(len, by_word), initial=0))

    def runs(self, readings: Sequence[SoundReading]) -> Iterator[str]:
        """What sounds like one of the readings, begins where a word does and has a whole word of several characters:
        what is cut out of two words (年只 of 今年 and 只) is a word that nobody knows.
        """
        for reading, at in product(readings, self.begins):
            end = at + len(reading)
            here = self.units[at:end]
            sounds_so = tuple(heard for _, heard in here) == reading and all(has_han(char) for char, _ in here)
            if sounds_so and any(at <= begin and begin + 1 < after <= end for begin, after in pairwise(self.begins)):
                yield "".join(char for char, _ in here)


def _alike(piece: str, readings: Sequence[SoundReading], titles: Sequence[_Title]) -> list[str]:
    runs = Counter(run for title in titles for run in set(title.runs(readings)))
    heard = letters_of(piece)
    return sorted(runs.keys() - {piece}, key=lambda run: (sound(syllables(run)) != heard, -runs[run], run))
