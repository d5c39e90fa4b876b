"""Other spellings of a query, from the words that the site knows. Pure.

Chinese is corrected by its sound (`叶岩气` -> `页岩气`), by one edit (`水力压列` -> `水力压裂`), and from pinyin
(`yeyanqi`, `slyl`); Latin words as Solr spells them. Whether a spelling finds anything is for the caller to ask.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from search_ui.query.parse import Part, PartKind, Query, parse
from search_ui.query.solr_client import Answer
from search_ui.spelling.title_sounds import letters_of
from search_ui.spelling.vocabulary import Vocabulary, is_one_edit
from text.scripts import HAN

MAX_WINDOWS = 60  # runs of characters of one query that are looked up
LONGEST_WORD = 8  # characters of a run
FROM_EACH = 2  # corrections of one run
MIN_SOUND = 4  # letters: what is shorter is rarely pinyin
MIN_DOCUMENTS = 3  # that hold a Latin word which is short, or far from what was typed: one alone may be odd itself
LONG_WORD = 6  # letters: a word so long, and one edit away, is hardly another

_HAN_RUN = re.compile(f"[{HAN}]{{2,}}")
_LETTERS = re.compile(r"[a-z]+(?:[ '’][a-z]+)*", re.IGNORECASE)
_SPELT = frozenset({PartKind.WORD, PartKind.PHRASE, PartKind.TITLE})


@dataclass(frozen=True)
class Correction:
    """`old`, a piece of the query, may have been meant as `new`."""

    old: str
    new: str


Tiers = list[list[Query]]


@dataclass(frozen=True)
class Meant:
    """What Solr says of pieces of a query: Latin words as it spells them, and runs in titles that sound like a piece
    (`search_ui.spelling.title_sounds`)."""

    spelled: Mapping[str, str] = field(default_factory=dict)
    sounding: Mapping[str, Sequence[str]] = field(default_factory=dict)


def other_spellings(query: Query, vocabulary: Vocabulary, by_solr: Meant) -> Tiers:
    """Queries that may have been meant. The second tier counts where nothing of the first is of use.

    First everything that looks wrong is changed at once, with other words for a single piece; then one piece alone.
    """
    heard = list(_changes(query, vocabulary, by_solr.sounding))
    read = " ".join(changes[0].old for changes in heard)  # as pinyin: no edit makes another word of that
    spelled = {old: new for old, new in by_solr.spelled.items() if old not in read.split(" ")}
    pieces = [*([Correction(old, new)] for old, new in spelled.items()), *heard]
    likeliest = [changes[0] for changes in pieces]
    together = [likeliest, *(_but(likeliest, n, other) for n, piece in enumerate(pieces) for other in piece[1:])]
    alone = [[change] for change in likeliest] if len(likeliest) > 1 else []
    return [_unlike(query, options) for options in (together, alone)]


def pieces_heard(query: Query, words: Iterable[str], vocabulary: Vocabulary) -> list[str]:
    """The pieces of a query that a title may have in another spelling: letters that could be pinyin, unknown words.

    `words` are the query's.
    """
    letters = [match[0] for match in _LETTERS.finditer(query.loose_text)]
    apart = [word for run in letters if " " in run for word in run.split(" ")]
    unknown = [word for word in words if _HAN_RUN.fullmatch(word) and not vocabulary.frequency(word)]
    return [*(piece for piece in (*letters, *apart) if len(letters_of(piece)) >= MIN_SOUND), *unknown]


def _but(changes: list[Correction], place: int, other: Correction) -> list[Correction]:
    return [*changes[:place], other, *changes[place + 1 :]]


def _unlike(query: Query, options: list[list[Correction]]) -> list[Query]:
    return [other for other in dict.fromkeys(_changed(query, option) for option in options) if other != query]


def _changes(query: Query, vocabulary: Vocabulary, sounding: Mapping[str, Sequence[str]]) -> Iterator[list[Correction]]:
    """For each piece that looks wrong the words that may be meant, the likeliest first."""
    for part in query.parts:
        if part.kind in _SPELT and not part.is_excluded:
            for run in _HAN_RUN.findall(part.text):
                yield from _in_chinese(run, vocabulary, sounding)
    for match in _LETTERS.finditer(query.loose_text):
        yield from _from_pinyin(match[0], vocabulary, sounding)


def _in_chinese(run: str, vocabulary: Vocabulary, sounding: Mapping[str, Sequence[str]]) -> Iterator[list[Correction]]:
    """Changes of pieces of `run` that are not made of known words; the longest piece first, none within another's."""
    done: set[int] = set()
    for start, end in _windows(run):
        window, places = run[start:end], set(range(start, end))
        if done & places:
            continue
        if _is_known(window, vocabulary):
            done |= places
        elif found := [*_meant(window, vocabulary, is_whole=window == run), *sounding.get(window, ())]:
            done |= places
            yield [Correction(window, word) for word in list(dict.fromkeys(found))[:FROM_EACH]]


