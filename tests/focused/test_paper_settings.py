"""The constants of the papers as settings: each one takes effect, and a change is noticed at the next start."""

import dataclasses
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from crawler.crawl_plan import build_crawl_plan
from crawler.focused_policy import BLOCK_KINDS, LinkWords, PageWords, WordBlock
from domain.errors import SettingsError
from domain.paper_settings import PaperSettings, WuYuetingSettings, ZhangJinSettings, ZhouKunSettings
from domain.topic import ExamplePage, Topic, TopicState, TopicTerm, TopicTermClass
from focused.concepts.synonym_groups import CilinConcepts
from focused.paper_strategies.semantic_tree import page_score
from focused.paper_strategies.term_expansion import DynamicTermLibrary
from focused.paper_strategies.topic_knowledge import OperatorResources
from focused.paper_strategies.topic_tree import parse_tree
from focused.paper_strategies.url_similarity import url_similarity
from focused.paper_strategies.word_similarity import combine_similarities
from focused.paper_strategies.word_vectors import train_word_vectors
from focused.topic.topic_file_store import TopicFileStore
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.settings import PAPER_SECTIONS, Settings, build_settings, load_settings
from pipeline.topic.page_reader import read_example
from pipeline.topic.policy_factory import create_strategy, focused_crawl_settings, policy_config, topic_words

TERM_BY_CLASS = {"岩石": "professional", "公司": "subject", "增产": "judgement"}
TOPIC = Topic(
    "地质",
    ("地质",),
    tuple(
        TopicTerm(text, term_class=TopicTermClass(kind), state=TopicState.CONFIRMED)
        for text, kind in TERM_BY_CLASS.items()
    ),
    examples=tuple(
        ExamplePage(f"http://www.a.cn/x/{n}", f"地质 岩石 {n}", "", (("content", 1.0, f"地质 岩石 玄武岩 {n}"),))
        for n in range(3)
    ),
)
TREE = parse_tree(["地质", "  岩石", "    玄武岩"])
CONCEPTS = CilinConcepts(["Aa01A01= 地质 地学", "Aa01A02= 岩石 石头", "Aa01B01= 公司 企业", "Bb01A01= 雨 雪"])
VECTORS = train_word_vectors([["地质", "岩石", "玄武岩", "石灰岩"], ["雨", "雪", "公司", "增产"]] * 9, 3)
URLS = [
    *(f"http://www.a.cn/x/{n}" for n in range(6)),
    "http://www.b.cn/x/1",
    "http://a.cn.org/y/2",
    "http://m.a.cn/z",
    "http://wwx.a.cn/x",
]
HTML = """<title>地质</title><h1>地质</h1><ul><li><a href="/1">导航</a></li></ul>
<div><p>正文 <b>岩石</b> <a href="/2">链接</a></p><span>其他</span></div>"""


def pages() -> list[PageWords]:
    """Pages with blocks of every kind, some of them only near the topic."""
    texts = ("地质", "石头 雨", "玄武岩 雪", "公司 石灰岩", "雨 雪", "地学 云", "增产 石灰岩 玄武岩", "雾")
    made = []
    for number, text in enumerate(texts * 3):
        words = tuple(text.split())
        kinds = BLOCK_KINDS if number % 2 else BLOCK_KINDS[:3]
        blocks = tuple(
            WordBlock(kind, (*(words * 2)[index % 3 : index % 3 + 2], "填"), 1 / len(kinds))
            for index, kind in enumerate(kinds)
        )
        made.append(PageWords(URLS[number % len(URLS)] + f"/{number}", words, words[:1], blocks))
    return made


def outcome(strategy: str, papers: PaperSettings, examples: bool, resources: OperatorResources) -> object:
    """Return every score and priority of a small crawl."""
    topic = TOPIC if examples else replace(TOPIC, examples=())
    words = topic_words(topic, lambda text: tuple(text.split()), papers.wu_yueting)
    focus = create_strategy(strategy, words, resources, True, papers)
    results: list[object] = []
    for page in pages():
        score = focus.score_page(page)
        links = [LinkWords(url, (word,), ("云",)) for url in URLS for word in ("地质", "雾", "地学")]
        results.append((score, focus.link_priorities(page, score, links)))
        focus.observe_page(page, score)
    return results


