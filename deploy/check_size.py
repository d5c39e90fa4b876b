"""`make lint`: rejects a package that has more lines of Python than its ceiling.

A commit that raises a ceiling says what the lines buy.
"""

import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MAX_LINES = {
    "crawler": 10_960,
    "docstore": 13_190,
    "domain": 2_800,
    "extractor": 17_080,
    "focused": 5_260,
    "indexer": 2_330,
    "lexicon": 7_410,
    "locks": 240,
    "maven_jars": 230,
    "pipeline": 21_960,
    "search_ui": 17_360,
    "solr_client": 280,
    "text": 2_720,
}


def count_lines() -> Counter[str]:
    """Return the lines of the Python files that git tracks, by top-level folder."""
    names = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lines: Counter[str] = Counter()
    for name in names.split():
        lines[name.split("/")[0]] += (ROOT / name).read_text("utf-8").count("\n")
    return lines


def main() -> int:
    """Print every package above its ceiling; return the exit status."""
    lines = count_lines()
    too_large = {package: limit for package, limit in MAX_LINES.items() if lines[package] > limit}
    for package, limit in too_large.items():
        print(f"{package}: {lines[package]:,} lines, ceiling {limit:,}: remove lines, or raise MAX_LINES with a reason")
    return int(bool(too_large))


if __name__ == "__main__":
    sys.exit(main())