def _meant(window: str, vocabulary: Vocabulary, is_whole: bool) -> list[str]:
    """Within a longer run only words of the same length: one more or less would be another window's word."""
    edited = [word for word in vocabulary.one_edit_from(window) if is_whole or len(word) == len(window)]
    return vocabulary.sounding_like(window) or edited


def _is_known(text: str, vocabulary: Vocabulary) -> bool:
    """Is `text` a known word, or several of them in a row?"""
    if vocabulary.frequency(text):
        return True
    cuts = range(2, len(text) - 1)
    return any(vocabulary.frequency(text[:cut]) and _is_known(text[cut:], vocabulary) for cut in cuts)


def _windows(run: str) -> list[tuple[int, int]]:
    lengths = range(min(len(run), LONGEST_WORD), 1, -1)
    return [(at, at + length) for length in lengths for at in range(len(run) - length + 1)][:MAX_WINDOWS]


def _from_pinyin(
    letters: str, vocabulary: Vocabulary, sounding: Mapping[str, Sequence[str]]
) -> Iterator[list[Correction]]:
    """All the letters as one text in pinyin (`ye yan qi`); if they are none, what stands between two blanks."""
    whole = _spelt(letters, vocabulary, sounding)
    apart = letters.split(" ")
    yield from [whole] if whole else filter(None, (_spelt(word, vocabulary, sounding) for word in apart))


def _spelt(letters: str, vocabulary: Vocabulary, sounding: Mapping[str, Sequence[str]]) -> list[Correction]:
    """A known word, else a run in titles, else several known words, else what begins with these letters."""
    sound = re.sub("[ '’]", "", letters).lower()
    if len(sound) < MIN_SOUND:
        return []
    one = list(dict.fromkeys([*vocabulary.spelt_by_sound(sound), *sounding.get(letters, ())]))
    words = one[:FROM_EACH] or ["".join(_words_of(sound, vocabulary))]
    if not words[0]:
        words = vocabulary.abbreviated(sound)[:FROM_EACH]
    return [Correction(letters, word) for word in words]


def _words_of(sound: str, vocabulary: Vocabulary, most: int = 3) -> list[str]:
    """At most `most` known words that sound so one after another, the first as long as can be; [] if there are none."""
    for end in range(len(sound), MIN_SOUND - 1, -1):
        first = vocabulary.spelt_by_sound(sound[:end])[:1]
        if first and end == len(sound):
            return first
        if first and most > 1 and (rest := _words_of(sound[end:], vocabulary, most - 1)):
            return first + rest
    return []


def _changed(query: Query, changes: list[Correction]) -> Query:
    """`query` with all the changes, read anew: a word may have come of several."""
    parts: list[Part] = []
    for part in query.parts:
        if parts and not (part.is_condition or parts[-1].is_condition):
            parts[-1] = replace(parts[-1], text=f"{parts[-1].text} {part.text}")
        else:
            parts.append(part)
    return parse(str(Query(tuple(_part_changed(part, changes) for part in parts))))


def _part_changed(part: Part, changes: list[Correction]) -> Part:
    if part.kind not in _SPELT or part.is_excluded:
        return part
    text = part.text
    for change in changes:
        if change.old.isascii():
            text = change.new.join(re.split(rf"(?<![A-Za-z]){re.escape(change.old)}(?![A-Za-z])", text))
        else:
            text = text.replace(change.old, change.new)
    return replace(part, text=text)


_LATIN_WORD = re.compile("[A-Za-zÀ-ɏ]{4}")  # Solr's list holds none that is shorter


def has_latin_word(query: Query) -> bool:
    """Is there anything that Solr could spell?"""
    return bool(_LATIN_WORD.search(query.text))


def spelling_params(query: Query) -> list[tuple[str, str]]:
    """What asks Solr for the spelling of Latin words; to be sent with any question."""
    asked = {"q": query.text, "count": str(_CANDIDATES), "extendedResults": "true"}
    return [("spellcheck", "true"), *((f"spellcheck.{name}", value) for name, value in asked.items())]


_CANDIDATES = 5


def spelled_by_solr(answer: Answer) -> dict[str, str]:
    """Latin words that Solr does not know, each with the likeliest spelling that is credible."""
    found = answer.get("spellcheck", {}).get("suggestions", [])
    spelled = {}
    for typed, of in zip(found[::2], found[1::2], strict=True):
        others = [] if of.get("origFreq") else of.get("suggestion", [])
        credible = (str(one["word"]) for one in others if _is_credible(str(typed), str(one["word"]), int(one["freq"])))
        if word := next(credible, ""):
            spelled[str(typed)] = word
    return spelled


def _is_credible(typed: str, word: str, documents: int) -> bool:
    """Did the reader mean `word`? The shorter it is and the farther from what was typed, the more documents say so."""
    if " " in word:  # two words of the index that stand together in the query
        return True
    is_near = is_one_edit(typed, word)
    if is_near and len(typed) >= LONG_WORD:
        return True
    return documents >= MIN_DOCUMENTS and (is_near or len(typed) >= LONG_WORD)