def outcomes(papers: PaperSettings) -> list[object]:
    """Return what the constants can change: crawls of all strategies, single formulas, blocks, the dynamic library."""
    given = OperatorResources(vectors=VECTORS, concepts=CONCEPTS, tree=TREE)
    without_concepts = OperatorResources(vectors=VECTORS, tree=TREE)
    found: list[object] = [
        outcome(strategy, papers, examples, resources)
        for strategy in ("semantic", "topic_library", "semantic_tree")
        for examples in (True, False)
        for resources in (given, without_concepts, OperatorResources(tree=TREE))
    ]
    found.append(read_example("http://a.test/", HTML.encode(), "text/html", "", papers.wu_yueting))
    found += [url_similarity(one, other, papers.zhou_kun) for one in URLS for other in URLS]
    found += [combine_similarities(0.7, value, papers.zhou_kun) for value in (0.3, 0.4, 0.7)]
    found += [page_score(0.5, [0.9] * n + [0.1] * (5 - n), papers.zhang_jin, 0.2) for n in range(6)]
    library = DynamicTermLibrary(papers.wu_yueting)
    for number in range(60):
        library.add_page_terms(["词"] if number % 10 == 0 else [], ())
    return [*found, library.pending_terms]


def changed_value(value: Any, name: str) -> Any:
    """Return another valid value."""
    if name == "host_containment":
        return "literal"
    if isinstance(value, bool):
        return not value
    if isinstance(value, dict):
        return {key: number / 2 + 0.3 for key, number in value.items()}
    return {"sample_size": 2, "update_pages": 70, "min_pages": 9, "random_seed": 5, "theta": 0.9}.get(name, value * 0.6)


CONSTANTS = [
    (table, setting.name)
    for table, settings_class in (
        ("zhou_kun", ZhouKunSettings),
        ("wu_yueting", WuYuetingSettings),
        ("zhang_jin", ZhangJinSettings),
    )
    for setting in fields(settings_class)
    if setting.name != "word_weights"
]


@pytest.fixture(scope="module")
def default_outcomes() -> list[object]:
    return outcomes(PaperSettings())


@pytest.mark.parametrize(("table", "name"), CONSTANTS, ids=lambda value: value)
def test_every_constant_takes_effect(table: str, name: str, default_outcomes: list[object]) -> None:
    papers = PaperSettings()
    if name in ("discard_below_threshold", "sample_size", "random_seed"):
        zhou = replace(papers.zhou_kun, structure_weight=1.0, sample_size=2 if name == "random_seed" else 50)
        papers = replace(papers, zhou_kun=zhou)
        default_outcomes = outcomes(papers)
    if name == "position_values":  # of WY-F15
        papers = replace(papers, wu_yueting=replace(papers.wu_yueting, block_sum=False))
        default_outcomes = outcomes(papers)
    settings = getattr(papers, table)
    changed = replace(settings, **{name: changed_value(getattr(settings, name), name)})
    assert outcomes(replace(papers, **{table: changed})) != default_outcomes


