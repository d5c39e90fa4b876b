"""Detects whether a change of the extractor changes an article.

Run `make bench-extract_same ARGS='--out FILE'` before the change and `ARGS='--against FILE'` after it.

Every method reads every page of the gold sets, of the hostile rows and of folders of saved sites. Each result gives one
line with a digest of the article with its blocks, or of the outcome, and of the learned site template. `--against`
lists the pages that differ, and ends with an error if there are any.
"""

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import click

from benchmarks.extract_pages import load_scorer, load_sets
from benchmarks.results import SHARED
from domain.article import ExtractionResult, PageTraits, SiteTemplate
from extractor.article_extractor import ArticleExtractor
from extractor.body_methods import BODY_METHODS
from extractor.settings import ExtractSettings

FOLDERS = ("extraction", "page_types")  # of gold sets
HOSTILE_URL = "http://a.test/1.html"
FETCHED_AT = 1_790_000_000.0  # 2026-09: a bound for dates, the same in every run
MIN_REPEATED = 3  # pages of a site that must show a line, for it to count as known of the site
MAX_SHOWN = 20


class Sample(NamedTuple):
    """One page: its set, its name in the set, its URL, and its bytes or text."""

    set: str
    name: str
    url: str
    html: bytes | str


@click.command()
@click.option("--data", default=SHARED, type=click.Path(path_type=Path), help="A folder of the form of ../shared/data.")
@click.option("--sites", type=click.Path(path_type=Path), help="A folder of saved sites, with one folder per host.")
@click.option("--every", default=20, type=click.IntRange(1), help="Use every n-th page of the saved sites.")
@click.option("--out", type=click.Path(path_type=Path), help="Output file of the digests.")
@click.option("--against", type=click.Path(path_type=Path, exists=True), help="File of digests that must be equal.")
def main(data: Path, sites: Path | None, every: int, out: Path | None, against: Path | None) -> None:
    """Write or compare the digests of all pages."""
    lines = [*digests(gold_pages(data)), *digests(hostile_pages(data)), *(site_digests(sites, every) if sites else ())]
    if out is not None:
        out.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    click.echo(f"{len(lines):,} results")
    if against is not None and (differing := differences(against.read_text(encoding="utf-8").splitlines(), lines)):
        raise SystemExit("\n".join([f"{len(differing):,} are not the same:", *differing[:MAX_SHOWN]]))


def differences(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Return the pages whose digest differs, or that only one of both files has."""
    first, second = (dict(line.rsplit("\t", 1) for line in lines) for lines in (before, after))
    return [page for page in {**first, **second} if first.get(page) != second.get(page)]


def digests(pages: Iterator[Sample]) -> Iterator[str]:
    """Yield a line for each page and method: set, name, method, digest."""
    readers = {name: ArticleExtractor(replace(ExtractSettings(), method=name)) for name in BODY_METHODS}
    for page in pages:
        for name, reader in readers.items():
            found = reader.extract_with_site(page.html, page.url, fetched_at=FETCHED_AT)
            yield "\t".join((page.set, page.name, name, digest_of(found)))


def digest_of(reading: ExtractionResult) -> str:
    """Return the digest of a complete result; sets are sorted first."""
    learned = (sorted(reading.page_traits.line_hashes), reading.page_traits.title_suffix)
    text = repr((replace(reading, page_traits=PageTraits()), learned))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def gold_pages(data: Path) -> Iterator[Sample]:
    """The pages of all gold sets."""
    scorer = load_scorer(data)
    for folder in FOLDERS:
        for gold in load_sets(data / folder, scorer):
            for page in gold.pages:
                yield Sample(gold.name, str(page["id"]), page.get("url") or "", gold.read(page))


def hostile_pages(data: Path) -> Iterator[Sample]:
    """Yield all hostile rows that contain markup, text or bytes."""
    for path in sorted((data / "hostile").glob("*.jsonl")):
        with path.open(encoding="utf-8") as rows:
            for number, row in enumerate(map(json.loads, rows)):
                if payload := base64.b64decode(row["b64"]) if "b64" in row else row.get("text"):
                    yield Sample(path.stem, str(number), HOSTILE_URL, payload)


def site_digests(sites: Path, every: int) -> Iterator[str]:
    """Yield digests for the pages of each saved site, read with the template learned in a first pass."""
    for site in sorted(path for path in sites.iterdir() if path.is_dir()):
        pages = [
            Sample(site.name, str(path.relative_to(site)), f"http://{site.name}/{path.relative_to(site)}", b"")
            for path in sorted(site.rglob("*.html"))[::every]
        ]
        reader = ArticleExtractor()
        first = (reader.extract_with_site((site / page.name).read_bytes(), page.url) for page in pages)
        known = knowledge_of([reading.page_traits for reading in first])
        for page in pages:
            found = reader.extract_with_site((site / page.name).read_bytes(), page.url, "", FETCHED_AT, known)
            yield "\t".join((*page[:2], "known", digest_of(found)))


def knowledge_of(learned: Sequence[PageTraits]) -> SiteTemplate:
    """Learn the template of a site from pages: a simple substitute for the store's own count."""
    counts: dict[int, int] = {}
    for traits in learned:
        for line in traits.line_hashes:
            counts[line] = counts.get(line, 0) + 1
    repeated = frozenset(line for line, count in counts.items() if count >= max(MIN_REPEATED, len(learned) / 4))
    tails = [traits.title_suffix for traits in learned if traits.title_suffix]
    suffixes = sorted(set(tails), key=lambda tail: (-tails.count(tail), tail))[:3]
    return SiteTemplate(len(learned), repeated, tuple(suffixes))


if __name__ == "__main__":
    main()
