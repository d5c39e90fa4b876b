"""The command line's one grammar, met by `plumb`: where the vertical is named, lists, tables, misuse."""

import json
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import click
import pytest

from pipeline.cli.config_argument import VerticalCommand, first_positional_index
from pipeline.cli.main import COMMANDS, cli, read_summary
from tests.crash_harness import LocalVertical, Said
from tests.plumb_call import call_plumb
from tests.web_fixture import Site, page

WORD = "四川盆地海相页岩气水平井体积压裂改造后返排液回收处理利用技术规范研究"


def commands(group: click.Group) -> Iterator[tuple[str, click.Command]]:
    """The commands of a group, loaded."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield name, command


def verbs(group: click.Group = cli, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], VerticalCommand]]:
    """Every verb that works on a vertical."""
    for name, command in commands(group):
        if isinstance(command, click.Group):
            yield from verbs(command, (*path, name))
        elif isinstance(command, VerticalCommand):
            yield (*path, name), command


NO_VERTICAL = {("init",), ("demo",), ("lexicon", "rules")}
VERBS = dict(verbs())


def test_every_verb_but_those_that_need_no_vertical_takes_its_file() -> None:
    leaves = {path for path, _ in all_leaves(cli)}
    assert leaves - set(VERBS) == NO_VERTICAL


def all_leaves(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, command in commands(group):
        if isinstance(command, click.Group):
            yield from all_leaves(command, (*path, name))
        else:
            yield (*path, name), command


def arguments_of(command: VerticalCommand) -> list[str]:
    """Something for every required argument and option."""
    given = []
    for one in command.params:
        if isinstance(one, click.Argument) and one.required:
            given += [one.type.choices[0] if isinstance(one.type, click.Choice) else "7"]
        elif one.required:
            given += [one.opts[0], one.type.choices[0] if isinstance(one.type, click.Choice) else "7"]
    return given


@pytest.mark.parametrize("path", VERBS, ids=" ".join)
def test_the_file_may_stand_before_or_behind_every_verb(
    path: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("7").touch()  # for a verb that wants a file
    command, rest = VERBS[path], arguments_of(VERBS[path])
    behind, before = {"config": None, "flags": {}}, {"config": Path("my.toml"), "flags": {}}
    with command.make_context(path[-1], ["my.toml", *rest], obj=behind) as one:
        assert behind["config"] == Path("my.toml")
        with command.make_context(path[-1], rest, obj=before) as other:
            assert one.params == other.params
    assert "[CONFIG]" in command.get_help(click.Context(command))


@pytest.mark.parametrize(
    ("args", "place"),
    [
        ([], None),
        (["a"], 0),
        (["--limit", "5", "a"], 2),
        (["--limit=5", "a"], 1),
        (["--json", "a"], 1),
        (["--", "-a"], 1),
        (["--"], None),
        (["-"], 0),
    ],
)
def test_the_first_argument_is_no_option_and_no_options_value(args: list[str], place: int | None) -> None:
    assert first_positional_index(args, frozenset({"--limit"})) == place


@pytest.fixture(scope="module")
def vertical(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalVertical]:
    """One site of three pages, crawled, with an account, a term and a version to list."""
    with Site({"/": page("/a", "/b"), "/a": page(text="<p>页岩气</p>"), "/b": page()}) as site:
        crawl = {"seeds": [site.url("/")], "inside_hosts": [site.host], "delay": 0.001}
        made = LocalVertical(tmp_path_factory.mktemp("grammar") / "vertical").write({"crawl": crawl})
        made.done("crawl")
        made.done("lexicon", "add", WORD)
        add = ("account", "add", str(made.config), "anna", "--role", "operator")
        assert call_plumb(*add, typed="correct horse battery").status == 0
        yield made
        made.end()


def plumb(*arguments: str, folder: Path) -> Said:
    """`plumb` as typed in `folder`."""
    with chdir(folder):
        return call_plumb(*arguments)


@pytest.mark.parametrize(
    "typed",
    ["sites", "frontier show http://127.0.0.1*", "lexicon show --limit 3", "account list"],
)
def test_both_ways_say_the_same(vertical: LocalVertical, tmp_path: Path, typed: str) -> None:
    words = typed.split()
    verb = next(n for n in range(len(words), 0, -1) if tuple(words[:n]) in VERBS or words[:n] == ["sites"])
    before = plumb("-c", str(vertical.config), *words, folder=tmp_path)
    behind = plumb(*words[:verb], str(vertical.config), *words[verb:], folder=tmp_path)
    group = plumb(words[0], str(vertical.config), *words[1:], folder=tmp_path)
    assert before.status == 0 and before.out and before.out == behind.out == group.out
    named = plumb(*words, folder=vertical.folder)  # vertical.toml lies there
    assert named.out == before.out


def test_what_is_no_vertical_is_an_argument(vertical: LocalVertical, tmp_path: Path) -> None:
    said = plumb("-c", str(vertical.config), "explain", "my.toml", folder=tmp_path)
    assert said.status == 1 and "'my.toml' is not a URL" in said.complaint
    said = plumb("explain", str(vertical.config), "http://127.0.0.1/x.toml", folder=tmp_path)
    assert said.status == 1 and "http://127.0.0.1/x.toml is unknown" in said.complaint
    said = plumb("-c", str(vertical.config), "status", "other.toml", folder=tmp_path)
    assert said.status == 2 and "unexpected extra argument (other.toml)" in said.complaint
    vertical.config.with_name("vertical.conf").write_bytes(vertical.config.read_bytes())
    assert plumb("status", "vertical.conf", folder=vertical.folder).status == 0


@pytest.mark.parametrize("typed", ["import x.warc.gz", "explain http://a.test/", "lexicon publish", "status"])
def test_a_verb_without_a_vertical_says_what_it_lacks(tmp_path: Path, typed: str) -> None:
    said = plumb(*typed.split(), folder=tmp_path)
    verb = typed.split(maxsplit=1)[0]
    assert said.status == 1
    assert "no config file given" in said.complaint and f"plumb -c my.toml {verb}" in said.complaint
    assert list(tmp_path.iterdir()) == []


def test_a_sample_goes_where_the_vertical_is_named(tmp_path: Path) -> None:
    assert plumb("-c", "mine.toml", "init", folder=tmp_path).status == 0
    assert "[crawl]" in (tmp_path / "mine.toml").read_text(encoding="utf-8")


LISTS = (
    *("account list", "alerts", "frontier show", "lexicon history", "lexicon show", "lexicon versions", "sites"),
    *("sites proposed", "takedown list", "topic list"),
)


@pytest.mark.parametrize("typed", LISTS)
def test_every_list_comes_as_json(vertical: LocalVertical, typed: str) -> None:
    rows = json.loads(vertical.done(*typed.split(), "--json").out)
    assert isinstance(rows, list)
    assert rows or typed in ("alerts", "lexicon versions", "sites proposed", "takedown list", "topic list")


def test_every_verb_that_lists_is_tried_here_or_needs_something_to_list() -> None:
    """What has --json is a list, or one thing in detail."""
    with_json = {" ".join(path) for path, verb in VERBS.items() if any("--json" in one.opts for one in verb.params)}
    details = {"check", "compare", "doctor", "explain", "fetch", "status", "topic show", "upgrade"}
    of_a_thing = {"lexicon diff", "topic judge", "topic seeds", "topic terms"}
    assert with_json == {*LISTS, *details, *of_a_thing} - {"sites"}


@pytest.mark.process
def test_tables_are_not_cut_in_a_pipe(vertical: LocalVertical) -> None:
    shown = vertical.finished(vertical.start("lexicon", "show", environment={"COLUMNS": "40"})).out
    assert WORD in shown and "…" not in shown


def test_explain_reads_as_sentences(vertical: LocalVertical) -> None:
    known = [row["url"] for row in json.loads(vertical.done("frontier", "show", "--json").out)]
    [url] = [one for one in known if one.endswith("/a")]
    home = url.removesuffix("a")
    lines = vertical.done("explain", url).out.splitlines()
    assert lines[0] == url
    assert lines[1].startswith("Found 20") and f"on {home} by the link “见0”; 1 link from a seed URL" in lines[1]
    assert lines[2].startswith("Last crawled 20") and lines[2].endswith(": fetched.")
    assert "Not extracted yet. Run `plumb extract`." in lines
    assert "Not in the index." in lines
    assert vertical.done("explain", home).out.splitlines()[1].endswith(": seed URL of the crawl.")
    assert json.loads(vertical.done("explain", url, "--json").out)["found_on"] == [{"url": home}]


def test_the_summary_of_a_command_begins_its_help() -> None:
    for name, command in commands(cli):
        summary = read_summary(COMMANDS[name])
        assert summary and " ".join((command.help or "").split()).startswith(summary), name


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("alerts", "--test", "--json"), "--json cannot be combined with --test"),
        (("explain", "http://a.test/", "--page", "x.html", "--json"), "needs --blocks"),
        (("sites", "--json", "proposed"), "put --json after proposed"),
        (("check", "--backup", "backups"), "--backup needs --repair"),
        (("demo", "--check", "--change"), "use either --check or --change"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_an_option_without_effect_is_refused(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    with chdir(tmp_path):
        said = call_plumb(*arguments)
    assert said.status == 2 and message in said.err
