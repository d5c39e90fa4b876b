"""The lexicon as lines of a jieba user dictionary. A file is read completely or not at all.

    页岩气 100 n          word, frequency, tag
    PDC钻头 n             without a frequency the segmenter chooses one
    shale gas 20 eng      an English term may have spaces

jieba itself loads most invalid lines silently. This module reports each invalid line with its number and the reason.
"""

import re
import unicodedata
from collections.abc import Iterable

from domain.errors import DictionaryError
from domain.message import Message
from domain.term import Lexicon, LexiconEntry
from text.folding import word_key
from text.scripts import HAN, UNSPACED_SCRIPTS, mixed_script_reason
from text.segment import MAX_FREQUENCY, MAX_WORD_CHARS, RjiebaSegmenter, base_segmenter

_JIEBA_TAG_LIST = (
    "a ad ag an b c d df dg e eng f g h i j k l m mg mq n ng nr nrfg nrt ns nt nz o p q r rg rr rz s t tg"
    " u ud ug uj ul uv uz v vd vg vi vn vq x y z zg"
)
JIEBA_TAGS = frozenset(_JIEBA_TAG_LIST.split())
"""Tags of jieba's dictionary, and `eng`. Any other text at the end of a line is part of the word, or an error."""

MAX_INPUT_CHARS = 10_000  # characters of a word before anything is done with it
_TOO_LONG_ERROR = Message("longer than {limit} characters", limit=MAX_WORD_CHARS)
MAX_LISTED_ERRORS = 50  # bad lines named in full in one error
_ALLOWED_PUNCTUATION = "-+#&%./'·_ "
_ALLOWED_FINAL_PUNCTUATION = "+#%"
_FORBIDDEN_CATEGORIES = {"Cc": "control", "Cf": "invisible", "Cs": "undecodable", "Co": "private", "Cn": "unassigned"}
_INTEGER = re.compile("[0-9]+")
_NUMBER_LIKE = re.compile(r"[-+]?[0-9][0-9.,eE+-]*")
_HAN = re.compile(f"[{HAN}]")
_SPACE_BESIDE_HAN = re.compile(f"[{UNSPACED_SCRIPTS}] | [{UNSPACED_SCRIPTS}]")
# Words that never begin or end a term. Words that also begin or end real terms (地 过 对 等 将 之) are not listed.
_CONJUNCTIONS = frozenset("和与及或")
_PHRASE_WORDS = frozenset("的了着吗呢吧是在")  # never inside a term either: such a text is a phrase
_FUNCTION_WORDS = _CONJUNCTIONS | _PHRASE_WORDS
_QUANTITY_TAGS = frozenset({"m", "mq", "q", "t"})  # tags of numbers, measure words and times


def decode_dictionary(content: bytes) -> str:
    """Return the text of an uploaded dictionary.

    Bytes that are not UTF-8 become lone surrogates, which `parse_dictionary` reports.
    """
    return content.decode("utf-8-sig", "surrogateescape")


def parse_dictionary(text: str) -> list[LexiconEntry]:
    """Return the entries of dictionary lines, words in NFKC. Blank lines are skipped.

    Raises:
        DictionaryError: some lines are invalid; the error names all of them. The caller must not apply any entry.
    """
    lines = enumerate(text.split("\n"), start=1)
    return collect_entries((line_number, parse_dictionary_line(line.removesuffix("\r"))) for line_number, line in lines)


def collect_entries(lines: Iterable[tuple[int, LexiconEntry | str | None]]) -> list[LexiconEntry]:
    """Return the entries of numbered, parsed lines.

    Args:
        lines: line number, and an entry, the reason why the line is invalid, or None for a blank line.

    Raises:
        DictionaryError: some lines are invalid or repeat a word. `line_errors` has all errors, the message the first
            50, and `valid_entries` the entries of the other lines.
    """
    entries: list[LexiconEntry] = []
    errors: list[tuple[int, str]] = []
    first_line: dict[str, int] = {}
    for line_number, entry in lines:
        if isinstance(entry, LexiconEntry):
            first_occurrence = first_line.setdefault(word_key(entry.text), line_number)
            if first_occurrence != line_number:
                entry = Message("repeats line {line}", line=str(first_occurrence))
        if isinstance(entry, str):
            errors.append((line_number, entry))
        elif entry:
            entries.append(entry)
    if errors:
        listed_errors = "; ".join(f"line {line_number}: {error}" for line_number, error in errors[:MAX_LISTED_ERRORS])
        remainder = f"; and {len(errors) - MAX_LISTED_ERRORS} more lines" if len(errors) > MAX_LISTED_ERRORS else ""
        message = f"dictionary not applied: {listed_errors}{remainder}"
        raise DictionaryError(message, tuple(errors), tuple(entries))
    return entries


def format_dictionary(entries: Iterable[LexiconEntry]) -> str:
    """Format entries as dictionary lines that `parse_dictionary` reads, short words first.

    jieba chooses a frequency for a word without one by the parts of the word that it has loaded before.
    One case does not round-trip: `GB 1234` without a frequency gets frequency 1, because its number would be read as
    one.
    """
    lines = []
    for entry in sorted(entries, key=lambda entry: (len(entry.text), entry.text)):
        ends_like_frequency = _NUMBER_LIKE.fullmatch(entry.text.rpartition(" ")[2]) is not None
        frequency = entry.frequency or int(ends_like_frequency)
        lines.append(f"{entry.text} {frequency} {entry.pos_tag}\n" if frequency else f"{entry.text} {entry.pos_tag}\n")
    return "".join(lines)


