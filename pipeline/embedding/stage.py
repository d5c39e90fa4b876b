"""The stage `embed`: articles without a vector get one.

What is pending is asked of the store for each model, what is made is kept a batch at a time, so the stage can be killed
anywhere and goes on where it was. A document is found by its words meanwhile.

Searches go on with the models that were complete last, until those of the settings are: only then those serve, and what
others have made is forgotten.
"""

import time
from collections import Counter

from docstore.errors import EmbeddingError
from docstore.model import Reason, Stage, StageReport
from pipeline.compute.embedding_jobs import NO_DEADLINE, embed_pending
from pipeline.embedding.models import ensure_models_available, load_model
from pipeline.engine import Engine

MAX_FAILURES = 20  # more failures than this, and more than a fifth of all, stop the stage
EMBEDDING_OFF_NOTE = "embed.model is off: found by words alone"


def embed(engine: Engine, seconds: float | None = None) -> StageReport:
    """Give vectors to the articles that wait, for at most so many seconds where that is said.

    Raises EmbedError or JarError where the models cannot be had or used.
    """
    started, counts = time.monotonic(), Counter[Reason]()
    vectors, until = engine.store.vectors, NO_DEADLINE if seconds is None else time.time() + seconds
    if not engine.configured_models:
        return StageReport(Stage.EMBED, {}, 0.0, (EMBEDDING_OFF_NOTE,))
    with engine.lock("embed"):
        for spec in engine.configured_models:
            pending_count = vectors.pending_count(spec.model_id, spec.languages)
            if not pending_count:
                continue
            if not engine.compute_backend.is_distributed:  # workers of a cluster have their own
                ensure_models_available(engine.settings.embed, engine.progress.note)
                load_model(spec)  # one clear line here, rather than one from each process
            with engine.progress.task("embed", pending_count) as advance:
                for outcomes in embed_pending(engine.compute_backend, vectors, spec, engine.settings, until):
                    counts.update(outcomes)
                    abort_on_many_failures(counts)
                    advance(outcomes.total())
                    if seconds is not None and time.monotonic() - started > seconds:
                        break
            if seconds is not None and time.monotonic() - started > seconds:
                break
        vectors.purge([spec.model_id for spec in (*engine.configured_models, *engine.serving_models())])
    return StageReport(Stage.EMBED, counts, time.monotonic() - started)


def abort_on_many_failures(counts: Counter[Reason]) -> None:
    """A few failures are outcomes; very many mean that something is wrong with the model or the machine."""
    failed = counts[Reason.UNEXPECTED_ERROR]
    if failed > MAX_FAILURES and failed * 5 > counts.total():
        raise EmbeddingError(
            f"{failed} of {counts.total()} articles failed: see logs/plumb.log, then run plumb embed again"
        )
