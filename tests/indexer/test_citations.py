"""Citation counts: computed before indexing, once per citing work, and updated by later articles."""

import pytest
from sqlalchemy import update

from docstore.schema.article_tables import articles
from docstore.store import Store
from domain.article import Article, Block, BlockKind, document_id
from domain.article_relations import authority_score
from domain.outcome import Outcome, Reason
from domain.term import Lexicon
from indexer.document_mapping import TextAnalysis
from indexer.solr_index import SolrIndex
from indexer.sync import flush_changes
from search_ui.query.query_plan import QueryPlan
from search_ui.query.query_words import QueryWords
from search_ui.query.score_explanation import parse_explain
from search_ui.query.search_request import SearchRequest
from search_ui.query.solr_client import SolrSearchClient
from search_ui.query.solr_requests import hits_params
from search_ui.services.articles import explain_params
from tests.builders import extract_all, keep_page, new_url, relate_articles
from tests.conftest import logic_store_url
from text.segment import base_segmenter

store_url = logic_store_url
LAW = "http://law.test/9"
PLAIN = "http://local.test/rule"


def write(store: Store, url: str, title: str, body: str, links: tuple[tuple[int, int, str], ...] = ()) -> None:
    """Save an article of one paragraph with links."""
    keep_page(store, url, (title + body).encode())
    blocks = (Block(BlockKind.PARAGRAPH, body, links=links),)
    extract_all(store, Article(url, title, body, language="zh", blocks=blocks))


def cited(store: Store, url: str) -> int:
    relate_articles(store)
    (url_id,) = store.articles.find_url_ids([document_id(url)])
    return store.articles.load_by_url_ids([url_id])[url_id].citation_count


def struck(store: Store) -> None:
    """Acknowledge all changes, as if they had been indexed."""
    store.change_log.acknowledge(store.change_log.pending(1000), [])


def test_a_later_article_moves_those_that_it_cites_and_no_others(store: Store) -> None:
    write(store, LAW, "刑法 第九条", "凡参加国际条约的，适用本法。")
    write(store, PLAIN, "办法", "参加国际条约的，适用本办法。")
    assert (cited(store, LAW), cited(store, PLAIN)) == (0, 0)
    struck(store)
    write(store, "http://news.test/1", "评论", "依照《中华人民共和国刑法》的规定。")
    assert cited(store, LAW) == 1
    assert [change.url for change in store.change_log.pending(10)] == ["http://news.test/1", LAW]
    struck(store)
    assert relate_articles(store) == 0 and store.change_log.pending(10) == []
    keep_page(store, "http://news.test/1", b"gone")
    extract_all(store, Outcome(Reason.NO_BODY))
    assert cited(store, LAW) == 0


def test_one_voice_counts_once(store: Store) -> None:
    """Parts of one work count as one citation; a work does not cite itself."""
    write(store, LAW, "刑法 第九条", "见《刑法》第一条。")
    write(store, "http://law.test/10", "刑法 第十条", "见《刑法》第九条。")
    assert cited(store, LAW) == 0
    for part in range(3):
        write(store, f"http://rules.test/{part}", f"实施细则 第{part + 1}条", f"甲{part}依《刑法》第九条。")
    assert cited(store, LAW) == 1
    write(store, "http://else.test/", "别处", "又依《刑法》。")
    assert cited(store, LAW) == 2


def test_a_copy_says_nothing_new(store: Store) -> None:
    write(store, LAW, "刑法", "全文。")
    said = "".join(f"第{n}个不同的句子说的是第{n * 7}件事情。" for n in range(40)) + "依《刑法》。"
    for host in ("a.test", "b.test", "c.test"):
        store.frontier.add_urls([new_url(f"http://{host}/x", host=host)])
        keep_page(store, f"http://{host}/x", said.encode())
        signature = tuple(range(128))
        extract_all(store, Article(f"http://{host}/x", "评论", said, language="zh", signature=signature))
    assert cited(store, LAW) == 1


def test_links_count_in_sentences_and_navigation_does_not(store: Store) -> None:
    guide, home = "http://docs.test/guide", "http://docs.test/home"
    write(store, guide, "安装", "怎样安装。")
    write(store, home, "首页", "欢迎。")
    for n in range(40):
        body = f"第{n}篇说明，先看安装一节，再看首页，然后回到这里接着往下读下去。"
        at = body.index("安装")
        links = ((at, at + 2, guide + "#top"),) if n < 3 else ()
        write(
            store, f"http://docs.test/{n}", f"篇{n}", body, (*links, (body.index("首页"), body.index("首页") + 2, home))
        )
    write(store, "http://docs.test/list", "目录", "安装首页", ((0, 2, guide), (2, 4, home)))
    assert cited(store, guide) == 3
    assert cited(store, home) == 0  # as every page says it


