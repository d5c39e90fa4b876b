"""The lexicon as lines of a jieba user dictionary, all or nothing.

    页岩气 100 n          word, frequency, tag
    PDC钻头 n             without a frequency the segmenter chooses one
    shale gas 20 eng      an English term may have spaces

jieba itself loads nearly every faulty line without a word; here each is named, with its number and the reason.
"""

import re
import unicodedata
from collections.abc import Iterable

from docstore.errors import DictionaryError
from docstore.model import LexiconEntry
from text.folding import word_key
from text.scripts import DENSE, HAN, disguised
from text.segment import MAX_FREQUENCY, MAX_WORD_CHARS, base_segmenter

_TAG_LINE = (
    "a ad ag an b c d df dg e eng f g h i j k l m mg mq n ng nr nrfg nrt ns nt nz o p q r rg rr rz s t tg"
    " u ud ug uj ul uv uz v vd vg vi vn vq x y z zg"
)
TAGS = frozenset(_TAG_LINE.split())
"""The tags of jieba's dictionary, and `eng`. Anything else at the end of a line is part of the word, or a mistake."""

LONGEST_SEEN = 10_000  # characters of a word before anything is done with it
_TOO_LONG = f"the word is longer than {MAX_WORD_CHARS} characters"
NAMED = 50  # bad lines named in full in one error
_INNER_SIGNS = "-+#&%./'·_ "
_LAST_SIGNS = "+#%"
_UNSEEN = {"Cc": "control", "Cf": "invisible", "Cs": "undecodable", "Co": "private", "Cn": "unassigned"}
_INTEGER = re.compile("[0-9]+")
_NUMBER_LIKE = re.compile(r"[-+]?[0-9][0-9.,eE+-]*")
_HAN = re.compile(f"[{HAN}]")
_SPACE_BESIDE_HAN = re.compile(f"[{DENSE}] | [{DENSE}]")
# Never the first or last word of a term. Those that also open or close real terms (地 过 对 等 将 之) are left out.
_CONJUNCTIONS = frozenset("和与及或")
_PHRASE_WORDS = frozenset("的了着吗呢吧是在")  # nor one inside: what has one is a phrase
_FUNCTION_WORDS = _CONJUNCTIONS | _PHRASE_WORDS
_COUNTED = frozenset({"m", "mq", "q", "t"})  # what a number goes on with: tags of numbers, measure words and times


def decode_dictionary(content: bytes) -> str:
    """The text of an uploaded dictionary. What is not UTF-8 becomes lone surrogates, which `parse_dictionary` names."""
    return content.decode("utf-8-sig", "surrogateescape")


def parse_dictionary(text: str) -> list[LexiconEntry]:
    """The entries of dictionary lines, words in NFKC; blank lines are skipped.

    Raises one DictionaryError that names every bad line; then nothing is to be applied.
    """
    lines = enumerate(text.split("\n"), start=1)
    return all_or_nothing((number, parse_line(line.removesuffix("\r"))) for number, line in lines)


def all_or_nothing(lines: Iterable[tuple[int, LexiconEntry | str | None]]) -> list[LexiconEntry]:
    """The entries of numbered lines, each parsed already: an entry, why it is none, or None for a blank line.

    Raises DictionaryError with all that is wrong, a word that came before included; its text names the first 50.
    """
    entries: list[LexiconEntry] = []
    faults: list[tuple[int, str]] = []
    first_line: dict[str, int] = {}
    for number, entry in lines:
        if isinstance(entry, LexiconEntry):
            earlier = first_line.setdefault(word_key(entry.text), number)
            entry = entry if earlier == number else f"the word already stands in line {earlier}"
        if isinstance(entry, str):
            faults.append((number, entry))
        elif entry:
            entries.append(entry)
    if faults:
        named = "; ".join(f"line {number}: {fault}" for number, fault in faults[:NAMED])
        more = f"; and {len(faults) - NAMED} more lines" if len(faults) > NAMED else ""
        raise DictionaryError(f"dictionary not applied: {named}{more}", tuple(faults))
    return entries


def format_dictionary(entries: Iterable[LexiconEntry]) -> str:
    """`entries` as dictionary lines; `parse_dictionary` reads them back.

    One thing does not come back the same: `GB 1234` without a frequency gets 1, or its number would be read as one.
    """
    return "".join(f"{_format_entry(entry)}\n" for entry in entries)


def check_term(text: str) -> str | None:
    """Why `text` may not be a word of the lexicon, in a few words; None if it may."""
    if not text.strip(" "):
        return "the word is empty"
    if len(text) > MAX_WORD_CHARS:
        return _TOO_LONG
    return _unfit_character(text) or _unfit_shape(text) or _unfit_scripts(text) or _unfit_words(text)


