"""Who cites whom: what each article cites, what it is cited by, and by how many others it is cited.

    for batch in store.citations.unread():      # articles in the change log that were not read as they are now
        store.citations.save(read, gone)        # what they cite; the keys that this changes wait to be counted
    store.citations.count()                     # the articles behind those keys; who rises or falls is indexed again

Articles are joined by keys (text/citations.py), so that who cites may come before whom it cites. A voice counts once:
copies are one, the parts of one work are one, and nobody cites itself. What a site says on very many of its pages is
its frame, and a name that many documents bear names none of them. Killed anywhere, the next call goes on.
"""

import math
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Select, and_, delete, func, or_, select, update

from docstore.articles.records import Op, write_changes
from docstore.batches import batched
from docstore.database import Database
from docstore.model import line_hash
from docstore.schema.article_tables import articles, changes
from docstore.schema.relation_tables import citations, cited_names, citing, uncounted

BATCH = 200  # articles read, or keys counted, in one transaction
MIN_FRAME = 10  # citations from one site that are never taken for its frame
MAX_FRAME_SHARE = 0.3  # of a site's articles: what more of them cite is its frame
MAX_NAMESAKES = 8  # works or single articles with one name; what more of them bear is no name
STEPS = 4  # of authority, to one unit: a smaller change is not worth indexing for

CLUSTER = func.coalesce(func.nullif(articles.c.duplicate_of, ""), articles.c.doc_id)


@dataclass(frozen=True)
class Citing:
    """What was read of one article: the keys of what it `cites` and of what it is cited by (`own`). `work` is the name
    of the work that it is a part of, or "".
    """

    url_id: int
    digest: str
    cluster: str
    host: str
    work: str = ""
    cites: Collection[str] = ()
    own: Collection[str] = ()

    @property
    def voice(self) -> int:
        """Equal for those that count as one."""
        return line_hash(f"work {self.work}" if self.work else self.cluster)


def authority(count: int) -> float:
    """How much `count` citations are worth: the logarithm of one more, in steps of a quarter."""
    return round(math.log1p(count) * STEPS) / STEPS


