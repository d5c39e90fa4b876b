"""An answer in the words of those who know: at most three sentences of the best hits, as they stand there, or nothing.

    evidence(...)     what speaks for an answer among the hits: how near they are, how much of the question they hold
    confidence(...)   the probability that it is, by a logistic model (answer_models.json says what it was taught with)
    quotes(...)       a sentence of each of the first hits, an exact piece of its text

Nothing is generated. Where the confidence is below that of the model's `shown_from`, nothing is shown. Pure.
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
NEAREST_EXAMINED = 10  # of each list that are looked at
MAX_QUOTE_CHARS = 240  # characters of a quote; of a longer sentence its first clauses
MIN_SENTENCE_CHARS = 6  # letters and digits: a shorter sentence says nothing by itself
MAX_BODY_CHARS = 60_000  # characters in which a sentence is looked for
MIN_PAGE_SHARE = 1e-3  # share of pages: a word that is rarer weighs no more

# A line ends a sentence but after a colon or a semicolon, as before and between the items of a list.
_SENTENCE_RE = re.compile(
    r"(?:[^。！？!?.\n]|[.](?!\s|$)|(?<=[:：;；])[ \t\u3000]*\n)*(?:[。！？!?.]+[”’」』）)\"]*|(?=\n)|\Z)"
)
_CLAUSE_END_RE = re.compile(r"[；;，,、：:]\s*|\s")
_MODELS_FILE = "answer_models.json"


@dataclass(frozen=True)
class AnswerEvidence:
    """What speaks for an answer among the first hits, each from 0 to 1.

    The cosine of what is nearest to the question, the mean of those of the first hits, how much nearer the nearest is
    than those behind it, the share of the question's words (by weight) in the hit that holds most, and the share of the
    hits that words and meaning both find.
    """

    nearest: float
    of_hits: float
    margin: float
    coverage: float
    agreement: float


@dataclass(frozen=True)
class SourceText:
    """A hit as answers see it."""

    doc_id: str
    title: str
    body: str


@dataclass(frozen=True)
class SourceQuote:
    """The characters `start` to `end` of a body, which are `text`.

    `paragraph` is the number, from 1, of the line in which it stands, blank ones not counted.
    """

    doc_id: str
    text: str
    start: int
    end: int
    paragraph: int


@dataclass(frozen=True)
class Quotation:
    """A quote as a page shows it, with the article that it stands in: its title, site and date ("": not stated)."""

    doc_id: str
    text: str
    paragraph: int
    title: str
    site_name: str
    published: str


def rarity_weights(words: Sequence[str]) -> dict[str, float]:
    """How much each content word of a question says, by how rare it is in general language."""
    return {fold_term(word): -math.log(page_share(word.lower()) + MIN_PAGE_SHARE) for word in words}


def collect_evidence(
    weights: Mapping[str, float],
    hits: Sequence[SourceText],
    lexical_ids: Sequence[str],
    neighbours: Sequence[tuple[str, float]],
) -> AnswerEvidence:
    """`hits` are the first ones of the page, `lexical_ids` the ids that words find first, `neighbours` the ids that are nearest
    by meaning with their cosines, nearest first. Neither `hits` nor `neighbours` is empty.
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
    """A logistic model: the weight of each part of the evidence, what is added, and from which confidence on an answer
    is shown.
    """

    weights: Mapping[str, float]
    bias: float
    shown_from: float


@cache
def load_answer_models() -> Mapping[str, AnswerModel]:
    """The models by the beginning of the id of the model of meaning whose cosines they were taught with."""
    document = json.loads((files(__package__) / _MODELS_FILE).read_text("utf-8"))
    return {
        name: AnswerModel(values["weights"], values["bias"], values["shown_from"])
        for name, values in document["models"].items()
    }


def find_answer_model(model_id: str) -> AnswerModel | None:
    """The model that fits the cosines of a model of meaning; None where none was taught."""
    return next((model for name, model in load_answer_models().items() if model_id.startswith(name)), None)


def answer_confidence(evidence: AnswerEvidence, model: AnswerModel) -> float:
    """The probability that the quotes hold the answer."""
    total = model.bias + sum(model.weights[name] * value for name, value in asdict(evidence).items())
    return 1 / (1 + math.exp(-total))


def extract_quotes(weights: Mapping[str, float], hits: Sequence[SourceText]) -> tuple[SourceQuote, ...]:
    """One sentence of each of the first hits: that which holds most of the question. What two say alike stands once."""
    quote_by_text: dict[str, SourceQuote] = {}
    for hit in hits[:MAX_QUOTES]:
        if quote := _best_sentence_of(weights, hit):
            quote_by_text.setdefault("".join(filter(str.isalnum, quote.text)), quote)
    return tuple(quote_by_text.values())


def _best_sentence_of(weights: Mapping[str, float], hit: SourceText) -> SourceQuote | None:
    body = hit.body[:MAX_BODY_CHARS]
    scored_spans = ((_covered_share(weights, body[start:end]), -start, end) for start, end in iter_sentence_spans(body))
    best = max(scored_spans, default=None)
    if best is None:
        return None
    start, end = -best[1], best[2]
    return SourceQuote(hit.doc_id, body[start:end], start, end, _paragraph_number(body, start))


def _paragraph_number(body: str, offset: int) -> int:
    return sum(bool(line.strip()) for line in body[:offset].split("\n")[:-1]) + 1


def iter_sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where the sentences of a text begin and end, blanks around them left out; of a long one its first clauses."""
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
