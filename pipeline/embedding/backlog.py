"""How much is left to embed, and about how long it takes."""

from typing import TYPE_CHECKING

from domain.errors import EmbeddingError
from domain.outcome import Reason, Stage
from pipeline.runs.live_progress import read_live_run
from search_ui.interfaces import EmbeddingBacklog

if TYPE_CHECKING:
    from pipeline.engine import Engine

ESTIMATE_RUNS = 10  # newest runs from which the speed is taken
MIN_ESTIMATE_ARTICLES = 10  # fewer articles in a stage say little about the speed: loading the model takes seconds


def load_embedding_backlog(engine: "Engine") -> EmbeddingBacklog:
    """Count what is pending; nothing is pending if semantic search is off or misconfigured."""
    try:
        article_count = engine.count_pending_embeddings()
        uncovered_articles = engine.count_uncovered_articles()
    except EmbeddingError:  # the stage `embed` reports it
        return EmbeddingBacklog()
    seconds_per_article = measured_seconds_per_article(engine) if article_count else None
    seconds = None if seconds_per_article is None else article_count * seconds_per_article
    return EmbeddingBacklog(article_count, seconds, uncovered_articles)


def count_pending_passages(engine: "Engine") -> int:
    """Count the articles whose passages are pending; 0 if semantic search is off or misconfigured."""
    try:
        return engine.count_pending_passages()
    except EmbeddingError:
        return 0


def measured_seconds_per_article(engine: "Engine") -> float | None:
    """Return the wall-clock seconds per embedded article: in the active stage, otherwise in recent ones; or None.

    Of the recent stages that embedded enough articles, the fastest counts: others have embedded passages, too.
    """
    live_run = read_live_run(engine.settings.data_dir)
    if (
        live_run
        and live_run.stage == Stage.EMBED
        and live_run.per_minute
        and engine.lock_holder_pid("embed") is not None
    ):
        return 60 / live_run.per_minute
    stages = [stage for run in engine.store.runs.list_newest(ESTIMATE_RUNS) for stage in run.stages]
    counts = [(stage.seconds, stage.counts.get(Reason.EMBEDDED, 0)) for stage in stages if stage.stage == Stage.EMBED]
    return min((seconds / count for seconds, count in counts if count >= MIN_ESTIMATE_ARTICLES), default=None)
