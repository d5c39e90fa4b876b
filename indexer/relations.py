"""What articles are to each other, brought up to date before they are indexed: who cites whom, who tells one
story; and what they say in two languages.

Reads what is new or changed in the change log, and puts those articles there whose index entry changes by it.
"""

import time
from collections.abc import Mapping
from datetime import date

import numpy as np

from docstore.articles.citations import Citing
from docstore.grouping.stories import NewsItem
from docstore.model import Article, BlockKind, PageType, StoredArticle
from docstore.store import Store
from docstore.terms.glosses import KeptGloss
from text.citations import cited, cited_links, own_keys
from text.embedding.contract import cosines, unpacked
from text.glosses import glosses
from text.resemblance.stories import keys_of, same_event, telling_words
from text.segment import Segmenter
from text.titles import work_name

IN_SENTENCES = frozenset({BlockKind.PARAGRAPH, BlockKind.ITEM, BlockKind.QUOTE, BlockKind.CAPTION})
NO_VECTORS: Mapping[str, bytes] = {}


def relate(store: Store, segmenter: Segmenter) -> int:
    """Read what is new or changed; returns how many other articles are indexed again for it."""
    moved = 0
    for url_ids in store.citations.unread():
        present = store.articles.get(url_ids)
        vectors = store.vectors.whole(stored.article.digest for stored in present.values())
        items = [
            item
            for stored in present.values()
            if (item := news_item(stored, segmenter, vectors.get(stored.article.digest, NO_VECTORS)))
        ]
        told = {item.url_id for item in items}
        moved += store.stories.assign(items, [url_id for url_id in url_ids if url_id not in told], same, time.time())
        store.glosses.save({one.url_id: glosses_in(one.article) for one in present.values()}, url_ids)
        read = [citing_of(stored) for stored in present.values()]  # last: what was read is not read again
        store.citations.save(read, [url_id for url_id in url_ids if url_id not in present])
    return moved + store.citations.count()


def citing_of(stored: StoredArticle) -> Citing:
    """What an article cites, and what it is cited by. Pure."""
    article = stored.article
    linked = ((block.text, block.links) for block in article.blocks if block.kind in IN_SENTENCES)
    return Citing(
        stored.url_id,
        article.digest,
        stored.duplicate_of or stored.doc_id,
        stored.host,
        work_name(article.title),
        frozenset((*cited(f"{article.title}\n{article.body}"), *cited_links(linked))),
        own_keys(article.title, (article.url, article.canonical_url)),
    )


def glosses_in(article: Article) -> list[KeptGloss]:
    """Where an article says the same in two languages. Pure."""
    return [KeptGloss(one.han, one.latin, one.is_han_whole) for one in glosses(article.body)]


def news_item(stored: StoredArticle, segmenter: Segmenter, vectors: Mapping[str, bytes]) -> NewsItem | None:
    """An article as stories see it, with the vector of one model; None if it is no dated article, or a copy. Pure."""
    article = stored.article
    if stored.duplicate_of or article.page_type != PageType.ARTICLE or len(article.published) != 10:
        return None
    words = telling_words(article.title, article.body, segmenter.cut)
    if not words:
        return None
    day = date.fromisoformat(article.published).toordinal()
    vector = vectors[min(vectors)] if vectors else b""
    return NewsItem(stored.url_id, stored.doc_id, stored.host, day, words, keys_of(words), vector)


def same(one: NewsItem, other: NewsItem) -> float:
    """How surely two articles tell of the same event; 0 where they do not. Pure."""
    cosine = 0.0
    if one.vector and len(one.vector) == len(other.vector):
        a, b = unpacked([one.vector, other.vector])
        cosine = float(cosines(a.astype(np.float32), b[None, :])[0])
    return same_event(one.words, other.words, cosine)
