"""Checks that commands, files, functions, tests and link targets named in the documentation exist."""

import importlib
import re
import unicodedata
from pathlib import Path

from pipeline.cli.lexicon import lexicon
from pipeline.cli.main import COMMANDS
from pipeline.settings import SECTIONS

ROOT = Path(__file__).resolve().parents[1]
DOCS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "deploy" / "runbook.md"]
TEXT = "\n".join(path.read_text(encoding="utf-8") for path in DOCS)
PACKAGES = (
    "domain|locks|solr_client|maven_jars|docstore|text|crawler|focused|extractor|lexicon|indexer|search_ui|pipeline"
)


def test_every_command_is_documented() -> None:
    missing = [verb for verb in (*COMMANDS, *lexicon.commands) if not re.search(rf"\b{verb}\b", TEXT)]
    assert missing == []


def test_every_documented_command_exists() -> None:
    assert set(re.findall(r"`plumb ([a-z]+)", TEXT)) - set(COMMANDS) == set()


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


def without_code(page: Path) -> str:
    """Return the text of a page without blocks of code."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def link_targets(page: Path) -> list[str]:
    """Return the targets of the links and pictures of a page that lie in the repository."""
    text = re.sub(r"`[^`\n]*`", "", without_code(page))
    return [target for target in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match(r"[a-z]+:", target)]


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


def test_make_targets_in_the_documents_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+)(?:-%)?:", makefile, re.M))
    named = set(re.findall(r"`make ([a-z-]+)(?=`| [A-Z])|^    make ([a-z-]+)", TEXT, re.M))
    for first, second in named:
        assert (first or second).split("-")[0] in {target.split("-")[0] for target in targets}, (first, second)
