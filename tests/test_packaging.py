"""Flat, generic package names need care: each is ours alone, none hides a standard module, all files are installed."""

import configparser
import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TOP = {"docstore", "semantics", "crawler", "extractor", "lexicon", "indexer", "search_ui", "solr_conf", "pipeline"}


def listed_packages() -> list[str]:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    return config["options"]["packages"].split()


def test_every_package_is_listed() -> None:
    found = {".".join(path.parent.relative_to(ROOT).parts) for top in TOP for path in (ROOT / top).rglob("__init__.py")}
    assert sorted(found) == sorted(listed_packages())


def test_our_names_belong_to_us_alone() -> None:
    owners = importlib.metadata.packages_distributions()
    clashes = {name: owners[name] for name in TOP if set(owners.get(name, ["plumbline"])) != {"plumbline"}}
    assert clashes == {}


def test_no_module_hides_a_standard_one() -> None:
    names = {path.stem for top in TOP for path in (ROOT / top).rglob("*.py")}
    ambiguous = {"queue", "html", "select", "types", "logging", "re", "json", "time", "email", "site_packages"}
    assert names & ambiguous == set()
    assert {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()} & TOP == set()


@pytest.mark.slow
def test_the_wheel_holds_what_the_program_needs(tmp_path: Path) -> None:
    """Built and unpacked elsewhere, so that the working tree hides no missing file."""
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True)
    [wheel] = tmp_path.glob("plumbline-*.whl")
    installed = tmp_path / "installed"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(installed), str(wheel)],
        check=True,
    )
    for top in TOP:
        tracked = subprocess.run(["git", "ls-files", top], cwd=ROOT, capture_output=True, text=True, check=True)
        missing = [name for name in tracked.stdout.split("\n") if name and not (installed / name).exists()]
        assert missing == []
