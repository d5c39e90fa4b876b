"""Conversion of articles to and from table rows and JSON. Text fields are those of `ARTICLE_FIELDS`.

A block is a JSON list without default values at its end: ["paragraph","text"], or for a numbered item with a link
["item","text",1,true,"",[[0,4,"http://a.test/"]]]. If the text is a line of the body, its place is taken by the number
of that line, from 0: ["paragraph",3]. Stores before schema version 16 have no such numbers.
"""

import json
from collections.abc import Sequence
from struct import pack, unpack
from typing import Any

from sqlalchemy import Row

from domain.article import ARTICLE_FIELDS, Article, Block, BlockKind, StoredArticle, document_id, text_hash64
from domain.storable_text import sanitize_text

BLOCK_FIELD_DEFAULTS: tuple[Any, ...] = ("", 0, False, "", [], 0, "")  # fields of a block after `kind`


def article_row(url_id: int, url: str, article: Article, now: float) -> dict[str, Any]:
    """Return the `articles` row of an article, without the columns of its near-duplicate cluster.

    `now` is epoch seconds.
    """
    return {name: sanitize_text(getattr(article, name)) for name in ARTICLE_FIELDS} | {
        "url_id": url_id,
        "doc_id": document_id(url),
        "digest": article.digest,
        "extracted_at": now,
        "keywords": to_compact_json([sanitize_text(word) for word in article.keywords]),
        "blocks": to_compact_json(blocks_to_lists(article)),
        "signature": signature_to_bytes(article.signature),
        "text_key": text_hash(article),
    }


def text_hash(article: Article) -> int:
    """Return a 64-bit hash of title and body. Articles with the same visible text have the same hash."""
    return text_hash64(article.title + article.body)


def article_from_row(row: Row[Any]) -> Article:
    """Convert a row of `articles`, joined with `urls.url`, to an Article."""
    return Article(
        url=row.url,
        keywords=tuple(json.loads(row.keywords)),
        blocks=blocks_from_json(row.blocks, row.body),
        signature=signature_from_bytes(row.signature),
        **{name: getattr(row, name) for name in ARTICLE_FIELDS},
    )


def stored_article_from_row(row: Row[Any]) -> StoredArticle:
    """Convert a row of `articles`, joined with `url`, `host` and `fetched_at`, to a StoredArticle."""
    article, fetched_at = article_from_row(row), row.fetched_at or 0.0
    relations = (row.duplicate_of, row.series, row.citations, row.story)
    return StoredArticle(row.url_id, row.doc_id, row.host, article, fetched_at, *relations)


def article_to_json(article: Article) -> str:
    """Serialize an article without its URL."""
    values: dict[str, Any] = {name: sanitize_text(getattr(article, name)) for name in ARTICLE_FIELDS}
    values["keywords"] = [sanitize_text(word) for word in article.keywords]
    values["blocks"] = blocks_to_lists(article)
    values["signature"] = list(article.signature)
    return to_compact_json({name: value for name, value in values.items() if value})


def article_from_json(url: str, text: str) -> Article:
    """Parse the result of `article_to_json`."""
    values: dict[str, Any] = {"title": "", "body": ""} | json.loads(text)
    blocks = blocks_from_lists(values.pop("blocks", ()), values["body"])
    keywords, signature = values.pop("keywords", ()), values.pop("signature", ())
    return Article(url=url, keywords=tuple(keywords), signature=tuple(signature), blocks=blocks, **values)


def blocks_to_lists(article: Article) -> list[list[Any]]:
    """Convert the blocks of an article to lists, with line numbers of its stored body."""
    lines = sanitize_text(article.body).split("\n")
    number_by_line = {line: number for number, line in reversed(list(enumerate(lines))) if line}
    lists = [block_to_list(block) for block in article.blocks]
    for values in lists:
        if len(values) > 1:
            values[1] = number_by_line.get(values[1], values[1])
    return lists


def block_to_list(block: Block) -> list[Any]:
    """Convert a block to a list, without default values at its end."""
    links = [[start, end, sanitize_text(url)] for start, end, url in block.links]
    values = [
        sanitize_text(block.text),
        block.level,
        block.ordered,
        sanitize_text(block.url),
        links,
        block.page,
        block.time,
    ]
    while values and values[-1] == BLOCK_FIELD_DEFAULTS[len(values) - 1]:
        values.pop()
    return [block.kind.value, *values]


def blocks_from_json(text: str, body: str) -> tuple[Block, ...]:
    """Parse the column `blocks` of an article with this body."""
    return blocks_from_lists(json.loads(text), body)


def blocks_from_lists(lists: Sequence[list[Any]], body: str) -> tuple[Block, ...]:
    """Convert the result of `blocks_to_lists` to blocks. It is changed."""
    lines = body.split("\n")
    for values in lists:
        if len(values) > 1 and isinstance(values[1], int):
            values[1] = lines[values[1]]
    return tuple(block_from_list(values) for values in lists)


def block_from_list(values: Sequence[Any]) -> Block:
    """Convert a list in the format of `block_to_list` to a block."""
    kind, text, level, ordered, url, links, page, time = *values, *BLOCK_FIELD_DEFAULTS[len(values) - 1 :]
    link_spans = tuple((start, end, target_url) for start, end, target_url in links)
    return Block(BlockKind(kind), text, level, ordered, url, link_spans, page, time)


def signature_to_bytes(signature: Sequence[int]) -> bytes | None:
    """Pack a MinHash signature as little-endian 32-bit integers; None for an empty signature."""
    return pack(f"<{len(signature)}I", *signature) if signature else None


def signature_from_bytes(data: bytes | None) -> tuple[int, ...]:
    """Unpack the result of `signature_to_bytes`."""
    return unpack(f"<{len(data) // 4}I", data) if data else ()


def to_compact_json(value: Any) -> str:
    """Serialize a value as JSON without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
