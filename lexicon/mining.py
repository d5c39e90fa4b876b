"""Mining of terms from a corpus, with the learned model or with the paper's rules (Wang Du 2019, WD-A5)."""

import logging
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Collection, Sequence
from contextlib import closing, nullcontext
from functools import partial
from pathlib import Path

import numpy as np

from domain.batches import batched
from domain.errors import LexiconError, SettingsError
from domain.progress import ProgressTask, no_progress
from domain.term import Term
from lexicon.arrays import Float32Array
from lexicon.automatic_acceptance import has_counts
from lexicon.c_value.c_value import CValue
from lexicon.c_value.candidates import (
    BatchCounts,
    CandidateCounts,
    TermCandidate,
    count_batch_spans,
    find_spans,
    normalize_text,
)
from lexicon.c_value.noise_filters import filter_general_words, is_noise, is_unfit_text
from lexicon.c_value.rules import TagRules, load_rules
from lexicon.counting.corpus import Corpus, CorpusDocument
from lexicon.counting.count_files import delete_counts
from lexicon.counting.counts_store import CountsStore
from lexicon.counting.incremental_count import (
    DOCUMENTS_PER_READ,
    IncrementalCount,
    MapFunction,
)
from lexicon.counting.ngram_table import COLUMN_INDEX, NO_DOCUMENT, NgramRows
from lexicon.counting.prose_filter import is_prose, iter_lines, iter_prose_lines
from lexicon.counting.row_serialization import DamagedCountsError
from lexicon.example_sentences import find_example_sentences
from lexicon.jieba_segmenter import base_jieba_segmenter
from lexicon.model.feature_report import score_components
from lexicon.model.term_model import (
    CandidateSelection,
    counting_digest,
    iter_spellings,
    iter_tag_sequences,
    load_shipped_models,
    rank_rows,
)
from lexicon.review_selection import EMPTY_REVIEW_STATE, ReviewSelector, ReviewState
from lexicon.settings import LEARNED_SCORER, LENGTH_UNITS, SCORER_NAMES, LexiconSettings
from text.folding import word_key

logger = logging.getLogger(__name__)

ScoredCandidates = list[tuple[TermCandidate, float]]
SentenceByTermAndDocument = dict[tuple[str, int], str]
"""Example sentence by the `word_key` of its term and the id of its document."""

COUNT_COLUMNS = [COLUMN_INDEX["frequency"], COLUMN_INDEX["documents"]]
RULE_BATCH_DOCUMENTS = 100  # documents per batch with the paper's rules; all spans of a batch are in memory


def mine_terms(
    corpus: Corpus,
    settings: LexiconSettings,
    progress_task: ProgressTask = no_progress,
    counts_dir: Path | None = None,
    known_terms: Collection[str] = (),
    review_state: ReviewState = EMPTY_REVIEW_STATE,
    map_ordered: MapFunction | None = None,
) -> list[Term]:
    """Return the candidate terms of a corpus, best first, with counts and example sentences.

    Equal scores are ordered by frequency, then text. Candidates for review are selected per language
    (lexicon/review_selection.py).

    Args:
        corpus: Documents to mine.
        settings: Settings of the stage.
        progress_task: Reports the number of counted documents.
        counts_dir: Folder for stored counts of the learned scorer. The next call counts only changed documents.
        known_terms: Terms the domain is known to have; they adjust the learned scores (lexicon/known_terms.py).
        review_state: Decided and pending terms of the review.
        map_ordered: `map` that distributes the counting; the result does not depend on it.

    Raises:
        SettingsError: a name in the settings is unknown.
        LexiconError: a rule file is invalid, the stored counts cannot be read or written, or a worker has other models.
    """
    if settings.scorer not in SCORER_NAMES:
        raise SettingsError(f"lexicon.scorer: {settings.scorer!r} is not {' or '.join(SCORER_NAMES)}")
    if settings.scorer == LEARNED_SCORER:
        with nullcontext(counts_dir) if counts_dir else tempfile.TemporaryDirectory() as folder:
            mine_with_counts = partial(
                mine_with_model, corpus, settings, progress_task, Path(folder), known_terms, review_state, map_ordered
            )
            try:
                return mine_with_counts()
            except sqlite3.OperationalError as error:  # disk full, no permission, locked
                raise LexiconError(f"{folder}: {error}") from error
            except (DamagedCountsError, sqlite3.DatabaseError) as error:
                logger.warning("stored n-gram counts are unreadable (%s); recounting the whole corpus", error)
            delete_counts(Path(folder))
            return mine_with_counts()
    review_selector = ReviewSelector(review_state, settings.depth)
    scored_candidates = [
        (candidate, score)
        for candidate, score in mine_with_rules(corpus, settings, progress_task, map_ordered)
        if review_selector.accepts(candidate.text, word_key(candidate.text))
    ]
    sentences = find_term_sentences(corpus, scored_candidates, settings, {}, progress_task)
    return _build_terms(scored_candidates, sentences, settings.max_contexts)


