"""By which versions queries are cut while documents are being segmented again."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from docstore.store import Store
from domain.index_change import IndexResult
from domain.outcome import Outcome, Reason
from domain.term import Lexicon, LexiconEntry
from indexer.document_mapping import TextAnalysis
from indexer.sync import apply_lexicon
from pipeline.search_site.segmenter_versions import VISIBILITY_SECONDS, SegmenterVersions
from tests.docstore.test_store import keep_page
from tests.search_ui_fakes import BASE
from text.segment import RjiebaSegmenter, Segmenter

OLD, NEW = Lexicon(1), Lexicon(2, (LexiconEntry("世界石油大会"),))


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def made(lexicon: Lexicon) -> Segmenter:
    return RjiebaSegmenter((e.text, e.frequency, e.pos_tag) for e in lexicon.entries)


def analysis(lexicon: Lexicon) -> TextAnalysis:
    return TextAnalysis(lexicon, made(lexicon), BASE)


def cuts_of(segmenters: tuple[Segmenter, ...]) -> list[list[str]]:
    return [segmenter.cut("世界石油大会") for segmenter in segmenters]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(f"sqlite:///{tmp_path / 'store.db'}", tmp_path / "warc") as opened:
        opened.lexicons.publish(OLD)
        opened.lexicons.publish(NEW)
        opened.lexicons.mark_applied(1, [])
        yield opened


WHOLE, PARTS = ["世界石油大会"], ["世界", "石油", "大会"]


def redo_all(store: Store) -> None:
    batch = store.change_log.pending(10)
    store.change_log.acknowledge(
        batch, [IndexResult(change.url_id, Outcome(Reason.INDEXED), "d", 2) for change in batch]
    )


def test_both_versions_count_until_the_last_document_is_done_and_every_search_sees_it(store: Store) -> None:
    entry, clock = keep_page(store), Clock()
    cuts = SegmenterVersions(store.lexicons, made, clock)
    assert cuts_of(cuts.segmenters(analysis(OLD))) == [PARTS]
    store.lexicons.mark_applied(2, [entry.url_id])
    newest = analysis(store.lexicons.load_applied())
    assert cuts_of(cuts.segmenters(newest)) == [WHOLE, PARTS]
    clock.now += 1000
    assert cuts_of(cuts.segmenters(newest)) == [WHOLE, PARTS]
    redo_all(store)
    assert cuts_of(cuts.segmenters(newest)) == [WHOLE, PARTS]
    clock.now += VISIBILITY_SECONDS + 1
    assert cuts_of(cuts.segmenters(newest)) == [WHOLE]


def test_a_site_that_starts_in_the_middle_knows_both(store: Store) -> None:
    store.lexicons.mark_applied(2, [keep_page(store).url_id])
    cuts = SegmenterVersions(store.lexicons, made, Clock())
    assert cuts_of(cuts.segmenters(analysis(store.lexicons.load_applied()))) == [WHOLE, PARTS]


def test_a_site_that_starts_later_asks_no_more(store: Store) -> None:
    store.lexicons.mark_applied(2, [])
    cuts = SegmenterVersions(store.lexicons, made, Clock())
    newest = analysis(store.lexicons.load_applied())
    assert cuts_of(cuts.segmenters(newest)) == [WHOLE]
    store.close()
    assert cuts_of(cuts.segmenters(newest)) == [WHOLE]


class NoIndex:
    """An index that fails on every query."""

    def iter_ids_containing(self, phrases: Sequence[str]) -> Iterator[str]:
        raise AssertionError(phrases)


def test_other_synonyms_are_a_version_that_leaves_every_document_as_it_is(store: Store) -> None:
    keep_page(store)
    store.lexicons.mark_applied(2, [])
    with_synonyms = tuple(replace(entry, synonyms=("世油会",)) for entry in NEW.entries)
    store.lexicons.publish(Lexicon(3, with_synonyms))
    assert apply_lexicon(store, NoIndex()) == 0  # type: ignore[arg-type]
    assert store.lexicons.load_applied().entries == with_synonyms
    assert store.lexicons.versions_in_index() == [3] and store.change_log.pending_document_count() == 0
