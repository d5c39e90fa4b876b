"""Stage `embed`: compute vectors for articles that have none, and then for the passages of longer articles.

The store lists the pending articles of each model, and each batch of vectors is saved at once. The stage can therefore
be killed at any time and resumes where it stopped. Keyword search finds a document in the meantime. One vector per
article makes all articles findable; passages only choose excerpts and cost most of the time, so they come last.

Searches use the previous models until every article has a vector of the configured models. Then searches switch, and
the next stage purges the old vectors.
"""

import time
from collections import Counter

from docstore.articles.vectors import EmbeddingPart
from domain.errors import EmbeddingError
from domain.message import Message
from domain.outcome import Reason, Stage, StageReport, has_common_cause
from pipeline.compute.embedding_jobs import NO_DEADLINE, embed_pending
from pipeline.embedding.models import ensure_models_available, load_model
from pipeline.engine import Engine

MAX_FAILURES = 20  # more failures than this, and more than a fifth of all, stop the stage
PROGRESS_TASKS = {EmbeddingPart.ARTICLE: "embed", EmbeddingPart.PASSAGES: "embed passages"}
EMBEDDING_OFF_NOTE = Message("embed.model is off: search uses keywords only")


def run_embed_stage(engine: Engine, seconds: float | None = None, with_passages: bool = True) -> StageReport:
    """Embed the pending articles, then, if `with_passages`, their passages; for at most `seconds` if given.

    The report counts articles with a vector; passages are a note. Raises EmbeddingError or JarError if a model is not
    available or cannot be used.
    """
    started_at = time.monotonic()
    deadline = NO_DEADLINE if seconds is None else time.time() + seconds
    if not engine.configured_models:
        return StageReport(Stage.EMBED, {}, 0.0, (EMBEDDING_OFF_NOTE,))
    with engine.lock("embed"):
        article_counts = embed_part(engine, EmbeddingPart.ARTICLE, deadline)
        passage_counts = Counter[Reason]()
        if with_passages and engine.settings.embed.passages:
            passage_counts = embed_part(engine, EmbeddingPart.PASSAGES, deadline)
        engine.store.vectors.purge([spec.model_id for spec in (*engine.configured_models, *engine.serving_models())])
    notes = []
    if embedded_count := passage_counts[Reason.EMBEDDED]:
        notes.append(
            Message("Passage vectors of 1 longer article", "Passage vectors of {n} longer articles", n=embedded_count)
        )
    if time.time() > deadline and (pending_count := engine.count_pending_embeddings()):
        notes.append(
            Message(
                "Time limit reached, 1 article left to embed",
                "Time limit reached, {n} articles left to embed",
                n=pending_count,
            )
        )
    return StageReport(Stage.EMBED, article_counts, time.monotonic() - started_at, tuple(notes))


def embed_part(engine: Engine, part: EmbeddingPart, deadline: float) -> Counter[Reason]:
    """Embed this part of all pending articles until `deadline` (epoch seconds); returns the articles by outcome."""
    counts, vectors = Counter[Reason](), engine.store.vectors
    for spec in engine.configured_models:
        pending_count = vectors.pending_count(spec.model_id, spec.languages, part)
        if not pending_count:
            continue
        if not engine.compute_backend.is_distributed:  # cluster workers load their own models
            ensure_models_available(engine.settings.embed, engine.progress.note)
            load_model(spec)  # one error message here instead of one from each process
        with engine.progress.task(PROGRESS_TASKS[part], pending_count) as advance:
            for outcomes in embed_pending(engine.compute_backend, vectors, spec, engine.settings, deadline, part):
                counts.update(outcomes)
                abort_on_many_failures(counts)
                advance(outcomes.total())
                if time.time() > deadline:
                    return counts
    return counts


def abort_on_many_failures(counts: Counter[Reason]) -> None:
    """Raise EmbeddingError if so many articles failed that the model or the machine is the likely cause."""
    failed = counts[Reason.UNEXPECTED_ERROR]
    if has_common_cause(failed, counts.total(), MAX_FAILURES):
        raise EmbeddingError(
            f"{failed} of {counts.total()} articles could not be embedded: "
            "see logs/plumb.log, then run plumb embed again"
        )
