"""Benchmark of findability: `make bench-findable [DATA=DIR]`. Figures: `docs/background/benchmarks.md`.

A site of our own sentences in 35 languages is crawled, extracted and indexed. Strings are drawn from the stored titles
and texts, and searched as they are and in other spellings. A string is found if its page is a full match among the
first ten results of the JSON API.

make_pages      the pages of the site
draw_queries    the queries from the stored articles
find_page       where the page of a query is among the results
found_figures   shares of found queries, by class and language; out/findable-misses.tsv lists the others
"""

import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from itertools import product
from pathlib import Path

import click
from flask import Flask
from rich.console import Console
from rich.table import Table

from benchmarks.command import benchmark, data_option, names
from benchmarks.findable_queries import StoredText, draw_queries
from benchmarks.findable_site import (
    CASES_SITE,
    PAIRS_SITE,
    SITE,
    FindablePage,
    Query,
    Texts,
    load_cases,
    load_texts,
    make_pages,
    make_pair_pages,
    to_gold_page,
)
from benchmarks.gold_web import GoldPage, GoldWeb
from benchmarks.results import OURS, Figure, check_floors, out_folder, values_by_name, write
from domain.errors import PlumblineError
from pipeline import stages
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.search_site.search_app import create_search_app
from pipeline.settings import Settings, build_settings

NAME, PAIRS, CASES = "findable", "exact_first", "cases"
SET_BY_HOST = {SITE: NAME, PAIRS_SITE: PAIRS, CASES_SITE: CASES}
DEPTH = 10  # results among which the page must be
PAGES_PER_LANGUAGE = 9
THREADS = 4
TABLE_WIDTH = 400  # columns for 35 languages; a pager such as `less -S` scrolls
ALL = "all"


class Place(StrEnum):
    """Where the page of a query is among the first results."""

    FOUND = "found"
    BEHIND = "behind"  # behind the page with another spelling
    PARTIAL = "partial"
    MISSING = "missing"


@benchmark(NAME, every=25, pages=2)
@data_option()
@click.option("--languages", default="", callback=names, help="Only these language tags, comma-separated.")
@click.option("--pages", default=PAGES_PER_LANGUAGE, type=click.IntRange(1), help="Pages of each language.")
@click.option("--every", default=1, type=click.IntRange(1), help="Use every n-th query.")
def main(data: Path, languages: list[str], pages: int, every: int) -> None:
    """Measure which strings of stored articles a search finds."""
    places, figures = measure(data, languages, pages, every)
    write(NAME, figures)
    misses = ["\t".join((place, *query[:4])) + "\n" for query, place in places.items() if place is not Place.FOUND]
    (out_folder() / f"{NAME}-misses.tsv").write_text("".join(misses), "utf-8")
    Console(width=TABLE_WIDTH).print(found_table(places))
    for figure in figures:
        if " " not in figure.set:
            click.echo(f"{figure.set} {figure.metric} {figure.value:.4f}")
    if every == 1 and pages == PAGES_PER_LANGUAGE and not languages:
        check_floors(NAME, values_by_name(figures))


def measure(
    data: Path, languages: Sequence[str] = (), pages: int = PAGES_PER_LANGUAGE, every: int = 1
) -> tuple[dict[Query, Place], list[Figure]]:
    """Return the place of the page of each query, and the figures of all sets."""
    texts = load_texts(languages)
    site_pages, pairs = make_pages(texts, pages), make_pair_pages(texts)
    case_pages, cases = load_cases(data / "cases" / "search")
    served = [to_gold_page(page) for page in (*site_pages, *(page for pair in pairs for page in pair))]
    with open_site([*served, *case_pages]) as engine:
        stored = load_stored(engine, site_pages, texts)
        drawn = (*draw_queries(site_pages, texts, stored), *pair_queries(pairs), *cases)
        queries = list(dict.fromkeys(drawn))[::every]
        with ThreadPoolExecutor(THREADS) as pool:
            places = dict(zip(queries, pool.map(partial(find_page, create_search_app(engine)), queries), strict=True))
    stored_share = Figure(NAME, OURS, "stored", len(stored) / len(site_pages))
    return places, [stored_share, *found_figures(places)]


