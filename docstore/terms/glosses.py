"""Where articles say the same in Chinese and in English: `页岩气 (shale gas)`. It is offered as a synonym of the term.

Kept as articles are read before they are indexed; looked up when a term is reviewed. `Gloss` is text/glosses.py's.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, exists, func, or_, select

from docstore.articles.records import storable
from docstore.database import Database
from docstore.schema.article_tables import articles
from docstore.schema.relation_tables import glosses

MAX_ROWS = 200  # glosses that are looked at for one term
LANGUAGES = ("zh", "en")  # offered where a vertical has articles in both


@dataclass(frozen=True)
class KeptGloss:
    """A Chinese and a Latin side of which one is a whole term and the other a run that ends with one."""

    han: str
    latin: str
    is_han_whole: bool


class GlossTable:
    """`store.glosses`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, found: Mapping[int, Iterable[KeptGloss]], url_ids: Sequence[int]) -> None:
        """Keep what was read of articles, in place of what was said by any of `url_ids` before."""
        rows = [
            {
                "url_id": url_id,
                "han": storable(one.han),
                "latin": storable(one.latin),
                "han_whole": int(one.is_han_whole),
            }
            for url_id, several in found.items()
            for one in several
        ]
        with self._database.write() as connection:
            connection.execute(delete(glosses).where(glosses.c.url_id.in_(url_ids)))
            self._database.upsert(connection, glosses, rows)

    def ending_with(self, terms: Sequence[str]) -> dict[str, list[KeptGloss]]:
        """The glosses with a side that is or ends with each of `terms`, once an article; none where the vertical has
        articles in one language alone.
        """
        with self._database.read() as connection:
            if not all(_has_articles(connection, language) for language in LANGUAGES):
                return {}
            return {term: _of(connection, term) for term in terms}


def _has_articles(connection: Connection, language: str) -> bool:
    mine = or_(articles.c.language == language, articles.c.language.like(f"{language}-%"))
    return bool(connection.scalar(select(exists().where(mine))))


def _of(connection: Connection, term: str) -> list[KeptGloss]:
    folded = storable(term).lower()
    sides = [func.lower(column).endswith(folded, autoescape=True) for column in (glosses.c.han, glosses.c.latin)]
    query = select(glosses.c.han, glosses.c.latin, glosses.c.han_whole).where(or_(*sides)).limit(MAX_ROWS)
    return [KeptGloss(row.han, row.latin, bool(row.han_whole)) for row in connection.execute(query)]
