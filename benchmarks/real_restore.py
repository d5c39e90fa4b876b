"""The set `restore`: whether a restored backup answers queries as the vertical does."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.real_search import QUERIES, asker, load_items
from benchmarks.real_vertical import Vertical, is_list, path_of, settings_for
from benchmarks.results import Figure
from pipeline import stages
from pipeline.engine import Engine
from pipeline.index_stage import force_merge_index
from pipeline.maintenance.backup import create_backup, restore_backup
from pipeline.progress import NullProgress

MAX_TITLES = 24


def restore_figures(vertical: Vertical) -> Iterator[Figure]:
    """Yield the share of queries with equal results, in order, and the number of wrong citation counts."""
    known_queries = [item.query for item in load_items(QUERIES) if vertical.site_of(item.urls[0])]
    queries = [*known_queries, *sample_titles(vertical)]
    stages.index(vertical.engine)
    force_merge_index(vertical.engine)
    results = first_pages(vertical, queries)
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        config = Path(folder) / "vertical.toml"
        config.touch()
        backup = create_backup(vertical.engine.settings, config, Path(folder) / "backups")
        settings = settings_for(vertical.sites, vertical.web, Path(folder))
        restore_backup(backup, settings)
        with Engine(settings, NullProgress(), ip_policy=vertical.engine.ip_policy) as engine:
            stages.index(engine)
            force_merge_index(engine)
            restored_results = first_pages(replace(vertical, engine=engine), queries)
    equal_count = sum(old == new for old, new in zip(results, restored_results, strict=True))
    yield Figure("restore", "plumbline", "queries", len(queries))
    yield Figure("restore", "plumbline", "equal", equal_count / max(1, len(queries)))
    yield Figure("restore", "plumbline", "wrong_counts", len(vertical.engine.store.citations.find_wrong_counts()))


def sample_titles(vertical: Vertical) -> list[str]:
    """Return the same sample of titles each time, also of sites without a pattern for articles."""
    titles = {
        stored.article.title
        for stored in vertical.engine.store.articles.iter_all()
        if (site := vertical.site_of(stored.article.url)) and not is_list(site, path_of(stored.article.url))
    }
    return sorted(titles - {""}, key=lambda title: hashlib.sha256(title.encode()).digest())[:MAX_TITLES]


def first_pages(vertical: Vertical, queries: Sequence[str]) -> list[list[str]]:
    """Return the ids of the first page of results of each query."""
    ask = asker(vertical)
    return [[hit["id"] for hit in ask(query)] for query in queries]
