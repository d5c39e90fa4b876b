"""What the search site may do: the implementation of `search_ui.actions.ReviewActions` on the store."""

from docstore.model import Lexicon, Term, TermStatus
from lexicon.review import check_acceptable, next_version
from pipeline import stages
from pipeline.engine import Engine
from semantics.segment import Segmenter


class StoreActions:
    """Decisions go to the store at once; publishing leaves the re-segmenting to the follower (pipeline/serve.py)."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lexicon = engine.store.lexicon

    def lexicon(self) -> Lexicon:
        """The version that the documents in the index were built with."""
        return self._engine.analysis().lexicon

    def segmenter(self) -> Segmenter:
        """Cuts by `lexicon()`."""
        return self._engine.analysis().domain

    def base_segmenter(self) -> Segmenter:
        """Cuts by the base dictionary alone."""
        return self._engine.analysis().base

    def terms(self, status: TermStatus | None, text: str, offset: int, limit: int) -> tuple[int, list[Term]]:
        """How many terms match, and a page of them, best score first."""
        return self._lexicon.terms(status, text, offset, limit)

    def term_counts(self) -> dict[TermStatus, int]:
        """Terms by status."""
        return self._lexicon.counts()

    def decide(self, text: str, status: TermStatus) -> None:
        """Keep a decision. LexiconError for a term that is not known or that no dictionary can hold."""
        decide(self._engine, [text], status)

    def publish(self) -> Lexicon:
        """Publish the accepted terms; documents follow within seconds."""
        return stages.publish(self._engine)

    def pending_publication(self) -> tuple[int, int]:
        """How many terms the next version would add and take out."""
        latest = self._lexicon.latest()
        new = next_version(self._lexicon.accepted(), latest)
        before, after = {e.text for e in latest.entries}, {e.text for e in new.entries}
        return len(after - before), len(before - after)

    def index_lag(self) -> int:
        """Documents that are still to be indexed."""
        return self._engine.store.changes.count()


def decide(engine: Engine, texts: list[str], status: TermStatus) -> None:
    """Keep a decision on terms; only what a dictionary can hold is accepted, and all of them or none."""
    if status is TermStatus.ACCEPTED:
        check_acceptable(texts)
    engine.store.lexicon.decide(texts, status)
