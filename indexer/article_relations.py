"""Updates the relations between articles before indexing: citations, stories (one news event), translations.

Reads new and changed articles from the change log. Adds the articles whose documents change through it to the log.
"""

import time
from collections.abc import Mapping
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
NO_VECTORS: Mapping[str, bytes] = {}


def update_relations(store: Store, segmenter: Segmenter) -> int:
    """Process new and changed articles; return the number of other articles that must be indexed again."""
    changed_count = 0
    for url_ids in store.citations.iter_stale():
        stored_by_id = store.articles.load_by_url_ids(url_ids)
        vectors = store.vectors.article_vectors(
            stored_article.article.digest for stored_article in stored_by_id.values()
        )
        items = [
            item
            for stored_article in stored_by_id.values()
            if (item := to_news_item(stored_article, segmenter, vectors.get(stored_article.article.digest, NO_VECTORS)))
        ]
        story_url_ids = {item.url_id for item in items}
        changed_count += store.stories.assign(
            items, [url_id for url_id in url_ids if url_id not in story_url_ids], event_similarity, time.time()
        )
        store.glosses.save(
            {
                stored_article.url_id: iter_glosses(stored_article.article.body)
                for stored_article in stored_by_id.values()
            },
            url_ids,
        )
        # Last, because it marks the articles as processed.
        citations = [extract_citations(stored_article) for stored_article in stored_by_id.values()]
        store.citations.save(citations, [url_id for url_id in url_ids if url_id not in stored_by_id])
    return changed_count + store.citations.recount()


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
