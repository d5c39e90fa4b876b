"""The review order: candidates ranked by the gain of a decision, with what the reviewers accepted so far."""

from collections import Counter

from docstore.store import Store
from domain.progress import ProgressTask, no_progress, track
from domain.review import TermQuery
from pipeline.lexicon_stage.candidate_kinds import find_kinds
from text.folding import normalize_text
from text.mixed_terms import TermFinder

REORDER_AFTER_DECISIONS = 10  # new review decisions after which candidates are ranked again
MAX_QUERIES = 20_000  # most frequent queries of the search log that are read


def is_review_order_stale(store: Store) -> bool:
    """True after a term mining or some decisions."""
    ranked_state, state = store.review_queue.ranking_states()
    is_mined = state.text_version != ranked_state.text_version
    return is_mined or state.decision_id - ranked_state.decision_id >= REORDER_AFTER_DECISIONS


def update_review_order(store: Store, progress_task: ProgressTask = no_progress) -> bool:
    """Rank the candidates again if their order is stale. Returns False if it is not.

    Decisions do not move the first candidates, which a reviewer may have on the screen.
    """
    if not is_review_order_stale(store):
        return False
    queue = store.review_queue
    ranked_state, _ = queue.ranking_states()
    # Imported here, because scikit-learn takes longer to load than most commands take to run.
    from lexicon.review_ranking import KEPT_PLACES, MAX_DECISIONS, predict_acceptance, rank_candidates

    state, terms = queue.undecided_terms()
    is_mined = state.text_version != ranked_state.text_version
    kinds = find_kinds(terms, store.lexicons.accepted_terms())
    first_terms = [] if is_mined else queue.find_page(TermQuery(limit=KEPT_PLACES))[1]
    kept_texts = [term.text for term in first_terms if term.text not in kinds]
    acceptance = predict_acceptance(queue.decided_terms(MAX_DECISIONS), terms)
    finder, counts = TermFinder(term.text for term in terms), Counter[str]()
    for query, count in track(progress_task, "lexicon: review order", store.search_log.count_queries(MAX_QUERIES)):
        counts.update(dict.fromkeys(finder.find_terms(normalize_text(query)), count))
    ranking = rank_candidates(terms, acceptance, kinds, counts, store.articles.count_by_language(), kept_texts)
    queue.save_ranking(ranking, state)
    return True
