"""How much of a query a document holds. Its parts are its content words, each one part whatever its length. Pure.

A part is held where the document's text has the word, or a synonym of it, as a run of characters, whatever lexicon the
document was cut with; a glued word (`hp1010`) also where all of its pieces stand somewhere. As in `ranking`,
a reader's words are only ever values of parameters that fixed queries name.
"""

import re
from collections.abc import Sequence

from docstore import fields
from search_ui.query.clauses import EVERYTHING, Clause, FieldClause, Parameter, QueryVariant, Words
from search_ui.query.request import SearchRequest, Sort
from search_ui.query.texts import has_word
from search_ui.query.thesaurus import spellings_in
from text.glued import pieces

_PAIRS = f"{fields.TITLE} {fields.BODY}"  # a phrase of pairs costs a third of one of characters
_CHARACTERS = fields.BODY_CHARS  # of the title as well; knows characters alone and stop words
_IN_PAIRS = re.compile("[\u4e00-\u9fff]{2,}")


def needed(parts: int) -> int:
    """How many parts are enough: of two both, of up to six at least half, of more at least a third.

    docs/decisions/0082 has what other shares would do.
    """
    if parts <= 2:
        return parts
    return parts - parts // 2 if parts <= 6 else parts - parts * 66 // 100


def min_should_match(asked: SearchRequest, words: Words) -> Parameter:
    """The query `enough`, by which is counted: documents that hold a good share of what is asked for.

    Terms are OR-ed, so nearly every document matches a long query somehow, and a count of those says nothing. By date
    every word is required anyway.
    """
    if asked.sort is Sort.DATE or not asked.query.text:
        return Parameter("enough", EVERYTHING)
    parts = parts_of(words)
    if not parts:  # signs and pictures, which are found one by one
        signs = FieldClause(QueryVariant.TEXT, ((fields.TITLE_CHARS, 1.0), (fields.BODY_CHARS, 1.0)))
        return Parameter("enough", signs.query({signs.form: Parameter(signs.form, asked.query.text)}))
    return Parameter("enough", _holding(parts, needed(len(parts)), words))


def all_of_it(words: Words) -> Parameter:
    """The query `whole`: documents that hold every part, and every character that is left over."""
    parts = whole_of(words)
    return Parameter("whole", _holding(parts, len(parts), words))


def some_of_it(words: Words) -> Parameter:
    """The query `some`: documents that hold a part."""
    return Parameter("some", _holding(parts_of(words), 1, words))


def parts_of(words: Words) -> tuple[str, ...]:
    """The parts of a query that was cut into `words`; () if it is nothing but signs."""
    return tuple(word for word in words.get(QueryVariant.CONTENT, words[QueryVariant.DOMAIN]) if has_word(word))


def whole_of(words: Words) -> tuple[str, ...]:
    """The parts of a query, and after them the characters that are left over between its words."""
    return (*parts_of(words), *words.get(QueryVariant.LEFT_OVER, ()))


def _holding(parts: Sequence[str], least: int, words: Words) -> Clause:
    """Documents that hold so many of the parts; each is a query by itself, `held0` and so on."""
    synonyms = spellings_in(words.get(QueryVariant.SYNONYMS, ()))
    return Clause.boolean([_part(f"held{n}", word, synonyms(word)) for n, word in enumerate(parts)], least=least)


def _part(name: str, word: str, synonyms: Sequence[str]) -> Parameter:
    said = (word, *synonyms)
    looked_in = _PAIRS if all(map(_IN_PAIRS.fullmatch, said)) else _CHARACTERS
    run = Clause.phrases(looked_in, f"{name}_text", said, "OR")
    glued = pieces(word)
    if len(glued) < 2:
        return Parameter(name, run)
    apart = Clause.simple(_CHARACTERS, Parameter(f"{name}_glued", " ".join(glued)), "AND", "''")
    return Parameter(name, Clause.boolean([Parameter(f"{name}_run", run), Parameter(f"{name}_pieces", apart)]))
