"""Commands, settings and URLs in the documentation: each is parsed by the code that it is for."""

import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import click
import pytest

from pipeline.cli.main import cli
from pipeline.settings import SECTIONS, build_settings
from tests.site_fixture import site_app
from tests.test_docs import DOCS, ROOT, iter_sources, read_text

UNCHECKED = ("docs/reference/commands.md", "CHANGELOG.md")  # from the commands themselves; has commands of the past
PLACEHOLDER = re.compile(r"[A-Z_]+|\.\.\.")
CODE_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
SPAN = "span"
OWN_HOSTS = ("127.0.0.1:8080", "search.example.org")
SHELL = ("", SPAN, "sh", "bash", "console")


class Code(NamedTuple):
    """Code in a page. `language` is that of its fence; "" for an indented block, SPAN inside a sentence."""

    where: str
    language: str
    text: str


def iter_blocks() -> Iterator[Code]:
    """Yield the blocks and spans of code of all pages, and the spans in the messages and docstrings of the product."""
    for page in DOCS:
        text, name = read_text(page), str(page.relative_to(ROOT))
        if name in UNCHECKED:
            continue
        for language, block in re.findall(r"^```(\w*)[^\n]*\n(.*?)^```", text, re.M | re.S):
            yield Code(name, language, block.replace("\\\n", " "))
        unfenced = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
        for block in re.findall(r"(?:^ {4}.*\n?)+", unfenced, re.M):
            yield Code(name, "", re.sub(r"^ {4}", "", block, flags=re.M).replace("\\\n", " "))
        yield from (Code(name, SPAN, span) for span in CODE_SPAN.findall(unfenced))
    for path in iter_sources():
        if path.suffix in {".py", ".html", ".po", ".toml"}:
            for span in CODE_SPAN.findall(read_text(path)):  # may be part of an f-string
                text = re.sub(r"\{[^{}]*\}", "", re.sub(r"(?<= )\{[^{}]*\}|%\(\w+\)s", "X", span))
                yield Code(str(path.relative_to(ROOT)), SPAN, text)


BLOCKS = list(iter_blocks())


def split_commands(line: str) -> list[list[str]]:
    """Return the simple commands of a line of shell code, without the operators between them; [] for prose."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    commands: list[list[str]] = [[]]
    try:
        for token in lexer:
            if set(token) <= set("();<>|&"):
                commands.append([])
            else:
                commands[-1].append(token)
    except ValueError:  # an apostrophe
        return []
    return commands


def iter_calls(program: str) -> Iterator[tuple[Code, list[str]]]:
    """Yield the arguments of each call of a program."""
    for block in BLOCKS:
        if block.language in SHELL:
            for line in block.text.splitlines():
                commands = split_commands(line) if program in line else []
                # After an operator in a sentence: the rest of a message.
                for words in commands[:1] if block.language == SPAN else commands:
                    if words and Path(words[0]).name == program:
                        yield block._replace(text=line), words[1:]


def without_brackets(words: list[str]) -> list[str]:
    """Return the words of a usage without brackets and ellipses: `[PART] TERM...` becomes `PART TERM`."""
    return [word if word == "..." else word.strip("[]").removesuffix("...") for word in words]


@pytest.fixture
def accepts_placeholders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let click accept capitals instead of a number or choice, and names of files that do not exist."""
    convert = click.ParamType.__call__

    def convert_value(kind: click.ParamType, value: Any, param: Any = None, ctx: Any = None) -> Any:
        is_placeholder = isinstance(value, str) and PLACEHOLDER.fullmatch(value)
        is_kept = is_placeholder or isinstance(kind, click.Path | click.File)
        return value if is_kept else convert(kind, value, param, ctx)

    monkeypatch.setattr(click.ParamType, "__call__", convert_value)


def find_usage_error(words: list[str], is_span: bool) -> str:
    """Return the error of a call of `plumb`, or "". In a sentence, a command may stand without its arguments."""
    command: click.Command = cli
    context: click.Context | None = None
    try:
        while True:
            is_name = is_span and not words
            context = command.make_context(command.name, list(words), parent=context, resilient_parsing=is_name)
            words = [*context._protected_args, *context.args]
            if not words or not isinstance(command, click.Group) or PLACEHOLDER.fullmatch(words[0]):
                return ""
            _, subcommand, words = command.resolve_command(context, words)
            assert subcommand is not None
            command = subcommand
    except click.exceptions.Exit:  # --version
        return ""
    except click.UsageError as error:
        return error.format_message()


