"""The set `publish`: articles that are segmented again when terms are published.

- `resegmented_share`: articles that are indexed again, relative to those that contain one of the terms
- `containing`, `terms`: articles with a term in title or text, regardless of case; published terms

The terms are the first candidates of each language. Afterwards they are taken out of the lexicon again.
"""

from collections.abc import Iterator

from benchmarks.real_terms import first_of
from benchmarks.real_vertical import Vertical
from benchmarks.results import Figure
from domain.review import ReviewDecisionKind, TermEdit
from domain.term import TermStatus
from indexer.sync import apply_lexicon
from lexicon.mining import mine_terms
from pipeline import stages
from pipeline.search_site.review_service import StoreReview
from pipeline.stages import StoredCorpus
from text.scripts import LANGUAGE_PATTERNS

TERMS_PER_LANGUAGE = 5


def publish_figures(vertical: Vertical) -> Iterator[Figure]:
    """Yield the cost of publishing terms on the indexed vertical."""
    engine = vertical.engine
    stages.index(engine)
    candidates = mine_terms(StoredCorpus(engine.store.articles), engine.settings.lexicon)
    terms = [term.text for name in LANGUAGE_PATTERNS for term in first_of(candidates, name)[:TERMS_PER_LANGUAGE]]
    review = StoreReview(engine.store)
    edits = [TermEdit(term, TermStatus.ACCEPTED, create_if_missing=True) for term in terms]
    engine.store.review_history.apply(ReviewDecisionKind.ADD, edits)
    review.publish("bench")
    resegmented_count = apply_lexicon(engine.store, engine.index)
    folded_terms = [term.casefold() for term in terms]
    containing_count = sum(
        any(term in f"{title}\n{body}".casefold() for term in folded_terms)
        for _, title, body in engine.store.articles.iter_plain_texts()
    )
    stages.index(engine)
    engine.store.review_history.undo()
    review.publish("bench")
    stages.index(engine)
    yield Figure("publish", "plumbline", "resegmented_share", resegmented_count / max(1, containing_count))
    yield Figure("publish", "plumbline", "containing", containing_count)
    yield Figure("publish", "plumbline", "terms", len(terms))