def test_counts_follow_the_size_of_the_citing_site(store: Store) -> None:
    """Twelve citations are boilerplate on a site of twelve articles, and none on a site of fifty."""
    home = "http://docs.test/home"
    write(store, home, "首页", "欢迎。")
    for n in range(12):
        write(
            store,
            f"http://docs.test/{n}",
            f"篇{n}",
            f"第{n}篇，见首页。",
            ((len(f"第{n}篇，见"), len(f"第{n}篇，见首页"), home),),
        )
    assert cited(store, home) == 0
    struck(store)
    for n in range(40):
        write(store, f"http://docs.test/more{n}", f"又{n}", f"另有第{n}篇，内容各不相同。")
    assert cited(store, home) == 12
    assert home in [change.url for change in store.change_log.pending(100)]
    struck(store)
    for n in range(40):
        keep_page(store, f"http://docs.test/more{n}", b"gone")
        extract_all(store, Outcome(Reason.NO_BODY))
    assert cited(store, home) == 0


def test_a_wrong_count_is_detected_and_corrected(store: Store) -> None:
    write(store, LAW, "刑法", "全文。")
    write(store, "http://news.test/1", "评论", "依照《中华人民共和国刑法》的规定。")
    assert store.citations.find_wrong_counts() == []  # the next index run counts them
    assert cited(store, LAW) == 1
    struck(store)
    assert store.citations.find_wrong_counts() == [] and store.citations.repair_counts() == 0
    (url_id,) = store.articles.find_url_ids([document_id(LAW)])
    with store._database.write() as connection:
        connection.execute(update(articles).where(articles.c.url_id == url_id).values(citations=7))
    assert store.citations.find_wrong_counts() == [url_id]
    assert store.citations.repair_counts() == 1
    assert cited(store, LAW) == 1
    assert [change.url for change in store.change_log.pending(10)] == [LAW]


def test_a_title_that_many_bear_names_none(store: Store) -> None:
    for n in range(12):
        write(store, f"http://office{n}.test/", "通知", f"第{n}号内容各不相同。")
    write(store, "http://news.test/", "新闻", "见《通知》。")
    assert cited(store, "http://office0.test/") == 0


def test_a_standard_is_cited_by_its_number(store: Store) -> None:
    write(store, "http://std.test/1", "GB/T 1234-2008 钢管", "范围。")
    write(store, "http://news.test/2", "采购", "应符合GB/T 1234的要求。")
    assert cited(store, "http://std.test/1") == 1


def test_authority_rises_ever_more_slowly() -> None:
    assert authority_score(0) == 0 and authority_score(1) == 0.75
    assert authority_score(100) - authority_score(90) < authority_score(12) - authority_score(2)
    assert len({authority_score(n) for n in range(1000)}) < 30  # so often an article is indexed again


@pytest.mark.solr
def test_of_two_texts_that_answer_the_cited_one_comes_first(store: Store, solr_index: SolrIndex) -> None:
    text = "盗窃公私财物，数额较大的，处三年以下有期徒刑。"
    write(store, "http://a.test/0", "甲办法 第一条", text)
    write(store, "http://law.test/264", "刑法 第二百六十四条", text + "另。")
    analysis = TextAnalysis(Lexicon(), base_segmenter(), base_segmenter())
    asked = SearchRequest(raw_query="盗窃财物", text="盗窃财物")
    cut = ("盗窃", "财物")
    plan = QueryPlan(asked, QueryWords(asked.text, asked.text, cut, cut, base=cut))
    search = SolrSearchClient(solr_index.base_url, solr_index.collection, 120.0)

    def found() -> list[str]:
        flush_changes(store, solr_index, analysis, 10)
        return [doc["id"] for doc in search.select(hits_params(plan, 10))["response"]["docs"]]

    law, rule = document_id("http://law.test/264"), document_id("http://a.test/0")
    assert found() == [rule, law]
    for n in range(6):
        write(store, f"http://c{n}.test/", f"评论{n}", f"第{n}篇谈《中华人民共和国刑法》。")
    assert found()[:2] == [law, rule]
    answer = search.select(explain_params(law, plan))
    why = parse_explain(answer["debug"]["explain"][law])
    parts = {part.name: part.score for part in why.parts}
    assert parts["authority"] == pytest.approx(why.score * (1 - 1 / (1 + 0.06 * authority_score(6))))
    assert sum(parts.values()) == pytest.approx(why.score)
    assert "other" not in parts
