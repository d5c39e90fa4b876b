"""A backup restored into an empty folder gives the same results for every query as the original."""

import json
import random
from pathlib import Path
from typing import Any

from pipeline.engine import Engine
from pipeline.index_stage import wait_for_solr
from pipeline.progress import NullProgress
from pipeline.search_site.search_app import create_search_app
from pipeline.settings import load_settings
from tests.crash_harness import Vertical, call_successfully
from tests.faults.tally import Tally

Answers = dict[str, Any]


def answers(vertical: Vertical, queries: list[str]) -> Answers:
    """Return ids in order, total and facets of each query from the search site."""
    with Engine(load_settings(vertical.config), NullProgress()) as engine:
        wait_for_solr(engine)
        client = create_search_app(engine).test_client()
        found = {}
        for query in queries:
            told = json.loads(client.get("/api/v1/search", query_string={"q": query}).text)
            told.pop("seconds", None)
            ids = [hit["url"] for hit in told["hits"]]
            found[query] = {"ids": ids, "found": told.get("found", told.get("total")), "facets": told.get("facets")}
        return found


def queries_of(vertical: Vertical, count: int) -> list[str]:
    """Return words and titles of the vertical, and its accepted terms."""
    chance = random.Random(7)
    titles = [title for (title,) in vertical.ask("SELECT title FROM articles ORDER BY url_id")]
    terms = [text for (text,) in vertical.ask("SELECT text FROM terms WHERE status = 'accepted' ORDER BY text")]
    parts = [title[at : at + 4] for title in titles for at in (0, 3)]
    return chance.sample([*titles, *parts], count // 2) + (terms * count)[: count - count // 2]


def restore_faults(source: Vertical, folder: Path, count: int = 24) -> Tally:
    """Back up and restore a vertical, and compare the results of queries.

    Some documents are written twice, so that the original index contains deleted documents.
    """
    tally = Tally("restore")
    original, restored = source.copy_to(folder / "original"), Vertical(folder / "restored")
    restored.folder.mkdir()
    restored.config.write_text(original.config.read_text())
    try:
        with original.solr() as index:
            for command in ("index", "lexicon accept --top 10", "lexicon publish", "index"):
                call_successfully(original, *command.split())
            call_successfully(original, "backup", str(folder / "backups"))
            queries = queries_of(original, count)
            wanted = answers(original, queries)
            index.delete_all()
        with restored.solr() as index:
            call_successfully(restored, "restore", str(folder / "backups"))
            call_successfully(restored, "index")
            found = answers(restored, queries)
            index.delete_all()
        for query in queries:
            with tally.trying(query):
                lost = set(wanted[query]["ids"]) - set(found[query]["ids"])
                tally.lost += len(lost)
                assert found[query] == wanted[query]
        assert any(one["ids"] for one in wanted.values())
    finally:
        original.end()
        restored.end()
    return tally
