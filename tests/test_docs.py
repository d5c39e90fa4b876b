"""Checks that files, functions, tests and link targets named in the documentation exist."""

import ast
import doctest
import importlib
import re
import runpy
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from pipeline.settings import SECTIONS

ROOT = Path(__file__).resolve().parents[1]
PATTERNS = ("*.md", "[a-z]*/README.md", "deploy/runbook.md", "docs/**/*.md")
DOCS = sorted(path for pattern in PATTERNS for path in ROOT.glob(pattern))
TEXT = "\n".join(path.read_text(encoding="utf-8") for path in DOCS)
PACKAGES = (
    "domain|locks|solr_client|maven_jars|docstore|text|crawler|focused|extractor|lexicon|indexer|search_ui|pipeline"
)
HOSTS = {"github.com", "huggingface.co", "keepachangelog.com", "semver.org"}


@pytest.mark.parametrize("name", ["lexicon", "text"])
def test_the_examples_of_the_python_api_run(name: str) -> None:
    page = ROOT / "docs" / "reference" / "python" / f"{name}.md"
    result = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert result.attempted > 2
    assert result.failed == 0


@pytest.mark.parametrize("name", ["commands", "outcomes", "settings"])
def test_the_generated_pages_are_current(name: str) -> None:
    """`make docs` writes them again."""
    render = runpy.run_path(str(ROOT / "deploy" / "reference.py"))["PAGES"][name]
    assert (ROOT / "docs" / "reference" / f"{name}.md").read_text(encoding="utf-8") == render()


def test_every_named_file_exists() -> None:
    names = set(re.findall(rf"`((?:{PACKAGES}|tests|docs|deploy|solr_conf)/[\w./-]+\.\w+)`", TEXT))
    assert len(names) > 50
    assert sorted(name for name in names if not (ROOT / name).exists()) == []


def test_every_named_function_exists() -> None:
    names = set(re.findall(rf"(?:`|^::: )((?:{PACKAGES})(?:\.\w+)+)(?:`|$)", TEXT, re.M))
    assert len(names) > 50
    assert sorted(name for name in names if not is_defined(name)) == []


def is_defined(name: str) -> bool:
    """Return True if `name` is a setting, a file name, or importable."""
    section, _, rest = name.partition(".")
    if rest in {"py", "md", "toml"} or rest in getattr(SECTIONS.get(section), "__dataclass_fields__", {}):
        return True
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            thing: object = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[count:]:
            thing = getattr(thing, attribute, None) or getattr(thing, "__dataclass_fields__", {}).get(attribute)
        return thing is not None
    return False


def test_every_named_test_exists() -> None:
    names = set(re.findall(r"`(test_\w+)`", TEXT))
    assert len(names) > 10
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert sorted(name for name in names if f"def {name}(" not in tests) == []


def test_every_link_leads_to_a_file_and_a_heading() -> None:
    links = [(page, *target.partition("#")[::2]) for page in DOCS for target in link_targets(page)]
    assert len(links) > 200
    broken = []
    for page, name, anchor in links:
        target = (page.parent / name).resolve() if name else page
        if not target.is_file() or (anchor and anchor not in heading_ids(target)):
            broken.append(f"{page.relative_to(ROOT)}: {name}#{anchor}")
    assert broken == []


def test_every_link_to_another_site_is_https_and_to_a_known_host() -> None:
    """Without requests: a new host is added to the list after a look at the page."""
    links = [(page.name, urlsplit(target)) for page in DOCS for target in link_targets(page, is_external=True)]
    assert len(links) > 5
    assert [(name, url.geturl()) for name, url in links if url.scheme != "https" or url.hostname not in HOSTS] == []


def test_every_page_that_the_sources_name_exists() -> None:
    """A decision may be named by its number."""
    names = set(re.findall(r"(?<![\w/.])docs/(?:[a-z_]+/)*[\w.-]*\w", "\n".join(map(read_text, iter_sources()))))
    assert len(names) > 20
    assert sorted(name for name in names if not (ROOT / name).exists() and not [*ROOT.glob(f"{name}-*")]) == []


@pytest.mark.always
def test_every_message_to_look_up_is_one_of_the_program() -> None:
    """A part of a message between two `...` is in one literal, or at the end of one and the beginning of the next."""
    trees = (ast.parse(read_text(path)) for path in iter_sources() if path.suffix == ".py")
    literals = {node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    texts = "\n".join(["", *(text.replace("`", "") for text in literals if isinstance(text, str)), ""])

    def is_composed(part: str) -> bool:
        cuts = range(4, len(part) - 3)
        return part in texts or any(f"{part[:cut]}\n" in texts and f"\n{part[cut:]}" in texts for cut in cuts)

    page = read_text(ROOT / "docs" / "operate" / "troubleshooting.md")
    messages = [text for cell in re.findall(r"^\| (`[^|]+) \|", page, re.M) for text in re.findall(r"`([^`]+)`", cell)]
    parts = [part.strip(" :;,()") for text in messages for part in re.split(r"\.\.\.|my\.toml|^PROBLEM \w+|300", text)]
    assert len(parts) > 200
    assert [part for part in parts if not is_composed(part)] == []


def without_code(page: Path) -> str:
    """Return the text of a page without blocks of code."""
    return re.sub(r"^```.*?^```", "", read_text(page), flags=re.M | re.S)


def link_targets(page: Path, is_external: bool = False) -> list[str]:
    """Return the targets of the links and pictures of a page, those with a scheme or those in the repository.

    Text such as `host[:port][/path]` without a backslash is a link, too.
    """
    text = re.sub(r"`[^`\n]*`", "", without_code(page))
    targets = re.findall(r"\]\(([^)\s]+)\)|\]\[([^\]]+)\]", text)
    return [first or second for first, second in targets if bool(re.match(r"[a-z]+:", first or second)) == is_external]


def iter_sources() -> Iterator[Path]:
    """Yield the modules, templates, messages and deployment files of the product."""
    folders = [ROOT / name for name in (*PACKAGES.split("|"), "solr_conf", "deploy")]
    suffixes = {".py", ".html", ".js", ".po", ".toml", ".xml", ".service", ".sh", ".yaml", ".yml"}
    return (path for folder in folders for path in folder.rglob("*") if path.suffix in suffixes)


@cache
def read_text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def heading_ids(page: Path) -> set[str]:
    """Return the ids that Python-Markdown gives to the headings of a page."""
    ids: set[str] = set()
    for heading in re.findall(r"^#+ (.+)$", without_code(page), re.M):
        plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
        name = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())
        count = 0
        while (unique := f"{name}_{count}" if count or not name else name) in ids:
            count += 1
        ids.add(unique)
    return ids


def test_ci_runs_the_readmes_test_command() -> None:
    assert "make test" in (ROOT / ".ci" / "run").read_text()
    assert "make test" in (ROOT / "README.md").read_text()