def test_the_tables_come_from_file_environment_and_flags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "v.toml"
    path.write_text(
        "[papers]\nvectors = 'v.txt'\n[papers.zhou_kun]\nlink_threshold = 0.3\nth1 = 0.4\n"
        "[papers.wu_yueting]\nimpact1 = { title = 2 }\n[papers.zhang_jin.position_weights]\ntitle = 4\n"
    )
    monkeypatch.setenv("PLUMB_PAPERS_ZHOU_KUN_TH1", "0.35")
    monkeypatch.setenv("PLUMB_PAPERS_VECTORS", "w.txt")
    papers = load_settings(path, {"papers.zhang_jin.delta": "0.7", "papers.wu_yueting.k0": "1"}).papers
    assert (papers.vectors, papers.zhou_kun.link_threshold, papers.zhou_kun.th1) == ("w.txt", 0.3, 0.35)
    assert papers.wu_yueting == WuYuetingSettings(k0=1.0, impact1={**WuYuetingSettings().impact1, "title": 2.0})
    assert papers.zhang_jin.position_weights == {**ZhangJinSettings().position_weights, "title": 4.0}
    assert papers.zhang_jin.delta == 0.7


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[papers.zhou_kun]\nsim_alpha = 2", "papers.zhou_kun.sim_alpha = 2.0: must be 1 or less"),
        ("[papers.zhou_kun]\nsample_size = 0.5", "papers.zhou_kun.sample_size = 0.5: expected a whole number"),
        ("[papers.zhou_kun]\nwww_divisor = 0", "papers.zhou_kun.www_divisor = 0.0: must be more than 0"),
        ("[papers.zhou_kun]\nhost_containment = 'x'", "papers.zhou_kun.host_containment = 'x': expected one of"),
        ("[papers.zhou]\nth1 = 1", "unknown settings section [papers.zhou]: did you mean papers.zhou_kun?"),
        ("[papers.zhang_jin]\nalfa = 1", "unknown setting papers.zhang_jin.alfa: did you mean alpha?"),
        ("[papers.wu_yueting.impact1]\ntitle = -1", "papers.wu_yueting.impact1.title = -1.0: must be 0 or more"),
        ("[papers.wu_yueting.impact1]\ntitel = 1", "unknown key papers.wu_yueting.impact1.titel: did you mean title?"),
        ("[papers.wu_yueting]\nclass_weights = 1", "papers.wu_yueting.class_weights: expected a table of numbers"),
        ("[papers.wu_yueting]\ntheta = nan", "papers.wu_yueting.theta = nan: must be a finite number"),
        ("[papers]\nzhou_kun = 1", "unknown setting papers.zhou_kun"),
    ],
)
def test_an_invalid_constant_is_named(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "v.toml").write_text(text)
    with pytest.raises(SettingsError) as refused:
        load_settings(tmp_path / "v.toml")
    assert message in str(refused.value)


def settings_of(folder: Path, strategy: str, papers: dict[str, Any]) -> Settings:
    crawl = {"seeds": ["http://www.a.cn/"], "topic": TOPIC.name, "strategy": strategy}
    return build_settings({"crawl": crawl, "papers": papers}, folder)


def snapshot_key(folder: Path, strategy: str, papers: dict[str, Any]) -> bytes:
    with Engine(settings_of(folder, strategy, papers), NullProgress()) as engine:
        config = policy_config(engine, TOPIC.name, build_crawl_plan(focused_crawl_settings(engine)))
        config.close()
        assert config.snapshot is not None
        return config.snapshot._key


def test_a_changed_constant_or_file_invalidates_the_saved_state(tmp_path: Path) -> None:
    TopicFileStore(settings_of(tmp_path, "vsm", {}).data_dir).create(TOPIC)
    (tmp_path / "w.txt").write_text("地质 0.5\n")
    keys = [snapshot_key(tmp_path, "topic_library", {}), snapshot_key(tmp_path, "topic_library", {})]
    assert keys[0] == keys[1]
    for papers in ({"wu_yueting": {"theta": 0.3}}, {"zhou_kun": {"word_weights": "w.txt"}}):
        keys.append(snapshot_key(tmp_path, "topic_library", papers))
    (tmp_path / "w.txt").write_text("地质 0.6\n")
    keys.append(snapshot_key(tmp_path, "topic_library", {"zhou_kun": {"word_weights": "w.txt"}}))
    assert len(set(keys)) == 4


def test_papers_md_names_every_setting() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "background" / "papers.md").read_text(encoding="utf-8")
    for section, settings_class in PAPER_SECTIONS.items():
        for setting in dataclasses.fields(settings_class):
            assert f"`{section}.{setting.name}`" in text
