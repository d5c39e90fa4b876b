"""Benchmark of findability: `make bench-findable [DATA=DIR]`. Figures: `docs/background/benchmarks.md`.

A site of our own sentences in 35 languages is crawled, extracted and indexed. Strings are drawn from the stored titles
and texts, and searched as they are and in other spellings. A string is found if its page is a full match among the
first ten results of the JSON API.

make_pages      the pages of the site
draw_queries    the queries from the stored articles
find_page       what became of the page of a query
found_figures   shares of found queries, by class and language; out/findable-misses.tsv lists the others
pair_figures    of two spellings, the page with that of the query ranks first
"""

import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

import click
from flask import Flask
from rich.console import Console
from rich.table import Table

from benchmarks.command import benchmark, data_option, names
from benchmarks.findable_queries import Query, StoredText, draw_queries
from benchmarks.findable_site import (
    CASES_SITE,
    PAIRS_SITE,
    SITE,
    FindablePage,
    Texts,
    load_cases,
    load_texts,
    make_pages,
    make_pair_pages,
    to_gold_page,
)
from benchmarks.gold_web import SEED, GoldPage, GoldWeb
from benchmarks.results import OURS, Figure, check_floors, out_folder, values_by_name, write
from domain.errors import PlumblineError
from pipeline import stages
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.search_site.search_app import create_search_app
from pipeline.settings import Settings, build_settings

NAME, PAIRS, CASES = "findable", "exact_first", "cases"
DEPTH = 10  # results among which the page must be
PAGES_PER_LANGUAGE = 9
THREADS = 4
TABLE_WIDTH = 400  # columns without a terminal


class Place(StrEnum):
    """Where the page of a query is among the first results."""

    FOUND = "found"
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
    Console(width=None if Console().is_terminal else TABLE_WIDTH).print(found_table(places))
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
        case_queries = [Query(case.category, CASES, case.query, case.url) for case in cases]
        queries = list(dict.fromkeys((*draw_queries(site_pages, texts, stored), *case_queries)))[::every]
        app = create_search_app(engine)
        with ThreadPoolExecutor(THREADS) as pool:
            places = dict(zip(queries, pool.map(partial(find_page, app), queries), strict=True))
            is_exact_first = list(pool.map(partial(ranks_exact_first, app), pairs))
    stored_share = Figure(NAME, OURS, "stored", len(stored) / len(site_pages))
    exact_first = [result for pair in is_exact_first for result in pair]
    pair_figures = [Figure(PAIRS, OURS, "exact_first", sum(exact_first) / len(exact_first))] if exact_first else []
    return places, [stored_share, *found_figures(places), *pair_figures]


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
    crawl = {
        "seeds": [SEED],
        "contact": "https://plumbline.test/bench",
        "scope": list(web.scope),
        "depth": 2,
        "delay": 0.001,
        "per_host": 8,
    }
    sections = {"crawl": crawl, "search": {"timeout": 60.0}, "embed": {"model": "off"}}
    return build_settings({"vertical": {"data_dir": "data"}, **sections}, folder)


def load_stored(engine: Engine, pages: Sequence[FindablePage], texts: Mapping[str, Texts]) -> dict[str, StoredText]:
    """Return the stored articles of the pages by URL."""
    texts_by_url = {page.url: texts[page.language] for page in pages}
    return {
        article.url: StoredText.of_language(article.title, article.body, article.language, texts_by_url[article.url])
        for stored in engine.store.articles.iter_all()
        if (article := stored.article).url in texts_by_url
    }


def search(app: Flask, text: str, host: str, params: Sequence[tuple[str, str]] = ()) -> list[dict[str, Any]]:
    """Return the first hits on a host, best first. Raises PlumblineError for an error response."""
    arguments = [("q", text), ("site", host), *params]
    response = app.test_client().get("/api/v1/search", query_string=arguments)
    if response.status_code != 200:
        raise PlumblineError(f"the search for {text!r} was answered with {response.status_code}: {response.text}")
    return list(json.loads(response.text)["hits"])[:DEPTH]


def find_page(app: Flask, query: Query) -> Place:
    """Search, and return the place of the query's page."""
    host = CASES_SITE if query.language == CASES else SITE
    hit = next((hit for hit in search(app, query.text, host, query.params) if hit["url"] == query.url), None)
    return Place.MISSING if hit is None else Place.PARTIAL if hit["is_partial"] else Place.FOUND


def ranks_exact_first(app: Flask, pair: tuple[FindablePage, FindablePage]) -> tuple[bool, bool]:
    """Search for both spellings. True: the page with that spelling is a hit, and the other page is not before it."""
    first, second = (
        next((hit["url"] == page.url for hit in hits if hit["url"] in (pair[0].url, pair[1].url)), False)
        for page in pair
        for hits in [search(app, page.rare_strings[0].text, PAIRS_SITE)]
    )
    return first, second


def found_figures(places: Mapping[Query, Place]) -> Iterator[Figure]:
    """Yield the share of found queries: of the site, by class and by language, and of the saved cases."""
    groups = defaultdict[tuple[str, str], list[bool]](list)
    for query, place in places.items():
        set_name = CASES if query.language == CASES else NAME
        keys = [(set_name, "found"), (set_name, f"found_{query.category.replace(', ', '_').replace(' ', '_')}")]
        for key in (*keys, *([(f"{NAME} {query.language}", "found")] if set_name == NAME else [])):
            groups[key].append(place is Place.FOUND)
    for (set_name, metric), results in sorted(groups.items()):
        yield Figure(set_name, OURS, metric, sum(results) / len(results))
    for set_name in (NAME, CASES):
        yield Figure(set_name, OURS, "queries", len(groups[set_name, "found"]))


def found_table(places: Mapping[Query, Place]) -> Table:
    """Return found and all queries, by class and language."""
    cells = defaultdict[tuple[str, str], list[bool]](list)
    for query, place in places.items():
        for key in ((query.category, query.language), (query.category, "all"), ("all", query.language), ("all", "all")):
            cells[key].append(place is Place.FOUND)
    languages = ["all", *dict.fromkeys(query.language for query in places)]
    table = Table("", *languages, title="found / queries", padding=(0, 0, 0, 1))
    for category in ("all", *sorted({query.category for query in places})):
        counts = [cells.get((category, language), []) for language in languages]
        table.add_row(category, *(f"{sum(results)}/{len(results)}" if results else "" for results in counts))
    return table


if __name__ == "__main__":
    main()
