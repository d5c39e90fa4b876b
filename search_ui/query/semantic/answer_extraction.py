"""Answers questions with quotations: up to three sentences of the first hits, quoted verbatim, or nothing.

    parse_question_terms(...)   the words and character pairs of a question
    find_quotes(...)            the best sentence of each of the first hits, with its confidence
    answer_from_hits(...)       the quotations that are shown above the hits

No text is generated. Below the confidence `SHOWN_FROM`, nothing is shown. The weights of the features are set by hand.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cached_property
from itertools import pairwise

from search_ui.query.display_text import paragraph_number
from search_ui.query.query_words import QueryWords, is_function_word
from search_ui.query.results import Hit, Quotation
from search_ui.query.semantic.answer_types import AnswerKind, ExpectedAnswer, expected_answer, is_question
from search_ui.query.semantic.hybrid import FusedCandidates
from search_ui.query.solr_client import SolrResponse, documents
from solr_client import solr_fields
from text.background_frequencies import page_share
from text.folding import fold_term

MAX_SOURCES, MAX_DEFINITION_SOURCES = 3, 10  # hits that are read; a definition is often not in the best ones
MAX_QUOTES = 3
MAX_EMBEDDED_SENTENCES = 5  # of all hits together, because each costs some milliseconds
MAX_QUOTE_CHARS = 200  # longer sentences in Chinese are cut after their first clauses
MAX_LATIN_QUOTE_CHARS = 600  # longer sentences in other languages are skipped
MIN_SENTENCE_CHARS = 6  # letters and digits; shorter sentences are skipped
MAX_BODY_CHARS = 60_000  # only this part of a body is searched
MAX_HEADING_CHARS = 60
MAX_ABBREVIATION_CHARS = 12
MIN_PAGE_SHARE = 1e-3  # share of pages below which words have the same weight
MIN_RELATION_WEIGHT = 0.5  # below it, the title contains the whole question
MIN_STEMMED_CHARS = 5  # shorter Latin words are compared as they are
STEM_SHARE = 0.9  # credit for a word with another ending
PAIRS_SHARE = 0.8  # credit for all character pairs of a word of three or more Chinese characters
MAX_GAP_CHARS = 15  # between neighbouring words of a question, in Chinese
MAX_LATIN_GAP_CHARS = 60
UNKNOWN_SHARE = 0.5  # value of a feature that does not apply to a question

# A line break ends a sentence, except after a colon or semicolon, as between the items of a list.
_SENTENCE_RE = re.compile(
    r"(?:[^。！？!?.\n]|[.](?!\s|$)|(?<=[:：;；])[ \t\u3000]*\n)*(?:[。！？!?.]+[”’」』）)\"]*|(?=\n)|\Z)"
)
# A full stop after an initial or one of these does not end a sentence, nor does one before a small letter.
_ABBREVIATION_RE = re.compile(
    r"(?:\b(?:[A-Z]|Mr|Mrs|Ms|Dr|St|Mt|Prof|Gen|Col|Capt|Lt|Sgt|Rev|Hon|Gov|Sen|Jr|Sr|vs|No|Nos|Fig|Figs|Eq|Eqs|Vol|Inc|Ltd"
    r"|Co|Corp|Bros|cf|al|approx|ca|e\.g|i\.e|Jan|Feb|Aug|Sept?|Oct|Nov|Dec)|(?:\b[A-Za-z]\.){1,9}[A-Za-z])\.$"
)
_CONTINUATION_RE = re.compile(r"[ \t]+[a-z(]")
_CLAUSE_END_RE = re.compile(r"[；;，,、：:]\s*|\s")
_SENTENCE_END_RE = re.compile(r"[。！？!?；;：:.…][”’」』）)\"]*$")
_NUMBERED_HEADING_RE = re.compile(
    r"第[零〇一二三四五六七八九十百千万\d]+[编章节条款部篇卷]|[一二三四五六七八九十]+、|\d+(?:\.\d+)+\s"
    r"|(?:chapter|section|part|appendix)\s+[\divxlc]+\b",
    re.IGNORECASE,
)
_HAN_RE = re.compile("[\u3400-\u9fff]")
_HAN_RUN_RE = re.compile("[\u3400-\u9fff]+")
_LATIN_WORD_RE = re.compile(r"[a-z0-9][a-z0-9.'-]*")
_LATIN_ENDING_RE = re.compile(r"(?:'s|ies|ing|ed|es|s|e|y)$")


@dataclass(frozen=True)
class QuoteEvidence:
    """The features of a sentence as the answer to a question, each from 0 to 1.

    Attributes:
        relation: Weighted share of the question's words, except those of the title, in the sentence.
        words: Weighted share of the question's words in the title or the sentence.
        pairs: Share of the question's character pairs (Latin: words) in the sentence. Those that occur in few sentences
            of the first hits weigh most.
        pairs_with_title: The same in the title or the sentence.
        proximity: Weighted share of neighbouring words of the question that are near each other in the sentence.
        is_typed: 1 if the question expects a certain kind of answer and the sentence contains one.
        sentence_cosine: Cosine of title and sentence to the question.
        document_cosine: Cosine of the document to the question.
    """

    relation: float
    words: float
    pairs: float
    pairs_with_title: float
    proximity: float
    is_typed: float
    sentence_cosine: float
    document_cosine: float


EVIDENCE_WEIGHTS = QuoteEvidence(
    relation=1.0,
    words=1.0,
    pairs=1.0,
    pairs_with_title=1.0,
    proximity=0.5,
    is_typed=0.3,
    sentence_cosine=3.0,
    document_cosine=1.5,
)
CONTRAST_WEIGHT = 0.5  # of the cosine of the sentence minus that of its document
MAX_CONTRAST = 0.1  # a long document is far from each of its sentences
LEAD_WEIGHT = 0.3  # of the difference to the next sentence of the same document
MIN_NEXT_CONFIDENCE = 0.5  # a less certain next sentence counts as this
SHOWN_FROM = 0.7  # confidence
ANSWER_MODELS = ("bge-small-zh-v1.5-q", "bge-small-en-v1.5-q")  # the weights hold for the cosines of these models


@dataclass(frozen=True)
class SourceText:
    """A hit as the source of quotations."""

    doc_id: str
    title: str
    body: str


@dataclass(frozen=True)
class SourceQuote:
    """A quotation: `text` is `body[start:end]`.

    `paragraph` is the number, from 1, of its non-blank line. `confidence` is from 0 to 1.
    """

    doc_id: str
    text: str
    start: int
    end: int
    paragraph: int
    confidence: float
    evidence: QuoteEvidence


@dataclass(frozen=True)
class QuestionTerms:
    """The folded `words` of a question with their weights, in question order, and its character pairs.

    Words that are rare in general language weigh most. `pairs` contains whole words for Latin script.
    """

    words: Mapping[str, float]
    pairs: tuple[str, ...]
    is_chinese: bool

    @cached_property
    def _stems(self) -> Mapping[str, re.Pattern[str]]:
        terms = (term for term in (*self.words, *self.pairs) if term.isascii() and term.isalpha())
        return {
            term: re.compile(rf"\b{_LATIN_ENDING_RE.sub('', term)}") for term in terms if len(term) >= MIN_STEMMED_CHARS
        }

    def contained_share(self, term: str, text: str) -> float:
        """Return how much of a term a folded text contains, 0 to 1; less than 1 for another ending or some pairs."""
        if term in text:
            return 1.0
        if stem := self._stems.get(term):
            return STEM_SHARE if stem.search(text) else 0.0
        if term.isascii() or len(term) < 3:
            return 0.0
        pairs = [term[n : n + 2] for n in range(len(term) - 1)]
        return PAIRS_SHARE * sum(pair in text for pair in pairs) / len(pairs)

    def find_offsets(self, word: str, text: str) -> list[int]:
        """Return the offsets of a word, also with another ending, in a folded text."""
        pattern = self._stems.get(word) or re.compile(re.escape(word))
        return [match.start() for match in pattern.finditer(text)]


def parse_question_terms(expected: ExpectedAnswer, text: str, content_words: Sequence[str]) -> QuestionTerms:
    """Return the terms of a question; only the defined term if it asks for a definition.

    Args:
        expected: The kind of answer that the question asks for.
        text: The question without its question words.
        content_words: Its content words.
    """
    folded_text = expected.term or fold_term(text)
    if expected.term:
        content_words = [expected.term]
    words = sorted({fold_term(word) for word in content_words}, key=lambda word: (folded_text.find(word), word))
    han_runs = [match[0] for match in _HAN_RUN_RE.finditer(folded_text)]
    pairs = [run[n : n + 2] for run in han_runs for n in range(max(1, len(run) - 1))]
    terms = (*pairs, *_LATIN_WORD_RE.findall(folded_text))
    return QuestionTerms(
        {word: -math.log(page_share(word) + MIN_PAGE_SHARE) for word in words},
        tuple(term for term in dict.fromkeys(terms) if not is_function_word(term)),
        bool(han_runs),
    )


CosineFunction = Callable[[Sequence[str]], Sequence[float]]
"""Returns the cosine of each text to the question."""


def find_quotes(
    terms: QuestionTerms,
    expected: ExpectedAnswer,
    hits: Sequence[SourceText],
    document_cosines: Mapping[str, float],
    sentence_cosines: CosineFunction,
) -> tuple[SourceQuote, ...]:
    """Return the best statement of each of the first hits that can be an answer, the most certain one first.

    Statements without an answer of the expected kind are left out, and repetitions. At most `MAX_QUOTES` are returned.

    Args:
        terms: The terms of the question.
        expected: The kind of answer that the question asks for.
        hits: The first hits, best first.
        document_cosines: Cosine to the question by document id. Documents that are not in it have the lowest of them.
        sentence_cosines: Called at most once, with at most `MAX_EMBEDDED_SENTENCES` texts.
    """
    statements = [statement for hit in hits for statement in _iter_statements(hit)]
    pair_weights = _local_weights(terms, statements)
    lowest_cosine = min(document_cosines.values(), default=0.0)
    candidates = []
    for statement in statements:
        has_term = any(term in statement.folded_text for term in terms.pairs)
        if has_term and expected.fits(statement.text, statement.source.title):
            evidence = replace(
                _lexical_evidence(terms, pair_weights, statement),
                is_typed=float(expected.kind is not AnswerKind.OTHER),
                document_cosine=max(0.0, document_cosines.get(statement.source.doc_id, lowest_cosine)),
            )
            candidates.append((evidence, statement))
    candidates.sort(key=lambda candidate: -answer_confidence(candidate[0]))
    candidates = candidates[:MAX_EMBEDDED_SENTENCES]
    if not candidates:
        return ()
    cosines = sentence_cosines([f"{statement.source.title}\n{statement.text}" for _, statement in candidates])
    quotes = [
        _to_quote(replace(evidence, sentence_cosine=max(0.0, cosine)), statement)
        for (evidence, statement), cosine in zip(candidates, cosines, strict=True)
    ]
    return _drop_repetitions(sorted(_select_best(quotes), key=lambda quote: -quote.confidence))[:MAX_QUOTES]


def find_source_ids(question: str, ids: Sequence[str], candidates: FusedCandidates | None) -> Sequence[str]:
    """Return those of the first hits `ids` that can be quoted as the answer; () if the text is no question."""
    if not candidates or not candidates.vector.model_id.startswith(ANSWER_MODELS) or not is_question(question):
        return ()
    is_definition = expected_answer(question).kind is AnswerKind.DEFINITION
    return ids[: MAX_DEFINITION_SOURCES if is_definition else MAX_SOURCES]


def answer_from_hits(
    words: QueryWords,
    candidates: FusedCandidates,
    hits: Sequence[Hit],
    details: SolrResponse,
    sentence_cosines: CosineFunction,
) -> tuple[Quotation, ...]:
    """Return quotations of the first `hits` that answer a question.

    Returns () if the text is no question or the confidence is too low. `details` is the response to `details_params`
    with bodies. `sentence_cosines` returns the cosines of texts to the question.
    """
    hit_by_id: Mapping[str, Hit] = {hit.doc_id: hit for hit in hits}
    source_ids = find_source_ids(words.typed, list(hit_by_id), candidates)
    if not source_ids or not candidates.neighbours:
        return ()
    expected = expected_answer(words.typed)
    quotes = find_quotes(
        parse_question_terms(expected, words.text, words.content),
        expected,
        _read_sources(details, source_ids),
        dict(candidates.neighbours),
        sentence_cosines,
    )
    return tuple(
        Quotation(
            quote.doc_id, quote.text, quote.paragraph, hit.plain_title, hit.site_name, hit.published, hit.language
        )
        for quote in quotes
        if quote.confidence >= SHOWN_FROM
        for hit in [hit_by_id[quote.doc_id]]
    )


def _read_sources(response: SolrResponse, ids: Sequence[str]) -> list[SourceText]:
    """Return the documents `ids` of a response with bodies, in this order."""
    document_by_id = {str(doc[solr_fields.ID]): doc for doc in documents(response)}
    id_and_document = ((doc_id, document_by_id[doc_id]) for doc_id in ids if doc_id in document_by_id)
    return [
        SourceText(doc_id, str(doc.get(solr_fields.TITLE, "")), str(doc.get(solr_fields.BODY, "")))
        for doc_id, doc in id_and_document
    ]


def answer_confidence(evidence: QuoteEvidence) -> float:
    """Return the weighted mean of the features, 0 to 1."""
    weights: Sequence[float] = astuple(EVIDENCE_WEIGHTS)
    values: Sequence[float] = astuple(evidence)
    return sum(weight * value for weight, value in zip(weights, values, strict=True)) / sum(weights)


def _contrast(evidence: QuoteEvidence) -> float:
    """Return how much nearer to the question the sentence is than its document; negative if it is further away.

    Near an answer, the subject of the question is that of the whole document. Only the answer is nearer than that.
    """
    return min(MAX_CONTRAST, evidence.sentence_cosine - evidence.document_cosine)


def _select_best(quotes: Sequence[SourceQuote]) -> Iterator[SourceQuote]:
    """Yield the best quote of each document. It is more certain if the next one is much worse."""
    for doc_id in dict.fromkeys(quote.doc_id for quote in quotes):
        document_quotes = sorted(
            (quote for quote in quotes if quote.doc_id == doc_id), key=lambda quote: -quote.confidence
        )
        next_confidence = max([MIN_NEXT_CONFIDENCE, *(quote.confidence for quote in document_quotes[1:2])])
        lead = document_quotes[0].confidence - next_confidence
        yield replace(document_quotes[0], confidence=min(1.0, document_quotes[0].confidence + LEAD_WEIGHT * lead))


def _drop_repetitions(quotes: Sequence[SourceQuote]) -> tuple[SourceQuote, ...]:
    quote_by_text: dict[str, SourceQuote] = {}
    for quote in quotes:
        quote_by_text.setdefault("".join(filter(str.isalnum, quote.text)), quote)
    return tuple(quote_by_text.values())


@dataclass(frozen=True)
class _Statement:
    """A sentence that can be quoted."""

    source: SourceText
    start: int
    end: int
    folded_text: str

    @property
    def text(self) -> str:
        return self.source.body[self.start : self.end]


def _iter_statements(hit: SourceText) -> Iterator[_Statement]:
    body = hit.body[:MAX_BODY_CHARS]
    folded_body = fold_term(body)  # keeps the length
    for start, end in iter_sentence_spans(body):
        if _is_statement(body[start:end], hit.title) and not _is_heading(body, start, end):
            yield _Statement(hit, start, end, folded_body[start:end])


def _local_weights(terms: QuestionTerms, statements: Sequence[_Statement]) -> Mapping[str, float]:
    """Return a weight for each pair: the fewer statements contain it, the higher."""
    counts = {
        pair: sum(terms.contained_share(pair, statement.folded_text) > 0 for statement in statements)
        for pair in terms.pairs
    }
    return {pair: math.log(1 + len(statements) / (0.5 + count)) for pair, count in counts.items()}


def _lexical_evidence(terms: QuestionTerms, pair_weights: Mapping[str, float], statement: _Statement) -> QuoteEvidence:
    """Return the features of a statement that its words determine; the others are 0."""
    title, text = fold_term(statement.source.title), statement.folded_text
    in_title = {term: terms.contained_share(term, title) for term in (*terms.words, *terms.pairs)}
    in_text = {term: terms.contained_share(term, text) for term in (*terms.words, *terms.pairs)}
    in_either = {term: max(share, in_text[term]) for term, share in in_title.items()}
    relation_weights = {word: weight * (1 - in_title[word]) for word, weight in terms.words.items()}
    has_relation = sum(relation_weights.values()) > MIN_RELATION_WEIGHT
    return QuoteEvidence(
        relation=_weighted_share(relation_weights, in_text) if has_relation else UNKNOWN_SHARE,
        words=_weighted_share(terms.words, in_either),
        pairs=_weighted_share(pair_weights, in_text),
        pairs_with_title=_weighted_share(pair_weights, in_either),
        proximity=_proximity(terms, text),
        is_typed=0.0,
        sentence_cosine=0.0,
        document_cosine=0.0,
    )


def _proximity(terms: QuestionTerms, text: str) -> float:
    max_gap = MAX_GAP_CHARS if terms.is_chinese else MAX_LATIN_GAP_CHARS
    words = list(terms.words)
    offsets = {word: terms.find_offsets(word, text) for word in words}
    neighbours = list(pairwise(words))
    weights = {first: min(terms.words[first], terms.words[second]) for first, second in neighbours}
    is_near = {
        first: float(any(abs(a - b) <= max_gap for a in offsets[first] for b in offsets[second]))
        for first, second in neighbours
    }
    return _weighted_share(weights, is_near)


def _weighted_share(weights: Mapping[str, float], shares: Mapping[str, float]) -> float:
    total = sum(weights.values())
    return sum(weight * shares[term] for term, weight in weights.items()) / total if total > 0 else UNKNOWN_SHARE


def _to_quote(evidence: QuoteEvidence, statement: _Statement) -> SourceQuote:
    return SourceQuote(
        statement.source.doc_id,
        statement.text,
        statement.start,
        statement.end,
        paragraph_number(statement.source.body, statement.start),
        max(0.0, min(1.0, answer_confidence(evidence) + CONTRAST_WEIGHT * _contrast(evidence))),
        evidence,
    )


def _is_statement(sentence: str, title: str) -> bool:
    """Return False for a question, and for a heading that repeats the title."""
    is_question = sentence.rstrip('”’」』）)"').endswith(("?", "？"))
    return not is_question and list(filter(str.isalnum, sentence)) != list(filter(str.isalnum, title))


def _is_heading(body: str, start: int, end: int) -> bool:
    """Return True if the sentence is the heading of a chapter or section.

    A heading is a short line without a punctuation mark at its end. It has a number (`第三章`, `2.1`), or a line with
    such a mark follows. Lines of a list are no headings.
    """
    sentence, line_start = body[start:end], body.rfind("\n", 0, start) + 1
    line, _, further_text = body[line_start:].partition("\n")
    if line.strip() != sentence or len(sentence) > MAX_HEADING_CHARS or _SENTENCE_END_RE.search(sentence):
        return False
    next_line = further_text.lstrip().partition("\n")[0].rstrip()
    return bool(_NUMBERED_HEADING_RE.match(sentence) or _SENTENCE_END_RE.search(next_line))


def iter_sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each sentence without surrounding spaces.

    Long sentences in Chinese are cut after a clause. Long sentences in other languages are skipped.
    """
    next_start = 0
    for match in _SENTENCE_RE.finditer(text):
        if _continues(text, next_start, match.end()):
            continue
        sentence = text[next_start : match.end()]
        start = next_start + len(sentence) - len(sentence.lstrip())
        end = match.end() - (len(sentence) - len(sentence.rstrip()))
        next_start = match.end()
        if end - start > MAX_QUOTE_CHARS and (_HAN_RE.search(text, start, start + MAX_QUOTE_CHARS)):
            ends = [
                clause.end()
                for clause in _CLAUSE_END_RE.finditer(text, start + MIN_SENTENCE_CHARS, start + MAX_QUOTE_CHARS)
            ]
            end = start + len(text[start : ends[-1] if ends else start + MAX_QUOTE_CHARS].rstrip())
        if end - start <= MAX_LATIN_QUOTE_CHARS and sum(map(str.isalnum, text[start:end])) >= MIN_SENTENCE_CHARS:
            yield start, end


def _continues(text: str, start: int, end: int) -> bool:
    """Return True if the punctuation mark before `end` is inside the sentence that begins at `start`."""
    if text[end - 1 : end] == "." and (
        _CONTINUATION_RE.match(text, end)
        or (_ABBREVIATION_RE.search(text, max(start, end - MAX_ABBREVIATION_CHARS), end) and text[end : end + 1] == " ")
    ):
        return True
    # The mark belongs to a title: 《激斗忍者大战！2》.
    title_start = text.rfind("《", max(start, end - MAX_HEADING_CHARS), end)
    return title_start > text.rfind("》", start, end) and "》" in text[end : end + MAX_HEADING_CHARS].partition("\n")[0]
