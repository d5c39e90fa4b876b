"""Prose filter: running text of an article, without code and labels.

    public static int hashCode()                 code        skipped
    Constant Field Values                        label       skipped
    The hashCode method of a hash table ...      sentence    The NAME method of a hash table ...

Only running text is counted: labels of menus, columns and members occur on every page regardless of the domain, and
code is no text. Code blocks found by the extractor are skipped. Other lines are classified by identifiers (hashCode,
os_path, a::b, --force, /usr/share), symbols and sentence features. Identifiers inside a sentence are replaced by
IDENTIFIER_PLACEHOLDER (NAME), which no term contains, but which does not split the sentence.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from domain.article import BlockKind
from lexicon.counting.corpus import CorpusDocument
from lexicon.model.word_features import IDENTIFIER_PLACEHOLDER, function_words
from text.scripts import HAN, UNSPACED_SCRIPTS

MAX_CODE_SHARE = 0.5  # a line with a larger share of identifiers and symbols is code
SYMBOL_WEIGHT = 3  # identifier characters that a symbol counts as
MIN_HAN_CHARACTERS = 4  # Chinese characters of a Chinese sentence
MIN_HAN_SHARE = 0.2  # a line with this share of Chinese characters is Chinese
MAX_OTHER_SCRIPT_SHARE = 0.1  # lines with more characters of other scripts are skipped, because they have no model
MIN_SENTENCE_WORDS = 4  # words of an English sentence, among them a function word
MIN_SENTENCE_WORDS_UNKNOWN_LANGUAGE = 8  # words of a sentence with end punctuation in another language
CHUNK_CACHE_SIZE = 100_000  # chunks; texts repeat most of their words

_NON_PROSE_BLOCKS = frozenset({BlockKind.CODE, BlockKind.PICTURE, BlockKind.POST_START})
_LINE_END = re.compile(r"[\n\t]")  # tabs separate the cells of a table row
_CHUNK = re.compile(rf"([^\s{UNSPACED_SCRIPTS}]+)")
_MARKUP_TAG = re.compile(r"</?[A-Za-z][\w:-]*(?:\s[^<>]*)?>")
_HAN = re.compile(f"[{HAN}]+")
_OTHER_SCRIPT = re.compile("[\u0370-\u1cff\u2c00-\u2dff\u3041-\u30ff\u3130-\u318f\ua4d0-\ua69f\uac00-\ud7ff]")
_WORD = re.compile(r"[^\W\d_]{2,}|\bI\b")
_CODE_SYMBOL = re.compile(r"[{}\[\];=<>|&$@\\^~*_#`+]")
_CALL = re.compile(r"[A-Za-z0-9_>\]]\((?!(?:e?s|ies)\))")
_MAY_HAVE_IDENTIFIER = re.compile(
    r"[A-Za-z0-9_][A-Za-z0-9_$@:#./\\(-]{2}|[-/<@$%&~][A-Za-z{]|[./\\]{2}" + f"|{IDENTIFIER_PLACEHOLDER}"
)  # a cheap necessary condition
_SENTENCE_END = re.compile(r"[.!?][\"'”’)\]]*\s*$")
_IDENTIFIER = re.compile(
    r"""
      (?:https?|ftps?|file|git|ssh):// [^<>"'）)]+ | (?<!\w)www\.[\w.-]+ | (?<![\w.+-])[\w.+-]++@[\w-]+(?:\.[\w-]+)+
    | (?<![\w./]) (?:~|\.{1,2}|[A-Za-z]:)? (?:[/\\][\w.+*-]+){2,} [/\\]? | ^~?/[A-Za-z][\w.-]+
    | </?[A-Za-z][^<>]*>?
    | (?<![\w:.-])[\w:.-]++=(?:"[^"]*"?|'[^']*'?)                     # name="value"
    | ^--?[A-Za-z][\w-]*(?:=.+)?
    | (?<!\w) [$@%\#&]{1,2} [A-Za-z_{(][\w.]*[})]?
    | (?<![A-Za-z0-9_])
      (?a: [A-Za-z_]\w*(?:(?:::|->|\#)[A-Za-z_]\w*)+                  # a::b, a->b, a#b
        | [A-Za-z_]\w+(?:\.[A-Za-z_]\w+){2,}                         # java.lang.String
        | [a-z_]\w+(?:\.[a-z_]\w+)+                                  # setup.py, os.path
        | [A-Za-z0-9]*_[A-Za-z0-9_]+                                 # snake_case, SNAKE_CASE
        | (?=\w{6})[a-z]{2,}[0-9]*(?:[A-Z][a-z0-9]+)+[A-Z]*          # lowerCamelCase
        | (?:[A-Z][a-z0-9]+){3,}                                     # ThreeHumpsAndMore
        | 0x[0-9A-Fa-f]+ | (?=[0-9a-f]*[0-9])[0-9a-f]{12,}
        | v?[0-9]+(?:\.[0-9]+){2,}[\w-]*                             # 1.2.3-rc1
        | (?<![\w.]\.)[A-Za-z_][\w.]*+(?=\((?:\)|[^()]*[,="']))      # call(), a.call(b,
      ) (?![A-Za-z0-9_]) (?:\(\))?
    """,
    re.VERBOSE,
)


class _ChunkStats(NamedTuple):
    """Statistics of the text between two spaces.

    Attributes:
        text: the text with NAME for its identifiers.
        identifier_chars: characters of the identifiers.
        symbol_count: code symbols.
        word_count: words of at least two letters.
        function_word_count: English function words.
        call_count: 1 if a bracket follows directly after a name, else 0.
    """

    text: str
    identifier_chars: int
    symbol_count: int
    word_count: int
    function_word_count: int
    call_count: int


def iter_prose_lines(document: CorpusDocument) -> Iterator[str]:
    """Yield the lines of a document that are running text, unchanged."""
    return (line for line in iter_lines(document) if is_prose(line))


def prose_text(document: CorpusDocument) -> str:
    """Return the text of a document that is counted: its running text with NAME for identifiers."""
    return "\n".join(text for line in iter_lines(document) if (text := mask_identifiers(line)) is not None)


def iter_lines(document: CorpusDocument) -> Iterator[str]:
    """Yield all lines of a document except code, pictures and post headers found by the extractor."""
    yield document.title
    if not document.blocks:
        yield from document.body.split("\n")
    for block in document.blocks:
        if block.kind not in _NON_PROSE_BLOCKS:
            yield from _LINE_END.split(block.text)


def is_prose(line: str) -> bool:
    """Return True if a line is running text."""
    return mask_identifiers(line) is not None


def mask_identifiers(line: str) -> str | None:
    """Return the line with NAME for its identifiers, or None if it is not running text."""
    han = 0
    if not line.isascii():
        han = sum(map(len, _HAN.findall(line)))
        if len(_OTHER_SCRIPT.findall(line)) > MAX_OTHER_SCRIPT_SHARE * len(line):
            return None
    is_chinese = han >= max(MIN_HAN_CHARACTERS, MIN_HAN_SHARE * len(line))
    if is_chinese and not _MAY_HAVE_IDENTIFIER.search(line):
        return line
    parts = _CHUNK.split(_MARKUP_TAG.sub(f" {IDENTIFIER_PLACEHOLDER} ", line.replace(IDENTIFIER_PLACEHOLDER, " ")))
    chunks = [_analyse_chunk(chunk) for chunk in parts[1::2]]
    if not (is_chinese or _is_sentence(line, han, chunks)):
        return None
    parts[1::2] = [chunk.text for chunk in chunks]
    return "".join(parts)


def _is_sentence(line: str, han: int, chunks: Sequence[_ChunkStats]) -> bool:
    identifier_chars = symbol_count = words = function_word_count = call_count = 0
    for chunk in chunks:
        identifier_chars += chunk.identifier_chars
        symbol_count += chunk.symbol_count
        words += chunk.word_count
        function_word_count += chunk.function_word_count
        call_count += chunk.call_count
    if identifier_chars + SYMBOL_WEIGHT * symbol_count > MAX_CODE_SHARE * (len(line) - line.count(" ")):
        return False
    if han >= MIN_HAN_CHARACTERS or (words >= MIN_SENTENCE_WORDS and function_word_count > call_count):
        return True
    return words >= MIN_SENTENCE_WORDS_UNKNOWN_LANGUAGE and not call_count and _SENTENCE_END.search(line) is not None


@lru_cache(maxsize=CHUNK_CACHE_SIZE)
def _analyse_chunk(chunk: str) -> _ChunkStats:
    if chunk.isalpha() and (chunk.islower() or len(chunk) < 6):
        is_word = len(chunk) > 1
        return _ChunkStats(chunk, 0, 0, int(is_word), int(is_word and _is_function_word(chunk)), 0)
    text = _IDENTIFIER.sub(IDENTIFIER_PLACEHOLDER, chunk)
    identifier_chars = len(chunk) - len(text) + text.count(IDENTIFIER_PLACEHOLDER)
    words = _WORD.findall(text)
    function_word_count = sum(map(_is_function_word, words))
    return _ChunkStats(
        text,
        identifier_chars,
        len(_CODE_SYMBOL.findall(text)),
        len(words),
        function_word_count,
        int(_CALL.search(chunk) is not None),
    )


def _is_function_word(word: str) -> bool:
    """Return True for an English function word, but not in capitals as in SQL's `FROM`."""
    return word.lower() in function_words() and (len(word) == 1 or not word.isupper())
