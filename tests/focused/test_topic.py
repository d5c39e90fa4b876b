"""A crawl that looks for a topic, from its definition to the reasons for each link, on the demo's sites."""

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from math import log10
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from crawler.crawl_plan import build_crawl_plan
from crawler.focused_policy import TokenizedPage
from crawler.settings import FOCUSED_STRATEGIES, CrawlSettings
from crawler.site import Sites
from domain.errors import PlumblineError, SettingsError, TopicError
from domain.outcome import Reason, Stage, StageReport
from domain.topic import Topic, TopicSeed, TopicState, TopicTerm, TopicTermClass
from focused.fused.link_features import LINK_FEATURES
from focused.strategy_registry import STRATEGIES
from focused.topic.topic_file_store import TopicFileStore
from pipeline import stages
from pipeline.cli.main import cli
from pipeline.cli.page import explain_url
from pipeline.demo.site import DemoServer, demo_urls, write_sites
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.refresh import refetch, require_frontier_entry
from pipeline.settings import Settings, build_settings, load_settings
from pipeline.topic.coverage import estimate_coverage
from pipeline.topic.policy_factory import add_proposals, create_policy, focused_crawl_settings
from pipeline.topic.retention import apply_answers, save_answers
from pipeline.topic.service import TopicDefinition, collect_proposals, create_topic
from pipeline.topic.settings import TopicSettings
from tests.local_workers import local_workers
from tests.web_fixture import PATIENCE, Answer, Site, page

NAME = "页岩气"
DAMPENED = {"delay": 0.001, "delay_factor": 0.0, "depth": 6, "threads": 2, "sitemaps": False}


@pytest.fixture(autouse=True)
def _local_workers() -> Iterator[None]:
    with local_workers():
        yield


@pytest.fixture(scope="module")
def sites_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sites")
    write_sites(folder)
    return folder


@pytest.fixture(scope="module")
def demo(sites_folder: Path) -> Iterator[list[str]]:
    with DemoServer(sites_folder, 0) as server:
        yield demo_urls(server.port)


def settings_of(folder: Path, seeds: list[str], **crawl: Any) -> Settings:
    hosts = [seed.split("/")[2] for seed in seeds]
    urls_by_host = {host: [seed for seed in seeds if seed.split("/")[2] == host] for host in hosts}
    tables = [{"urls": urls} for urls in urls_by_host.values()]
    return build_settings({"crawl": {"inside_hosts": hosts, **DAMPENED, **crawl}, "sites": tables}, folder)


def crawled(folder: Path, seeds: list[str], **crawl: Any) -> StageReport:
    with Engine(settings_of(folder, seeds, **crawl), NullProgress()) as engine:
        return stages.crawl(engine)


