"""A backup that is restored into an empty folder answers every query as the original did."""

import json
import random
from pathlib import Path
from typing import Any

from pipeline import stages
from pipeline.engine import Engine
from pipeline.progress import Quiet
from pipeline.search_site.serve import search_app
from pipeline.settings import load_settings
from tests.crash_harness import Vertical
from tests.faults.tally import Tally

Answers = dict[str, Any]


def answers(vertical: Vertical, queries: list[str]) -> Answers:
    """What the search site says: ids in their order, how many, and every facet."""
    with Engine(load_settings(vertical.config), Quiet()) as engine:
        stages.open_solr(engine)
        client = search_app(engine).test_client()
        found = {}
        for query in queries:
            told = json.loads(client.get("/api/v1/search", query_string={"q": query}).text)
            told.pop("seconds", None)
            ids = [hit["url"] for hit in told["hits"]]
            found[query] = {"ids": ids, "found": told.get("found", told.get("total")), "facets": told.get("facets")}
        return found


def queries_of(vertical: Vertical, count: int) -> list[str]:
    """Words and titles of the vertical, and its accepted terms."""
    chance = random.Random(7)
    titles = [title for (title,) in vertical.ask("SELECT title FROM articles ORDER BY url_id")]
    terms = [text for (text,) in vertical.ask("SELECT text FROM terms WHERE status = 'accepted' ORDER BY text")]
    parts = [title[at : at + 4] for title in titles for at in (0, 3)]
    return chance.sample([*titles, *parts], count // 2) + (terms * count)[: count - count // 2]


def restore_faults(source: Vertical, folder: Path, count: int = 24) -> Tally:
    """Some documents are written again, so that the original index has a past; then backup, restore, the queries."""
    tally = Tally("restore")
    original = source.copy_to(folder / "original")
    try:
        original.done("lexicon", "accept", "--top", "10")
        original.done("lexicon", "publish")
        original.done("index")
        original.done("backup", str(folder / "backups"))
        queries = queries_of(original, count)
        wanted = answers(original, queries)
        original.end()
        restored = Vertical(folder / "restored")
        restored.folder.mkdir()
        restored.config.write_text(original.config.read_text())
        restored.done("restore", str(folder / "backups"))
        restored.done("index")
        found = answers(restored, queries)
        for query in queries:
            with tally.trying(query):
                lost = set(wanted[query]["ids"]) - set(found[query]["ids"])
                tally.lost += len(lost)
                assert found[query] == wanted[query]
        assert any(one["ids"] for one in wanted.values())
        restored.end()
    finally:
        original.end()
    return tally
