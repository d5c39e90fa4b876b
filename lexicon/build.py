"""Mine the terms of a corpus: ours by a learned judgement, or the paper's way (Wang Du 2019, WD-A5)."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

from docstore.batches import batched
from docstore.errors import SettingsError
from docstore.model import Term
from lexicon.candidates import Candidate, CandidateCounts, readable, spans
from lexicon.contexts import find_context
from lexicon.counting import count_again, count_texts
from lexicon.dictionary import check_term
from lexicon.evidence import parts_of
from lexicon.filters import general_words, is_noise
from lexicon.learned import TermMiner, shipped_models, spelt, tags_of
from lexicon.ngrams import AT
from lexicon.rules import TagRules, load_rules
from lexicon.scorers import make_scorer
from lexicon.settings import LexiconSettings
from semantics.folding import word_key
from semantics.segment import Segmenter, base_segmenter

Texts = Iterable[tuple[str, str]]
"""Title and body of each article. Read twice: an iterator is first copied into memory, a re-iterable is not."""
Scored = list[tuple[Candidate, float]]
Progress = Callable[[int], None] | None

BATCH = 100  # documents counted at a time by the paper's rules: all their spans are held at once


def mine_terms(
    texts: Texts,
    settings: LexiconSettings,
    progress: Progress = None,
    segmenter: Segmenter | None = None,
    counts: Path | None = None,
    seeds: Collection[str] = (),
) -> list[Term]:
    """The terms of `texts`, best first, with counts and contexts; equal scores by frequency, then text.

    `progress` is told the number of articles read so far. `segmenter` is the plain dictionary unless given; `counts` is
    a folder in which the learned scorer remembers what it has counted: the next call with it counts only what is new.
    `seeds` are terms that the domain is known to have: they guide the learned scorer to others (lexicon/seeds.py).
    Raises SettingsError for an unknown name in the settings, LexiconError for a faulty rule file.
    """
    if settings.scorer not in SCORERS:
        raise SettingsError(f"lexicon.scorer: {settings.scorer!r} is not {' or '.join(SCORERS)}")
    texts = texts if iter(texts) is not texts else list(texts)
    if settings.scorer == LEARNED:
        scored = learned_terms(texts, settings, progress, counts, seeds)
    else:
        scored = rule_terms(texts, settings, progress, segmenter or base_segmenter())
    contexts = _contexts(texts, [candidate for candidate, _ in scored], settings)
    return [_term(candidate, score, contexts.get(word_key(candidate.text), [])) for candidate, score in scored]


LEARNED = "learned"
SCORERS = (LEARNED, "c_value")
"""Names that `LexiconSettings.scorer` may have."""


def learned_terms(
    texts: Texts,
    settings: LexiconSettings,
    progress: Progress = None,
    counts: Path | None = None,
    seeds: Collection[str] = (),
) -> Scored:
    """The candidates of which it is likely enough that they are terms, likeliest first, and their probabilities."""
    models, documents = shipped_models(), _documents(texts)
    table = count_again(documents, models, counts, progress) if counts else count_texts(documents, models, progress)
    rows, scores = TermMiner(models, table).ranked(settings.min_frequency, frozenset(map(word_key, seeds)))
    rows = rows.take(np.flatnonzero(scores > settings.probability))
    found: dict[str, tuple[Candidate, float]] = {}
    parts = parts_of(table, rows)
    for number, (text, tags) in enumerate(zip(spelt(table, rows), tags_of(table, rows), strict=True)):
        if check_term(text) is None:
            seen_in = tuple(document for document in rows.seen_in[:, number].tolist() if document >= 0)
            frequency, documents_with = rows.counts[[AT["frequency"], AT["documents"]], number].tolist()
            candidate = Candidate(text, tags.count(" ") + 1, tags, frequency, documents_with, seen_in, parts[number])
            found.setdefault(word_key(text), (candidate, float(scores[number])))
    return list(found.values())


def rule_terms(texts: Texts, settings: LexiconSettings, progress: Progress, segmenter: Segmenter) -> Scored:
    """The paper's algorithm as its steps (WD-A5)."""
    scorer = make_scorer(settings)
    rules = TagRules(load_rules(settings.rules), settings.tag_matching)
    counts = CandidateCounts(is_noise, settings.max_contexts)
    done = 0
    for batch in batched(_documents(texts), BATCH):
        counts.add([spans(readable(text), segmenter, rules) for text in batch], done)
        done += len(batch)
        if progress:
            progress(done)
    candidates = counts.candidates()
    best = choose(candidates, scorer.scores(candidates), settings)
    return [(candidates[key], score) for key, score in best.items()]


def choose(
    candidates: Mapping[str, Candidate], scores: Mapping[str, float], settings: LexiconSettings
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


def _documents(texts: Texts) -> Iterator[str]:
    return (f"{title}\n{body}" for title, body in texts)


def _contexts(texts: Texts, candidates: Iterable[Candidate], settings: LexiconSettings) -> dict[str, list[str]]:
    wanted: dict[int, list[str]] = {}
    for candidate in candidates:
        for number in candidate.seen_in[: settings.max_contexts]:
            wanted.setdefault(number, []).append(word_key(candidate.text))
    found: dict[str, list[str]] = {}
    for number, text in enumerate(_documents(texts)):
        for key in wanted.get(number, ()):
            longest = settings.context_chars
            # As it was published if possible; a term in ligatures or with invisible characters shows only in NFKC.
            context = find_context(text, key, longest) or find_context(readable(text), key, longest)
            if context and context not in found.setdefault(key, []):
                found[key].append(context)
    return found


def _term(candidate: Candidate, score: float, contexts: list[str]) -> Term:
    counts = (candidate.frequency, candidate.documents)
    return Term(candidate.text, score, *counts, candidate.tags, tuple(contexts), parts=candidate.parts)
