"""The stage `embed`: articles without a vector get one.

What is pending is asked of the store for each model, what is made is kept a batch at a time, so the stage can be killed
anywhere and goes on where it was. A document is found by its words meanwhile.

Searches go on with the models that were complete last, until those of the settings are: only then those serve, and what
others have made is forgotten.
"""

import time
from collections import Counter

from docstore.errors import EmbedError
from docstore.model import Reason, Stage, StageReport
from pipeline.embedding.models import load, make_usable
from pipeline.engine import Engine
from pipeline.engines.embedding import NEVER, embedded

FAILURES_MOST = 20  # more failures than this, and more than a fifth of all, stop the stage
WORDS_ALONE = "embed.model is off: found by words alone"


def embed(engine: Engine, seconds: float | None = None) -> StageReport:
    """Give vectors to the articles that wait, for at most so many seconds where that is said.

    Raises EmbedError or JarError where the models cannot be had or used.
    """
    started, counts = time.monotonic(), Counter[Reason]()
    table, until = engine.store.vectors, NEVER if seconds is None else time.time() + seconds
    if not engine.model_specs:
        return StageReport(Stage.EMBED, {}, 0.0, (WORDS_ALONE,))
    with engine.lock("embed"):
        for spec in engine.model_specs:
            waiting = table.pending_count(spec.model_id, spec.languages)
            if not waiting:
                continue
            if not engine.work.is_spread:  # workers of a cluster have their own
                make_usable(engine.settings.embed, engine.progress.note)
                load(spec)  # one clear line here, rather than one from each process
            with engine.progress.task("embed", waiting) as advance:
                for became in embedded(engine.work, table, spec, engine.settings, until):
                    counts.update(became)
                    stop_if_hopeless(counts)
                    advance(became.total())
                    if seconds is not None and time.monotonic() - started > seconds:
                        break
            if seconds is not None and time.monotonic() - started > seconds:
                break
        table.purge([spec.model_id for spec in (*engine.model_specs, *engine.served_specs())])
    return StageReport(Stage.EMBED, counts, time.monotonic() - started)


def stop_if_hopeless(counts: Counter[Reason]) -> None:
    """A few failures are outcomes; very many mean that something is wrong with the model or the machine."""
    failed = counts[Reason.FAILED]
    if failed > FAILURES_MOST and failed * 5 > counts.total():
        raise EmbedError(
            f"{failed} of {counts.total()} articles failed: see logs/plumb.log, then run plumb embed again"
        )
