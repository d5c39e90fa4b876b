"""The sets `answers` (Chinese) and `answers_en`: questions answered by a quotation or not at all; and `related`.

Data: folders of `answers` in the data folder, each with documents (paragraphs), questions, and per question the
accepted answers and the sentence that holds them. The article of some questions is not in the collection.

    precision_at_half       share of correct quotations among the most certain answers to half of the answerable
                            questions
    near_precision_at_half  the same if each question is also searched without its answer sentence, where every
                            quotation is wrong
    auroc                   separation of questions with and without their article, by confidence
    shown, precision        answerable questions with a shown answer, and the correct share of these
    shown_to_others         share of the questions without their article that are shown an answer
    near_shown              share of the questions without their answer sentence that are shown an answer
    verbatim                share of quotations that occur literally in their document
    answer_ms               median milliseconds to select the quotations of a question, without the search

Articles are split in two halves by a hash; the weights were chosen on half 0. `held_` precedes figures of half 1.

`related`, on zh_statute: `mrr10` of documents that answer one question, each searched from another: hybrid, and by
keywords only. The cases of a set go to benchmarks/out/SET_cases.jsonl.
"""

import gzip
import hashlib
import json
import re
import statistics
import time
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.results import Figure, out_folder
from benchmarks.search_data import Collection, Document
from benchmarks.search_meaning import WithMeaning
from benchmarks.search_systems import OURS, WORDS
from domain.term import Lexicon
from search_ui.query.semantic.answer_extraction import (
    SHOWN_FROM,
    CosineFunction,
    QuestionTerms,
    SourceQuote,
    SourceText,
    find_quotes,
    parse_question_terms,
)
from search_ui.query.semantic.answer_types import AnswerKind, ExpectedAnswer, expected_answer, is_question
from search_ui.query.semantic.hybrid import QueryVector
from text.embedding.embedder import Vectors

ANSWERS, ANSWERS_EN, RELATED = "answers", "answers_en", "related"
RELATED_COLLECTION = "zh_statute"
FOLDERS = {ANSWERS: ("drcd", "cmrc"), ANSWERS_EN: ("xquad_en",)}
PLACES = 10
MAX_CHARS, MAX_LATIN_CHARS = 200, 600  # a longer quotation is no answer
ANY_ANSWER = ExpectedAnswer(AnswerKind.OTHER)


@dataclass(frozen=True)
class Question:
    """A question with its accepted answers and the sentence of the document that holds them; all empty if it has none.

    `half` is 0 or 1, equal for all questions of an article.
    """

    id: str
    text: str
    answers: Sequence[str]
    document: str
    sentence: str
    half: int


@dataclass(frozen=True)
class Case:
    """The result of a question.

    `near_quote` is the quotation without the answer sentence; `has_near` is False if the rest of the paragraph holds an
    answer too. `certainty` is the confidence of the best sentence, whatever its kind.
    """

    question: Question
    quote: SourceQuote | None
    certainty: float
    has_near: bool
    near_quote: SourceQuote | None
    is_verbatim: bool
    seconds: float

    @property
    def is_correct(self) -> bool:
        """Return True if the quotation holds an accepted answer."""
        return self.quote is not None and holds_answer(self.quote.text, self.question.answers)


def answer_figures(url: str, data: Path, collections: Sequence[Collection], wanted: Sequence[str]) -> Iterator[Figure]:
    """Yield the figures of the `wanted` sets whose data are available."""
    for name in wanted:
        if name == RELATED:
            for own in (one for one in collections if one.name == RELATED_COLLECTION):
                yield from related_figures(url, own)
        else:
            folders = [data / "answers" / folder for folder in FOLDERS[name]]
            cases = [case for folder in folders if folder.is_dir() for case in run_questions(url, folder)]
            if cases:
                write_cases(name, cases)
                yield from set_figures(name, cases)


