"""Mine the terms of a corpus (Wang Du 2019, WD-A5)."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from docstore.batches import batched
from docstore.model import Term
from lexicon.candidates import Candidate, CandidateCounts, readable, spans
from lexicon.contexts import find_context
from lexicon.filters import general_words, is_noise
from lexicon.rules import TagRules, load_rules
from lexicon.scorers import make_scorer
from lexicon.settings import LexiconSettings
from semantics.segment import Segmenter, base_segmenter

Texts = Iterable[tuple[str, str]]
"""Title and body of each article. Read twice: an iterator is first copied into memory, a re-iterable is not."""

BATCH = 100  # documents counted at a time: all their spans are held at once


def mine_terms(
    texts: Texts,
    settings: LexiconSettings,
    progress: Callable[[int], None] | None = None,
    segmenter: Segmenter | None = None,
) -> list[Term]:
    """The terms of `texts`, best first, with counts and contexts; equal scores by frequency, then text.

    `progress` is told the number of articles read so far, once a batch. `segmenter` is the plain dictionary unless
    given. Raises SettingsError for an unknown name in the settings, LexiconError for a faulty rule file.
    """
    texts = texts if iter(texts) is not texts else list(texts)
    scorer = make_scorer(settings)
    rules = TagRules(load_rules(settings.rules), settings.tag_matching)
    counts = CandidateCounts(is_noise, settings.max_contexts)
    done = 0
    for batch in batched(_documents(texts), BATCH):
        counts.add([spans(readable(text), segmenter or base_segmenter(), rules) for text in batch], done)
        done += len(batch)
        if progress:
            progress(done)
    candidates = counts.candidates()
    best = choose(candidates, scorer.scores(candidates), settings)
    contexts = _contexts(texts, candidates, best, settings)
    return [_term(candidates[key], score, contexts.get(key, [])) for key, score in best.items()]


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


def _contexts(
    texts: Texts, candidates: Mapping[str, Candidate], keys: Iterable[str], settings: LexiconSettings
) -> dict[str, list[str]]:
    wanted: dict[int, list[str]] = {}
    for key in keys:
        for number in candidates[key].seen_in:
            wanted.setdefault(number, []).append(key)
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
    return Term(candidate.text, score, candidate.frequency, candidate.documents, candidate.tags, tuple(contexts))
