"""The rising terms of the latest run (`lexicon/bursts.py`): published terms and candidates."""

import json
from collections.abc import Sequence
from dataclasses import astuple

from sqlalchemy import Connection

from docstore.bookkeeping import read_meta, write_meta
from docstore.database import StorePart
from domain.rising_term import RisingTerm

RISING_TERMS_KEY = "rising_terms"  # JSON list of the fields of RisingTerm


class RisingTermTable(StorePart):
    """Save and load the rising terms (`store.rising_terms`)."""

    def save(self, rising_terms: Sequence[RisingTerm]) -> None:
        """Save the rising terms of a run in place of those of earlier runs."""
        value = json.dumps([astuple(term) for term in rising_terms], ensure_ascii=False)
        with self._database.write() as connection:
            write_meta(self._database, connection, RISING_TERMS_KEY, value)

    def load(self) -> list[RisingTerm]:
        """Return the rising terms, in the order in which they were saved."""
        with self._database.read() as connection:
            return read_rising_terms(connection)


def read_rising_terms(connection: Connection) -> list[RisingTerm]:
    """Return the saved rising terms in the same transaction as other reads."""
    return [RisingTerm(*fields) for fields in json.loads(read_meta(connection, RISING_TERMS_KEY) or "[]")]
