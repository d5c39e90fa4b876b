"""Related terms, with a real Solr: proposed with a sentence that contains both, each pair once."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from docstore.store import Store, open_sqlite_store
from domain.article import document_id
from domain.term_relation import RelationKind
from indexer.document_mapping import TextAnalysis, to_solr_document
from indexer.embedded_solr import EmbeddedSolr
from pipeline.lexicon_stage.related_terms import find_common_sentences, save_related_terms
from search_ui.query.solr_query import Params
from search_ui.review.name_usage import name_usage_params, parse_name_usage
from tests.builders import save_article
from tests.pipeline.test_relations import accept, open_pairs
from tests.search_ui_fakes import BASE
from tests.solr_fixture import index_at
from text.segment import RjiebaSegmenter

EVIDENCE = "压裂液进入储层以后，水平井的产量上升。"
TERMS = ("压裂", "压裂液", "水平井", "钻头")


def test_a_common_sentence_is_complete_and_contains_both_terms() -> None:
    body = f"水平井与压裂液\n压裂液与水平井。{EVIDENCE}水平井的产量在第二年以后下降了。"
    assert find_common_sentences(body, ("水平井", "压裂液")) == [EVIDENCE]


@pytest.fixture
def store(tmp_path: Path, solr_node: EmbeddedSolr) -> Iterator[Store]:
    """Four articles with both of two terms, with an evidence sentence in one, and others without them."""
    with open_sqlite_store(tmp_path) as opened:
        for number in range(4):
            save_article(opened, number, f"{'' if number else EVIDENCE}水平井有{number}口。\n压裂液有{number}吨。")
        for number in range(4, 40):
            save_article(opened, number, f"第{number}个钻头。" if number < 20 else f"第{number}次压裂。")
        accept(opened, *TERMS)
        opened.lexicons.mark_applied(opened.lexicons.latest_version(), ())
        yield opened


@pytest.mark.solr
def test_terms_that_articles_use_together_are_proposed_once(store: Store, solr_node: EmbeddedSolr) -> None:
    index = index_at(solr_node.url, "relatedterms")
    index.ensure_collection()
    lexicon = store.lexicons.load_latest()
    analysis = TextAnalysis(lexicon, RjiebaSegmenter([(text, 0, "n") for text in TERMS]), BASE)
    assert index.add([to_solr_document(one, analysis) for one in store.articles.iter_all()]) == {}
    index.commit()
    asked: list[Params] = []

    def search(params: Params) -> dict[str, Any]:
        asked.append(params)
        return index.search(dict(params))

    try:
        assert save_related_terms(store, search, 7.0, limit=3) == 1
        assert store.relations.next_related_term() == sorted(TERMS)[3]
        assert open_pairs(store) == [("压裂液", "水平井")]
        [proposal] = store.relations.list_open(10)[1]
        assert (proposal.relation.kind, proposal.relation.evidence) == (RelationKind.RELATED, EVIDENCE)
        assert document_id(proposal.url) == document_id("http://a.test/0") and proposal.relation.score > 0.05
        asked.clear()
        assert save_related_terms(store, search, 8.0) == 0 and store.relations.next_related_term() == ""
        assert len(asked) == len(TERMS)  # a stored pair needs no other evidence
        for name, count in (("压裂液", 4), ("进入储层", 1)):  # the second is no term
            usage = parse_name_usage(name, search(name_usage_params(name)))
            assert (usage.article_count, usage.first_day, usage.last_day) == (count, "2024-05-01", "2024-05-01")
            assert usage.counts_by_month == {"2024-05": count}
    finally:
        index.delete_all()
