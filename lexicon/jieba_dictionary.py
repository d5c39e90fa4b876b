"""The lexicon as lines of a jieba user dictionary, and which texts can be terms.

    页岩气 100 n          word, frequency, tag
    PDC钻头 n             without a frequency the segmenter chooses one
    shale gas 20 eng      an English term may have spaces

jieba itself loads most invalid lines silently. This module reports each invalid line with its number and the reason.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence

from domain.message import Message
from domain.term import MAX_SYNONYMS, Lexicon, LexiconEntry, LineError
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
MAX_CANDIDATE_CHARS = 64
_CANDIDATE_PUNCTUATION = "-+#&%./'·_ "
_CANDIDATE_FINAL_PUNCTUATION = "+#%"
_BLANKS = re.compile(r"[^\S\x00-\x1f\x85]+")
_FORBIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs"})  # control, invisible, undecodable
_JOINERS = "\u200c\u200d"  # invisible, but part of the spelling in Persian and Indian scripts
_NONCHARACTERS = "\ufffe\uffff"  # XML forbids them
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


def parse_dictionary(text: str) -> tuple[list[LexiconEntry], list[LineError]]:
    """Return the entries of dictionary lines, words in NFKC, and the invalid lines. Blank lines are skipped."""
    return parse_lines(text, parse_dictionary_line)


def parse_lines(
    text: str, parse: Callable[[str], LexiconEntry | str | None]
) -> tuple[list[LexiconEntry], list[LineError]]:
    """Return the entries of the lines of a text, and the invalid lines."""
    lines = enumerate(text.split("\n"), start=1)
    return collect_entries((line_number, parse(line.removesuffix("\r"))) for line_number, line in lines)


def collect_entries(
    lines: Iterable[tuple[int, LexiconEntry | str | None]],
) -> tuple[list[LexiconEntry], list[LineError]]:
    """Return the entries of numbered, parsed lines, and the lines that are invalid or repeat a word.

    Args:
        lines: line number, and an entry, the reason why the line is invalid, or None for a blank line.
    """
    entries: list[LexiconEntry] = []
    errors: list[LineError] = []
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
    return entries, errors


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
    """Return a short reason why `text` cannot be a term, or None: it has 1 to 100 characters that can be written."""
    if not text.strip():
        return Message("no term")
    if len(text) > MAX_WORD_CHARS:
        return _TOO_LONG_ERROR
    for char in text:
        if "\udc80" <= char <= "\udcff":  # of `decode_dictionary`
            return Message("not UTF-8; save the file as UTF-8")
        is_forbidden = unicodedata.category(char) in _FORBIDDEN_CATEGORIES and char not in _JOINERS
        if is_forbidden or char in _NONCHARACTERS:
            return Message("contains the forbidden character {codepoint}", codepoint=f"U+{ord(char):04X}")
    return None


def find_count_error(words: Sequence[object]) -> Message | None:
    """Return a reason if a term or concept has more synonyms, broader terms or terms than are allowed."""
    if len(words) <= MAX_SYNONYMS:
        return None
    values = {"count": len(words), "limit": MAX_SYNONYMS}
    return Message("it has {count} terms or broader concepts; at most {limit} are allowed", **values)


def has_candidate_shape(text: str) -> bool:
    """Return True if a text that no person chose may be a term: no phrase, number with measure word, or symbols."""
    if find_term_error(text) or len(text) > MAX_CANDIDATE_CHARS or mixed_script_reason(text):
        return False
    if not all(unicodedata.category(c)[0] in "LMN" or _HAN.match(c) or c in _CANDIDATE_PUNCTUATION for c in text):
        return False
    # A Chinese character that the base dictionary lacks can be a word, such as an element's name (𬭊, 鏿).
    if len(text) < 2 and (not _HAN.match(text) or base_segmenter().has_word(text)):
        return False
    has_letter = any(char.isalpha() or _HAN.match(char) for char in text)
    is_final = text[-1].isalnum() or _HAN.match(text[-1]) or text[-1] in _CANDIDATE_FINAL_PUNCTUATION
    if not (has_letter and (text[0].isalnum() or _HAN.match(text[0]))):
        return False
    if not (is_final or unicodedata.category(text[-1])[0] == "M") or "  " in text or _SPACE_BESIDE_HAN.search(text):
        return False
    words, tags = zip(*base_segmenter().tag(text), strict=True)
    if not _FUNCTION_WORDS.isdisjoint((words[0], words[-1])) or not _PHRASE_WORDS.isdisjoint(words):
        return False
    is_quantity = tags[0] in ("m", "mq") and _QUANTITY_TAGS.issuperset(tags[1:])
    return not (is_quantity and ("t" in tags or text[0].isdecimal()))


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
    word = _BLANKS.sub(" ", unicodedata.normalize("NFKC", word)).strip(" ")
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


def create_domain_segmenter(lexicon: Lexicon) -> RjiebaSegmenter:
    """Create a segmenter whose dictionary contains the terms of one lexicon version."""
    return RjiebaSegmenter((entry.text, entry.frequency, entry.pos_tag) for entry in lexicon.entries)