def parse_line(line: str) -> LexiconEntry | str | None:
    """The entry of a line, what is wrong with it, or None for a blank line."""
    if not line.strip(" "):
        return None
    parts = line.split(" ")
    tag = parts.pop() if len(parts) > 1 and parts[-1] in TAGS else ""
    frequency = parts.pop() if len(parts) > 1 and _NUMBER_LIKE.fullmatch(parts[-1]) else ""
    return checked_entry(" ".join(parts), frequency, tag)


def checked_entry(word: str, frequency: str = "", tag: str = "") -> LexiconEntry | str:
    """The entry of these parts of a line ("": not said), or what is wrong with them."""
    if len(word) > LONGEST_SEEN:  # not even looked at: NFKC alone can make eighteen characters of each
        return _TOO_LONG
    word = unicodedata.normalize("NFKC", word)
    fault = _unfit_frequency(frequency) or _unfit_tag(tag) or check_term(word)
    return fault or LexiconEntry(word, int(frequency or 0), tag or _default_tag(word))


def _unfit_tag(tag: str) -> str | None:
    return None if not tag or tag in TAGS else f"there is no tag {tag[:20]!r}"


def _format_entry(entry: LexiconEntry) -> str:
    frequency = entry.frequency
    if not frequency and _NUMBER_LIKE.fullmatch(entry.text.rpartition(" ")[2]):
        frequency = 1
    return f"{entry.text} {frequency} {entry.tag}" if frequency else f"{entry.text} {entry.tag}"


def _default_tag(word: str) -> str:
    return "eng" if word.isascii() else "n"


def _unfit_frequency(digits: str) -> str | None:
    if not digits:
        return None
    if not _INTEGER.fullmatch(digits):
        return f"the frequency is no whole number: {digits[:20]}"
    if len(digits) > len(str(MAX_FREQUENCY)) or int(digits) > MAX_FREQUENCY:
        return f"the frequency is above {MAX_FREQUENCY}"
    return None if int(digits) else "frequency 0 hides the word: leave the frequency out to have one chosen"


def _unfit_character(text: str) -> str | None:
    for char in text:
        category = unicodedata.category(char)
        if category == "Cn" and _HAN.match(char):
            continue  # assigned in a later Unicode than Python's
        if category in _UNSEEN:
            return f"the word holds the {_UNSEEN[category]} character U+{ord(char):04X}"
        if category[0] == "Z" and char != " ":
            return f"the word holds the blank U+{ord(char):04X}"
        if category[0] not in "LMN" and char not in _INNER_SIGNS:
            return f"the word holds the sign {char}"
    return None


def _unfit_shape(text: str) -> str | None:
    if len(text) < 2 and not is_rare(text):
        return "the word is a single character"
    if not any(char.isalpha() or _HAN.match(char) for char in text):
        return "the word has no letter"
    if not (text[0].isalnum() or _HAN.match(text[0])):
        return f"the word begins with the sign {text[0]!r}"
    if not (
        text[-1].isalnum()
        or _HAN.match(text[-1])
        or unicodedata.category(text[-1])[0] == "M"
        or text[-1] in _LAST_SIGNS
    ):
        return f"the word ends with the sign {text[-1]!r}"
    return None


def is_rare(char: str) -> bool:
    """Whether this is a Chinese character that the base dictionary has not: the name of an element, say (𬭊, 鿏). Of
    those that it has, most words are made, and documents are cut into them anyhow."""
    return _HAN.match(char) is not None and not base_segmenter().knows(char)


def _unfit_scripts(text: str) -> str | None:
    mixed = disguised(text)
    return f"the word holds {mixed}" if mixed else None


def _unfit_words(text: str) -> str | None:
    if "  " in text or _SPACE_BESIDE_HAN.search(text):
        return "a space in a Chinese word (a line is: word, frequency, tag, one space between)"
    words, tags = zip(*base_segmenter().tag(text), strict=True)
    edge = next((word for word in (words[0], words[-1]) if word in _FUNCTION_WORDS), None)
    if edge:
        return f"the word begins or ends with {edge}"
    inside = next((word for word in words if word in _PHRASE_WORDS), None)
    if inside:
        return f"the word holds {inside}: it is a phrase"
    if tags[0] in ("m", "mq") and _COUNTED.issuperset(tags[1:]) and ("t" in tags or text[0].isdecimal()):
        return "the word is a number with a measure word, or a date"
    return None
