"""A version of the lexicon that changes no word changes no document."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from docstore.store import Store
from domain.term import Lexicon, LexiconEntry
from indexer.sync import apply_lexicon
from tests.builders import keep_page

NEW = Lexicon(2, (LexiconEntry("世界石油大会"),))


class NoIndex:
    """An index that fails on every query."""

    def iter_ids_containing(self, phrases: Sequence[str]) -> Iterator[str]:
        raise AssertionError(phrases)


def test_other_synonyms_are_a_version_that_leaves_every_document_as_it_is(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'store.db'}", tmp_path / "warc")
    keep_page(store)
    store.lexicons.publish(Lexicon(1))
    store.lexicons.publish(NEW)
    store.lexicons.mark_applied(2, [])
    with_synonyms = tuple(replace(entry, synonyms=("世油会",)) for entry in NEW.entries)
    store.lexicons.publish(Lexicon(3, with_synonyms))
    assert apply_lexicon(store, NoIndex()) == 0  # type: ignore[arg-type]
    assert store.lexicons.load_applied().entries == with_synonyms
    assert store.lexicons.applied_version() == 3 and store.change_log.pending_document_count() == 0
    store.close()
