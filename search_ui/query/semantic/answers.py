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

from text.folding import fold_term
from text.general_language import of_pages

MAX_QUOTES = 3
NEAREST = 10  # of each list that are looked at
LONGEST = 240  # characters of a quote; of a longer sentence its first clauses
SHORTEST = 6  # letters and digits: a shorter sentence says nothing by itself
MAX_BODY = 60_000  # characters in which a sentence is looked for
RAREST = 1e-3  # share of pages: a word that is rarer weighs no more

# A line ends a sentence but after a colon or a semicolon, as before and between the items of a list.
_SENTENCE = re.compile(
    r"(?:[^。！？!?.\n]|[.](?!\s|$)|(?<=[:：;；])[ \t\u3000]*\n)*(?:[。！？!?.]+[”’」』）)\"]*|(?=\n)|\Z)"
)
_CLAUSE_END = re.compile(r"[；;，,、：:]\s*|\s")
_MODELS = "answer_models.json"


@dataclass(frozen=True)
class Evidence:
    """What speaks for an answer among the first hits, each from 0 to 1: the cosine of what is nearest to the question,
    the mean of those of the first hits, how much nearer the nearest is than those behind it, the share of the
    question's words (by weight) in the hit that holds most, and the share of the hits that words and meaning both find.
    """

    nearest: float
    of_hits: float
    margin: float
    coverage: float
    agreement: float


@dataclass(frozen=True)
class Source:
    """A hit as answers see it."""

    doc_id: str
    title: str
    body: str


@dataclass(frozen=True)
class Quote:
    """The characters `start` to `end` of a body, which are `text`; `paragraph` is the number, from 1, of the line in
    which it stands, blank ones not counted."""

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


def word_weights(words: Sequence[str]) -> dict[str, float]:
    """How much each content word of a question says, by how rare it is in general language."""
    return {fold_term(word): -math.log(of_pages(word.lower()) + RAREST) for word in words}


def evidence(
    weights: Mapping[str, float], hits: Sequence[Source], by_words: Sequence[str], near: Sequence[tuple[str, float]]
) -> Evidence:
    """`hits` are the first ones of the page, `by_words` the ids that words find first, `near` the ids that are nearest
    by meaning with their cosines, nearest first. Neither `hits` nor `near` is empty.
    """
    cosines = [cosine for _, cosine in near]
    known, last = dict(near), cosines[-1]
    first = hits[:MAX_QUOTES]
    both = {*by_words[:NEAREST]} & {doc_id for doc_id, _ in near[:NEAREST]}
    return Evidence(
        nearest=cosines[0],
        of_hits=fmean(known.get(hit.doc_id, last) for hit in first),
        margin=cosines[0] - fmean(cosines[1:NEAREST] or cosines),
        coverage=max(_covered(weights, f"{hit.title}\n{hit.body[:MAX_BODY]}") for hit in first),
        agreement=sum(hit.doc_id in both for hit in first) / MAX_QUOTES,
    )


def _covered(weights: Mapping[str, float], text: str) -> float:
    folded = fold_term(text)
    return sum(weight for word, weight in weights.items() if word in folded) / (sum(weights.values()) or 1.0)


@dataclass(frozen=True)
class AnswerModel:
    """A logistic model: the weight of each part of the evidence, what is added, and from which confidence on an answer
    is shown."""

    weights: Mapping[str, float]
    bias: float
    shown_from: float


@cache
def answer_models() -> Mapping[str, AnswerModel]:
    """The models by the beginning of the id of the model of meaning whose cosines they were taught with."""
    told = json.loads((files(__package__) / _MODELS).read_text("utf-8"))
    return {name: AnswerModel(one["weights"], one["bias"], one["shown_from"]) for name, one in told["models"].items()}


def model_for(model_id: str) -> AnswerModel | None:
    """The model that fits the cosines of a model of meaning; None where none was taught."""
    return next((one for name, one in answer_models().items() if model_id.startswith(name)), None)


def confidence(found: Evidence, model: AnswerModel) -> float:
    """The probability that the quotes hold the answer."""
    total = model.bias + sum(model.weights[name] * value for name, value in asdict(found).items())
    return 1 / (1 + math.exp(-total))


def quotes(weights: Mapping[str, float], hits: Sequence[Source]) -> tuple[Quote, ...]:
    """One sentence of each of the first hits: that which holds most of the question. What two say alike stands once."""
    found: dict[str, Quote] = {}
    for hit in hits[:MAX_QUOTES]:
        if quote := _best_sentence(weights, hit):
            found.setdefault("".join(filter(str.isalnum, quote.text)), quote)
    return tuple(found.values())


def _best_sentence(weights: Mapping[str, float], hit: Source) -> Quote | None:
    body = hit.body[:MAX_BODY]
    held = ((_covered(weights, body[start:end]), -start, end) for start, end in sentences(body))
    best = max(held, default=None)
    if best is None:
        return None
    start, end = -best[1], best[2]
    return Quote(hit.doc_id, body[start:end], start, end, _paragraph(body, start))


def _paragraph(body: str, at: int) -> int:
    return sum(bool(line.strip()) for line in body[:at].split("\n")[:-1]) + 1


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where the sentences of a text begin and end, blanks around them left out; of a long one its first clauses."""
    for match in _SENTENCE.finditer(text):
        whole = match[0]
        start = match.start() + len(whole) - len(whole.lstrip())
        end = match.end() - (len(whole) - len(whole.rstrip()))
        if end - start > LONGEST:
            ends = [clause.end() for clause in _CLAUSE_END.finditer(text, start + SHORTEST, start + LONGEST)]
            end = start + len(text[start : ends[-1] if ends else start + LONGEST].rstrip())
        if sum(map(str.isalnum, text[start:end])) >= SHORTEST:
            yield start, end
