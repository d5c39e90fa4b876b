"""Updates the relations between articles before indexing: citations, stories (one news event), translations.

Adds the articles whose documents change through it to the change log.
"""

import time
from collections.abc import Mapping, Sequence
from datetime import date

import numpy as np

from docstore.store import Store
from domain.article import BlockKind, PageType, StoredArticle
from domain.article_relations import ArticleCitations, NewsItem
from indexer.citation_keys import document_keys, extract_citation_keys, extract_link_keys
from indexer.same_event import event_keywords, lookup_words, same_event_score
from text.embedding.embedder import cosine_similarities, unpack_vectors
from text.glosses import iter_glosses
from text.segment import Segmenter
from text.titles import series_name

PROSE_BLOCK_KINDS = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.QUOTE, BlockKind.CAPTION})


def update_relations(
    store: Store,
    url_ids: Sequence[int],
    stored_by_id: Mapping[int, StoredArticle],
    vectors_by_digest: Mapping[str, Mapping[str, bytes]],
    segmenter: Segmenter,
) -> list[int]:
    """Update stories, glosses and citation keys of the new, changed and removed articles of a batch.

    `stored_by_id` contains those of `url_ids` that are not removed, `vectors_by_digest` their vectors by model id.
    Returns the articles of the batch whose story has changed.
    """
    if not (stale_ids := store.citations.find_stale(url_ids)):
        return []
    stale_articles = [stored_by_id[url_id] for url_id in stale_ids if url_id in stored_by_id]
    items = {
        stored_article.url_id: item
        for stored_article in stale_articles
        if (item := to_news_item(stored_article, segmenter, vectors_by_digest.get(stored_article.article.digest, {})))
    }
    other_ids = [url_id for url_id in stale_ids if url_id not in items]
    changed_ids = store.stories.assign(list(items.values()), other_ids, event_similarity, time.time())
    glosses = {stored_article.url_id: iter_glosses(stored_article.article.body) for stored_article in stale_articles}
    store.glosses.save(glosses, stale_ids)
    # Last, because it marks the articles as processed.
    removed_ids = [url_id for url_id in stale_ids if url_id not in stored_by_id]
    store.citations.save([extract_citations(stored_article) for stored_article in stale_articles], removed_ids)
    return sorted(changed_ids & stored_by_id.keys())


def extract_citations(stored_article: StoredArticle) -> ArticleCitations:
    """Return the works that an article cites, and the keys by which others cite it. No I/O."""
    article = stored_article.article
    block_links = ((block.text, block.links) for block in article.blocks if block.kind in PROSE_BLOCK_KINDS)
    return ArticleCitations(
        stored_article.url_id,
        article.digest,
        stored_article.duplicate_of or stored_article.doc_id,
        stored_article.host,
        series_name(article.title),
        frozenset((*extract_citation_keys(f"{article.title}\n{article.body}"), *extract_link_keys(block_links))),
        document_keys(article.title, (article.url, article.canonical_url)),
    )


def to_news_item(stored_article: StoredArticle, segmenter: Segmenter, vectors: Mapping[str, bytes]) -> NewsItem | None:
    """Return an article as input for story detection, with the vector of one model. No I/O.

    Returns None for duplicates and for pages that are not dated articles.
    """
    article = stored_article.article
    if stored_article.duplicate_of or article.page_type != PageType.ARTICLE or len(article.published) != 10:
        return None
    words = event_keywords(article.title, article.body, segmenter.cut)
    if not words:
        return None
    day = date.fromisoformat(article.published).toordinal()
    vector = vectors[min(vectors)] if vectors else b""
    return NewsItem(
        stored_article.url_id, stored_article.doc_id, stored_article.host, day, words, lookup_words(words), vector
    )


def event_similarity(first: NewsItem, second: NewsItem) -> float:
    """Return a score for two articles about the same event; 0 if they are not. No I/O."""
    cosine = 0.0
    if first.vector and len(first.vector) == len(second.vector):
        a, b = unpack_vectors([first.vector, second.vector])
        cosine = float(cosine_similarities(a.astype(np.float32), b[None, :])[0])
    return same_event_score(first.word_weights, second.word_weights, cosine)
