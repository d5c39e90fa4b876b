"""How much of a query a document holds. Its parts are its content words, each one part whatever its length. Pure.

A part is held where the document's text has the word, or a synonym of it, as a run of characters, whatever lexicon the
document was cut with; a glued word (`hp1010`) also where all of its pieces stand somewhere. As in `ranking`,
a reader's words are only ever values of parameters that fixed queries name.
"""

import re
from collections.abc import Mapping, Sequence

from docstore import fields
from search_ui.query.clauses import FieldClause, Params, QueryVariant, as_phrase
from search_ui.query.request import SearchRequest, Sort
from search_ui.query.texts import has_word
from search_ui.query.thesaurus import spellings_in
from text.glued import pieces

_PAIRS = f"{fields.TITLE} {fields.BODY}"  # a phrase of pairs costs a third of one of characters
_CHARACTERS = fields.BODY_CHARS  # of the title as well; knows characters alone and stop words
_IN_PAIRS = re.compile("[\u4e00-\u9fff]{2,}")


def needed(parts: int) -> int:
    """How many parts are enough: of two both, of up to six at least half, of more at least a third.

    docs/decisions.md has what other shares would do.
    """
    if parts <= 2:
        return parts
    return parts - parts // 2 if parts <= 6 else parts - parts * 66 // 100


def min_should_match(asked: SearchRequest, words: Mapping[QueryVariant, Sequence[str]], prefix: str = "") -> Params:
    """The query `<prefix>enough`, by which is counted: documents that hold a good share of what is asked for.

    Terms are OR-ed, so nearly every document matches a long query somehow, and a count of those says nothing. By date
    every word is required anyway.
    """
    name = f"{prefix}enough"
    if asked.sort is Sort.DATE or not asked.query.text:
        return [(name, "*:*")]
    parts = parts_of(words)
    if not parts:  # signs and pictures, which are found one by one
        signs = FieldClause(QueryVariant.TEXT, ((fields.TITLE_CHARS, 1.0), (fields.BODY_CHARS, 1.0))).query()
        return [(name, signs.replace("$", f"${prefix}")), (f"{prefix}{QueryVariant.TEXT}", asked.query.text)]
    return [(name, _of_parts(len(parts), needed(len(parts)), prefix)), *_parts(parts, words, prefix)]


def all_of_it(words: Mapping[QueryVariant, Sequence[str]], prefix: str = "") -> Params:
    """The query `<prefix>whole`: documents that hold every part, and every character that is left over."""
    parts = whole_of(words)
    return [(f"{prefix}whole", _of_parts(len(parts), len(parts), prefix)), *_parts(parts, words, prefix)]


def some_of_it(words: Mapping[QueryVariant, Sequence[str]]) -> Params:
    """The query `some`: documents that hold a part."""
    parts = parts_of(words)
    return [("some", _of_parts(len(parts), 1, "")), *_parts(parts, words, "")]


def parts_of(words: Mapping[QueryVariant, Sequence[str]]) -> tuple[str, ...]:
    """The parts of a query that was cut into `words`; () if it is nothing but signs."""
    return tuple(word for word in words.get(QueryVariant.CONTENT, words[QueryVariant.DOMAIN]) if has_word(word))


def whole_of(words: Mapping[QueryVariant, Sequence[str]]) -> tuple[str, ...]:
    """The parts of a query, and after them the characters that are left over between its words."""
    return (*parts_of(words), *words.get(QueryVariant.LEFT_OVER, ()))


def _of_parts(parts: int, least: int, prefix: str) -> str:
    return f"{{!bool mm={least}" + "".join(f" should=${prefix}held{n}" for n in range(parts)) + "}"


def _parts(parts: Sequence[str], words: Mapping[QueryVariant, Sequence[str]], prefix: str) -> Params:
    """The queries `<prefix>held0` and so on, one a part."""
    synonyms = spellings_in(words.get(QueryVariant.SYNONYMS, ()))
    return [pair for n, word in enumerate(parts) for pair in _part(f"{prefix}held{n}", word, synonyms(word))]


def _part(name: str, word: str, synonyms: Sequence[str]) -> Params:
    said = (word, *synonyms)
    looked_in = _PAIRS if all(map(_IN_PAIRS.fullmatch, said)) else _CHARACTERS
    run = f"{{!simple qf='{looked_in}' q.op=OR q.operators=phrase v=${name}_text}}"
    text = (f"{name}_text", " ".join(map(as_phrase, said)))
    glued = pieces(word)
    if len(glued) < 2:
        return [(name, run), text]
    return [
        (name, f"{{!bool should=${name}_run should=${name}_pieces}}"), (f"{name}_run", run), text,
        (f"{name}_pieces", f"{{!simple qf='{_CHARACTERS}' q.op=AND q.operators='' v=${name}_glued}}"),
        (f"{name}_glued", " ".join(glued)),
    ]  # fmt: skip
