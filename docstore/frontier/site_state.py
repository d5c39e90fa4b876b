"""Learned state of sites, shared by several machines: one row per category and host, as JSON.

A crawler works with local files (crawler/state_files.py). It loads its initial state from here and saves its final
state here, so that the next crawler of a host continues with it.
"""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from docstore.database import StorePart
from docstore.schema.crawl_tables import site_state


class SiteStateTable(StorePart):
    """Load and save learned state of sites (`store.site_state`)."""

    def load(self, category: str) -> dict[str, Any]:
        """Return the states of a category by host."""
        with self._database.read() as connection:
            rows = connection.execute(
                select(site_state.c.host, site_state.c.value).where(site_state.c.heading == category)
            )
            return {row.host: json.loads(row.value) for row in rows}

    def save(self, category: str, state_by_host: Mapping[str, Any]) -> None:
        """Save the states of hosts in a category. Replaces their earlier states; other hosts do not change."""
        values = sorted((host[:300], json.dumps(state)) for host, state in state_by_host.items())
        rows = [{"heading": category, "host": host, "value": value} for host, value in values]
        with self._database.write() as connection:
            self._database.upsert(connection, site_state, rows)
