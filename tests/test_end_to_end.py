"""The complete engine on real pages, served under their own host names: two runs of all stages, and searches.

The fixture `story` executes both runs once; the tests check the results.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from benchmarks.gold_web import GoldPage, GoldWeb, load_pages
from benchmarks.results import read_floors
from domain.outcome import Reason, Stage, StageReport
from indexer.settings import IndexSettings
from pipeline import stages
from pipeline.embedding.settings import EmbedSettings
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.search_site.search_app import create_search_app
from pipeline.settings import Settings, build_settings
from tests.conftest import SHARED
from tests.solr_fixture import RunningSolr
from tests.web_fixture import PATIENCE

FLOORS = read_floors("end to end")

pytestmark = [pytest.mark.shared, pytest.mark.solr, pytest.mark.slow]


@dataclass
class Story:
    """Results of two runs."""

    web: GoldWeb
    engine: Engine
    client: FlaskClient
    first: dict[Stage, StageReport] = field(default_factory=dict)
    second: dict[Stage, StageReport] = field(default_factory=dict)
    found_first: set[str] = field(default_factory=set)
    indexed_first: set[str] = field(default_factory=set)
    changed: dict[str, str] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    second_log: list[tuple[str, int]] = field(default_factory=list)


def hits(client: FlaskClient, query: str) -> list[str]:
    """Return the URLs that the search page finds for `query`, best first."""
    answer = client.get("/search", query_string={"q": query, "format": "json"})
    assert answer.status_code == 200, (query, answer.text)
    return [hit["url"] for hit in answer.get_json()["hits"]]


def scored(web: GoldWeb) -> list[GoldPage]:
    return [page for page in web.pages.values() if page.is_scored]


def by_stage(reports: list[StageReport]) -> dict[Stage, StageReport]:
    return {report.stage: report for report in reports}


def settings_for(web: GoldWeb, folder: Path) -> Settings:
    """Return settings without crawl delay, because the server is our own."""
    crawl = {**web.crawl_settings(), "revisit_shortest": 0.0}
    return build_settings({"vertical": {"data_dir": "data"}, "crawl": crawl}, folder)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((16, "off"), id="sixteenth by keywords"),
        pytest.param((8, "default"), id="eighth", marks=pytest.mark.exhaustive),
    ],
)
def story(
    request: pytest.FixtureRequest, solr_node: RunningSolr, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Story]:
    """Yield two runs on every 16th page of each set, or every eighth."""
    step, model = request.param
    web = GoldWeb(load_pages(SHARED / "data" / "extraction")[::step])
    settings = settings_for(web, tmp_path_factory.mktemp("end_to_end"))
    settings = replace(
        settings,
        index=IndexSettings(solr_url=solr_node.url, collection=f"gold{step}", request_timeout=PATIENCE),
        embed=EmbedSettings(model=model),
    )
    with web, Engine(settings, NullProgress(), ip_policy=web) as engine:
        told = Story(web, engine, create_search_app(engine).test_client())
        first_day(told)
        second_day(told)
        yield told
        engine.index.delete_all()


def first_day(told: Story) -> None:
    told.first = by_stage(stages.run(told.engine))
    told.indexed_first = {stored.article.url for stored in told.engine.store.articles.iter_all()}
    for page in scored(told.web):
        if page.url in hits(told.client, page.title)[:3]:
            told.found_first.add(page.url)


def second_day(told: Story) -> None:
    """Change 5% of the pages, remove 1%, and run again."""
    candidates = sorted(page.url for page in scored(told.web) if page.url in told.indexed_first)
    pages = len(told.web.pages)
    gone = max(1, pages // 100)
    told.gone = candidates[:: len(candidates) // gone][:gone]
    for number, url in enumerate(u for u in candidates if u not in told.gone):
        if len(told.changed) == pages // 20:
            break
        if told.web.insert(url, f"zqxmark{number}"):
            told.changed[url] = f"zqxmark{number}"
    told.web.gone.update(told.gone)
    told.web.log.clear()
    told.second = by_stage(stages.run(told.engine))
    told.second_log = list(told.web.log)


def test_at_least_95_percent_are_indexed_and_found_by_their_title(story: Story) -> None:
    pages = scored(story.web)
    indexed = [page for page in pages if page.url in story.indexed_first]
    print(f"\n{len(pages)} pages with gold title and body, {len(indexed)} indexed, {len(story.found_first)} found")
    lost = [(page.set, page.id, page.title) for page in pages if page.url not in story.found_first]
    floor = FLOORS["share of pages with gold title and body that are found by their title in the first three hits"]
    assert len(story.found_first) >= floor * len(pages), lost


def kept_in(counts: Mapping[Reason, int]) -> int:
    """Return the number of pages that became articles, including suspect ones."""
    return counts[Reason.EXTRACTED] + counts.get(Reason.INCOMPLETE_BODY, 0)


def test_every_page_is_accounted_for(story: Story) -> None:
    """Each served URL has one crawl outcome, and each fetched page one extraction outcome."""
    for url in story.web.pages:
        told = story.engine.store.status.url_report(url)
        rows = {one.stage: one.reason for one in told.outcomes} if told else {}
        assert rows.get("crawl") in {"unchanged", "fetched", "gone"}, (url, rows)
        assert "extract" in rows or rows["crawl"] == "gone", (url, rows)
    counts = story.first[Stage.EXTRACT].outcome_counts
    fetched = story.first[Stage.CRAWL].outcome_counts[Reason.FETCHED]
    assert sum(counts.values()) == fetched
    assert kept_in(counts) == len(story.indexed_first)
    assert not counts.get(Reason.UNEXPECTED_ERROR), counts


def test_the_index_holds_exactly_the_articles(story: Story) -> None:
    assert story.engine.index.count() == story.engine.store.articles.count()
    assert story.engine.store.change_log.pending_document_count() == 0


def test_the_second_run_extracts_and_indexes_only_what_changed(story: Story) -> None:
    changed, gone = len(story.changed), len(story.gone)
    assert changed == len(story.web.pages) // 20
    assert gone == max(1, len(story.web.pages) // 100)
    assert story.second[Stage.EXTRACT].total == changed
    index = story.second[Stage.INDEX].outcome_counts
    assert index[Reason.DELETED] == gone
    assert index[Reason.INDEXED] == kept_in(story.second[Stage.EXTRACT].outcome_counts) <= changed


def test_a_changed_page_is_found_by_its_new_word(story: Story) -> None:
    found = [url for url, marker in story.changed.items() if hits(story.client, marker)[:1] == [url]]
    floor = FLOORS["share of changed pages that are found by their new word at rank 1"]
    assert len(found) >= int(floor * len(story.changed)), set(story.changed) - set(found)


def test_gone_pages_are_no_longer_found(story: Story) -> None:
    for url in story.gone:
        assert url not in hits(story.client, story.web.pages[url].title), url


def test_every_other_article_answered_304_or_was_not_asked_for(story: Story) -> None:
    expected = {**dict.fromkeys(story.changed, 200), **dict.fromkeys(story.gone, 404)}
    wrong = [
        (url, status) for url, status in story.second_log if url in story.web.pages and status != expected.get(url, 304)
    ]
    assert wrong == []
    assert max(Counter(url for url, _ in story.second_log).values()) == 1
