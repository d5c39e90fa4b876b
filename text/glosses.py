"""Find translations that a text itself contains: `页岩气 (shale gas)`, `shale gas（页岩气）`. Pure.

The text in brackets is a whole term. The term before the brackets has no marked beginning. It is the end of a run of at
most `MAX_HAN_CHARS` characters or `MAX_LATIN_WORDS` words.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from text.folding import word_key

MAX_HAN_CHARS = 12
MAX_LATIN_WORDS = 6
MAX_GLOSSES = 100  # per text
MAX_TEXT_CHARS = 500_000  # per text
MIN_GLOSSED_TEXTS = 2
MIN_DISTINCT_RUNS = 2  # different runs with a common end, if no known term marks the beginning

_HAN = "\u3400-\u9fff"
_LATIN_TERM = r"[A-Za-z][A-Za-z0-9'’&./+-]*(?: [A-Za-z0-9'’&./+-]+){0,7}"
# The brackets come first, then the run before them: a search for all runs takes ten times as long.
_LATIN_IN_BRACKETS = re.compile(r"[(（]\s?(?:英文|英语|又称|简称)?[:： ]?([^()（）\n]{2,80})[)）]")
_HAN_RUN = re.compile(rf"[A-Za-z0-9]?([{_HAN}]{{2,40}})\s?\Z")
_HAN_IN_BRACKETS = re.compile(rf"[(（]([{_HAN}]{{2,20}})[)）]")
_LATIN_WORD = r"[A-Za-z][A-Za-z0-9\u00c0-\u024f'’&./+-]{0,30}"
_LATIN_RUN = re.compile(rf"(?<![A-Za-z0-9_/:.@-])((?:{_LATIN_WORD} ){{0,{MAX_LATIN_WORDS - 1}}}{_LATIN_WORD})\s?\Z")
MAX_RUN_CHARS = 200  # more than the longest run of either kind
_GLOSS_SEPARATOR = re.compile(r"(?:(?<!\s)\s++)?+[,，;；、]\s*+(?:简称|缩写为?|或|aka )?\s*+")


@dataclass(frozen=True)
class Gloss:
    """One gloss: the same term in Chinese and in Latin letters.

    `is_han_in_brackets`: the Chinese side is in brackets and is the whole term. Otherwise the Latin side is, and the
    Chinese side is a run that ends with the term.
    """

    han: str
    latin: str
    is_han_in_brackets: bool


def iter_glosses(text: str) -> Iterator[Gloss]:
    """Iterate over the glosses of a text, each once, at most `MAX_GLOSSES`."""
    return islice(dict.fromkeys(_iter_matches(text[:MAX_TEXT_CHARS])), MAX_GLOSSES)


def _iter_matches(text: str) -> Iterator[Gloss]:
    for run, brackets in _iter_runs(text, _HAN_RUN, _LATIN_IN_BRACKETS):
        if run[0][0].isascii():
            continue  # the end of a mixed term: PDC钻头（PDC bit）
        pieces = _GLOSS_SEPARATOR.split(brackets.strip())
        if all(re.fullmatch(_LATIN_TERM, piece) and sum(map(str.isalpha, piece)) > 1 for piece in pieces):
            for piece in pieces:
                yield Gloss(run[1][-MAX_HAN_CHARS:], piece, is_han_in_brackets=False)
    for run, brackets in _iter_runs(text, _LATIN_RUN, _HAN_IN_BRACKETS):
        yield Gloss(brackets, run[1], is_han_in_brackets=True)


def _iter_runs(text: str, run: re.Pattern[str], brackets: re.Pattern[str]) -> Iterator[tuple[re.Match[str], str]]:
    """Yield the runs that end before brackets, with the text in the brackets. No run contains brackets."""
    last_end = 0
    for match in brackets.finditer(text):
        if run_match := run.search(text, max(last_end, match.start() - MAX_RUN_CHARS), match.start()):
            yield run_match, match[1]
        last_end = match.end()


def run_suffixes(gloss: Gloss) -> list[str]:
    """Return the possible terms of the run: its ends of at least two characters or one word, longest first."""
    if gloss.is_han_in_brackets:
        words = gloss.latin.split(" ")
        return [" ".join(words[start:]) for start in range(len(words))]
    return [gloss.han[start:] for start in range(len(gloss.han) - 1)]


def is_translation(text_count: int, glossed_text_count: int) -> bool:
    """Return True if brackets after a term translate it, and are no remark such as `SMTP server（用于发送邮件）`.

    Args:
        text_count: Texts with this pair.
        glossed_text_count: Texts with any gloss of the term.
    """
    return text_count >= MIN_GLOSSED_TEXTS and 2 * text_count > glossed_text_count


def rank_translations(
    term: str, matching_glosses: Sequence[tuple[int, Gloss]], known_keys: frozenset[str]
) -> list[str]:
    """Return the translations of `term` on which texts agree (`is_translation`), most frequent first.

    Args:
        matching_glosses: glosses with one side that is or ends with `term`, each with the id of its text.
        known_keys: `word_key`s of terms. A run that ends with a longer known term does not translate this one.
    """
    glosses = [gloss for _, gloss in matching_glosses]
    texts_by_key: dict[str, tuple[str, set[int]]] = {}
    for text_id, gloss in matching_glosses:
        whole_side, other = (gloss.han, gloss.latin) if gloss.is_han_in_brackets else (gloss.latin, gloss.han)
        if word_key(whole_side) == word_key(term):
            translation = _translated_suffix(gloss, glosses, known_keys)
        else:
            translation = (
                whole_side if _longest_known_suffix(gloss, known_keys | {word_key(term)}) == word_key(term) else ""
            )
        if translation and word_key(other):
            texts_by_key.setdefault(word_key(translation), (translation, set()))[1].add(text_id)
    glossed_count = len(set[int]().union(*(ids for _, ids in texts_by_key.values())))
    counts = [(len(ids), text) for text, ids in texts_by_key.values() if is_translation(len(ids), glossed_count)]
    return [text for _, text in sorted(counts, key=lambda count_and_text: (-count_and_text[0], count_and_text[1]))]


def _longest_known_suffix(gloss: Gloss, known_keys: frozenset[str]) -> str:
    return next((key for end in run_suffixes(gloss) if (key := word_key(end)) in known_keys), "")


def _translated_suffix(gloss: Gloss, matching_glosses: Sequence[Gloss], known_keys: frozenset[str]) -> str:
    """Return the term at the end of a gloss's run: a known term, or the longest end shared by different runs."""
    suffixes = run_suffixes(gloss)
    if known_suffix := next((end for end in suffixes if word_key(end) in known_keys), ""):
        return known_suffix
    same_side = [other for other in matching_glosses if other.is_han_in_brackets == gloss.is_han_in_brackets]
    runs = {run_suffixes(other)[0] for other in same_side}
    if len(runs) < MIN_DISTINCT_RUNS:
        return ""
    return next((end for end in suffixes[1:] if all(end in run_suffixes(other) for other in same_side)), "")
