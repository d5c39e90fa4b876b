"""Word vectors of the vertical's own articles, for the strategies that compare words by meaning (METHODS 2.2 e).

Trained at the start of a crawl that looks for a topic, hence by the nightly run, when the articles have grown by half
since the last time; kept in the data folder beside the topics. Until there are enough articles there are none, and the
strategies train their own on the pages that the crawl fetches.
"""

import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from crawler.focused_policy import WordTokenizer
from docstore.errors import StoreError
from focused.paper_strategies.word_vectors import WordVectors, train_word_vectors
from pipeline.engine import Engine

MIN_ARTICLES = 500
MAX_ARTICLES = 20_000
RETRAIN_GROWTH = 1.5


@dataclass(frozen=True)
class TrainedVectors:
    """Vectors, and how many articles there were."""

    vectors: WordVectors
    article_count: int


def corpus_vectors(engine: Engine, tokenize: WordTokenizer) -> WordVectors | None:
    """The vectors of the vertical's articles, trained anew where those have grown; None while there are too few."""
    path, article_count = engine.settings.data_dir / "topics" / "vectors.npz", engine.store.articles.count()
    if article_count < MIN_ARTICLES:
        return None
    cached = load_vectors(path)
    if cached is not None and article_count < RETRAIN_GROWTH * cached.article_count:
        return cached.vectors
    engine.progress.note(f"training word vectors on {min(article_count, MAX_ARTICLES)} articles")
    trained_vectors = TrainedVectors(train_word_vectors(iter_article_tokens(engine, tokenize)), article_count)
    save_vectors(path, trained_vectors)
    return trained_vectors.vectors


def iter_article_tokens(engine: Engine, tokenize: WordTokenizer) -> Iterator[tuple[str, ...]]:
    """The words of each article."""
    for stored_article in islice(engine.store.articles.iter_all(), MAX_ARTICLES):
        yield tokenize(f"{stored_article.article.title}\n{stored_article.article.body}")


def save_vectors(path: Path, trained_vectors: TrainedVectors) -> None:
    """Write the vectors whole or not at all. StoreError where that cannot be done."""
    words = np.array(list(trained_vectors.vectors.row_by_word), dtype=np.str_)
    new = path.with_name("vectors.new.npz")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(
            new, words=words, rows=trained_vectors.vectors.matrix, articles=np.array(trained_vectors.article_count)
        )
        os.replace(new, path)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from error


def load_vectors(path: Path) -> TrainedVectors | None:
    """The vectors as saved; None where there are none, or the file is damaged: they can be made again."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            words = [str(word) for word in archive["words"]]
            vectors = WordVectors({word: row for row, word in enumerate(words)}, archive["rows"])
            return TrainedVectors(vectors, int(archive["articles"]))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
