"""The review order: candidates ranked by what the reviewers accepted so far."""

from docstore.store import Store

REORDER_AFTER_DECISIONS = 10  # new review decisions after which candidates are ranked again


def update_review_order(store: Store, min_new_decisions: int = REORDER_AFTER_DECISIONS) -> bool:
    """Rank the candidates again, based on the decisions so far. Returns False if there are too few new decisions."""
    if not store.review_queue.needs_reranking(min_new_decisions):
        return False
    # Imported here, because scikit-learn takes longer to load than most commands take to run.
    from lexicon.review_ranking import MAX_DECISIONS, predict_acceptance

    decided_terms = store.review_queue.decided_terms(MAX_DECISIONS)
    state, candidates = store.review_queue.undecided_terms()
    store.review_queue.save_ranking(predict_acceptance(decided_terms, candidates), state)
    return True
