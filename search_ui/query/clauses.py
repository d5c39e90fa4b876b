"""What questions to Solr are made of: parameters, the forms of a query, and clauses that point at them.

A reader's words are only ever *values* of parameters (`text`, `domain_words`, ...), which fixed queries name as
`v=$text`. Those queries use Solr's `simple` parser with every operator switched off, or all but quotation marks, which
are then ours; and macros (`${...}`) are switched off. So no input can name a field, a function or a parser.
"""

from dataclasses import dataclass
from enum import StrEnum

Params = list[tuple[str, str]]

FIXED: Params = [("expandMacros", "false"), ("wt", "json"), ("echoParams", "none")]


class QueryVariant(StrEnum):
    """The forms in which a query is sent; the value is the name of the Solr parameter that carries it."""

    TEXT = "text"  # as it was typed: Solr cuts it into bigrams or characters
    PIECES = "pieces"  # what is glued in it, taken apart (`hp1010`: `hp`, `1010`); made here, not handed in
    NUMBERS = "numbers"  # the numbers in it, which tell one of a series from the next; made here, not handed in
    TITLE_KEY = "title_key"  # its letters and digits alone, as the index has those of titles; made here, not handed in
    TITLE_AS_IS = "title_as_is"  # the same with its case and signs; made here, not handed in
    DOMAIN = "domain_words"  # words by the published lexicon, joined like those of the documents
    CONTENT = "content_words"  # those of them that say what it is about; documents are counted by these, never ranked
    LEFT_OVER = "left_over"  # characters between those; what holds them too comes earlier, and that is all
    BASE = "base_words"  # words by the base dictionary
    OLDER = "older_words"  # words by older lexicon versions, while some documents are cut by those; sent with DOMAIN's
    FRESH = "fresh_words"  # those of DOMAIN's words that older versions cut otherwise, for as long; sent as phrases
    CUT_ANEW = "words_cut_anew"  # the same, joined like DOMAIN's; made here, not handed in
    TERMS = "term_words"  # those of DOMAIN's words that the base dictionary does not have; made here, not handed in
    SYNONYMS = "synonyms"  # each a term of the query joined with its synonyms; only these are sent, as phrases
    WORKS = "works"  # ids of works whose parts answer the query, each with a weight (`works_in`); from Solr, not typed


@dataclass(frozen=True)
class FieldClause:
    """One summand of the score: a form of the query against some fields, each with its weight."""

    form: QueryVariant
    weights: tuple[tuple[str, float], ...]

    def query(self) -> str:
        """Solr's query for this clause. The reader's text stays behind `$`."""
        listed = " ".join(f"{name}^{weight:g}" for name, weight in self.weights)
        return f"{{!simple qf='{listed}' q.op=OR q.operators='' v=${self.form}}}"


def run_of_characters(looked_in: str, name: str) -> str:
    """The query for the phrase in parameter `name`; unlike `field`, `simple` makes one even of a text without token."""
    return f"{{!simple qf='{looked_in}' q.operators=phrase v=${name}}}"


def as_phrase(text: str) -> str:
    """`text` as the one phrase of its parameter. A quotation mark is the only sign that could end it."""
    return '"' + text.replace('"', " ") + '"'
