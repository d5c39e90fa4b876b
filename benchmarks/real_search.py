"""The set `search`: known items, as a reader who remembers them would ask for them, and titles in full."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.real_vertical import Vertical, is_article, path_of
from benchmarks.results import Figure, out_folder
from docstore.errors import PlumblineError
from pipeline import stages
from pipeline.search_site.serve import create_search_app

QUERIES = Path(__file__).parent / "real_queries.tsv"
TITLES = 200
DEPTH = 10
Ask = Callable[[str], list[dict[str, Any]]]
"""A query -> the hits of its first page, best first, as the JSON API gives them."""


@dataclass(frozen=True)
class KnownItem:
    """A query that looks for one article; more than one of `urls` where a site has it, or its subject, twice."""

    query: str
    urls: tuple[str, ...]
    language: str


def load_items(path: Path) -> list[KnownItem]:
    """The lines `query<TAB>url url ...<TAB>language` of a file. Raises PlumblineError for a line of another form."""
    items = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line and not line.startswith("#"):
            parts = line.split("\t")
            if len(parts) != 3:
                raise PlumblineError(f"{path}, line {number}: a query, URLs and a language, with tabs between them")
            items.append(KnownItem(parts[0], tuple(parts[1].split()), parts[2]))
    return items


def search_figures(vertical: Vertical, path: Path = QUERIES) -> Iterator[Figure]:
    """Known items of the sites that are there, together and by language; then titles."""
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
    """Asks the search site as it is served, by its JSON API. An answer that is none raises PlumblineError."""
    client = create_search_app(vertical.engine).test_client()

    def ask(query: str) -> list[dict[str, Any]]:
        answer = client.get("/api/v1/search", query_string={"q": query})
        if answer.status_code != 200:
            raise PlumblineError(f"the search for {query!r} was answered with {answer.status_code}: {answer.text}")
        return list(json.loads(answer.text)["hits"])

    return ask


def place_of(urls: Sequence[str], hits: Sequence[dict[str, Any]]) -> int:
    """At which place the first of the pages at `urls` is, counted from 1; 0 where none is there."""
    wanted = set(map(bare, urls))
    return next((place for place, hit in enumerate(hits, 1) if bare(hit["url"]) in wanted), 0)


def bare(url: str) -> str:
    """A URL without what its spellings differ in."""
    return url.partition("://")[2].removesuffix("index.html").removesuffix(".html").rstrip("/")


def share(places: Sequence[int], depth: int) -> float:
    """Share of the queries whose page is among the first `depth`."""
    return sum(0 < place <= depth for place in places) / max(len(places), 1)


def sampled_titles(vertical: Vertical) -> list[str]:
    """The same titles each time, as the store has them, of pages that are articles for certain."""
    found = set()
    for stored in vertical.engine.store.articles.iter_all():
        site = vertical.site_of(stored.article.url)
        if site and stored.article.title and is_article(site, path_of(stored.article.url)):
            found.add(stored.article.title)
    return sorted(found, key=lambda title: hashlib.sha256(title.encode()).digest())[:TITLES]


def is_first(title: str, hits: Sequence[dict[str, Any]]) -> bool:
    """Has the first hit this title?"""
    return bool(hits) and " ".join(hits[0]["title"].split()) == " ".join(title.split())


def tell(places: dict[KnownItem, int], missed: Sequence[str]) -> None:
    """Write the place of each known item, and the titles that were not first."""
    lines = [f"{place}\t{item.query}\t{' '.join(item.urls)}\n" for item, place in places.items()]
    lines += [f"title\t{title}\n" for title in missed]
    (out_folder() / "real-search.tsv").write_text("".join(lines), encoding="utf-8")
