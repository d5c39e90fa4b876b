"""Counts of the product. `make lint` fails if one grows, `make size` prints them beside those of an earlier commit.

The ceiling of each count is its value at the base: the last commit if files are changed, otherwise its parent. A commit
that must raise a count has a line `Grows: REASON` in its message, which says what went instead.
"""

import argparse
import io
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "benchmarks" / "out" / "size.jsonl"
NOT_PRODUCT = ("tests", "benchmarks", "deploy", "docs", "build", "dist")
GROWS_RE = re.compile(r"^Grows: \S", re.M)
PROTOCOL_RE = re.compile(r"^class \w+\(.*\bProtocol\b.*\):", re.M)
RATCHETS = ("product lines", "settings", "message ids", "routes", "verbs", "tables", "protocols", "modules")
"""Counts that must not grow."""


def count_product(root: Path) -> dict[str, int]:
    """Return all counts of a tree of files, by name."""
    files = {path: path.read_text("utf-8") for path in root.rglob("*.py") if ".venv" not in str(path.relative_to(root))}
    by_package: dict[str, dict[Path, str]] = {}
    for path, text in files.items():
        by_package.setdefault(path.relative_to(root).parts[0], {})[path] = text
    product = {path: text for path, text in files.items() if path.relative_to(root).parts[0] not in NOT_PRODUCT}
    catalogues = {path.name: path.read_text("utf-8") for path in root.glob("search_ui/translations/*")}
    keyed = catalogues.get("en.po", "")  # before English texts were the keys, this file had all messages
    messages = [keyed or catalogues.get("zh.po", "") + catalogues.get("names.toml", "")]
    tests = [path for path in by_package.get("tests", {}) if path.name.startswith("test_")]
    modules = {path.stem for path in product} | {path.parent.name for path in product}
    requirements = re.search(r"install_requires =\n((?:    .*\n)+)", (root / "setup.cfg").read_text("utf-8"))
    return {
        "product lines": count_lines(product.values()),
        **{f"lines of {name}": count_lines(by_package.get(name, {}).values()) for name in ("benchmarks", "tests")},
        "lines of catalogues": count_lines(catalogues.values()),
        "modules": len(product),
        "settings": count_matches(r'"help":|= setting\(', product.values()),
        "install_requires": len(requirements[1].splitlines()) if requirements else 0,
        "message ids": count_matches(r'^msgid "[^"]|^[\w-]+ = \[', messages),
        "routes": count_matches(r"\.(?:route|get|post)\(\s*f?[\"']/|add_url_rule\(", product.values()),
        "verbs": count_matches(r"^@\w+\.(?:command|group)\(", product.values()),
        "tables": count_matches(r"\bTable\(", by_package.get("docstore", {}).values()),
        "protocols": count_matches(PROTOCOL_RE, product.values()),
        "protocols of search_ui": count_matches(PROTOCOL_RE, by_package.get("search_ui", {}).values()),
        "test files": len(tests),
        "test files named after a module": sum(path.stem.removeprefix("test_") in modules for path in tests),
    }


def count_lines(texts: Iterable[str]) -> int:
    """Return the number of lines of some files."""
    return sum(text.count("\n") for text in texts)


def count_matches(pattern: str | re.Pattern[str], texts: Iterable[str]) -> int:
    """Return the number of matches in some files."""
    return sum(len(re.findall(pattern, text, re.M if isinstance(pattern, str) else 0)) for text in texts)


def count_at(commit: str) -> dict[str, int]:
    """Return all counts of a commit. Raises CalledProcessError if the repository lacks it, as a shallow clone can."""
    archive = git("archive", commit, text=False)
    with tempfile.TemporaryDirectory() as folder, tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
        return count_product(Path(folder))


def git(*arguments: str, text: bool = True) -> Any:
    """Return the output of git."""
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=text).stdout


def grown(before: Mapping[str, int], now: Mapping[str, int]) -> list[str]:
    """Return a line for each count that must not grow and did."""
    return [f"{name}: {now[name]:,}, before {before[name]:,}" for name in RATCHETS if now[name] > before[name]]


def check() -> int:
    """Compare the files with the base; return the exit status."""
    is_changed = bool(git("status", "--porcelain", "--", "*.py", "*.po", "setup.cfg"))
    base = "HEAD" if is_changed else "HEAD~1"
    if not git("rev-list", "--max-count=1", "--skip=0" if is_changed else "--skip=1", "HEAD"):
        print("a shallow clone: no earlier commit to compare with")
        return 0
    lines = grown(count_at(base), count_product(ROOT))
    for line in lines:
        print(line)
    if not lines or (not is_changed and GROWS_RE.search(git("log", "-1", "--format=%B"))):
        return 0
    print("remove as much, or give the reason in the commit message, in a line `Grows: ...`")
    return 0 if is_changed else 1


def report(start: str) -> int:
    """Print all counts beside those of a commit, and write them."""
    before, now = count_at(start), count_product(ROOT)
    for name, value in now.items():
        print(f"{name:34}{before[name]:>10,}{value:>10,}{value - before[name]:>+10,}")
    rows = [
        {"set": side, "system": "plumbline", "metric": name, "value": value}
        for side, counts in ((start, before), ("now", now))
        for name, value in counts.items()
    ]
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--since", default="", help="print all counts beside those of this commit")
    since = parser.parse_args().since
    sys.exit(report(since) if since else check())
