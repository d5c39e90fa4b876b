"""Related terms, with a real Solr: proposed with a sentence that contains both, each pair once."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import pytest

from docstore.store import Store, open_sqlite_store
from domain.article import document_id
from domain.progress import AdvanceProgress, no_progress
from domain.term_relation import RelationKind
from indexer.document_mapping import TextAnalysis, to_solr_document
from indexer.embedded_solr import EmbeddedSolr
from indexer.solr_index import SolrIndex
from pipeline.lexicon_stage import related_terms
from pipeline.lexicon_stage.sentence_scan import update_from_sentences
from search_ui.review.name_usage import name_usage_params, parse_name_usage
from tests.builders import save_article
from tests.pipeline.test_relations import accept, open_pairs
from tests.site_fixture import BASE
from tests.solr_fixture import index_at
from text.segment import RjiebaSegmenter

EVIDENCE = "压裂液进入储层以后，水平井的产量上升。"
INCOMPLETE = "水平井与压裂液"
LONGER = "压裂液进入储层以后的第二年，水平井的产量就下降了。"
KIND = "钻头是一种压裂。"
Totals = dict[str, int | None]
TERMS = ("压裂", "压裂液", "水平井", "钻头")


@pytest.fixture
def store(tmp_path: Path, solr_node: EmbeddedSolr) -> Iterator[Store]:
    """Four articles with both of two terms, with an evidence sentence in one, and others without them."""
    with open_sqlite_store(tmp_path) as opened:
        for number in range(4):
            evidence = f"{INCOMPLETE}\n{EVIDENCE}{LONGER}" if number == 0 else ""
            save_article(opened, number, f"{evidence}水平井有{number}口。\n压裂液有{number}吨。")
        for number in range(4, 40):
            body = f"第{number}个钻头。" if number < 20 else f"第{number}次压裂。"
            save_article(opened, number, body + KIND * (number in (30, 31)))
        accept(opened, *TERMS)
        opened.lexicons.mark_applied(opened.lexicons.latest_version(), ())
        yield opened


@pytest.fixture
def index(store: Store, solr_node: EmbeddedSolr) -> Iterator[SolrIndex]:
    """The index of the store."""
    index = index_at(solr_node.url, "relatedterms")
    index.ensure_collection()
    analysis = TextAnalysis(store.lexicons.load_latest(), RjiebaSegmenter([(text, 0, "n") for text in TERMS]), BASE)
    assert index.add([to_solr_document(one, analysis) for one in store.articles.iter_all()]) == {}
    index.commit()
    yield index
    index.delete_all()


@pytest.mark.solr
def test_terms_that_articles_use_together_are_proposed_once(
    store: Store, index: SolrIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(related_terms, "MAX_TERMS_PER_RUN", 3)
    assert update_from_sentences(store, index)[1:] == (
        "1 new relation between terms to review",
        "1 new related term to review",
    )
    assert store.relations.next_related_term() == sorted(TERMS)[3]
    assert open_pairs(store) == [("钻头", "压裂"), ("压裂液", "水平井")]
    proposal = store.relations.list_open(10)[1][1]
    assert (proposal.relation.kind, proposal.relation.evidence) == (RelationKind.RELATED, EVIDENCE)
    assert document_id(proposal.url) == document_id("http://a.test/0") and proposal.relation.score > 0.05
    monkeypatch.setattr(related_terms, "MAX_TERMS_PER_RUN", 9)
    totals: Totals = {}
    update_from_sentences(store, index, partial(record_total, totals))
    assert len(open_pairs(store)) == 2
    assert store.relations.next_related_term() == "" and totals["lexicon: related terms"] == len(TERMS)
    for name, count in (("压裂液", 4), ("进入储层", 1)):  # the second is no term
        usage = parse_name_usage(name, index.search(dict(name_usage_params(name))))
        assert (usage.article_count, usage.first_day, usage.last_day) == (count, "2024-05-01", "2024-05-01")
        assert usage.counts_by_month == {"2024-05": count}


@pytest.mark.solr
def test_only_articles_with_changed_terms_are_read_again(store: Store, index: SolrIndex) -> None:
    totals: Totals = {}
    update_from_sentences(store, index)
    with store._database.write() as connection:  # no article is new any more
        connection.exec_driver_sql("UPDATE articles SET extracted_at = extracted_at - 10000")
    for terms in ((*TERMS, "次压裂"), TERMS):  # a withdrawn term hid its parts
        accept(store, *terms)
        update_from_sentences(store, index, partial(record_total, totals))
        assert totals["lexicon: sentences"] == 20
    save_article(store, 30, "无关。")
    update_from_sentences(store, index, partial(record_total, totals))
    [proposal] = [row for row in store.relations.list_open(10)[1] if row.relation.term == "钻头"]
    assert (proposal.relation.evidence, proposal.url) == (KIND, "http://a.test/31")
    assert totals["lexicon: sentences"] == 18  # the changed article, and those with its term


def record_total(totals: Totals, name: str, steps: int | None) -> AbstractContextManager[AdvanceProgress]:
    totals[name] = steps
    return no_progress(name, steps)
