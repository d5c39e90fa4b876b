"""Bilingual term pairs in articles, such as `页岩气 (shale gas)`. The review page suggests them as synonyms.

Pairs are saved when articles are read before indexing, and loaded when a term is reviewed. text/glosses.py finds them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from sqlalchemy import Connection, delete, exists, func, or_, select

from docstore.database import Database
from docstore.schema.article_tables import articles
from docstore.schema.relation_tables import glosses
from domain.storable_text import sanitize_text
from text.glosses import Gloss

MAX_GLOSSES_PER_TERM = 200
ROWS_PER_READ = 1_000
GLOSS_LANGUAGES = ("zh", "en")  # glosses are only suggested if the store has articles in both


class GlossTable:
    """Save and find bilingual term pairs (`store.glosses`)."""

    def __init__(self, database: Database) -> None:
        self._database = database

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
            for row in connection.execute(select(glosses).execution_options(yield_per=ROWS_PER_READ)):
                yield row.url_id, Gloss(row.han, row.latin, bool(row.han_whole))

    def find_by_ending(self, terms: Sequence[str]) -> dict[str, list[Gloss]]:
        """Return the glosses with a side that ends with the term, for each of `terms`.

        Returns an empty dict unless the store has articles in both languages.
        """
        with self._database.read() as connection:
            if not all(_has_articles(connection, language) for language in GLOSS_LANGUAGES):
                return {}
            return {term: _glosses_for_term(connection, term) for term in terms}


def _has_articles(connection: Connection, language: str) -> bool:
    is_in_language = or_(articles.c.language == language, articles.c.language.like(f"{language}-%"))
    return bool(connection.scalar(select(exists().where(is_in_language))))


def _glosses_for_term(connection: Connection, term: str) -> list[Gloss]:
    folded_term = sanitize_text(term).lower()
    sides = [func.lower(column).endswith(folded_term, autoescape=True) for column in (glosses.c.han, glosses.c.latin)]
    query = select(glosses.c.han, glosses.c.latin, glosses.c.han_whole).where(or_(*sides)).limit(MAX_GLOSSES_PER_TERM)
    return [Gloss(row.han, row.latin, bool(row.han_whole)) for row in connection.execute(query)]
