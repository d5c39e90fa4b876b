"""Mine the terms of a corpus: ours by a learned judgement, or the paper's way (Wang Du 2019, WD-A5)."""

import logging
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np

from docstore.batches import batched
from docstore.errors import LexiconError, SettingsError
from docstore.model import Term
from lexicon.c_value.candidates import CandidateCounts, CountedBatch, TermCandidate, counted_batch, readable, spans
from lexicon.c_value.filters import general_words, is_noise, is_unfit_text
from lexicon.c_value.rules import TagRules, load_rules
from lexicon.c_value.scorers import make_scorer
from lexicon.contexts import find_contexts
from lexicon.counting.corpus import Corpus, CorpusDocument
from lexicon.counting.count import READ_DOCUMENTS, Spread, Task, no_task, select
from lexicon.counting.ngrams import AT, NOWHERE, Rows
from lexicon.counting.prose import is_running, lines_of, running_text
from lexicon.counting.remembered import Remembered
from lexicon.model.feature_report import parts_of
from lexicon.model.learned import Floats, Selection, model_digest, ranked, shipped_models, spelt, tags_of
from lexicon.offers import NOTHING_REVIEWED, Offers, Reviewed
from lexicon.settings import LEARNED, SCORER_NAMES, LexiconSettings
from text.folding import word_key
from text.segment import Segmenter, base_segmenter

log = logging.getLogger(__name__)

Scored = list[tuple[TermCandidate, float]]
Sentences = dict[tuple[str, int], str]
"""Sentences by the `word_key` of the term they show and the number of their document."""

BATCH = 100  # documents counted at a time by the paper's rules: all their spans are held at once


def mine_terms(
    corpus: Corpus,
    settings: LexiconSettings,
    task: Task = no_task,
    segmenter: Segmenter | None = None,
    counts: Path | None = None,
    seeds: Collection[str] = (),
    reviewed: Reviewed = NOTHING_REVIEWED,
    spread: Spread | None = None,
) -> list[Term]:
    """The terms of `corpus` that are offered for review, best first, with counts and contexts; equal scores by
    frequency, then text. What is offered is judged in each language apart (lexicon/offers.py).

    `task` is told how far the work is. `segmenter` is the plain dictionary unless given. `counts` is a folder in which
    the learned scorer remembers what it has counted: the next call with it counts only what is new. `seeds` are terms
    that the domain is known to have: they guide the learned scorer to others (lexicon/seeds.py). `spread` has pieces of
    the corpus counted elsewhere; the terms are the same.
    Raises SettingsError for an unknown name in the settings, LexiconError for a faulty rule file.
    """
    if settings.scorer not in SCORER_NAMES:
        raise SettingsError(f"lexicon.scorer: {settings.scorer!r} is not {' or '.join(SCORER_NAMES)}")
    if settings.scorer == LEARNED:
        return learned_terms(corpus, settings, task, counts, seeds, reviewed, spread)
    offers = Offers(reviewed, settings.depth)
    scored = rule_terms(corpus, settings, task, segmenter, spread)
    scored = [one for one in scored if offers.takes(one[0].text, word_key(one[0].text))]
    return _terms(scored, find_sentences(corpus, [candidate for candidate, _ in scored], settings, {}, task), settings)


def learned_terms(
    corpus: Corpus,
    settings: LexiconSettings,
    task: Task = no_task,
    counts: Path | None = None,
    seeds: Collection[str] = (),
    reviewed: Reviewed = NOTHING_REVIEWED,
    spread: Spread | None = None,
) -> list[Term]:
    """The candidates of which it is likely enough that they are terms; their scores are probabilities.

    What `counts` remembers and cannot be read is counted again.
    """
    if counts is None:
        with tempfile.TemporaryDirectory() as folder:
            return learned_terms(corpus, settings, task, Path(folder), seeds, reviewed, spread)
    try:
        return _learned_terms(corpus, settings, task, counts, seeds, reviewed, spread)
    except (LexiconError, sqlite3.DatabaseError) as error:
        if isinstance(error, sqlite3.OperationalError):  # no room, no permission
            raise LexiconError(f"{counts}: {error}") from error
        log.warning("what was counted before cannot be read, and is counted again: %s", error)
    (counts / Remembered.FILE).unlink()
    return _learned_terms(corpus, settings, task, counts, seeds, reviewed, spread)


def _learned_terms(
    corpus: Corpus,
    settings: LexiconSettings,
    task: Task,
    counts: Path,
    seeds: Collection[str],
    reviewed: Reviewed,
    spread: Spread | None,
) -> list[Term]:
    models = shipped_models()
    with closing(Remembered(counts, model_digest(models))) as memory:
        chosen = select(corpus, models, memory, settings.min_frequency, task, spread)
        rows, scores = ranked(models, chosen, frozenset(map(word_key, seeds)), settings.probability)
        offers = Offers(reviewed, settings.depth, is_unfit_text)
        scored = candidates_of(chosen, rows, scores, offers)
        keys = [word_key(candidate.text) for candidate, _ in scored]
        sentences = find_sentences(
            corpus, [candidate for candidate, _ in scored], settings, memory.sentences(keys), task
        )
        memory.keep_sentences(sentences)
    return _terms(scored, sentences, settings)