class CitationTable:
    """`store.citations`."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def unread(self) -> Iterator[list[int]]:
        """Articles in the change log (`url_id`) that were not read as they are now, or are gone; a batch at a time."""
        last = -1
        while True:
            query = _UNREAD.where(changes.c.url_id > last).order_by(changes.c.url_id).limit(BATCH)
            with self._database.read() as connection:
                ids = list(connection.scalars(query))
            if not ids:
                return
            yield ids
            last = ids[-1]

    def save(self, read: Sequence[Citing], gone: Sequence[int]) -> None:
        """Keep what was read of articles, forget what those that are `gone` said."""
        ids = [*(one.url_id for one in read), *gone]
        cites = [(one.url_id, line_hash(key)) for one in read for key in one.cites]
        own = [(one.url_id, line_hash(key)) for one in read for key in one.own]
        rows = [
            {"url_id": one.url_id, "digest": one.digest, "cluster": one.cluster, "voice": one.voice, "host": one.host}
            for one in read
        ]
        with self._database.write() as connection:
            touched = {key for _, key in (*cites, *own)}
            for table in (citations, cited_names):
                touched.update(connection.scalars(select(table.c.key).where(table.c.url_id.in_(ids))))
                connection.execute(delete(table).where(table.c.url_id.in_(ids)))
            connection.execute(delete(citing).where(citing.c.url_id.in_(gone)))
            self._database.upsert(connection, citing, rows, update=("digest", "cluster", "voice", "host"))
            for table, pairs in ((citations, cites), (cited_names, own)):
                pairs = list(dict.fromkeys(pairs))
                self._database.upsert(connection, table, [{"url_id": one, "key": key} for one, key in pairs])
            self._database.upsert(connection, uncounted, [{"key": key} for key in sorted(touched)])

    def count(self) -> int:
        """Count the citations of all articles that may have more or fewer now; returns how many are to be indexed
        again for it.
        """
        with self._database.write() as connection:  # what is nobody's name cites nothing that is here
            connection.execute(delete(uncounted).where(uncounted.c.key.not_in(select(cited_names.c.key))))
            sizes = {row.host: row.size for row in connection.execute(_SIZES)}
        moved = 0
        while True:
            with self._database.write() as connection:
                keys = list(connection.scalars(select(uncounted.c.key).order_by(uncounted.c.key).limit(BATCH)))
                if not keys:
                    return moved
                named = select(cited_names.c.url_id).where(cited_names.c.key.in_(keys)).distinct()
                for ids in batched(sorted(connection.scalars(named)), BATCH):
                    moved += self._renew(connection, ids, sizes)
                connection.execute(delete(uncounted).where(uncounted.c.key.in_(keys)))

    def of(self, url_ids: Sequence[int]) -> dict[int, int]:
        """By how many others each of these articles is cited, as counted now: url_id -> count, none for 0."""
        with self._database.read() as connection:
            sizes = {row.host: row.size for row in connection.execute(_SIZES)}
            return {one: n for batch in batched(url_ids, BATCH) for one, n in _counts(connection, batch, sizes).items()}

    def _renew(self, connection: Connection, url_ids: Sequence[int], sizes: Mapping[str, int]) -> int:
        """Count the citations of these articles; returns how many of them are to be indexed again."""
        counted = _counts(connection, url_ids, sizes)
        query = select(articles.c.url_id, articles.c.citations).where(articles.c.url_id.in_(url_ids))
        changed = [row for row in connection.execute(query) if row.citations != counted.get(row.url_id, 0)]
        for row in changed:
            values = {"citations": counted.get(row.url_id, 0)}
            connection.execute(update(articles).where(articles.c.url_id == row.url_id).values(values))
        moved = {row.url_id for row in changed if authority(row.citations) != authority(counted.get(row.url_id, 0))}
        waiting = set(connection.scalars(select(changes.c.url_id).where(changes.c.url_id.in_(moved))))
        write_changes(connection, Op.UPSERT, sorted(moved - waiting), self._clock())
        return len(moved - waiting)


_UNREAD: Select[int] = (
    select(changes.c.url_id)
    .distinct()
    .outerjoin(articles, articles.c.url_id == changes.c.url_id)
    .outerjoin(citing, citing.c.url_id == changes.c.url_id)
    .where(
        or_(
            and_(articles.c.url_id.is_(None), citing.c.url_id.is_not(None)),
            and_(articles.c.url_id.is_not(None), citing.c.url_id.is_(None)),
            citing.c.digest != articles.c.digest,
            citing.c.cluster != CLUSTER,
        )
    )
)
_SIZES = select(citing.c.host, func.count().label("size")).group_by(citing.c.host)


def _counts(connection: Connection, url_ids: Sequence[int], sizes: Mapping[str, int]) -> dict[int, int]:
    """By how many voices each of these articles is cited: url_id -> count; `sizes` are the articles of each host.

    Those that are cited by the same names alone, as the parts of a law are, are counted once.
    """
    alike: dict[tuple[int, frozenset[int]], list[int]] = defaultdict(list)
    for url_id, (voice, keys) in _cited_keys(connection, url_ids).items():
        alike[voice, keys].append(url_id)
    by_first = _voices(connection, [same[0] for same in alike.values()], sizes)
    return {url_id: by_first[same[0]] for same in alike.values() if same[0] in by_first for url_id in same}


def _cited_keys(connection: Connection, url_ids: Sequence[int]) -> dict[int, tuple[int, frozenset[int]]]:
    """The articles of these that anything cites: url_id -> their voice and the keys by which they are cited."""
    is_cited = select(citations.c.key).where(citations.c.key == cited_names.c.key).exists()
    query = (
        select(cited_names, citing.c.voice)
        .join(citing, citing.c.url_id == cited_names.c.url_id)
        .where(cited_names.c.url_id.in_(url_ids), is_cited)
    )
    keys: dict[int, set[int]] = defaultdict(set)
    voices = {}
    for row in connection.execute(query):
        keys[row.url_id].add(row.key)
        voices[row.url_id] = row.voice
    return {url_id: (voices[url_id], frozenset(found)) for url_id, found in keys.items()}


def _voices(connection: Connection, url_ids: Sequence[int], sizes: Mapping[str, int]) -> dict[int, int]:
    whom, who = citing.alias("whom"), citing.alias("who")
    query = (
        select(cited_names.c.url_id, who.c.host, func.count(who.c.voice.distinct()).label("voices"))
        .join(whom, whom.c.url_id == cited_names.c.url_id)
        .join(citations, citations.c.key == cited_names.c.key)
        .join(who, who.c.url_id == citations.c.url_id)
        .where(cited_names.c.url_id.in_(url_ids), who.c.voice != whom.c.voice)
        .where(cited_names.c.key.not_in(_no_names(connection, url_ids)))
        .group_by(cited_names.c.url_id, who.c.host)
    )
    found: dict[int, int] = defaultdict(int)
    for row in connection.execute(query):
        if row.voices <= max(MIN_FRAME, MAX_FRAME_SHARE * sizes.get(row.host, 0)):
            found[row.url_id] += row.voices
    return found


def _no_names(connection: Connection, url_ids: Sequence[int]) -> list[int]:
    """The keys of these articles that too many others bear."""
    mine = select(cited_names.c.key).where(cited_names.c.url_id.in_(url_ids))
    query = (
        select(cited_names.c.key)
        .join(citing, citing.c.url_id == cited_names.c.url_id)
        .where(cited_names.c.key.in_(mine))
        .group_by(cited_names.c.key)
        .having(func.count(citing.c.voice.distinct()) > MAX_NAMESAKES)
    )
    return list(connection.scalars(query))