@pytest.mark.usefixtures("accepts_placeholders")
def test_every_plumb_command_can_be_parsed() -> None:
    calls = list(iter_calls("plumb"))
    assert len(calls) > 300
    errors = [
        (code.where, code.text, error)
        for code, words in calls
        if (error := find_usage_error(without_brackets(words), code.language == SPAN))
    ]
    assert errors == []


def test_every_make_target_and_variable_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = {"bench-NAME", *re.findall(r"^([a-z-]+):", makefile, re.M)}
    targets |= {f"bench-{path.stem}" for path in (ROOT / "benchmarks").glob("*.py")}
    variables = set(re.findall(r"\$\((?:if \$\()?([A-Z_]+)\)", makefile))
    errors = []
    for code, words in iter_calls("make"):
        for word in without_brackets(words):
            name, equals, _ = word.partition("=")
            if name not in (variables if equals else targets):
                errors.append((code.where, code.text, word))
    assert errors == []


def test_every_benchmark_and_module_has_the_options() -> None:
    calls = [
        (code, f"benchmarks.{words[0].removeprefix('bench-')}", shlex.split(word.removeprefix("ARGS=")))
        for code, words in iter_calls("make")
        for word in without_brackets(words[1:])
        if words[0].startswith("bench-") and words[0] != "bench-NAME" and word.startswith("ARGS=")
    ]
    calls += [
        (code, words[1], without_brackets(words[2:]))
        for program in ("python", "python3")
        for code, words in iter_calls(program)
        if words[:1] == ["-m"] and words[1:2] not in ([], ["venv"], ["pytest"])
    ]
    assert len(calls) > 20
    shared_options = (ROOT / "benchmarks" / "command.py").read_text(encoding="utf-8")
    errors = []
    for code, module, arguments in calls:
        spec = find_spec(module)
        source = Path(spec.origin).read_text(encoding="utf-8") + shared_options if spec and spec.origin else ""
        options = [word.partition("=")[0] for word in arguments if word.startswith("--")]
        if not source or not all(re.search(rf'["/]{option}["/]', source) for option in options):
            errors.append((code.where, code.text))
    assert errors == []


def test_every_toml_block_is_valid(tmp_path: Path) -> None:
    blocks = [block for block in BLOCKS if block.language == "toml"]
    assert len(blocks) > 3
    for block in blocks:
        build_settings(tomllib.loads(block.text), tmp_path)


def test_every_named_setting_exists() -> None:
    name = re.compile(rf"({'|'.join(SECTIONS)})\.(?!toml$|py$|db$)(\w+)(?: = .*)?")
    matches = [
        (block.where, match)
        for block in BLOCKS
        if block.language == SPAN
        and not block.where.endswith((".py", "/README.md"))  # these name attributes and modules, such as `store.runs`
        and (match := name.fullmatch(block.text))
    ]
    assert len(matches) > 100
    assert [(where, match[0]) for where, match in matches if match[2] not in vars(SECTIONS[match[1]]())] == []


def test_every_url_of_the_site_exists_with_its_parameters() -> None:
    """In a sentence, the part of a URL before a name may stand alone: `/article`."""
    rules = [str(rule) for rule in site_app().url_map.iter_rules() if "<path:rest>" not in str(rule)]
    first_segments = {rule.split("/")[1] for rule in rules}
    urls = {
        (code.where, word) for code, words in iter_calls("curl") for word in words if urlsplit(word).netloc in OWN_HOSTS
    }
    assert len(urls) > 2
    for block in BLOCKS:
        match = re.fullmatch(r"(?:GET |POST )?(/([a-z.]+)\S*)", block.text) if block.language == SPAN else None
        if match and match[2] in first_segments and "/admin/collections?" not in match[1]:  # of Solr
            urls.add((block.where, match[1]))
    known_urls = re.compile("|".join(re.sub("<[^>]+>", "[^?]+", rule) for rule in rules))
    prefixes = {rule.partition("<")[0].rstrip("/") for rule in rules}
    assert [
        url
        for url in urls
        if not known_urls.fullmatch(path := urlsplit(url[1]).path) and path.rstrip("/") not in prefixes
    ] == []
    paths = json.loads(read_text(ROOT / "search_ui" / "static" / "openapi.json"))["paths"]
    for where, url in urls:
        path = urlsplit(url).path.removeprefix("/api/v1").replace("<", "{").replace(">", "}")
        names = {parameter["name"] for parameter in paths[path]["get"]["parameters"]} if path in paths else set()
        if "/api/v1/" in url:
            assert parse_qs(urlsplit(url).query).keys() <= names, (where, url)