def candidates_of(chosen: Selection, rows: Rows, scores: Floats, offers: Offers) -> Scored:
    """Those of the ranked rows that are fit for a dictionary, and offered; with their probabilities."""
    found: dict[str, int] = {}
    texts: dict[int, str] = {}
    for number, text in enumerate(spelt(chosen.counted, rows)):
        key = word_key(text)
        if key not in found and offers.takes(text, key):
            found[key] = number
            texts[number] = text
    taken = rows.take(np.array(list(found.values()), dtype=np.int64))
    details = zip(texts.items(), tags_of(chosen.counted, taken), parts_of(chosen.counted, taken), strict=True)
    return [
        (_candidate(text, tags, taken, place, parts), float(scores[number]))
        for place, ((number, text), tags, parts) in enumerate(details)
    ]


def _candidate(text: str, tags: str, rows: Rows, place: int, parts: tuple[tuple[str, float], ...]) -> TermCandidate:
    frequency, documents = rows.counts[[AT["frequency"], AT["documents"]], place].tolist()
    seen_in = tuple(number for number in rows.seen_in[:, place].tolist() if number != NOWHERE)
    return TermCandidate(text, tags.count(" ") + 1, tags, frequency, documents, seen_in, parts)


def rule_terms(
    corpus: Corpus,
    settings: LexiconSettings,
    task: Task,
    segmenter: Segmenter | None = None,
    spread: Spread | None = None,
) -> Scored:
    """The paper's algorithm as its steps (WD-A5). Batches are counted apart and added up in their order."""
    scorer = make_scorer(settings)
    rules = TagRules(load_rules(settings.rules), settings.tag_matching)
    counts = CandidateCounts(settings.max_contexts)
    numbers = [number for number, _ in corpus.digests()]
    count = partial(count_batch, rules=rules, segmenter=segmenter)
    with task("lexicon: count", len(numbers)) as advance:
        batches = (list(corpus.read(batch)) for batch in batched(numbers, BATCH))
        for counted in (spread or map)(count, batches):
            counts.add(counted)
            advance(counted.documents)
    candidates = counts.candidates()
    best = choose(candidates, scorer.scores(candidates), settings)
    return [(candidates[key], score) for key, score in best.items()]


def count_batch(
    documents: Sequence[CorpusDocument], rules: TagRules, segmenter: Segmenter | None = None
) -> CountedBatch:
    """The candidates in some documents; `segmenter` is the plain dictionary unless given."""
    cut = segmenter or base_segmenter()
    texts = ["\n".join(running_text(document)) for document in documents]
    found = [spans(readable(text), cut, rules) for text in texts]
    return counted_batch(found, [document.number for document in documents], is_noise)


def choose(
    candidates: Mapping[str, TermCandidate], scores: Mapping[str, float], settings: LexiconSettings
) -> dict[str, float]:
    """The candidates that are terms, and their scores, best first (steps 5 and 6)."""
    good = [
        key
        for key, candidate in candidates.items()
        if scores[key] > settings.threshold and candidate.frequency >= settings.min_frequency
    ]
    general = general_words(frozenset(good))
    good.sort(key=lambda key: (-scores[key], -candidates[key].frequency, key))
    return {key: scores[key] for key in good if key not in general}


def find_sentences(
    corpus: Corpus, candidates: Sequence[TermCandidate], settings: LexiconSettings, known: Sentences, task: Task
) -> Sentences:
    """A sentence for each candidate from each of its first few documents, "" where none shows it; those that are
    `known` are not looked for.
    """
    found: Sentences = {}
    wanted: defaultdict[int, list[str]] = defaultdict(list)
    for candidate in candidates:
        key = word_key(candidate.text)
        for number in candidate.seen_in[: settings.max_contexts]:
            if (key, number) in known:
                found[key, number] = known[key, number]
            else:
                wanted[number].append(key)
    with task("lexicon: sentences", len(wanted)) as advance:
        for numbers in batched(sorted(wanted), READ_DOCUMENTS):
            for document in corpus.read(numbers):
                shown = _shown("\n".join(lines_of(document)), wanted[document.number], settings.context_chars)
                found.update(((key, document.number), shown.get(key, "")) for key in wanted[document.number])
            advance(len(numbers))
    return found


def _shown(text: str, keys: Collection[str], longest: int) -> dict[str, str]:
    """As it was published if possible; a term in ligatures or with invisible characters shows only in NFKC."""
    shown = find_contexts(text, keys, longest, is_running)
    missing = [key for key in keys if key not in shown]
    return shown | find_contexts(readable(text), missing, longest, is_running) if missing else shown


def _terms(scored: Scored, sentences: Sentences, settings: LexiconSettings) -> list[Term]:
    return [_term(candidate, score, sentences, settings.max_contexts) for candidate, score in scored]


def _term(candidate: TermCandidate, score: float, sentences: Sentences, most: int) -> Term:
    key = word_key(candidate.text)
    contexts = dict.fromkeys(sentences.get((key, number), "") for number in candidate.seen_in[:most])
    contexts.pop("", None)
    counts = (candidate.frequency, candidate.documents)
    return Term(candidate.text, score, *counts, candidate.tags, tuple(contexts), parts=candidate.parts)
