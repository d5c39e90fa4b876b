"""The set `copies`: what is hidden as a copy, rightly or not, of pairs that were judged and of texts made by rule.

Real pairs are those of the recipe's sites that share most of their shingles (`real_copies.tsv`), each judged by reading
the two pages. The sites are in two halves by a hash of their names: the rules were found on the one, the figures of the
set `copies` are of the other.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.real_copies_made import all_made
from benchmarks.real_copies_store import Told, hiding_of
from benchmarks.real_vertical import Vertical, is_article, is_list, path_of
from benchmarks.results import Figure, out_folder
from docstore.model import StoredArticle
from pipeline import stages
from pipeline.compute.extraction_jobs import create_copy_detection

PAIRS = Path(__file__).parent / "real_copies.tsv"
MADE_FROM = 12  # articles of each site
NAMES = {0: "dev", 1: "held"}  # the halves of the sites
SETS = {"dev": "copies developed_on", "held": "copies"}


@dataclass(frozen=True)
class Counts:
    """How many texts are `hidden`, how many of them `right`ly, and how many `copies` there are to hide."""

    hidden: int
    right: int
    copies: int

    def figures(self, name: str) -> Iterator[Figure]:
        """The shares; what has no texts has none."""
        if self.hidden:
            yield Figure(name, "plumbline", "precision", self.right / self.hidden)
        if self.copies:
            yield Figure(name, "plumbline", "recall", self.right / self.copies)
        yield Figure(name, "plumbline", "hidden", self.hidden)


def copy_figures(vertical: Vertical) -> Iterator[Figure]:
    """Precision and recall on both halves, real and made; what is hidden wrongly, or was never judged, is a line of
    `out/real-copies.tsv`.
    """
    stages.regroup_duplicates(vertical.engine, create_copy_detection(vertical.engine.settings.extract))
    kept = {one.article.url: one for one in vertical.engine.store.articles.iter_all()}
    groups = {url: one.duplicate_of or one.doc_id for url, one in kept.items()}
    judged = load_pairs()
    lines = list(unjudged(vertical, kept, judged))
    for half, name in SETS.items():
        real, faults = of_pairs(groups, {pair: is_copy for pair, is_copy in judged.items() if half_of(pair[0]) == half})
        made, more = of_made(all_made(texts_of(vertical, kept, half), half))
        both = Counts(real.hidden + made.hidden, real.right + made.right, real.copies + made.copies)
        yield from both.figures(name)
        yield from real.figures(f"{name} real")
        yield from made.figures(f"{name} made")
        lines += [*faults, *more]
    yield Figure("copies", "plumbline", "unjudged", sum(line.startswith("unjudged") for line in lines))
    (out_folder() / "real-copies.tsv").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def half_of(url: str) -> str:
    """Which half of the sites a URL is of."""
    host = url.split("/")[2]
    return NAMES[int(hashlib.sha256(host.encode()).hexdigest(), 16) % 2]


def load_pairs(path: Path = PAIRS) -> dict[tuple[str, str], bool]:
    """The judged pairs, their URLs in order: are they copies?"""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    found = {}
    for verdict, one, other in (line.split("\t") for line in lines):
        assert verdict in ("copy", "similar"), verdict
        found[min(one, other), max(one, other)] = verdict == "copy"
    return found


def of_pairs(groups: Mapping[str, str], judged: Mapping[tuple[str, str], bool]) -> tuple[Counts, list[str]]:
    """Counts of the judged pairs that are both articles (URL -> group), and what is wrong with which."""
    there = {(one, other): is_copy for (one, other), is_copy in judged.items() if one in groups and other in groups}
    hidden = {pair for pair in there if groups[pair[0]] == groups[pair[1]]}
    right = {pair for pair in hidden if there[pair]}
    lines = [f"wrong\t{one}\t{other}" for one, other in sorted(hidden - right)]
    lines += [f"missed\t{one}\t{other}" for one, other in sorted(set(there) - hidden) if there[one, other]]
    return Counts(len(hidden), len(right), sum(there.values())), lines


def of_made(texts: Sequence[Told]) -> tuple[Counts, list[str]]:
    """Counts of texts made by rule, and which are hidden wrongly, by which rules they were made."""
    found = hiding_of(texts)
    rules = {text.name: text.rule or "as it was" for text in texts}
    lines = [f"wrong\t{name}\t{leader}" for name, leader in found.wrong]
    counted = Counter((rules[name], rules[leader]) for name, leader in found.wrong)
    lines += [f"wrong rules\t{rule} behind {other}\t{count}" for (rule, other), count in sorted(counted.items())]
    return Counts(len(found.behind), len(found.right), found.copies), lines


def texts_of(vertical: Vertical, kept: Mapping[str, StoredArticle], half: str) -> list[Told]:
    """The same articles each time: MADE_FROM of each site of a half, none of them a copy."""
    by_site: dict[str, list[StoredArticle]] = {}
    for url in sorted(kept, key=lambda url: hashlib.sha256(url.encode()).digest()):
        site = vertical.site_of(url)
        if site and half_of(url) == half and not kept[url].duplicate_of and is_article(site, path_of(url)):
            by_site.setdefault(site.host, []).append(kept[url])
    chosen = [one.article for host in sorted(by_site) for one in by_site[host][:MADE_FROM]]
    return [Told(one.url, one.url, one.title, one.body, one.published) for one in chosen]


def unjudged(
    vertical: Vertical, kept: Mapping[str, StoredArticle], judged: Mapping[tuple[str, str], bool]
) -> Iterator[str]:
    """Articles that are hidden behind one that they were not judged with; list pages aside, which are no articles."""
    urls = {one.doc_id: url for url, one in kept.items()}
    for url, one in kept.items():
        leader = urls.get(one.duplicate_of, "")
        sites = [(vertical.site_of(address), address) for address in (url, leader) if leader]
        if any(site is not None and is_list(site, path_of(address)) for site, address in sites):
            continue
        if leader and (min(url, leader), max(url, leader)) not in judged:
            yield f"unjudged\t{url}\t{leader}"
