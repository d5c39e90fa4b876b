"""Answers questions with quotations: up to three sentences of the first hits, quoted verbatim, or nothing.

    collect_evidence(...)     features of the first hits: how close they are, how much of the question they contain
    answer_confidence(...)    the probability of an answer by a logistic model (answer_models.json has its training
        data)
    extract_quotes(...)       one sentence of each of the first hits

No text is generated. Below the model's threshold `shown_from`, nothing is shown.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from statistics import fmean

from text.background_frequencies import page_share
from text.folding import fold_term

MAX_QUOTES = 3
NEAREST_EXAMINED = 10  # of each list
MAX_QUOTE_CHARS = 240  # longer sentences are cut after their first clauses
MIN_SENTENCE_CHARS = 6  # letters and digits; shorter sentences are skipped
MAX_BODY_CHARS = 60_000  # only this part of a body is searched
MAX_HEADING_CHARS = 60
MIN_PAGE_SHARE = 1e-3  # share of pages below which words have the same weight

# A line break ends a sentence, except after a colon or semicolon, as between the items of a list.
_SENTENCE_RE = re.compile(
    r"(?:[^。！？!?.\n]|[.](?!\s|$)|(?<=[:：;；])[ \t\u3000]*\n)*(?:[。！？!?.]+[”’」』）)\"]*|(?=\n)|\Z)"
)
_CLAUSE_END_RE = re.compile(r"[；;，,、：:]\s*|\s")
_SENTENCE_END_RE = re.compile(r"[。！？!?；;：:.…][”’」』）)\"]*$")
_NUMBERED_HEADING_RE = re.compile(
    r"第[零〇一二三四五六七八九十百千万\d]+[编章节条款部篇卷]|[一二三四五六七八九十]+、|\d+(?:\.\d+)+\s"
    r"|(?:chapter|section|part|appendix)\s+[\divxlc]+\b",
    re.IGNORECASE,
)
_MODELS_FILE = "answer_models.json"


@dataclass(frozen=True)
class AnswerEvidence:
    """The features of the answer model, each from 0 to 1.

    Attributes:
        nearest: Highest cosine to the question.
        of_hits: Mean cosine of the first hits.
        margin: Highest cosine minus the mean of the following neighbours.
        coverage: Weighted share of the question's words in the hit that contains most of them.
        agreement: Share of the first hits that are found both lexically and semantically.
    """

    nearest: float
    of_hits: float
    margin: float
    coverage: float
    agreement: float


@dataclass(frozen=True)
class SourceText:
    """A hit as the source of quotations."""

    doc_id: str
    title: str
    body: str


@dataclass(frozen=True)
class SourceQuote:
    """A quotation: `text` is `body[start:end]`.

    `paragraph` is the number, from 1, of its non-blank line.
    """

    doc_id: str
    text: str
    start: int
    end: int
    paragraph: int


@dataclass(frozen=True)
class Quotation:
    """A quotation with the title, site, publication date and language ("": unknown) of its article."""

    doc_id: str
    text: str
    paragraph: int
    title: str
    site_name: str
    published: str
    language: str = ""


def rarity_weights(words: Sequence[str]) -> dict[str, float]:
    """Return the weight of each content word of a question: the rarer in general language, the higher."""
    return {fold_term(word): -math.log(page_share(word.lower()) + MIN_PAGE_SHARE) for word in words}


def collect_evidence(
    weights: Mapping[str, float],
    hits: Sequence[SourceText],
    lexical_ids: Sequence[str],
    neighbours: Sequence[tuple[str, float]],
) -> AnswerEvidence:
    """Compute the features of the first hits.

    Args:
        weights: Weight by word of the question.
        hits: The first hits of the page. Not empty.
        lexical_ids: Ids in the order of the lexical ranking.
        neighbours: Ids and cosines of the nearest neighbours, nearest first. Not empty.
    """
    cosines = [cosine for _, cosine in neighbours]
    cosine_by_id, lowest_cosine = dict(neighbours), cosines[-1]
    first_hits = hits[:MAX_QUOTES]
    ids_in_both = {*lexical_ids[:NEAREST_EXAMINED]} & {doc_id for doc_id, _ in neighbours[:NEAREST_EXAMINED]}
    return AnswerEvidence(
        nearest=cosines[0],
        of_hits=fmean(cosine_by_id.get(hit.doc_id, lowest_cosine) for hit in first_hits),
        margin=cosines[0] - fmean(cosines[1:NEAREST_EXAMINED] or cosines),
        coverage=max(_covered_share(weights, f"{hit.title}\n{hit.body[:MAX_BODY_CHARS]}") for hit in first_hits),
        agreement=sum(hit.doc_id in ids_in_both for hit in first_hits) / MAX_QUOTES,
    )


def _covered_share(weights: Mapping[str, float], text: str) -> float:
    folded_text = fold_term(text)
    return sum(weight for word, weight in weights.items() if word in folded_text) / (sum(weights.values()) or 1.0)


@dataclass(frozen=True)
class AnswerModel:
    """A logistic model: weights by feature, bias, and the confidence from which an answer is shown."""

    weights: Mapping[str, float]
    bias: float
    shown_from: float


@cache
def load_answer_models() -> Mapping[str, AnswerModel]:
    """Return the answer models by the prefix of the embedding model id that they were trained for."""
    document = json.loads((files(__package__) / _MODELS_FILE).read_text("utf-8"))
    return {
        name: AnswerModel(values["weights"], values["bias"], values["shown_from"])
        for name, values in document["models"].items()
    }


def find_answer_model(model_id: str) -> AnswerModel | None:
    """Return the answer model for an embedding model; None if none was trained."""
    return next((model for name, model in load_answer_models().items() if model_id.startswith(name)), None)


def answer_confidence(evidence: AnswerEvidence, model: AnswerModel) -> float:
    """Return the probability that the quotations contain the answer."""
    total = model.bias + sum(model.weights[name] * value for name, value in asdict(evidence).items())
    return 1 / (1 + math.exp(-total))


def extract_quotes(weights: Mapping[str, float], hits: Sequence[SourceText]) -> tuple[SourceQuote, ...]:
    """Return one statement of each of the first hits, the one that covers most of the question, without repetitions."""
    quote_by_text: dict[str, SourceQuote] = {}
    for hit in hits[:MAX_QUOTES]:
        if quote := _find_best_sentence(weights, hit):
            quote_by_text.setdefault("".join(filter(str.isalnum, quote.text)), quote)
    return tuple(quote_by_text.values())


def _find_best_sentence(weights: Mapping[str, float], hit: SourceText) -> SourceQuote | None:
    body = hit.body[:MAX_BODY_CHARS]
    statements = (
        (start, end)
        for start, end in iter_sentence_spans(body)
        if _is_statement(body[start:end], hit.title) and not _is_heading(body, start, end)
    )
    scored_spans = ((_covered_share(weights, body[start:end]), -start, end) for start, end in statements)
    best = max(scored_spans, default=None)
    if best is None:
        return None
    start, end = -best[1], best[2]
    return SourceQuote(hit.doc_id, body[start:end], start, end, paragraph_number(body, start))


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


def paragraph_number(body: str, offset: int) -> int:
    """Return the number, from 1, of the paragraph that contains the offset. Blank paragraphs are not counted."""
    return sum(bool(line.strip()) for line in body[:offset].split("\n")[:-1]) + 1


def iter_sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each sentence without surrounding spaces. Long sentences are cut after a clause."""
    for match in _SENTENCE_RE.finditer(text):
        sentence = match[0]
        start = match.start() + len(sentence) - len(sentence.lstrip())
        end = match.end() - (len(sentence) - len(sentence.rstrip()))
        if end - start > MAX_QUOTE_CHARS:
            ends = [
                clause.end()
                for clause in _CLAUSE_END_RE.finditer(text, start + MIN_SENTENCE_CHARS, start + MAX_QUOTE_CHARS)
            ]
            end = start + len(text[start : ends[-1] if ends else start + MAX_QUOTE_CHARS].rstrip())
        if sum(map(str.isalnum, text[start:end])) >= MIN_SENTENCE_CHARS:
            yield start, end
