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

from crawler.guide import Cut
from docstore.errors import StoreError
from focused.papers.vectors import WordVectors, train
from pipeline.engine import Engine

MIN_ARTICLES = 500
MAX_ARTICLES = 20_000
GROWN = 1.5


@dataclass(frozen=True)
class Trained:
    """Vectors, and how many articles there were."""

    vectors: WordVectors
    articles: int


def corpus_vectors(engine: Engine, cut: Cut) -> WordVectors | None:
    """The vectors of the vertical's articles, trained anew where those have grown; None while there are too few."""
    path, articles = engine.settings.data_dir / "topics" / "vectors.npz", engine.store.articles.count()
    if articles < MIN_ARTICLES:
        return None
    known = load(path)
    if known is not None and articles < GROWN * known.articles:
        return known.vectors
    engine.progress.note(f"training word vectors on {min(articles, MAX_ARTICLES)} articles")
    made = Trained(train(texts_of(engine, cut)), articles)
    save(path, made)
    return made.vectors


def texts_of(engine: Engine, cut: Cut) -> Iterator[tuple[str, ...]]:
    """The words of each article."""
    for stored in islice(engine.store.articles.all(), MAX_ARTICLES):
        yield cut(f"{stored.article.title}\n{stored.article.body}")


def save(path: Path, trained: Trained) -> None:
    """Write the vectors whole or not at all. StoreError where that cannot be done."""
    words = np.array(list(trained.vectors.places), dtype=np.str_)
    new = path.with_name("vectors.new.npz")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(new, words=words, rows=trained.vectors.rows, articles=np.array(trained.articles))
        os.replace(new, path)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from error


def load(path: Path) -> Trained | None:
    """The vectors as saved; None where there are none, or the file is damaged: they can be made again."""
    try:
        with np.load(path, allow_pickle=False) as held:
            words = [str(word) for word in held["words"]]
            vectors = WordVectors({word: place for place, word in enumerate(words)}, held["rows"])
            return Trained(vectors, int(held["articles"]))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