def mine_with_model(
    corpus: Corpus,
    settings: LexiconSettings,
    progress_task: ProgressTask,
    counts_dir: Path,
    known_terms: Collection[str],
    review_state: ReviewState,
    map_ordered: MapFunction | None,
) -> list[Term]:
    """Return the terms whose probability exceeds `settings.probability`. Scores are probabilities.

    The arguments are those of `mine_terms`.

    Raises:
        DamagedCountsError: the counts in `counts_dir` are damaged.
        sqlite3.DatabaseError: their database is damaged or cannot be read.
    """
    models = load_shipped_models()
    with closing(CountsStore(counts_dir, counting_digest(models))) as counts_store:
        counting = IncrementalCount(corpus, models, counts_store, progress_task, map_ordered or map)
        selection = counting.run(settings.min_frequency)
        known_keys = frozenset(map(word_key, known_terms))
        rows, scores = rank_rows(models, selection, known_keys, settings.probability, progress_task)
        review_selector = ReviewSelector(review_state, settings.depth, is_unfit_text)
        scored_candidates = select_candidates(selection, rows, scores, review_selector)
        known_sentences = counts_store.load_sentences([word_key(candidate.text) for candidate, _ in scored_candidates])
        sentences = find_term_sentences(corpus, scored_candidates, settings, known_sentences, progress_task)
        counts_store.replace_sentences(sentences)
    return _build_terms(scored_candidates, sentences, settings.max_contexts)


def select_candidates(
    selection: CandidateSelection, rows: NgramRows, scores: Float32Array, review_selector: ReviewSelector
) -> ScoredCandidates:
    """Return the ranked rows that are valid dictionary words and selected for review, with their probabilities."""
    row_and_text_by_key: dict[str, tuple[int, str]] = {}
    counts = zip(scores.tolist(), *rows.counts[COUNT_COLUMNS].tolist(), strict=True)
    for row, (text, row_counts) in enumerate(zip(iter_spellings(selection.corpus, rows), counts, strict=True)):
        key = word_key(text)
        if key not in row_and_text_by_key and review_selector.accepts(text, key, has_counts(text, *row_counts)):
            row_and_text_by_key[key] = row, text
    selected_rows = rows.take(np.array([row for row, _ in row_and_text_by_key.values()], dtype=np.int64))
    details = zip(
        row_and_text_by_key.values(),
        iter_tag_sequences(selection.corpus, selected_rows),
        selected_rows.counts[COUNT_COLUMNS].T.tolist(),
        selected_rows.first_documents.T.tolist(),
        score_components(selection.corpus, selected_rows),
        strict=True,
    )
    scored_candidates = []
    for (row, text), tags, counts, documents, components in details:
        first_documents = tuple(document_id for document_id in documents if document_id != NO_DOCUMENT)
        frequency, document_count = counts
        candidate = TermCandidate(
            text, tags.count(" ") + 1, tags, frequency, document_count, first_documents, components
        )
        scored_candidates.append((candidate, float(scores[row])))
    return scored_candidates