@contextmanager
def open_site(pages: Sequence[GoldPage]) -> Iterator[Engine]:
    """Crawl, extract and index the pages from loopback, by words only. Yields the engine of the vertical."""
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        GoldWeb(pages) as web,
        Engine(site_settings(web, Path(folder)), NullProgress(), ip_policy=web) as engine,
    ):
        stages.run(engine)
        if engine.index.count() != engine.store.articles.count():
            raise PlumblineError("the index and the store differ after the run: the figures mean nothing")
        yield engine


def site_settings(web: GoldWeb, folder: Path) -> Settings:
    """Return settings without crawl delay and embeddings, and with time for Solr on a busy machine."""
    sections = {"crawl": web.crawl_settings(), "search": {"timeout": 60.0}, "embed": {"model": "off"}}
    return build_settings({"vertical": {"data_dir": "data"}, **sections}, folder)


def load_stored(engine: Engine, pages: Sequence[FindablePage], texts: Mapping[str, Texts]) -> dict[str, StoredText]:
    """Return the stored articles of the pages by URL."""
    texts_by_url = {page.url: texts[page.language] for page in pages}
    return {
        article.url: StoredText.of_language(article.title, article.body, article.language, texts_by_url[article.url])
        for stored in engine.store.articles.iter_all()
        if (article := stored.article).url in texts_by_url
    }


def pair_queries(pairs: Sequence[tuple[FindablePage, FindablePage]]) -> Iterator[Query]:
    """Yield a query for each page of each pair: its spelling."""
    for pair in pairs:
        for page, rival in (pair, pair[::-1]):
            yield Query(PAIRS, page.language, page.rare_strings[0].text, page.url, rival_url=rival.url)


def find_page(app: Flask, query: Query) -> Place:
    """Search on the host of the query's page, and return the place of that page.

    Raises PlumblineError for an error response.
    """
    arguments = [("q", query.text), ("site", query.host), *query.params]
    response = app.test_client().get("/api/v1/search", query_string=arguments)
    if response.status_code != 200:
        raise PlumblineError(f"the search for {query.text!r} was answered with {response.status_code}: {response.text}")
    for hit in json.loads(response.text)["hits"][:DEPTH]:
        if hit["url"] == query.rival_url:
            return Place.BEHIND
        if hit["url"] == query.url:
            return Place.PARTIAL if hit["is_partial"] else Place.FOUND
    return Place.MISSING


def found_figures(places: Mapping[Query, Place]) -> Iterator[Figure]:
    """Yield the share of found queries of each set, and for the own site by class and by language."""
    groups = defaultdict[tuple[str, str], list[bool]](list)
    for query, place in places.items():
        set_name = SET_BY_HOST[query.host]
        keys = [(set_name, PAIRS if set_name == PAIRS else "found")]
        if set_name != PAIRS:
            keys.append((set_name, "found_" + query.category.replace(",", "").replace(" ", "_")))
        if set_name == NAME:
            keys.append((f"{NAME} {query.language}", "found"))
        for key in keys:
            groups[key].append(place is Place.FOUND)
    for (set_name, metric), results in sorted(groups.items()):
        yield Figure(set_name, OURS, metric, sum(results) / len(results))
    for set_name, count in sorted(Counter(SET_BY_HOST[query.host] for query in places).items()):
        yield Figure(set_name, OURS, "queries", count)


def found_table(places: Mapping[Query, Place]) -> Table:
    """Return found and all queries of the own site, by class and language."""
    cells = defaultdict[tuple[str, str], list[bool]](list)
    for query, place in places.items():
        if query.host == SITE:
            for category, language in product((query.category, ALL), (query.language, ALL)):
                cells[category, language].append(place is Place.FOUND)
    languages = list(dict.fromkeys(language for _, language in cells if language != ALL))
    table = Table("", ALL, *languages, title="found / queries", padding=(0, 0, 0, 1))
    for category in (ALL, *sorted({category for category, _ in cells if category != ALL})):
        counts = [cells.get((category, language), []) for language in (ALL, *languages)]
        table.add_row(category, *(f"{sum(results)}/{len(results)}" if results else "" for results in counts))
    return table


if __name__ == "__main__":
    main()
