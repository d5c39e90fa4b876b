"""What of an article is running text, and what in it only programs write.

    public static int hashCode()                 a line of code       left out
    Constant Field Values                        a label              left out
    The hashCode method of a hash table ...      a sentence           The NAME method of a hash table ...

A term is a word of sentences: labels of menus, columns and members stand on every page whatever the domain, and code is
no text at all. Where the extractor found code, its blocks are left out; elsewhere a line shows by itself what it is: by
the names in it that only programs write (hashCode, os_path, a::b, --force, /usr/share), by its signs, and by whether it
has what sentences have. A name inside a sentence becomes NAME: no term holds it, but it is no gap in the sentence.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from docstore.model import BlockKind
from lexicon.counting.corpus import CorpusDocument
from lexicon.model.words import NAME, function_words
from text.scripts import DENSE, HAN

CODE_SHARE = 0.5  # of what a line says is names and signs: then it is code
SIGN_WEIGHT = 3  # characters of a name that a sign is worth
MIN_HAN = 4  # Chinese characters of a sentence
HAN_SHARE = 0.2  # of them in a line, from which on it is no code, whatever it names
OTHER_SHARE = 0.1  # of letters neither Chinese nor Latin, above which nothing can be said of a line: there is no model
MIN_WORDS = 4  # of a sentence, one of which is a small word of English
MANY_WORDS = 8  # of a sentence with an end, in a language whose small words are not known
CHUNKS_KNOWN = 100_000  # remembered: most of a text are few words over and over

_NO_TEXT = frozenset({BlockKind.CODE, BlockKind.PICTURE, BlockKind.POST})
_LINE_END = re.compile(r"[\n\t]")  # the cells of a row stand between tabs
_CHUNK = re.compile(rf"([^\s{DENSE}]+)")
_TAG = re.compile(r"</?[A-Za-z][\w:-]*(?:\s[^<>]*)?>")
_HAN = re.compile(f"[{HAN}]+")
_OTHER = re.compile("[\u0370-\u1cff\u2c00-\u2dff\u3041-\u30ff\u3130-\u318f\ua4d0-\ua69f\uac00-\ud7ff]")
_WORD = re.compile(r"[^\W\d_]{2,}|\bI\b")
_SIGN = re.compile(r"[{}\[\];=<>|&$@\\^~*_#`+]")
_CALL = re.compile(r"[A-Za-z0-9_>\]]\((?!(?:e?s|ies)\))")
_HAS_NAMES = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_$@:#./\\(-]{2}|[-/<@$%&~][A-Za-z{]|[./\\]{2}" + f"|{NAME}")  # roughly
_SENTENCE_END = re.compile(r"[.!?][\"'”’)\]]*\s*$")
_PROGRAM_NAME = re.compile(
    r"""
      (?:https?|ftps?|file|git|ssh):// [^<>"'）)]+ | (?<!\w)www\.[\w.-]+ | [\w.+-]+@[\w-]+(?:\.[\w-]+)+
    | (?<![\w./]) (?:~|\.{1,2}|[A-Za-z]:)? (?:[/\\][\w.+*-]+){2,} [/\\]? | ^~?/[A-Za-z][\w.-]+
    | </?[A-Za-z][^<>]*>?
    | [A-Za-z_][\w:.-]*=(?:"[^"]*"?|'[^']*'?)                         # name="value"
    | ^--?[A-Za-z][\w-]*(?:=.+)?
    | (?<!\w) [$@%\#&]{1,2} [A-Za-z_{(][\w.]*[})]?
    | (?<![A-Za-z0-9_])
      (?: [A-Za-z_]\w*(?:(?:::|->|\#)[A-Za-z_]\w*)+                  # a::b, a->b, a#b
        | [A-Za-z_]\w+(?:\.[A-Za-z_]\w+){2,}                         # java.lang.String
        | [a-z_]\w+(?:\.[a-z_]\w+)+                                  # setup.py, os.path
        | [A-Za-z0-9]*_[A-Za-z0-9_]+                                 # snake_case, SNAKE_CASE
        | (?=\w{6})[a-z]{2,}[0-9]*(?:[A-Z][a-z0-9]+)+[A-Z]*          # lowerCamelCase
        | (?:[A-Z][a-z0-9]+){3,}                                     # ThreeHumpsAndMore
        | 0x[0-9A-Fa-f]+ | (?=[0-9a-f]*[0-9])[0-9a-f]{12,}
        | v?[0-9]+(?:\.[0-9]+){2,}[\w-]*                             # 1.2.3-rc1
        | [A-Za-z_][\w.]*(?=\((?:\)|[^()]*[,="']))                   # call(), a.call(b,
      ) (?![A-Za-z0-9_]) (?:\(\))?
    """,
    re.VERBOSE,
)


class _Chunk(NamedTuple):
    """What stands between two blanks: `named`, with NAME for its names; of how many characters the `names` are; how
    many `signs`, `words`, `small` words of English and `calls` (a bracket right behind a name) it has.
    """

    named: str
    names: int
    signs: int
    words: int
    small: int
    calls: int


def running_text(document: CorpusDocument) -> Iterator[str]:
    """The lines of a document that are running text, as they stand."""
    return (line for line in lines_of(document) if is_running(line))


def counted_text(document: CorpusDocument) -> str:
    """What is counted of a document: its running text, with NAME for the names that only programs write."""
    return "\n".join(text for line in lines_of(document) if (text := counted_line(line)) is not None)


def lines_of(document: CorpusDocument) -> Iterator[str]:
    """All lines of a document but those that the extractor found to be code."""
    yield document.title
    if not document.blocks:
        yield from document.body.split("\n")
    for block in document.blocks:
        if block.kind not in _NO_TEXT:
            yield from _LINE_END.split(block.text)


def is_running(line: str) -> bool:
    """Whether a line is running text: has what sentences have, and is no code."""
    return counted_line(line) is not None


def counted_line(line: str) -> str | None:
    """A line with NAME for the names in it; None if it is no running text."""
    han = 0
    if not line.isascii():
        han = sum(map(len, _HAN.findall(line)))
        if len(_OTHER.findall(line)) > OTHER_SHARE * len(line):
            return None
    is_chinese = han >= max(MIN_HAN, HAN_SHARE * len(line))
    if is_chinese and not _HAS_NAMES.search(line):
        return line
    parts = _CHUNK.split(_TAG.sub(f" {NAME} ", line.replace(NAME, " ")))
    chunks = [_look(chunk) for chunk in parts[1::2]]
    if not (is_chinese or _is_sentence(line, han, chunks)):
        return None
    parts[1::2] = [chunk.named for chunk in chunks]
    return "".join(parts)


def _is_sentence(line: str, han: int, chunks: Sequence[_Chunk]) -> bool:
    names = signs = words = small = calls = 0
    for chunk in chunks:
        names += chunk.names
        signs += chunk.signs
        words += chunk.words
        small += chunk.small
        calls += chunk.calls
    if names + SIGN_WEIGHT * signs > CODE_SHARE * (len(line) - line.count(" ")):
        return False
    if han >= MIN_HAN or (words >= MIN_WORDS and small > calls):
        return True
    return words >= MANY_WORDS and not calls and _SENTENCE_END.search(line) is not None


@lru_cache(maxsize=CHUNKS_KNOWN)
def _look(chunk: str) -> _Chunk:
    if chunk.isalpha() and (chunk.islower() or len(chunk) < 6):
        is_word = len(chunk) > 1
        return _Chunk(chunk, 0, 0, int(is_word), int(is_word and _is_small(chunk)), 0)
    text = _PROGRAM_NAME.sub(NAME, chunk)
    names = len(chunk) - len(text) + text.count(NAME)
    words = _WORD.findall(text)
    small = sum(map(_is_small, words))
    return _Chunk(text, names, len(_SIGN.findall(text)), len(words), small, int(_CALL.search(chunk) is not None))


def _is_small(word: str) -> bool:
    """Whether it is a small word of English: not in capitals, which is how SQL writes its `FROM`."""
    return word.lower() in function_words() and (len(word) == 1 or not word.isupper())
