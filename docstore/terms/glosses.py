"""Bilingual term pairs in articles, such as `页岩气 (shale gas)`. The review page suggests them as synonyms.

Pairs are saved when articles are read before indexing, and loaded when a term is reviewed. text/glosses.py finds them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, delete, exists, func, or_, select

from docstore.database import StorePart
from docstore.schema.article_tables import articles
from docstore.schema.relation_tables import glosses
from domain.storable_text import sanitize_text
from text.glosses import Gloss

MAX_GLOSSES_PER_TERM = 200
ROWS_PER_READ = 1_000
GLOSS_LANGUAGES = ("zh", "en")  # glosses are only suggested if the store has articles in both


class GlossTable(StorePart):
    """Save and find bilingual term pairs (`store.glosses`)."""

    def save(self, glosses_by_id: Mapping[int, Iterable[Gloss]], url_ids: Sequence[int]) -> None:
        """Replace the glosses of the articles `url_ids` by `glosses_by_id`."""
        rows = [
            {
                "url_id": url_id,
                "han": sanitize_text(gloss.han),
                "latin": sanitize_text(gloss.latin),
                "han_whole": int(gloss.is_han_in_brackets),
            }
            for url_id, page_glosses in glosses_by_id.items()
            for gloss in page_glosses
        ]
        with self._database.write() as connection:
            connection.execute(delete(glosses).where(glosses.c.url_id.in_(url_ids)))
            self._database.insert_missing(connection, glosses, rows)

    def iter_all(self) -> Iterator[tuple[int, Gloss]]:
        """Yield each gloss with its article."""
        with self._database.read() as connection:
            yield from map(
                _gloss_from_row, connection.execute(select(glosses).execution_options(yield_per=ROWS_PER_READ))
            )

    def find_by_ending(self, terms: Sequence[str]) -> dict[str, list[tuple[int, Gloss]]]:
        """Return the glosses with a side that ends with the term, for each of `terms`, each with its article.

        Returns an empty dict unless the store has articles in both languages.
        """
        with self._database.read() as connection:
            for language in GLOSS_LANGUAGES:
                is_in_language = or_(articles.c.language == language, articles.c.language.like(f"{language}-%"))
                if not connection.scalar(select(exists().where(is_in_language))):
                    return {}
            return {term: _glosses_for_term(connection, term) for term in terms}


def _glosses_for_term(connection: Connection, term: str) -> list[tuple[int, Gloss]]:
    folded_term = sanitize_text(term).lower()
    sides = [func.lower(column).endswith(folded_term, autoescape=True) for column in (glosses.c.han, glosses.c.latin)]
    query = select(glosses).where(or_(*sides)).limit(MAX_GLOSSES_PER_TERM)
    return [_gloss_from_row(row) for row in connection.execute(query)]


def _gloss_from_row(row: Row[Any]) -> tuple[int, Gloss]:
    return row.url_id, Gloss(row.han, row.latin, bool(row.han_whole))