def mine_with_rules(
    corpus: Corpus,
    settings: LexiconSettings,
    progress_task: ProgressTask,
    map_ordered: MapFunction | None = None,
) -> ScoredCandidates:
    """Return scored candidates by the algorithm of Wang Du (WD-A5 in docs/background/papers.md).

    Candidates are word sequences whose part-of-speech tags match a rule. Those that qualify as terms (steps 5 and 6)
    are returned best first, equal scores by frequency, then by key. Workers count batches of documents. The
    counts are added in the order of the documents, so that the result does not depend on the number of workers.

    Args:
        corpus: the documents.
        settings: rules, scorer and threshold.
        progress_task: reports the number of counted documents.
        map_ordered: distributes the batches to workers and returns the results in order; by default `map`.
    """
    if settings.length_unit not in LENGTH_UNITS:
        raise SettingsError(f"lexicon.length_unit: {settings.length_unit!r} is not {' or '.join(LENGTH_UNITS)}")
    rules = TagRules(load_rules(settings.rules), settings.tag_matching)
    counts = CandidateCounts(settings.max_contexts)
    document_ids = [document_id for document_id, _ in corpus.iter_digests()]
    count = partial(count_candidates, rules=rules)
    with progress_task("lexicon: count", len(document_ids)) as advance:
        batches = (list(corpus.iter_documents(batch)) for batch in batched(document_ids, RULE_BATCH_DOCUMENTS))
        for batch_counts in (map_ordered or map)(count, batches):
            counts.add(batch_counts)
            advance(batch_counts.document_count)
    candidates = counts.candidates()
    scores = CValue(count_words=settings.length_unit == "token").scores(candidates)
    passing_keys = [
        key
        for key, candidate in candidates.items()
        if scores[key] > settings.threshold and candidate.frequency >= settings.min_frequency
    ]
    general_words = filter_general_words(frozenset(passing_keys))
    passing_keys.sort(key=lambda key: (-scores[key], -candidates[key].frequency, key))
    return [(candidates[key], scores[key]) for key in passing_keys if key not in general_words]


def count_candidates(documents: Sequence[CorpusDocument], rules: TagRules) -> BatchCounts:
    """Return the candidates of some documents. As in the paper, jieba segments and tags them."""
    texts = ["\n".join(iter_prose_lines(document)) for document in documents]
    spans_by_document = [find_spans(normalize_text(text), base_jieba_segmenter(), rules) for text in texts]
    return count_batch_spans(spans_by_document, [document.document_id for document in documents], is_noise)


def find_term_sentences(
    corpus: Corpus,
    scored_candidates: ScoredCandidates,
    settings: LexiconSettings,
    known_sentences: SentenceByTermAndDocument,
    progress_task: ProgressTask,
) -> SentenceByTermAndDocument:
    """Return a sentence per candidate and document for its first `max_contexts` documents, "" if no sentence matches.

    Sentences in `known_sentences` are reused instead of searched.
    """
    sentences: SentenceByTermAndDocument = {}
    keys_by_document: defaultdict[int, list[str]] = defaultdict(list)
    for candidate, _ in scored_candidates:
        key = word_key(candidate.text)
        for document_id in candidate.first_documents[: settings.max_contexts]:
            if (key, document_id) in known_sentences:
                sentences[key, document_id] = known_sentences[key, document_id]
            else:
                keys_by_document[document_id].append(key)
    with progress_task("lexicon: sentences", len(keys_by_document)) as advance:
        for document_ids in batched(sorted(keys_by_document), DOCUMENTS_PER_READ):
            for document in corpus.iter_documents(document_ids):
                text, keys = "\n".join(iter_lines(document)), keys_by_document[document.document_id]
                sentences_by_key = find_example_sentences(text, keys, settings.context_chars, is_prose)
                # Terms with ligatures or invisible characters match only in NFKC.
                if missing := [key for key in keys if key not in sentences_by_key]:
                    sentences_by_key |= find_example_sentences(
                        normalize_text(text), missing, settings.context_chars, is_prose
                    )
                sentences.update(((key, document.document_id), sentences_by_key.get(key, "")) for key in keys)
            advance(len(document_ids))
    return sentences


def _build_terms(
    scored_candidates: ScoredCandidates, sentences: SentenceByTermAndDocument, max_contexts: int
) -> list[Term]:
    terms = []
    for candidate, score in scored_candidates:
        key, documents = word_key(candidate.text), candidate.first_documents[:max_contexts]
        contexts = dict.fromkeys(sentences.get((key, document_id), "") for document_id in documents)
        contexts.pop("", None)
        terms.append(
            Term(
                candidate.text,
                score,
                candidate.frequency,
                candidate.document_count,
                candidate.tag_sequence,
                tuple(contexts),
                score_components=candidate.score_components,
            )
        )
    return terms