@pytest.fixture(scope="module")
def crawled_folder(demo: list[str], sites_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A vertical with 25 pages, crawled without a topic, and the URL of the page among them that names NAME most often.

    That page is a seed: which other pages are fetched first depends on the load of the machine.
    """
    pages = [file for file in sites_folder.rglob("*.shtml") if "system/2" in str(file)]
    path = max(pages, key=lambda file: file.read_bytes().decode("utf-8", "replace").count(NAME)).relative_to(
        sites_folder
    )
    host, port = path.parts[0], demo[0].rpartition(":")[2].strip("/")
    url = f"http://{host}:{port}/{path.relative_to(host)}"
    folder = tmp_path_factory.mktemp("crawled")
    report = crawled(folder, [url, *demo], max_pages=25)
    assert Reason.OFF_TOPIC not in report.outcome_counts
    return folder, url


@pytest.fixture
def example(crawled_folder: tuple[Path, str], tmp_path: Path) -> str:
    """The URL of an article in a copy of the crawled vertical in `tmp_path`."""
    folder, url = crawled_folder
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    return url


def test_the_names_of_the_strategies_are_those_of_their_table() -> None:
    assert tuple(STRATEGIES) == FOCUSED_STRATEGIES


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"strategy": "semantic"}, "needs a topic: set crawl.topic"),
    ],
    ids=["no topic"],
)
def test_settings_that_cannot_be_followed(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        build_crawl_plan(replace(CrawlSettings(sites=Sites().with_urls(["http://a.test/"])), **changes))


def test_from_a_name_to_the_reasons_for_each_link(demo: list[str], example: str, tmp_path: Path) -> None:
    with Engine(settings_of(tmp_path, demo, topic=NAME, max_pages=40), NullProgress()) as engine:
        topic = create_topic(engine, TopicDefinition(NAME, terms=("页岩气", "水平井"), examples=(example,)))
        assert topic.examples[0].blocks and topic.confirmed_terms(TopicTermClass.PROFESSIONAL) == ("页岩气", "水平井")
        done = stages.crawl(engine)
        assert done.outcome_counts[Reason.OFF_TOPIC] > 0 and done.outcome_counts[Reason.FETCHED] > 0
        table = engine.store.focused_decisions
        harvest = {(one.host, one.strategy): one for one in table.harvest_by_host()}
        assert sum(one.decided_count for one in harvest.values()) == table.count()
        assert {strategy for _, strategy in harvest} == {"breadth_first", "fused"}  # the archive was shown to it first
        [waiting, *_] = [row for row in engine.store.frontier.admin.iter_urls("*") if not row.reason]
        told = explain_url(engine, waiting.url)
        assert {row["part"] for row in told.topic_rows["priority_parts"]} == set(LINK_FEATURES)
        assert float(told.topic_rows["priority"][0]["now"]) == pytest.approx(waiting.priority, abs=1e-3)
        assert told.topic_rows["led_to_by"][0]["anchor"]
        # a page that would be retained now, and is due again, still has the reason of its last visit
        refused = {one.url for one in table.iter_decisions() if not one.is_retained}
        rows = engine.store.frontier.admin.iter_urls("*")
        off = next(row.url for row in rows if row.reason == Reason.OFF_TOPIC and row.url in refused)
        assert explain_url(engine, off).topic_rows["judgement"][0]["was"] == "not kept"
        good = [
            row
            for row in engine.store.frontier.admin.iter_urls("*")
            if row.reason in (Reason.FETCHED, Reason.UNCHANGED)
        ]
        assert stages.extract(engine).total == len(good)  # what is off topic goes no further


def test_a_person_is_asked_and_the_answers_count_at_once(demo: list[str], example: str, tmp_path: Path) -> None:
    """A page that is said to be off topic leaves; what is to be expected is said; the next guide knows the answers."""
    lax = replace(settings_of(tmp_path, demo, topic=NAME, max_pages=40), topic=TopicSettings(precision=0.1))
    with Engine(lax, NullProgress()) as engine:
        create_topic(engine, TopicDefinition(NAME, terms=("页岩气", "水平井"), examples=(example,)))
        assert estimate_coverage(engine, NAME) is None
        stages.crawl(engine)
        expected, asked = estimate_coverage(engine, NAME), engine.store.topic_questions.pending(NAME)
        assert expected is not None and expected.precision is None and 0 < len(asked) <= 10
        assert all(engine.store.focused_decisions.find(one.url) for one in asked) and any(one.title for one in asked)
        kept = {
            one.url
            for one in engine.store.focused_decisions.iter_decisions()
            if one.is_retained and one.strategy == "fused"
        } - {example}
        held = {row.url for row in engine.store.frontier.admin.iter_urls("*") if row.reason == Reason.FETCHED}
        wrong = min(kept & held)
        with pytest.raises(TopicError, match="was not fetched for a topic"):
            save_answers(engine, NAME, {wrong: False, "http://nowhere.test/": True}, "operator")
        save_answers(engine, NAME, {wrong: False, asked[0].url: asked[0].url != wrong}, "operator")
        apply_answers(engine, NAME)
        found = engine.store.focused_decisions.find(wrong)
        assert found is not None and not found.is_retained and found.score == 0.0
        reasons = {row.url: row.reason for row in engine.store.frontier.admin.iter_urls("*")}
        assert reasons[wrong] == Reason.OFF_TOPIC
        stages.extract(engine)
        assert wrong not in {stored.article.url for stored in engine.store.articles.iter_all()}
        assert wrong not in {one.url for one in engine.store.topic_questions.pending(NAME)}
        while (expected := estimate_coverage(engine, NAME)) is not None and expected.missing_label_count:
            asked = engine.store.topic_questions.pending(NAME)[: expected.missing_label_count]
            assert asked
            save_answers(engine, NAME, {one.url: "水平井" in one.title for one in asked}, "operator")
            apply_answers(engine, NAME)
        assert expected is not None and expected.precision is not None and 0 < expected.precision <= 1
        assert expected.label_count >= round(10 * log10(expected.decided_count + 1))


def test_a_page_that_is_fetched_again_by_itself_is_judged(demo: list[str], example: str, tmp_path: Path) -> None:
    """`plumb refresh URL`, in a vertical that looks for a topic."""
    with Engine(settings_of(tmp_path, demo, topic=NAME, max_pages=12), NullProgress()) as engine:
        create_topic(engine, TopicDefinition(NAME, terms=("页岩气", "水平井"), examples=(example,)))
        stages.crawl(engine)
        rows = engine.store.frontier.admin.iter_urls("*")
        waiting = [row.url for row in rows if not row.reason]
        decided = {one.url for one in engine.store.focused_decisions.iter_decisions()}
        for url in waiting[:3]:
            report = refetch(engine, require_frontier_entry(engine, url))
            assert report.total == 1
        judged = {one.url: one for one in engine.store.focused_decisions.iter_decisions()}
        reasons = {row.url: row.reason for row in engine.store.frontier.admin.iter_urls("*") if row.url in waiting[:3]}
        read = {url for url, reason in reasons.items() if reason in (Reason.FETCHED, Reason.OFF_TOPIC)}  # some redirect
        assert read and read <= judged.keys() - decided <= set(waiting[:3])
        # A page that a later one made welcome is off topic until it is fetched again.
        assert all(judged[url].is_retained or reasons[url] == Reason.OFF_TOPIC for url in read)


def test_a_start_takes_the_state_that_the_last_run_left(
    demo: list[str], example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shown(words: bytes) -> TokenizedPage:
        raise AssertionError("a page is shown again")

    with Engine(settings_of(tmp_path, demo, topic=NAME, max_pages=12), NullProgress()) as engine:
        create_topic(engine, TopicDefinition(NAME, terms=("水平井",), examples=(example,)))
        stages.crawl(engine)
        before = {row.url: row.priority for row in engine.store.frontier.admin.iter_urls("*") if not row.reason}
        monkeypatch.setattr("focused.topic_policy.deserialize_page", shown)
        guide = create_policy(engine, focused_crawl_settings(engine))
        assert guide is not None and guide.state.page_count == engine.store.focused_decisions.count() > 25
        assert {row.url: row.priority for row in engine.store.frontier.admin.iter_urls("*") if not row.reason} == before
        confirmed = TopicTerm("页岩气", state=TopicState.CONFIRMED)
        TopicFileStore(engine.settings.data_dir).update(NAME, lambda topic: topic.with_terms([confirmed]))
        with pytest.raises(AssertionError, match="shown again"):
            create_policy(engine, focused_crawl_settings(engine))


def test_another_strategy_takes_over_the_frontier(demo: list[str], example: str, tmp_path: Path) -> None:
    with Engine(settings_of(tmp_path, demo, topic=NAME, max_pages=12), NullProgress()) as engine:
        create_topic(engine, TopicDefinition(NAME, terms=("水平井",), examples=(example,)))
        stages.crawl(engine)
        before = {row.url: row.priority for row in engine.store.frontier.admin.iter_urls("*") if not row.reason}
    with Engine(settings_of(tmp_path, demo, topic=NAME, strategy="vsm"), NullProgress()) as engine:
        guide = create_policy(engine, focused_crawl_settings(engine))
        assert guide is not None
        after = {row.url: row.priority for row in engine.store.frontier.admin.iter_urls("*") if not row.reason}
        assert after.keys() == before.keys() and after != before
        assert all(after[url] == guide.priority_by_url[url] for url in after if url in guide.priority_by_url)
    parts = {"semantic": "Rel(anchor)", "semantic_tree": "Sim of the child (ZJ-F9)", "topic_library": "sim (WY-F9)"}
    (tmp_path / "concepts.txt").write_text("Aa01A01= 页岩气 天然气\n", encoding="utf-8")  # what `semantic` needs
    for strategy, part in parts.items():
        given = {"topic": NAME, "strategy": strategy, "concepts": ["concepts.txt"]}
        with Engine(settings_of(tmp_path, demo, **given), NullProgress()) as engine:
            told = explain_url(engine, min(after)).topic_rows
        assert part in told["led_to_by"][0], strategy
        promises = [source["promise"] for source in told["led_to_by"]]
        assert ("priority" in told) == any(not promise.startswith("discarded") for promise in promises) or any(
            "but followed" in promise for promise in promises
        )
        assert sum("used" in promise for promise in promises) == any(promise[0].isdigit() for promise in promises)


@pytest.mark.process
def test_kill_9_leaves_state_and_store_agreeing(demo: list[str], tmp_path: Path) -> None:
    """After a kill, the decisions cover all fetched pages, and every start computes the same priorities from them."""
    (tmp_path / "v.toml").write_text(
        f"[crawl]\nseeds = {demo}\ninside_hosts = {[seed.split('/')[2] for seed in demo]}\ntopic = '{NAME}'\n"
        "delay = 0.05\ndelay_factor = 0.0\ndepth = 6\nsitemaps = false\n"
    )
    with Engine(load_settings(tmp_path / "v.toml"), NullProgress()) as engine:
        create_topic(engine, TopicDefinition(NAME, terms=("水平井", "页岩气"), examples=(demo[0],)))
        command = [sys.executable, "-m", "pipeline.cli.main", "-c", str(tmp_path / "v.toml"), "crawl"]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
            deadline = time.monotonic() + PATIENCE
            while engine.store.focused_decisions.count() < 30 and process.poll() is None:
                assert time.monotonic() < deadline
                time.sleep(0.05)
            process.kill()
        rows = list(engine.store.frontier.admin.iter_urls("*"))
        judged = {one.url for one in engine.store.focused_decisions.iter_decisions()}
        assert judged == {row.url for row in rows if row.reason in (Reason.FETCHED, Reason.OFF_TOPIC)}
        pending_urls = {row.url for row in rows if not row.reason}
        priorities = []
        for _ in range(2):
            create_policy(engine, focused_crawl_settings(engine))
            priorities.append(
                {row.url: row.priority for row in engine.store.frontier.admin.iter_urls("*") if not row.reason}
            )
        assert pending_urls and priorities[0].keys() == pending_urls
        assert priorities[0] == priorities[1]


@pytest.mark.parametrize(("automatic", "state"), [(True, TopicState.CONFIRMED), (False, TopicState.PROPOSED)])
def test_words_that_come_up_count_at_once_in_automatic_mode_alone(
    automatic: bool, state: TopicState, tmp_path: Path
) -> None:
    files = TopicFileStore(tmp_path)
    files.create(Topic(NAME, counts_unconfirmed_terms=automatic, terms=(TopicTerm("新闻", state=TopicState.REFUSED),)))
    add_proposals(files, NAME, ["储层", "新闻"])
    assert [(term.text, term.state, term.origin) for term in files.read(NAME).terms] == [
        ("新闻", TopicState.REFUSED, "operator"),
        ("储层", state, "crawl"),
    ]


def test_a_topic_that_is_not_there(demo: list[str], tmp_path: Path) -> None:
    with pytest.raises(TopicError, match="topic 页岩气 not found"):
        crawled(tmp_path, demo, topic=NAME)


def test_confirmed_seeds_are_where_the_crawl_begins(demo: list[str], tmp_path: Path) -> None:
    with Engine(settings_of(tmp_path, demo[:1], topic=NAME), NullProgress()) as engine:
        create_topic(engine, TopicDefinition(NAME, terms=("水平井",), examples=(demo[0],)))
        files = TopicFileStore(engine.settings.data_dir)
        with Site({"/": page("/a", text="<p>水平井</p>" * 30), "/a": page()}) as other:
            files.update(
                NAME,
                lambda topic: topic.with_seeds([TopicSeed(other.url(), TopicState.CONFIRMED)]),
            )
            settings = focused_crawl_settings(engine)
        assert settings.sites.seeds == (demo[0], other.url())
        assert {demo[0].split("/")[2], other.host} <= {scope.host for scope in settings.sites.scopes}


def test_a_search_site_proposes_terms_and_seeds(tmp_path: Path) -> None:
    article = (
        "<article><h1>测井</h1>"
        + "<p>测井仪器在水平井里测得储层的电阻率，解释人员据此划分储层。</p>" * 6
        + "</article>"
    )
    with Site({"/a": page(text=article), "/b": page(text=article)}) as found:
        answers = page(found.url("/a"), found.url("/b"), found.url("/gone"))
        with Site({"/find?q=%E6%B0%B4%E5%B9%B3%E4%BA%95": answers}) as search:
            settings = build_settings(
                {"crawl": {"seeds": [found.url("/a")], "inside_hosts": [found.host, search.host], "delay": 0.001}},
                tmp_path,
            )
            with Engine(settings, NullProgress()) as engine:
                made = create_topic(
                    engine, TopicDefinition(NAME, terms=("水平井",), search_template=search.url("/find?q={query}"))
                )
                assert {term.text for term in made.terms} >= {"水平井", "测井", "储层"}
                assert [seed.url for seed in made.seeds] == [found.url("/a"), found.url("/b")]
                assert {seed.state for seed in made.seeds} == {TopicState.PROPOSED}
                with pytest.raises(PlumblineError, match=r"\{query\}"):
                    collect_proposals(engine, made, search.url("/find"), 10, 10)


def test_the_commands(demo: list[str], tmp_path: Path) -> None:
    (tmp_path / "v.toml").write_text(f"[crawl]\nseeds = ['{demo[0]}']\ninside_hosts = ['{demo[0].split('/')[2]}']\n")

    def plumb(*arguments: str) -> str:
        answer = CliRunner().invoke(cli, ["-c", str(tmp_path / "v.toml"), "topic", *arguments], catch_exceptions=False)
        assert answer.exit_code == 0, answer.output
        return answer.output

    plumb("init", NAME, "--terms", "页岩气，压裂", "--examples", demo[0], "--automatic")
    files = TopicFileStore(tmp_path / "data")
    assert files.read(NAME).counts_unconfirmed_terms and len(files.read(NAME).examples) == 1
    plumb("add", NAME, "水平井", "--class", "subject")
    plumb("refuse", NAME, "压裂")
    assert files.read(NAME).confirmed_terms(TopicTermClass.PROFESSIONAL) == ("页岩气",)
    plumb("confirm", NAME, "压裂", "--class", "judgement")
    assert files.read(NAME).confirmed_terms(TopicTermClass.JUDGEMENT) == ("压裂",)
    plumb("automatic", NAME, "off")
    assert not files.read(NAME).counts_unconfirmed_terms
    plumb("list")
    plumb("show", NAME, "--json")
    plumb("terms", NAME, "--state", "confirmed")
    plumb("seeds", NAME)
    assert "no pages fetched" in plumb("judge", NAME) and "no pages fetched" in plumb("show", NAME)
    none = CliRunner().invoke(cli, ["-c", str(tmp_path / "v.toml"), "topic", "init", "x"])
    assert none.exit_code == 2 and "give --terms or --examples" in none.output
    twice = CliRunner().invoke(cli, ["-c", str(tmp_path / "v.toml"), "topic", "init", NAME, "--terms", "x"])
    assert isinstance(twice.exception, TopicError)


TEMPLATE = (
    "<p>本网站由某某传媒集团主办，未经书面授权不得转载、摘编或利用其他方式使用上述作品。违反上述声明者，本网将追究其责任。</p>"
    "<p>本网致力于为用户提供准确、及时、全面的行业资讯服务，欢迎社会各界监督并提出宝贵意见和建议，我们会认真听取。</p>"
)
NOTICE = "<p>Copyright © 2020 某某网 版权所有 京ICP备12345678号</p>"


def news(name: str, number: int) -> str:
    return (
        f"<p>第{name}篇：某油田今日投产新井{number + 3}口，日产油{number * 7 + 20}吨，技术人员将努力提高采收率。</p>"
        f"<p>记者在{name}区看到，{number * 3 + 1}台钻机正在作业，现场秩序井然，安全生产达{number * 100 + 7}天。</p>"
    )


def test_records_that_are_only_a_notice_or_template_text_are_cleaned_out(tmp_path: Path) -> None:
    """ZK-S3: a page with little text of its own gives no record, and the reason is saved."""
    names = [f"{first}{second}" for first in "abcdef" for second in "abcdefgh"]
    bodies = {name: TEMPLATE if n % 2 else news(name, n) + TEMPLATE for n, name in enumerate(names)} | {"z": NOTICE}
    pages = {
        f"/n/{name}.html": Answer(
            body=f"<!doctype html><meta charset=utf-8><title>油田新闻{name}</title><h1>油田新闻{name}</h1>"
            f"<div class=content>{body}</div>".encode()
        )
        for name, body in bodies.items()
    }
    with (
        Site({"/": page(*pages), **pages}) as site,
        Engine(settings_of(tmp_path, [site.url()]), NullProgress()) as engine,
    ):
        stages.crawl(engine)
        stages.extract(engine)
        assert {extraction_of(engine, site, name) for name in (*names[1::2], "z")} == {Reason.COPYRIGHT_ONLY}
        assert {extraction_of(engine, site, name) for name in names[::2]} == {Reason.EXTRACTED}
        assert not any("授权" in stored.article.body for stored in engine.store.articles.iter_all())


def extraction_of(engine: Engine, site: Site, name: str) -> str:
    told = engine.store.status.url_report(site.url(f"/n/{name}.html"))
    outcome = told and told.outcome(Stage.EXTRACT)
    return outcome.reason if outcome else ""
