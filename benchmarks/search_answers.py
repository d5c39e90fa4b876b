"""The sets `answers`, `answers_en` and `related`, on collections with their vectors.

answers   (Chinese, on the statutes; `answers_en`: English, on en_cran)
          found     share of the shown answers with a quote from a document that answers
          shown     share of the collection's own questions with a shown answer
          auroc     separation of own questions from those of other collections, by confidence
          verbatim  share of quotes that occur literally in their document
          `held_` before the first two: questions that were not used for training (benchmarks/training/answers.py)
related   mrr10     documents that answer one question, each searched from another: hybrid, and by keywords only

The cases of a set go to benchmarks/out/SET_cases.jsonl. Without another English collection, questions from forum pages
are used.
"""

import hashlib
import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sklearn.metrics import roc_auc_score

from benchmarks.results import Figure, out_folder
from benchmarks.search_data import Collection
from benchmarks.search_meaning import WithMeaning
from benchmarks.search_systems import OURS, WORDS
from benchmarks.training.answers import half_of
from domain.term import Lexicon
from search_ui.query.semantic.answer_extraction import (
    AnswerEvidence,
    SourceQuote,
    SourceText,
    answer_confidence,
    collect_evidence,
    extract_quotes,
    find_answer_model,
    rarity_weights,
)
from search_ui.query.semantic.questions import is_question
from search_ui.query.solr_query import QueryVariant
from solr_client import solr_fields

ANSWERS, ANSWERS_EN, RELATED = "answers", "answers_en", "related"
COLLECTIONS = {ANSWERS: "zh_statute", ANSWERS_EN: "en_cran", RELATED: "zh_statute"}
FORUMS = Path("page_types") / "en-forum" / "gold.json"  # below the data folder
OTHERS = 500  # questions of other collections; where they have fewer, other queries of theirs
PLACES = 10
NOTHING = AnswerEvidence(0.0, 0.0, 0.0, 0.0, 0.0)  # nothing was found


def answer_figures(url: str, data: Path, collections: Sequence[Collection], wanted: Sequence[str]) -> Iterator[Figure]:
    """Yield the figures of the `wanted` sets whose collection is available."""
    for own in collections:
        if told := [name for name in wanted if COLLECTIONS[name] == own.name]:
            others = [one for one in collections if one is not own and one.name[:3] == own.name[:3]]
            strange = foreign(others) if others else asked_in_forums(data)
            yield from collection_figures(url, own, strange, told)


def collection_figures(
    url: str, own: Collection, strange: Sequence[tuple[str, str]], wanted: Sequence[str]
) -> Iterator[Figure]:
    """Yield the sets of one collection; `strange` are questions that it does not answer."""
    system = WithMeaning(url, "answers", Lexicon())
    try:
        system.load(own.documents)
        for name in wanted:
            yield from related(system, own) if name == RELATED else answers(system, name, own, strange)
    finally:
        system.drop()


def asked_in_forums(data: Path) -> list[tuple[str, str]]:
    """Return the titles of forum pages in the data folder that are questions; empty if there are no such pages."""
    file = data / FORUMS
    rows = json.loads(file.read_text("utf-8"))["pages"] if file.exists() else []
    titles = [(f"forum:{row['id']}", str(row.get("title", ""))) for row in rows]
    return [(name, title) for name, title in titles if is_question(title)][:OTHERS]


def foreign(collections: Sequence[Collection]) -> list[tuple[str, str]]:
    """Return queries of other collections, questions first, otherwise in random order."""
    every = [(f"{one.name}:{name}", text) for one in collections for name, text in one.queries]
    drawn = sorted(every, key=lambda query: hashlib.sha256(query[0].encode()).digest())
    return sorted(drawn, key=lambda query: not is_question(query[1]))[:OTHERS]


def answers(system: WithMeaning, name: str, own: Collection, others: Sequence[tuple[str, str]]) -> Iterator[Figure]:
    """Yield the set of this name: results for the collection's questions and for those of others."""
    texts = {document.id: SourceText(document.id, document.title, document.text) for document in own.documents}
    asked = [(query, text) for query, text in own.queries if is_question(text)]
    cases = [case(system, texts, query, text, own.judgments[query]) for query, text in asked]
    cases += [case(system, texts, query, text, {}) for query, text in others]
    (out_folder() / f"{name}_cases.jsonl").write_text(
        "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in cases), "utf-8"
    )
    mine = [one for one in cases if one["own"]]
    for prefix, several in (("", mine), ("held_", [one for one in mine if half_of(one["query"]) == 1])):
        shown = [one for one in several if one["shown"]]
        yield Figure(name, OURS, f"{prefix}shown", len(shown) / max(1, len(several)))
        yield Figure(name, OURS, f"{prefix}found", statistics.fmean([bool(one["found"]) for one in shown] or [0.0]))
    sure = [one["confidence"] for one in cases]
    yield Figure(name, OURS, "auroc", float(roc_auc_score([one["own"] for one in cases], sure)))
    yield Figure(name, OURS, "shown_to_others", statistics.fmean(one["shown"] for one in cases if not one["own"]))
    verbatim = [text in texts[doc].body for one in cases for doc, text in one["quotes"]] or [False]
    yield Figure(name, OURS, "verbatim", statistics.fmean(verbatim))


def case(
    system: WithMeaning, texts: Mapping[str, SourceText], name: str, text: str, judged: Mapping[str, float]
) -> dict[str, Any]:
    """Return one question with evidence, confidence, and the quotes with their documents."""
    asked, words = system.understood(text)
    both = system.both(asked, words)
    assert both is not None, "the vectors are there"
    hits = [texts[system.named(str(one.doc[solr_fields.ID]))] for one in both.entries[:PLACES]]
    near = [(system.named(doc_id), cosine) for doc_id, cosine in both.neighbours]
    weights = rarity_weights(words[QueryVariant.CONTENT])
    found = (
        collect_evidence(weights, hits, [system.named(doc_id) for doc_id in both.lexical_ids], near)
        if hits
        else NOTHING
    )
    said: Sequence[SourceQuote] = extract_quotes(weights, hits)
    model = find_answer_model(both.vector.model_id)
    sure = answer_confidence(found, model) if model and hits else 0.0
    return {
        "query": name,
        "text": text,
        "own": bool(judged),
        "found": any(judged.get(quote.doc_id, 0) > 0 for quote in said),
        "shown": bool(model and sure >= model.shown_from and is_question(text)),
        "confidence": sure,
        "quotes": [[quote.doc_id, quote.text] for quote in said],
        "evidence": asdict(found),
    }


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