def run_questions(url: str, folder: Path) -> Iterator[Case]:
    """Index the documents of a folder and yield the result of each of its questions."""
    documents = {
        row["id"]: Document(row["id"], row["title"].replace("_", " "), row["text"])
        for row in read_rows(folder / "docs.jsonl.gz")
    }
    system = WithMeaning(url, f"answers_{folder.name}", Lexicon())
    vectors: dict[str, Vectors] = {}
    try:
        system.load(list(documents.values()))
        for question in load_questions(folder, documents):
            if is_question(question.text):
                yield run_question(system, documents, question, vectors)
    finally:
        system.drop()


def load_questions(folder: Path, documents: Mapping[str, Document]) -> list[Question]:
    """Load the questions of a folder with their accepted answers."""
    gold = {row["id"]: row for row in read_rows(folder / "gold.jsonl.gz")}
    questions = []
    for row in read_rows(folder / "questions.jsonl.gz"):
        told = gold[row["id"]]
        article = documents[told["doc"]].title if told["answerable"] else re.sub(r"[-_](?:QUERY_)?\d+$", "", row["id"])
        half = int(hashlib.sha256(f"{folder.name} {article}".encode()).hexdigest(), 16) % 2
        questions.append(
            Question(row["id"], row["question"], told["answers"], told["doc"] or "", told["sentence"] or "", half)
        )
    return questions


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a compressed file of JSON lines."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def run_question(
    system: WithMeaning,
    documents: Mapping[str, Document],
    question: Question,
    vectors: dict[str, Vectors],
) -> Case:
    """Search a question and select quotations, with and without the answer sentence.

    `vectors` keeps the vectors of sentences that several questions have in common. The timed selection does not use it.
    """
    plan = system.understood(question.text)
    both = system.both(plan)
    assert both is not None, "the vectors are there"
    ids = [system.named(doc_id) for doc_id in system.listed(both.page_response(0))]
    sources = [SourceText(name, documents[name].title, documents[name].text) for name in ids[:PLACES]]
    text = plan.words.typed
    expected = expected_answer(text)
    select = partial(
        _best_quote,
        parse_question_terms(expected, plan.words.text, plan.words.content),
        document_cosines={system.named(doc_id): cosine for doc_id, cosine in both.neighbours},
    )
    started = time.perf_counter()
    quote = select(expected, sources, sentence_cosines=partial(system.text_cosines, both.vector))
    seconds = time.perf_counter() - started
    select = partial(select, sentence_cosines=partial(_known_cosines, system, both.vector, vectors))
    best = select(ANY_ANSWER, sources)
    rest = documents[question.document].text.replace(question.sentence, "") if question.document else ""
    has_near = bool(question.sentence) and not holds_answer(rest, question.answers, max_chars=len(rest))
    without = [
        SourceText(one.doc_id, one.title, rest if one.doc_id == question.document else one.body) for one in sources
    ]
    return Case(
        question,
        quote,
        max((one.confidence for one in (quote, best) if one), default=0.0),
        has_near,
        select(expected, without) if has_near else None,
        quote is None or quote.text in documents[quote.doc_id].text,
        seconds,
    )


def _known_cosines(
    system: WithMeaning, query: QueryVector, vectors: dict[str, Vectors], texts: Sequence[str]
) -> list[float]:
    """Return the cosine of each text to the query, from `vectors` if they have the text; adds the others."""
    missing = [text for text in texts if text not in vectors]
    if missing:
        vectors.update(zip(missing, system.text_vectors(query, missing), strict=True))
    unit = np.array(query.values, np.float32) / np.linalg.norm(query.values)
    return [float(vectors[text] @ unit) for text in texts]


def _best_quote(
    terms: QuestionTerms,
    expected: ExpectedAnswer,
    sources: Sequence[SourceText],
    document_cosines: Mapping[str, float],
    sentence_cosines: CosineFunction,
) -> SourceQuote | None:
    return next(iter(find_quotes(terms, expected, sources, document_cosines, sentence_cosines)), None)


def holds_answer(text: str, answers: Sequence[str], max_chars: int = 0) -> bool:
    """Return True if a text of at most `max_chars` holds an accepted answer.

    Case, width, blanks and punctuation are ignored. Without `max_chars`, the maximum is that of a quotation.
    """
    limit = max_chars or (MAX_CHARS if re.search("[\u3400-\u9fff]", text) else MAX_LATIN_CHARS)
    return len(text) <= limit and any(_fold(answer) and _fold(answer) in _fold(text) for answer in answers)


