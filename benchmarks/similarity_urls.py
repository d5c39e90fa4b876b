"""Zhou's URL similarity (ZK-E2): `python -m benchmarks.similarity_urls [--data DIR]`.

pairs    URLs of one site, half of them of the same board: from the links of saved pages (DIR in the form of
         ../shared/data/extraction). A board is the first directory of a URL that is not a date.
curve    accuracy of ZK-A2 for each threshold, both readings of step 2 (one host contains the other)

A board is also derived from the URL, so the result shows which threshold fits which depth, not the structure of sites.
"""

import json
import random
import re
import tarfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

import click

from benchmarks.command import benchmark, data_option
from benchmarks.results import SHARED, Figure, publish
from crawler.parsing.links import parse_page
from domain.errors import PlumblineError
from domain.page import Page
from domain.paper_settings import DEFAULT_PAPERS, ZhouKunSettings
from focused.paper_strategies.url_similarity import url_similarity

SITES, PAIRS = 25, 100  # pairs a site: half of one board, half of two
LEAST = 8  # URLs of a board
THRESHOLDS = tuple(round(0.05 * step, 2) for step in range(1, 20))
_DATE = re.compile(r"[\d._-]+")

Pair = tuple[str, str, bool]


@benchmark("similarity_urls", pages=40)
@data_option(SHARED / "extraction", "A folder of the form of ../shared/data/extraction.")
@click.option("--pages", default=0, type=click.IntRange(0), help="Maximum number of pages per set; 0: all.")
def main(data: Path, pages: int) -> None:
    """Print the accuracy of the URL similarity at each threshold."""
    pairs = pairs_in(data, pages)
    if not pairs:
        raise PlumblineError(f"no site with two boards in the pages of {data}")
    publish("similarity_urls", list(figures(pairs)))


def pairs_in(data: Path, pages: int = 0) -> list[Pair]:
    """Return the pairs of the saved pages of a folder; `pages` limits the pages of each set, 0: all."""
    return list(pairs_of(boards_of(data, pages), random.Random(0)))


def figures(pairs: Sequence[Pair]) -> Iterator[Figure]:
    """Yield the curve of both readings, and the maximum of each."""
    yield Figure("pairs", "plumbline", "pairs", len(pairs))
    for name, settings in (
        ("proper", DEFAULT_PAPERS.zhou_kun),
        ("literal", replace(DEFAULT_PAPERS.zhou_kun, host_containment="literal")),
    ):
        values = {threshold: accuracy(pairs, settings, threshold) for threshold in THRESHOLDS}
        best = max(
            values, key=lambda threshold: (values[threshold], -abs(threshold - DEFAULT_PAPERS.zhou_kun.url_threshold))
        )
        yield Figure(name, "plumbline", "best_threshold", best)
        yield Figure(name, "plumbline", "best_accuracy", values[best])
        for threshold, value in values.items():
            yield Figure(name, "plumbline", f"accuracy_{threshold:.2f}", value)


def accuracy(pairs: Sequence[Pair], settings: ZhouKunSettings, threshold: float) -> float:
    """Return the share of correctly classified pairs."""
    return sum((url_similarity(one, other, settings) > threshold) == same for one, other, same in pairs) / len(pairs)


def pairs_of(sites: Mapping[str, Mapping[str, Sequence[str]]], draw: random.Random) -> Iterator[Pair]:
    """Return the same number of pairs from each of the largest sites."""
    largest = sorted(sites, key=lambda host: (-sum(map(len, sites[host].values())), host))[:SITES]
    for host in largest:
        boards = list(sites[host].values())
        for _ in range(PAIRS // 2):
            one, other = draw.sample(draw.choice(boards), 2)
            yield one, other, True
            first, second = draw.sample(boards, 2)
            yield draw.choice(first), draw.choice(second), False


def boards_of(data: Path, pages: int = 0) -> dict[str, dict[str, list[str]]]:
    """Return host -> board -> URLs of sites with two sufficiently large boards."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for url in sorted(set(addresses(data, pages))):
        parts = urlsplit(url)
        directories = [part for part in parts.path.split("/")[:-1] if part and not _DATE.fullmatch(part)]
        if directories:
            found[parts.netloc][directories[0]].add(url)
    sites = {
        host: {name: sorted(urls) for name, urls in boards.items() if len(urls) >= LEAST}
        for host, boards in found.items()
    }
    return {host: boards for host, boards in sites.items() if len(boards) >= 2}


def addresses(data: Path, pages: int = 0) -> Iterator[str]:
    """Return the URLs that the saved pages link to; `pages` limits the pages of each set, 0: all."""
    for gold in sorted(data.glob("*/gold.json")):
        urls = {str(row["id"]): row.get("url") or "" for row in json.loads(gold.read_text(encoding="utf-8"))["pages"]}
        packed = gold.with_name("pages.tar.xz")
        if not packed.exists():
            continue
        with tarfile.open(packed) as archive:
            for member in islice(archive, pages or None):
                url = urls.get(Path(member.name).stem, "")
                file = archive.extractfile(member) if url.startswith("http") else None
                if file is not None:
                    page = Page(0, url, url, 200, "text/html", file.read(), "", 0.0)
                    yield from (link.url for link in parse_page(page).links)


if __name__ == "__main__":
    main()
