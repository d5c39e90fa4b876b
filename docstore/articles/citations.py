"""Citations between articles: which keys an article cites, by which keys it is cited, and by how many sources.

    ids = store.citations.find_stale(url_ids)            # changed articles whose citations are out of date
    store.citations.save(citations, removed_ids)         # their keys; the affected keys become stale
    store.citations.recount()                            # counts for the stale keys; logs articles to index again

Citing and cited articles are joined by keys (indexer/citation_keys.py), so they may arrive in either order. A source
counts once: copies and the parts of a work are one source, and self-citations are ignored. Citations on a large share
of a site's pages are boilerplate and ignored; when a site grows or shrinks, the articles near that limit are counted
again. A name shared by more than MAX_ARTICLES_PER_NAME sources is ambiguous and
ignored. An interrupted call resumes on the next call.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, Select, and_, delete, func, or_, select, update

from docstore.bookkeeping import log_unless_pending, read_meta, write_meta
from docstore.database import StorePart
from docstore.schema.article_tables import articles, index_changes
from docstore.schema.relation_tables import (
    article_citation_sources,
    article_cited_keys,
    article_own_keys,
    stale_citation_keys,
)
from domain.article import text_hash64
from domain.article_relations import ArticleCitations, authority_score
from domain.batches import batched
from domain.index_change import IndexOperation

BATCH_SIZE = 200  # articles or keys per transaction
MIN_BOILERPLATE_CITATIONS = 10  # up to this number, citations from one site are never boilerplate
MAX_BOILERPLATE_SHARE = 0.3  # of a site's articles; a larger share of citing articles is boilerplate
COUNTED_LIMITS_KEY = "citation_limits"  # key of the limits of the last count, as JSON: host -> sources
MAX_ARTICLES_PER_NAME = 8  # sources with the same name; if there are more, the name is ambiguous

CLUSTER_ID_EXPRESSION = func.coalesce(func.nullif(articles.c.duplicate_of, ""), articles.c.doc_id)


class CitationTable(StorePart):
    """Save citation keys and count citations (`store.citations`)."""

    def find_stale(self, url_ids: Sequence[int]) -> list[int]:
        """Return those of `url_ids` in the change log whose citations are out of date or whose article was removed."""
        query = _STALE_ARTICLES_QUERY.where(index_changes.c.url_id.in_(url_ids)).order_by(index_changes.c.url_id)
        with self._database.read() as connection:
            return list(connection.scalars(query))

    def save(self, citations: Sequence[ArticleCitations], removed_ids: Sequence[int]) -> None:
        """Save the citation keys of articles, and delete those of removed articles."""
        ids = [*(item.url_id for item in citations), *removed_ids]
        cited_pairs = [(item.url_id, text_hash64(key)) for item in citations for key in item.cited_keys]
        own_pairs = [(item.url_id, text_hash64(key)) for item in citations for key in item.own_keys]
        rows = [
            {
                "url_id": item.url_id,
                "digest": item.digest,
                "cluster": item.cluster_id,
                "voice": item.source_hash,
                "host": item.host,
            }
            for item in citations
        ]
        with self._database.write() as connection:
            stale_keys = {key for _, key in (*cited_pairs, *own_pairs)}
            for table in (article_cited_keys, article_own_keys):
                stale_keys.update(connection.scalars(select(table.c.key).where(table.c.url_id.in_(ids))))
                connection.execute(delete(table).where(table.c.url_id.in_(ids)))
            connection.execute(
                delete(article_citation_sources).where(article_citation_sources.c.url_id.in_(removed_ids))
            )
            self._database.upsert(connection, article_citation_sources, rows)
            for table, pairs in ((article_cited_keys, cited_pairs), (article_own_keys, own_pairs)):
                pairs = list(dict.fromkeys(pairs))
                self._database.insert_missing(connection, table, [{"url_id": item, "key": key} for item, key in pairs])
            self._database.insert_missing(connection, stale_citation_keys, [{"key": key} for key in sorted(stale_keys)])

    def recount(self) -> int:
        """Count the citations of all articles with stale keys. Returns the number of articles to index again."""
        with self._database.write() as connection:  # drop keys that belong to no stored article
            connection.execute(
                delete(stale_citation_keys).where(stale_citation_keys.c.key.not_in(select(article_own_keys.c.key)))
            )
            max_sources_by_host = count_max_sources_by_host(connection)
            self._mark_articles_near_limit(connection, max_sources_by_host)
        reindexed_count = 0
        while True:
            with self._database.write() as connection:
                next_keys = select(stale_citation_keys.c.key).order_by(stale_citation_keys.c.key).limit(BATCH_SIZE)
                keys = list(connection.scalars(next_keys))
                if not keys:
                    return reindexed_count
                named_ids = select(article_own_keys.c.url_id).where(article_own_keys.c.key.in_(keys)).distinct()
                for ids in batched(sorted(connection.scalars(named_ids)), BATCH_SIZE):
                    reindexed_count += self._update_counts(connection, ids, max_sources_by_host)
                connection.execute(delete(stale_citation_keys).where(stale_citation_keys.c.key.in_(keys)))

    def find_wrong_counts(self) -> list[int]:
        """Return the url_ids of the articles whose stored count differs from a recount, ascending.

        Empty while changes wait for the next index run, which counts them.
        """
        with self._database.read() as connection:
            if (
                connection.scalar(select(stale_citation_keys.c.key).limit(1)) is not None
                or connection.scalar(_STALE_ARTICLES_QUERY.limit(1)) is not None
            ):
                return []
            max_sources_by_host = count_max_sources_by_host(connection)
        wrong_ids: list[int] = []
        query = select(articles.c.url_id, articles.c.citations)
        for rows in self._database.iter_batches(query, articles.c.url_id, BATCH_SIZE):
            with self._database.read() as connection:
                counts = count_sources(connection, [row.url_id for row in rows], max_sources_by_host)
            wrong_ids += [row.url_id for row in rows if row.citations != counts.get(row.url_id, 0)]
        return wrong_ids

    def repair_counts(self) -> int:
        """Correct the counts that `find_wrong_counts` returns, and log the articles whose documents change.

        Returns the number of corrected counts.
        """
        wrong_ids = self.find_wrong_counts()
        for ids in batched(wrong_ids, BATCH_SIZE):
            with self._database.write() as connection:
                self._update_counts(connection, ids, count_max_sources_by_host(connection))
        return len(wrong_ids)

    def _mark_articles_near_limit(self, connection: Connection, max_sources_by_host: Mapping[str, int]) -> None:
        """Mark the keys of articles whose count may differ because the limit of a site changed since the last count.

        Only citations above the smallest limit can be affected.
        """
        limits = {host: limit for host, limit in max_sources_by_host.items() if limit > MIN_BOILERPLATE_CITATIONS}
        old_limits: dict[str, int] = json.loads(read_meta(connection, COUNTED_LIMITS_KEY) or "{}")
        hosts = sorted(host for host in limits.keys() | old_limits.keys() if limits.get(host) != old_limits.get(host))
        for batch in batched(hosts, BATCH_SIZE):
            url_ids = list(connection.scalars(_near_limit_query(batch)))
            for ids in batched(url_ids, BATCH_SIZE):
                own_keys = select(article_own_keys.c.key).where(article_own_keys.c.url_id.in_(ids)).distinct()
                rows = [{"key": key} for key in connection.scalars(own_keys)]
                self._database.insert_missing(connection, stale_citation_keys, rows)
        if hosts:
            write_meta(self._database, connection, COUNTED_LIMITS_KEY, json.dumps(limits))

    def _update_counts(
        self, connection: Connection, url_ids: Sequence[int], max_sources_by_host: Mapping[str, int]
    ) -> int:
        """Update the citation counts of these articles. Returns the number of articles to index again."""
        new_counts = count_sources(connection, url_ids, max_sources_by_host)
        query = select(articles.c.url_id, articles.c.citations).where(articles.c.url_id.in_(url_ids))
        changed_rows = [row for row in connection.execute(query) if row.citations != new_counts.get(row.url_id, 0)]
        for row in changed_rows:
            values = {"citations": new_counts.get(row.url_id, 0)}
            connection.execute(update(articles).where(articles.c.url_id == row.url_id).values(values))
        changed_ids = {
            row.url_id
            for row in changed_rows
            if authority_score(row.citations) != authority_score(new_counts.get(row.url_id, 0))
        }
        return log_unless_pending(connection, IndexOperation.UPSERT, changed_ids, self._clock())


_STALE_ARTICLES_QUERY: Select[int] = (
    select(index_changes.c.url_id)
    .distinct()
    .outerjoin(articles, articles.c.url_id == index_changes.c.url_id)
    .outerjoin(article_citation_sources, article_citation_sources.c.url_id == index_changes.c.url_id)
    .where(
        or_(
            and_(articles.c.url_id.is_(None), article_citation_sources.c.url_id.is_not(None)),
            and_(articles.c.url_id.is_not(None), article_citation_sources.c.url_id.is_(None)),
            article_citation_sources.c.digest != articles.c.digest,
            article_citation_sources.c.cluster != CLUSTER_ID_EXPRESSION,
        )
    )
)
_ARTICLES_PER_HOST_QUERY = select(article_citation_sources.c.host, func.count().label("size")).group_by(
    article_citation_sources.c.host
)


def count_max_sources_by_host(connection: Connection) -> dict[str, int]:
    """Return the number of sources of each site above which their citations of one article are boilerplate."""
    return {
        row.host: max(MIN_BOILERPLATE_CITATIONS, int(MAX_BOILERPLATE_SHARE * row.size))
        for row in connection.execute(_ARTICLES_PER_HOST_QUERY)
    }


def _near_limit_query(hosts: Sequence[str]) -> Select[int]:
    """Return the query for the articles that one of `hosts` cites more often than the smallest limit.

    Counts citing articles, not sources: the result can be too large, never too small.
    """
    citing = (
        select(article_citation_sources.c.host, article_cited_keys.c.key, func.count().label("articles"))
        .join(article_cited_keys, article_cited_keys.c.url_id == article_citation_sources.c.url_id)
        .where(article_citation_sources.c.host.in_(hosts))
        .group_by(article_citation_sources.c.host, article_cited_keys.c.key)
        .subquery()
    )
    frequent = (
        select(article_own_keys.c.url_id)
        .join(citing, citing.c.key == article_own_keys.c.key)
        .group_by(article_own_keys.c.url_id, citing.c.host)
        .having(func.sum(citing.c.articles) > MIN_BOILERPLATE_CITATIONS)
        .subquery()
    )
    return select(frequent.c.url_id).distinct()


def count_sources(
    connection: Connection, url_ids: Sequence[int], max_sources_by_host: Mapping[str, int]
) -> dict[int, int]:
    """Return the number of sources that cite each article, by url_id.

    Articles with the same source and the same cited keys, such as the parts of a law, are counted once.

    Args:
        connection: Transaction to read in.
        url_ids: Articles to count.
        max_sources_by_host: Result of `count_max_sources_by_host`.
    """
    ids_by_keys: dict[tuple[int, frozenset[int]], list[int]] = defaultdict(list)
    for url_id, (voice, keys) in _own_keys_by_article(connection, url_ids).items():
        ids_by_keys[voice, keys].append(url_id)
    count_by_representative = _sources_per_article(
        connection, [group[0] for group in ids_by_keys.values()], max_sources_by_host
    )
    return {
        url_id: count_by_representative[group[0]]
        for group in ids_by_keys.values()
        if group[0] in count_by_representative
        for url_id in group
    }


def _own_keys_by_article(connection: Connection, url_ids: Sequence[int]) -> dict[int, tuple[int, frozenset[int]]]:
    """Return (source hash, keys by which it is cited) of each cited article, by url_id."""
    is_cited = select(article_cited_keys.c.key).where(article_cited_keys.c.key == article_own_keys.c.key).exists()
    query = (
        select(article_own_keys, article_citation_sources.c.voice)
        .join(article_citation_sources, article_citation_sources.c.url_id == article_own_keys.c.url_id)
        .where(article_own_keys.c.url_id.in_(url_ids), is_cited)
    )
    keys: dict[int, set[int]] = defaultdict(set)
    voices = {}
    for row in connection.execute(query):
        keys[row.url_id].add(row.key)
        voices[row.url_id] = row.voice
    return {url_id: (voices[url_id], frozenset(own_keys)) for url_id, own_keys in keys.items()}


def _sources_per_article(
    connection: Connection, url_ids: Sequence[int], max_sources_by_host: Mapping[str, int]
) -> dict[int, int]:
    cited_article, citing_article = article_citation_sources.alias("whom"), article_citation_sources.alias("who")
    query = (
        select(article_own_keys.c.url_id, citing_article.c.host, citing_article.c.voice)
        .distinct()
        .join(cited_article, cited_article.c.url_id == article_own_keys.c.url_id)
        .join(article_cited_keys, article_cited_keys.c.key == article_own_keys.c.key)
        .join(citing_article, citing_article.c.url_id == article_cited_keys.c.url_id)
        .where(article_own_keys.c.url_id.in_(url_ids), citing_article.c.voice != cited_article.c.voice)
        .where(article_own_keys.c.key.not_in(_ambiguous_keys(connection, url_ids)))
    )
    sources_by_site: dict[tuple[int, str], set[int]] = defaultdict(set)
    for row in connection.execute(query):
        sources_by_site[row.url_id, row.host].add(row.voice)
    sources_by_article: dict[int, set[int]] = defaultdict(set)  # a source with copies on several sites counts once
    for (url_id, host), sources in sources_by_site.items():
        if len(sources) <= max_sources_by_host.get(host, MIN_BOILERPLATE_CITATIONS):
            sources_by_article[url_id] |= sources
    return {url_id: len(sources) for url_id, sources in sources_by_article.items()}


def _ambiguous_keys(connection: Connection, url_ids: Sequence[int]) -> list[int]:
    """Return the keys of these articles that too many sources share."""
    own_keys = select(article_own_keys.c.key).where(article_own_keys.c.url_id.in_(url_ids))
    query = (
        select(article_own_keys.c.key)
        .join(article_citation_sources, article_citation_sources.c.url_id == article_own_keys.c.url_id)
        .where(article_own_keys.c.key.in_(own_keys))
        .group_by(article_own_keys.c.key)
        .having(func.count(article_citation_sources.c.voice.distinct()) > MAX_ARTICLES_PER_NAME)
    )
    return list(connection.scalars(query))
