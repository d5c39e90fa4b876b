"""The set `search`: known-item queries as a user would type them from memory, and complete titles."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.real_vertical import Vertical, is_article, path_of
from benchmarks.results import Figure, out_folder
from domain.errors import PlumblineError
from pipeline import stages
from pipeline.search_site.search_app import create_search_app

QUERIES = Path(__file__).parent / "real_queries.tsv"
TITLES = 200
DEPTH = 10
Ask = Callable[[str], list[dict[str, Any]]]
"""A query -> the hits of its first page, best first, as the JSON API gives them."""


@dataclass(frozen=True)
class KnownItem:
    """A query for one article; it has several `urls` if the site has the article or its subject more than once."""

    query: str
    urls: tuple[str, ...]
    language: str


def load_items(path: Path) -> list[KnownItem]:
    """Load lines `query<TAB>url url ...<TAB>language`. Raises PlumblineError for another format."""
    items = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line and not line.startswith("#"):
            parts = line.split("\t")
            if len(parts) != 3:
                raise PlumblineError(f"{path}, line {number}: a query, URLs and a language, with tabs between them")
            items.append(KnownItem(parts[0], tuple(parts[1].split()), parts[2]))
    return items


def search_figures(vertical: Vertical, path: Path = QUERIES) -> Iterator[Figure]:
    """Yield figures for the known items of available sites, overall and by language, then for titles."""
    stages.index(vertical.engine)
    ask = asker(vertical)
    items = [item for item in load_items(path) if vertical.site_of(item.urls[0])]
    places = {item: place_of(item.urls, ask(item.query)) for item in items}
    for language in ("", *sorted({item.language for item in items})):
        chosen = [place for item, place in places.items() if language in ("", item.language)]
        name = f"search {language}".strip()
        yield Figure(name, "plumbline", "queries", len(chosen))
        yield Figure(name, "plumbline", "success_1", share(chosen, 1))
        yield Figure(name, "plumbline", "success_10", share(chosen, DEPTH))
    titles = sampled_titles(vertical)
    missed = [title for title in titles if not is_first(title, ask(title))]
    yield Figure("search", "plumbline", "titles", len(titles))
    yield Figure("search", "plumbline", "title_first", 1 - len(missed) / max(len(titles), 1))
    tell(places, missed)


def asker(vertical: Vertical) -> Ask:
    """Return a function that queries the search site's JSON API. It raises PlumblineError for an error response."""
    client = create_search_app(vertical.engine).test_client()

    def ask(query: str) -> list[dict[str, Any]]:
        answer = client.get("/api/v1/search", query_string={"q": query})
        if answer.status_code != 200:
            raise PlumblineError(f"the search for {query!r} was answered with {answer.status_code}: {answer.text}")
        return list(json.loads(answer.text)["hits"])

    return ask


def place_of(urls: Sequence[str], hits: Sequence[dict[str, Any]]) -> int:
    """Return the rank, from 1, of the first page at `urls`; 0 if there is none."""
    wanted = set(map(bare, urls))
    return next((place for place, hit in enumerate(hits, 1) if bare(hit["url"]) in wanted), 0)


def bare(url: str) -> str:
    """Normalise a URL: remove the parts in which equivalent URLs differ."""
    return url.partition("://")[2].removesuffix("index.html").removesuffix(".html").rstrip("/")


def share(places: Sequence[int], depth: int) -> float:
    """Return the share of queries whose page is among the first `depth` results."""
    return sum(0 < place <= depth for place in places) / max(len(places), 1)


def sampled_titles(vertical: Vertical) -> list[str]:
    """Return the same sample of titles each time, as stored, of pages that are certainly articles."""
    found = set()
    for stored in vertical.engine.store.articles.iter_all():
        site = vertical.site_of(stored.article.url)
        if site and stored.article.title and is_article(site, path_of(stored.article.url)):
            found.add(stored.article.title)
    return sorted(found, key=lambda title: hashlib.sha256(title.encode()).digest())[:TITLES]


def is_first(title: str, hits: Sequence[dict[str, Any]]) -> bool:
    """True if the first result has this title."""
    return bool(hits) and " ".join(hits[0]["title"].split()) == " ".join(title.split())


def tell(places: dict[KnownItem, int], missed: Sequence[str]) -> None:
    """Write the rank of each known item, and the titles that were not first."""
    lines = [f"{place}\t{item.query}\t{' '.join(item.urls)}\n" for item, place in places.items()]
    lines += [f"title\t{title}\n" for title in missed]
    (out_folder() / "real-search.tsv").write_text("".join(lines), encoding="utf-8")
