"""Word vectors of the vertical's own articles, for strategies that compare words semantically.

They are trained at the start of a focused crawl, therefore also in scheduled runs, if the number of articles has grown
by half since the last training. The file is in the folder `topics` of the data folder. With too few articles there are
no vectors, and the strategies train their own on the pages that the crawl fetches.
"""

from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from crawler.focused_policy import WordTokenizer
from domain.errors import StoreError
from focused.paper_strategies.word_vectors import WordVectors, train_word_vectors
from focused.strategy_needs import MIN_ARTICLES
from locks.private_files import replace_file
from pipeline.engine import Engine

MAX_ARTICLES = 20_000  # articles in the training corpus
RETRAIN_GROWTH_FACTOR = 1.5


@dataclass(frozen=True)
class TrainedVectors:
    """Word vectors and the number of articles in the store at training time."""

    vectors: WordVectors
    article_count: int


def corpus_vectors(engine: Engine, tokenize: WordTokenizer) -> WordVectors | None:
    """Return the word vectors, trained again if the corpus has grown; None if there are too few articles."""
    path, article_count = engine.settings.data_dir / "topics" / "vectors.npz", engine.store.articles.count()
    if article_count < MIN_ARTICLES:
        return None
    cached = load_vectors(path)
    if cached is not None and article_count < RETRAIN_GROWTH_FACTOR * cached.article_count:
        return cached.vectors
    engine.progress.note(f"training word vectors on {min(article_count, MAX_ARTICLES)} articles")
    articles = (stored_article.article for stored_article in islice(engine.store.articles.iter_all(), MAX_ARTICLES))
    tokens_by_article = (tokenize(f"{article.title}\n{article.body}") for article in articles)
    trained_vectors = TrainedVectors(train_word_vectors(tokens_by_article), article_count)
    save_vectors(path, trained_vectors)
    return trained_vectors.vectors


def save_vectors(path: Path, trained_vectors: TrainedVectors) -> None:
    """Write the vectors atomically. Raises StoreError if the file cannot be written."""
    words = np.array(list(trained_vectors.vectors.row_by_word), dtype=np.str_)
    try:
        with replace_file(path, opener=None) as file:
            np.savez_compressed(
                file,
                words=words,
                rows=trained_vectors.vectors.matrix,
                articles=np.array(trained_vectors.article_count),
            )
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from error


def load_vectors(path: Path) -> TrainedVectors | None:
    """Load saved vectors; None if the file is missing or damaged, because it can be trained again."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            words = [str(word) for word in archive["words"]]
            vectors = WordVectors({word: row for row, word in enumerate(words)}, archive["rows"])
            return TrainedVectors(vectors, int(archive["articles"]))
    except Exception:  # noqa: BLE001  # damaged bytes raise errors of zipfile, zlib, numpy and others
        return None
