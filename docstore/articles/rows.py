"""Articles as the tables have them: a row of `articles`, and JSON where one is kept beside it.

Blocks are JSON lists without what is empty at their end: ["paragraph","text"] or, for a numbered item with a link,
["item","text",1,true,"",[[0,4,"http://a.test/"]]].
"""

import json
from collections.abc import Sequence
from struct import pack, unpack
from typing import Any

from sqlalchemy import Row

from docstore.articles.records import storable
from docstore.model import Article, Block, BlockKind, StoredArticle, document_id, line_hash

TEXTS = (
    "title",
    "body",
    "published",
    "date_source",
    "language",
    "method",
    "published_at",
    "modified",
    "author",
    "source",
    "section",
    "picture",
    "canonical_url",
    "next_url",
    "page_type",
    "format",
)
EMPTY_END: tuple[Any, ...] = ("", 0, False, "", [], 0, "")  # of a block's fields after its kind


def article_row(url_id: int, url: str, article: Article, now: float) -> dict[str, Any]:
    """The `articles` row of an article, but for the group of near-duplicates it falls into."""
    return {name: storable(getattr(article, name)) for name in TEXTS} | {
        "url_id": url_id,
        "doc_id": document_id(url),
        "digest": article.digest,
        "extracted_at": now,
        "keywords": compact([storable(word) for word in article.keywords]),
        "blocks": blocks_json(article.blocks),
        "signature": signature_bytes(article.signature),
        "text_key": text_key(article),
    }


def text_key(article: Article) -> int:
    """Equal for articles of which a reader sees the same title and body."""
    return line_hash(article.title + article.body)


def article_of(row: Row[Any]) -> Article:
    """The article in a row of `articles` that was joined with its URL, `url`."""
    return Article(
        url=row.url,
        keywords=tuple(json.loads(row.keywords)),
        blocks=blocks_of(json.loads(row.blocks)),
        signature=signature_of(row.signature),
        **{name: getattr(row, name) for name in TEXTS},
    )


def stored_of(row: Row[Any]) -> StoredArticle:
    """The stored article in such a row, with `host` and `fetched_at`."""
    article, fetched_at = article_of(row), row.fetched_at or 0.0
    told = (row.duplicate_of, row.series, row.citations, row.story)
    return StoredArticle(row.url_id, row.doc_id, row.host, article, fetched_at, *told)


def article_json(article: Article) -> str:
    """An article as text, without its URL."""
    values: dict[str, Any] = {name: storable(getattr(article, name)) for name in TEXTS}
    values["keywords"] = [storable(word) for word in article.keywords]
    values["blocks"] = [block_list(block) for block in article.blocks]
    values["signature"] = list(article.signature)
    return compact({name: value for name, value in values.items() if value})


def article_of_json(url: str, text: str) -> Article:
    """What `article_json` made a text of."""
    values: dict[str, Any] = {"title": "", "body": ""} | json.loads(text)
    blocks = blocks_of(values.pop("blocks", ()))
    keywords, signature = values.pop("keywords", ()), values.pop("signature", ())
    return Article(url=url, keywords=tuple(keywords), signature=tuple(signature), blocks=blocks, **values)


def blocks_json(blocks: Sequence[Block]) -> str:
    """Blocks as text."""
    return compact([block_list(block) for block in blocks])


def block_list(block: Block) -> list[Any]:
    """A block as a list without its empty end."""
    links = [[start, end, storable(url)] for start, end, url in block.links]
    values = [storable(block.text), block.level, block.ordered, storable(block.url), links, block.page, block.time]
    while values and values[-1] == EMPTY_END[len(values) - 1]:
        values.pop()
    return [block.kind.value, *values]


def blocks_of(lists: Sequence[Sequence[Any]]) -> tuple[Block, ...]:
    """The blocks in such lists."""
    return tuple(block_of(values) for values in lists)


def block_of(values: Sequence[Any]) -> Block:
    """The block in such a list."""
    kind, text, level, ordered, url, links, page, time = *values, *EMPTY_END[len(values) - 1 :]
    placed = tuple((start, end, to) for start, end, to in links)
    return Block(BlockKind(kind), text, level, ordered, url, placed, page, time)


def signature_bytes(signature: Sequence[int]) -> bytes | None:
    """A signature as the table has it; None where there is none."""
    return pack(f"<{len(signature)}I", *signature) if signature else None


def signature_of(kept: bytes | None) -> tuple[int, ...]:
    """A signature from the table."""
    return unpack(f"<{len(kept) // 4}I", kept) if kept else ()


def compact(value: Any) -> str:
    """JSON without blanks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