def find_term_error(text: str) -> str | None:
    """Return a short reason why `text` is not a valid lexicon word, or None if it is valid."""
    if not text.strip(" "):
        return Message("no term")
    if len(text) > MAX_WORD_CHARS:
        return _TOO_LONG_ERROR
    if error := _character_error(text) or _shape_error(text):
        return error
    if mixed_script_reason(text):
        return Message("contains letters of several scripts")
    return _word_error(text)


def parse_dictionary_line(line: str) -> LexiconEntry | str | None:
    """Return the entry of a line, the reason why it is invalid, or None for a blank line."""
    if not line.strip(" "):
        return None
    parts = line.split(" ")
    tag = parts.pop() if len(parts) > 1 and parts[-1] in JIEBA_TAGS else ""
    frequency = parts.pop() if len(parts) > 1 and _NUMBER_LIKE.fullmatch(parts[-1]) else ""
    return build_entry(" ".join(parts), frequency, tag)


def build_entry(word: str, frequency: str = "", tag: str = "") -> LexiconEntry | str:
    """Return the entry of the parts of a line ("" for a missing part), or the reason why they are invalid."""
    if len(word) > MAX_INPUT_CHARS:  # before NFKC, which can expand a character to eighteen
        return _TOO_LONG_ERROR
    word = unicodedata.normalize("NFKC", word)
    if error := _frequency_error(frequency):
        return error
    if tag and tag not in JIEBA_TAGS:
        return Message("unknown part-of-speech tag “{tag}”", tag=tag[:20])
    return find_term_error(word) or LexiconEntry(word, int(frequency or 0), tag or default_tag(word))


def default_tag(word: str) -> str:
    """Return the tag of a word without a tag of its own."""
    return "eng" if word.isascii() else "n"


def _frequency_error(digits: str) -> str | None:
    if not digits:
        return None
    if not _INTEGER.fullmatch(digits):
        return Message("the frequency “{value}” is not a whole number", value=digits[:20])
    if len(digits) > len(str(MAX_FREQUENCY)) or int(digits) > MAX_FREQUENCY:
        return Message("the frequency is above {limit}", limit=MAX_FREQUENCY)
    return None if int(digits) else Message("the frequency is 0; leave it out to have one chosen")


def _character_error(text: str) -> str | None:
    for char in text:
        category = unicodedata.category(char)
        if category == "Cn" and _HAN.match(char):
            continue  # assigned in a later Unicode version than Python's
        if category in _FORBIDDEN_CATEGORIES:
            return Message("contains the forbidden character {codepoint}", codepoint=f"U+{ord(char):04X}")
        if category[0] == "Z" and char != " ":
            return Message(
                "contains the space character {codepoint}; use an ordinary space", codepoint=f"U+{ord(char):04X}"
            )
        if category[0] not in "LMN" and char not in _ALLOWED_PUNCTUATION:
            return Message("contains the symbol “{sign}”", sign=char)
    return None


def _shape_error(text: str) -> str | None:
    # A Chinese character that the base dictionary lacks can be a word, such as an element's name (𬭊, 鏿).
    if len(text) < 2 and (not _HAN.match(text) or base_segmenter().has_word(text)):
        return Message("a single character")
    if not any(char.isalpha() or _HAN.match(char) for char in text):
        return Message("contains no letter")
    if not (text[0].isalnum() or _HAN.match(text[0])):
        return Message("begins with the symbol “{sign}”", sign=text[0])
    if not (
        text[-1].isalnum()
        or _HAN.match(text[-1])
        or unicodedata.category(text[-1])[0] == "M"
        or text[-1] in _ALLOWED_FINAL_PUNCTUATION
    ):
        return Message("ends with the symbol “{sign}”", sign=text[-1])
    return None


def _word_error(text: str) -> str | None:
    if "  " in text or _SPACE_BESIDE_HAN.search(text):
        return Message(
            "contains a space in a Chinese term; a line is: term, frequency, tag, separated by single spaces"
        )
    words, tags = zip(*base_segmenter().tag(text), strict=True)
    edge_word = next((word for word in (words[0], words[-1]) if word in _FUNCTION_WORDS), None)
    if edge_word:
        return Message("begins or ends with “{word}”", word=edge_word)
    inner_word = next((word for word in words if word in _PHRASE_WORDS), None)
    if inner_word:
        return Message("contains “{word}”: a phrase, not a term", word=inner_word)
    if tags[0] in ("m", "mq") and _QUANTITY_TAGS.issuperset(tags[1:]) and ("t" in tags or text[0].isdecimal()):
        return Message("a number with a measure word, or a date")
    return None


def create_domain_segmenter(lexicon: Lexicon) -> RjiebaSegmenter:
    """Create a segmenter whose dictionary contains the terms of one lexicon version."""
    return RjiebaSegmenter((entry.text, entry.frequency, entry.pos_tag) for entry in lexicon.entries)
