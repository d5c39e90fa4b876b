"""Removal of the example sentences of terms that come from single articles."""

import json
import unicodedata
from collections.abc import Collection

from sqlalchemy import Connection, select, update

from docstore.articles.row_mapping import blocks_from_json
from docstore.database import Database
from docstore.integrity.row_checksums import update_row_checksums
from docstore.schema.article_tables import articles
from docstore.schema.lexicon_tables import terms
from docstore.terms.row_mapping import to_json_list


def remove_example_sentences(database: Database, connection: Connection, url_ids: Collection[int]) -> None:
    """Delete the example sentences of terms that the articles of these pages contain.

    The store does not know the source of a sentence. The next mining restores a sentence that another article contains.
    """
    columns = (articles.c.title, articles.c.body, articles.c.blocks)
    article_texts = []
    for row in connection.execute(select(*columns).where(articles.c.url_id.in_(url_ids))):
        block_texts = [block.text for block in blocks_from_json(row.blocks, row.body)]
        article_texts.append(to_comparable_text("\n".join((row.title, row.body, *block_texts))))
    if not article_texts:
        return
    changed_terms = []
    for term, contexts in connection.execute(select(terms.c.text, terms.c.contexts).where(terms.c.contexts != "[]")):
        sentences = json.loads(contexts)
        remaining = [text for text in sentences if not is_in_texts(text, article_texts)]
        if len(remaining) < len(sentences):
            changed_terms.append((term, to_json_list(tuple(remaining))))
    for term, contexts in changed_terms:
        connection.execute(update(terms).where(terms.c.text == term).values(contexts=contexts))
    update_row_checksums(database, connection, terms, [term for term, _ in changed_terms])


def is_in_texts(sentence: str, comparable_texts: Collection[str]) -> bool:
    """Return True if one of the texts contains a sentence."""
    comparable_sentence = to_comparable_text(sentence)
    return any(comparable_sentence in text for text in comparable_texts)


def to_comparable_text(text: str) -> str:
    """Return a text in NFKC without whitespace: term mining changes both."""
    return "".join(unicodedata.normalize("NFKC", text).split())
