"""The set `embed`: cost of the vectors of the vertical's articles, in CPU seconds of all processes per article.

- `cpu_seconds_first_vector`: the article vectors, which make an article findable by meaning
- `cpu_seconds_total`: these and the vectors of passages
- `articles`: articles that were embedded
"""

from collections.abc import Iterator

from benchmarks.real_vertical import Vertical, cpu_seconds
from benchmarks.results import Figure
from docstore.articles.vectors import EmbeddingPart
from domain.outcome import Reason
from pipeline.compute.embedding_jobs import NO_DEADLINE
from pipeline.embedding.stage import embed_part


def embed_figures(vertical: Vertical) -> Iterator[Figure]:
    """Yield the cost of embedding all articles again."""
    engine = vertical.engine
    engine.store.vectors.purge([])
    started = cpu_seconds()
    counts = embed_part(engine, EmbeddingPart.ARTICLE, NO_DEADLINE)
    first = cpu_seconds() - started
    embed_part(engine, EmbeddingPart.PASSAGES, NO_DEADLINE)
    total = cpu_seconds() - started
    articles = counts[Reason.EMBEDDED]
    yield Figure("embed", "plumbline", "cpu_seconds_first_vector", first / max(articles, 1))
    yield Figure("embed", "plumbline", "cpu_seconds_total", total / max(articles, 1))
    yield Figure("embed", "plumbline", "articles", articles)
