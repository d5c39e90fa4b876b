"""What crawls have learned of sites, where several machines share a store: one row a heading and host, as JSON.

A crawler works with small files of its own (crawler/state_files.py). Here is what it begins with, and what it leaves:
whoever asks a host next goes on from there.
"""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from docstore.database import Database
from docstore.schema.crawl_tables import site_state


class SiteStateTable:
    """`store.learned`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def load(self, category: str) -> dict[str, Any]:
        """Host -> what is known of it under a heading."""
        with self._database.read() as connection:
            rows = connection.execute(
                select(site_state.c.host, site_state.c.value).where(site_state.c.heading == category)
            )
            return {row.host: json.loads(row.value) for row in rows}

    def save(self, category: str, state_by_host: Mapping[str, Any]) -> None:
        """Know this of these hosts from now on."""
        values = sorted((host[:300], json.dumps(state)) for host, state in state_by_host.items())
        rows = [{"heading": category, "host": host, "value": value} for host, value in values]
        with self._database.write() as connection:
            self._database.upsert(connection, site_state, rows, update_columns=("value",))
