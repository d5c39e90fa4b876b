"""Relations between published terms: proposed with their evidence, and not again after a rejection."""

from docstore.store import Store
from domain.review import ReviewDecisionKind, TermEdit
from domain.term import TermStatus
from domain.term_relation import ProposalState, RelationKind
from pipeline.lexicon_stage.sentence_scan import update_from_sentences
from tests.builders import operate, save_article
from tests.pipeline.test_definitions import publish, store

__all__ = ["store"]

EVIDENCE = "甲烷、乙烷等烃类的用途很广。"
OTHER = "甲烷属于烃类。"


def accept(store: Store, *terms: str) -> None:
    edits = [TermEdit(term, TermStatus.ACCEPTED, create_if_missing=True) for term in terms]
    store.review_history.apply(ReviewDecisionKind.DECIDE, edits, "ann")
    publish(store, *terms)


def open_pairs(store: Store) -> list[tuple[str, str]]:
    return [(proposal.relation.term, proposal.relation.other) for proposal in store.relations.list_open(10)[1]]


def test_proposals_have_evidence_and_source(store: Store) -> None:
    save_article(store, 1, f"序言。{EVIDENCE}")
    accept(store, "甲烷", "乙烷", "烃类")
    assert update_from_sentences(store, None) == ("2 new relations between terms to review",)
    total, [first, second] = store.relations.list_open(10)
    assert total == 2 and (first.relation.term, second.relation.term) == ("乙烷", "甲烷")
    assert (first.relation.other, first.relation.kind) == ("烃类", RelationKind.BROADER)
    assert (first.relation.evidence, first.url, first.title) == (EVIDENCE, "http://a.test/1", "文章1")
    assert update_from_sentences(store, None) == ()


def test_new_terms_and_new_articles_are_searched(store: Store) -> None:
    save_article(store, 1, f"{OTHER}{EVIDENCE}")
    accept(store, "甲烷", "烃类")
    update_from_sentences(store, None)
    assert open_pairs(store) == [("甲烷", "烃类")]
    accept(store, "甲烷", "烃类", "乙烷")
    update_from_sentences(store, None)
    assert open_pairs(store) == [("甲烷", "烃类"), ("乙烷", "烃类")]
    save_article(store, 2, "甲烷（methane）")
    save_article(store, 3, "液态甲烷（methane）")
    update_from_sentences(store, None)
    assert ("甲烷", "methane") in open_pairs(store)


def test_a_rejected_proposal_does_not_return(store: Store) -> None:
    save_article(store, 1, OTHER)
    accept(store, "甲烷", "烃类")
    update_from_sentences(store, None)
    names = {"kind": "broader", "term": "甲烷", "other": "烃类"}
    assert operate(store, "relation_reject", **names)
    save_article(store, 1, "无关。")
    update_from_sentences(store, None)
    save_article(store, 2, OTHER)
    assert update_from_sentences(store, None) == () and open_pairs(store) == []
    [rejected] = store.relations.list_decided(ProposalState.REJECTED, 10)
    assert rejected.decided_by == "anna"
    operate(store, "relation_reopen", **names)
    assert open_pairs(store) == [("甲烷", "烃类")]


def test_an_accepted_relation_is_not_open_until_it_is_undone(store: Store) -> None:
    save_article(store, 1, OTHER)
    accept(store, "甲烷", "烃类")
    update_from_sentences(store, None)
    store.review_history.apply(ReviewDecisionKind.RELATE, [TermEdit("甲烷", broader_terms=("烃类",))], "ann")
    assert open_pairs(store) == []
    store.review_history.undo("ann")
    assert open_pairs(store) == [("甲烷", "烃类")]
    store.review_history.apply(ReviewDecisionKind.DECIDE, [TermEdit("烃类", TermStatus.REJECTED)], "ann")
    assert open_pairs(store) == []


def test_a_proposal_whose_sentence_is_gone_is_deleted(store: Store) -> None:
    save_article(store, 1, OTHER)
    accept(store, "甲烷", "烃类")
    update_from_sentences(store, None)
    save_article(store, 1, "无关。")
    update_from_sentences(store, None)
    assert open_pairs(store) == []


def test_a_renaming_needs_one_published_name(store: Store) -> None:
    save_article(store, 1, "猴痘已于2024年改称“M痘”。天花更名为水痘。")
    accept(store, "猴痘")
    assert update_from_sentences(store, None) == ("1 new relation between terms to review",)
    [proposal] = store.relations.list_open(10)[1]
    assert (proposal.relation.kind, proposal.relation.other) == (RelationKind.RENAMED, "M痘")
