"""How often documents cite each other, brought up to date before they are indexed: reads what is new, counts again."""

from docstore.articles.citations import Citing
from docstore.model import BlockKind, StoredArticle
from docstore.store import Store
from text.citations import cited, cited_links, own_keys
from text.titles import work_name

IN_SENTENCES = frozenset({BlockKind.PARAGRAPH, BlockKind.ITEM, BlockKind.QUOTE, BlockKind.CAPTION})


def count_citations(store: Store) -> int:
    """Read the citations of articles that are new or changed; returns how many others are indexed again for them."""
    for url_ids in store.citations.unread():
        present = store.articles.get(url_ids)
        read = [citing_of(stored) for stored in present.values()]
        store.citations.save(read, [url_id for url_id in url_ids if url_id not in present])
    return store.citations.count()


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
