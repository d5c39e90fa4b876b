"""What a strategy lacks, which strategy a crawl uses then, and that crawl, command and review page state the same."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from crawler.crawl_plan import build_crawl_plan
from crawler.settings import FOCUSED_STRATEGIES
from domain.topic import Topic
from focused.paper_strategies.paper_strategy import StaticKeywordsStrategy
from focused.paper_strategies.semantic import SemanticStrategy
from focused.strategy_needs import MIN_ARTICLES, Resource, assess_needs
from focused.topic.topic_file_store import TopicFileStore
from pipeline.cli.main import cli
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.search_site.administration import topic_tools
from pipeline.settings import load_settings
from pipeline.topic.policy_factory import focused_crawl_settings, policy_config
from search_ui.i18n import translate_code_to, translate_message_to

VECTORS, CONCEPTS, TREE = Resource.VECTORS, Resource.CONCEPTS, Resource.TREE


@pytest.mark.parametrize(
    ("strategy", "vector_file", "concepts", "tree", "articles", "missing", "effective"),
    [
        ("semantic", False, False, True, MIN_ARTICLES - 1, (VECTORS, CONCEPTS), "static_keywords"),
        ("semantic", False, False, False, MIN_ARTICLES, (CONCEPTS,), "semantic"),
        ("semantic", True, False, False, 0, (CONCEPTS,), "semantic"),
        ("semantic", False, True, False, 0, (VECTORS,), "semantic"),
        ("topic_library", False, False, True, 0, (VECTORS, CONCEPTS), "topic_library"),
        ("semantic_tree", False, True, False, 0, (VECTORS, TREE), "semantic_tree"),
        ("semantic_tree", False, False, True, 0, (), "semantic_tree"),
        ("semantic_tree", True, False, False, 0, (TREE,), "semantic_tree"),
        ("fused", False, False, False, 0, (), "fused"),
        ("vsm", False, False, False, 0, (), "vsm"),
        ("breadth_first", False, False, False, 0, (), "breadth_first"),
    ],
)
def test_what_is_missing_and_what_is_used(
    strategy: str,
    vector_file: bool,
    concepts: bool,
    tree: bool,
    articles: int,
    missing: tuple[Resource, ...],
    effective: str,
) -> None:
    needs = assess_needs(strategy, vector_file, concepts, tree, articles)
    assert (needs.missing, needs.effective_strategy) == (missing, effective)


@pytest.mark.parametrize("strategy", FOCUSED_STRATEGIES)
def test_every_message_is_in_the_catalogs(strategy: str) -> None:
    messages = assess_needs(strategy, False, False, False, 7).messages()
    assert bool(messages) == (strategy in ("semantic", "topic_library", "semantic_tree"))
    for message in messages:
        code = str(message.values["strategy"])
        assert translate_message_to("en", message) == message.replace(code, translate_code_to("en", "strategy", code))
        chinese = translate_message_to("zh", message)
        assert translate_code_to("zh", "strategy", code) in chinese and "{" not in chinese and "Then" not in chinese
    if messages:
        assert f"7 of at least {MIN_ARTICLES} articles" in messages[0]


class Notes(NullProgress):
    """Keeps the notes of a crawl."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def note(self, text: str) -> None:
        self.texts.append(text)


def test_crawl_command_and_page_state_the_same(tmp_path: Path) -> None:
    path = tmp_path / "v.toml"
    text = "[crawl]\nseeds = ['http://a.test/']\ntopic = '地质'\nstrategy = 'semantic'\n"
    path.write_text(text)
    TopicFileStore(load_settings(path).data_dir).create(Topic("地质", ("地质",)))
    for concepts, strategy_class in (("", StaticKeywordsStrategy), ("concepts = ['c.txt']\n", SemanticStrategy)):
        (tmp_path / "c.txt").write_text("Aa01A01= 地质 地学\n")
        path.write_text(text + concepts)
        notes = Notes()
        with Engine(load_settings(path), notes) as engine:
            config = policy_config(engine, "地质", build_crawl_plan(focused_crawl_settings(engine)))
            config.close()
            page = topic_tools(engine).review_questions("地质").strategy_notes
        command = CliRunner().invoke(cli, ["-c", str(path), "topic", "show", "地质"])
        shown = json.loads(CliRunner().invoke(cli, ["-c", str(path), "topic", "show", "地质", "--json"]).stdout)
        assert isinstance(config.strategy, strategy_class) and config.strategy_name == shown["strategy"]["used"]
        assert notes.texts == list(page) == shown["strategy"]["missing"] and notes.texts
        assert f"strategy {config.strategy_name}\n" in command.stdout
        assert all(note in command.stdout for note in notes.texts)
        assert ("the crawl uses: static_keywords" in notes.texts[-1]) == (not concepts)
