"""Articles pending embedding by block of ids, on SQLite and PostgreSQL."""

from sqlalchemy import create_engine, text

from docstore.articles.extraction_writer import PageExtraction
from docstore.articles.vectors import (
    ARTICLE_PASSAGE_NUMBER,
    EmbeddingPart,
    EmbeddingResult,
    PassageVector,
    PendingText,
)
from docstore.store import Store
from domain.article import Article
from domain.outcome import Outcome, Reason
from tests.builders import keep_page

MODEL, ZH = "m", ("zh",)


def kept(store: Store, *made: Article) -> dict[str, int]:
    """Keep articles as extraction would: url -> id, which rises in their order."""
    for one in made:
        keep_page(store, one.url, one.url.encode())
        by_url = {page.url: page for page in store.articles.iter_pending()}
        store.articles.save([PageExtraction(by_url[one.url], one)])
    return {one.url: store.frontier.find_entries([one.url])[one.url].url_id for one in made}


def article(number: int, body: str = "", language: str = "zh") -> Article:
    return Article(f"http://{number}.test/", "采油厂", body or f"第{number}口井完钻。", language=language)


def in_block(store: Store, number: int, size: int) -> list[PendingText]:
    return list(store.vectors.iter_pending(MODEL, ZH, number * size, (number + 1) * size))


def test_blocks_part_what_waits(store: Store) -> None:
    ids = kept(store, *map(article, range(1, 8)), article(8, language="en"))
    size = 3
    blocks = store.vectors.pending_block_numbers(MODEL, ZH, size)
    assert blocks == sorted({number // size for url, number in ids.items() if url != "http://8.test/"})
    parts = [in_block(store, number, size) for number in blocks]
    assert [one for part in parts for one in part] == list(store.vectors.iter_pending(MODEL, ZH))
    assert all(one.url_id // size == number for number, part in zip(blocks, parts, strict=True) for one in part)
    done = [
        EmbeddingResult(one.digest, (PassageVector(ARTICLE_PASSAGE_NUMBER, 0, 1, b"v"),), Outcome(Reason.EMBEDDED))
        for one in parts[0]
    ]
    store.vectors.save(MODEL, done)
    assert store.vectors.pending_block_numbers(MODEL, ZH, size) == blocks[1:]
    assert in_block(store, blocks[0], size) == []
    assert store.vectors.pending_block_numbers("other", ZH, size) == blocks


def test_what_readers_see_alike_is_one_blocks_work(store: Store, store_url: str) -> None:
    """The first article that the model supports represents all.

    Here copies that were extracted before they were detected.
    """
    ids = kept(store, article(1, language="en"), *map(article, (2, 3, 4, 5)))
    engine = create_engine(store_url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE articles SET digest = 'same' WHERE language = 'en' OR url_id IN (2, 4)"))
    engine.dispose()
    assert sorted(ids.values()) == [1, 2, 3, 4, 5]
    blocks = store.vectors.pending_block_numbers(MODEL, ZH, 1)
    assert blocks == [2, 3, 5] == [one.url_id for number in blocks for one in in_block(store, number, 1)]
    assert in_block(store, 4, 1) == []
    assert store.vectors.pending_count(MODEL, ZH) == 4
    [first] = in_block(store, 2, 1)
    made = [
        EmbeddingResult(first.digest, (PassageVector(ARTICLE_PASSAGE_NUMBER, 0, 1, b"v"),), Outcome(Reason.EMBEDDED))
    ]
    assert store.vectors.save(MODEL, made) == [Reason.EMBEDDED] * 3
    assert store.vectors.pending_block_numbers(MODEL, ZH, 1) == [3, 5]


def test_passages_are_pending_after_the_article_vector_and_change_nothing_else(store: Store) -> None:
    kept(store, article(1), article(2))
    [first, second] = store.vectors.iter_pending(MODEL, ZH)
    passages = EmbeddingPart.PASSAGES
    assert store.vectors.pending_count(MODEL, ZH, passages) == 0
    lead = PassageVector(ARTICLE_PASSAGE_NUMBER, 0, 4, b"lead")
    store.vectors.save(MODEL, [EmbeddingResult(first.digest, (lead,), Outcome(Reason.EMBEDDED))])
    logged = store.change_log.pending_document_count()
    assert list(store.vectors.iter_pending(MODEL, ZH, part=passages)) == [first]
    assert store.vectors.pending_block_numbers(MODEL, ZH, 1, passages) == [first.url_id]
    parts = (PassageVector(1, 2, 6, b"one"), PassageVector(2, 6, 9, b"two"))
    store.vectors.save(MODEL, [EmbeddingResult(first.digest, parts, Outcome(Reason.EMBEDDED))], passages)
    assert store.vectors.pending_count(MODEL, ZH, passages) == 0
    assert store.vectors.passage_vectors(MODEL, [first.digest]) == {first.digest: [lead, *parts]}
    assert store.change_log.pending_document_count() == logged
    assert list(store.vectors.iter_pending(MODEL, ZH)) == [second]


def test_languages_without_a_model_are_counted(store: Store) -> None:
    kept(store, article(1), article(2, language="zh-hk"), article(3, language="de"), article(4, language=""))
    assert store.vectors.uncovered_languages(ZH) == {"de": 1, "": 1}
    assert store.vectors.uncovered_languages(("zh", "de")) == {"": 1}