def _fold(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", text).lower() if unicodedata.category(c)[0] in "LNS")


def set_figures(name: str, cases: Sequence[Case]) -> Iterator[Figure]:
    """Yield the figures of one set, of all questions and of half 1."""
    for prefix, several in (("", cases), ("held_", [case for case in cases if case.question.half == 1])):
        for metric, value in measure_cases(several).items():
            yield Figure(name, OURS, f"{prefix}{metric}", value)


def measure_cases(cases: Sequence[Case]) -> dict[str, float]:
    """Return the metrics of some cases."""
    answerable = [case for case in cases if case.question.answers]
    others = [case for case in cases if not case.question.answers]
    near = [case for case in answerable if case.has_near]
    half = statistics.median(_confidence(case.quote) for case in answerable)
    at_half = [case for case in answerable if _confidence(case.quote) >= half]
    shown = [case for case in answerable if _confidence(case.quote) >= SHOWN_FROM]
    # As many questions without their answer sentence as with it.
    near_at_half = _share_from(half, [case.near_quote for case in near]) * len(answerable)
    return {
        "precision_at_half": sum(case.is_correct for case in at_half) / len(at_half),
        "near_precision_at_half": sum(case.is_correct for case in at_half) / (len(at_half) + near_at_half),
        "auroc": float(roc_auc_score([bool(case.question.answers) for case in cases], [c.certainty for c in cases])),
        "shown": len(shown) / len(answerable),
        "precision": statistics.fmean([case.is_correct for case in shown] or [0]),
        "shown_to_others": _share_from(SHOWN_FROM, [case.quote for case in others]),
        "near_shown": _share_from(SHOWN_FROM, [case.near_quote for case in near]),
        "verbatim": statistics.fmean(case.is_verbatim for case in cases),
        "answer_ms": 1000 * statistics.median(case.seconds for case in cases),
    }


def _confidence(quote: SourceQuote | None) -> float:
    return quote.confidence if quote else 0.0


def _share_from(confidence: float, quotes: Sequence[SourceQuote | None]) -> float:
    return statistics.fmean([_confidence(quote) >= confidence for quote in quotes] or [0])


def write_cases(name: str, cases: Sequence[Case]) -> None:
    """Write the cases of a set, one per line."""
    rows = (
        {
            "query": case.question.id,
            "text": case.question.text,
            "own": bool(case.question.answers),
            "found": case.is_correct,
            "confidence": case.certainty,
            "quote": case.quote and case.quote.text,
            "quote_confidence": _confidence(case.quote),
            "near_quote": case.near_quote and case.near_quote.text,
            "near_confidence": _confidence(case.near_quote),
        }
        for case in cases
    )
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (out_folder() / f"{name}_cases.jsonl").write_text(lines, "utf-8")


def related_figures(url: str, own: Collection) -> Iterator[Figure]:
    """Yield the reciprocal rank of the first document that answers a question of the given document."""
    system = WithMeaning(url, RELATED, Lexicon())
    try:
        system.load(own.documents)
        yield from related(system, own)
    finally:
        system.drop()


def related(system: WithMeaning, own: Collection) -> Iterator[Figure]:
    """Return the reciprocal rank of the first document that answers a question of the given document."""
    wanted: dict[str, set[str]] = {}
    for judged in own.judgments.values():
        good = {doc_id for doc_id, gain in judged.items() if gain > 0}
        for doc_id in good:
            wanted.setdefault(doc_id, set()).update(good - {doc_id})
    pairs = {doc_id: others for doc_id, others in sorted(wanted.items()) if others}
    for name, with_meaning in ((OURS, True), (WORDS, False)):
        ranks = [_rank(system.similar(doc_id, with_meaning), others) for doc_id, others in pairs.items()]
        yield Figure(RELATED, name, "mrr10", statistics.fmean(ranks))


def _rank(found: Sequence[str], wanted: set[str]) -> float:
    return next((1 / place for place, doc_id in enumerate(found[:PLACES], 1) if doc_id in wanted), 0.0)
