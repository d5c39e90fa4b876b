"""A corpus from day to day: only what changed is read, and the terms are those of a corpus counted at once."""

import random
import sqlite3
import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest

from domain.errors import LexiconError
from domain.term import Term
from lexicon import example_sentences
from lexicon.counting import candidate_selection
from lexicon.counting import incremental_count as counting
from lexicon.counting.corpus import CorpusDocument, document_digest
from lexicon.counting.counts_store import CountsStore
from lexicon.counting.incremental_count import DocumentChange, diff_digests, key_range_count, required_frequency
from lexicon.counting.ngram_table import NO_DOCUMENT
from lexicon.mining import mine_terms
from lexicon.review_selection import ReviewState
from lexicon.settings import LexiconSettings
from text.folding import word_key

ALL = LexiconSettings(probability=0.0, min_frequency=1, depth=0)
HEADS = ["页岩气", "致密油", "煤层气", "天然气水合物", "PDC钻头", "B树索引", "shale gas", "tight oil", "query planner"]
FRAMES = [
    "本文研究{0}开发中的{1}问题，给出了计算方法。",
    "{0}的评价指标与{1}有关，见第{2}节。",
    "采用{0}之后，{1}的成本下降了{2}元。",
    "The {0} is compared with the {1} in section {2}.",
    "We describe how a {1} depends on the {0}, and give {2} examples.",
]


class Articles:
    """A corpus that changes; `was_read` has the ids of the documents that were read."""

    def __init__(self) -> None:
        self.held: dict[int, CorpusDocument] = {}
        self.was_read: list[int] = []

    def put(self, number: int, title: str, body: str) -> None:
        self.held[number] = CorpusDocument(number, title, body)

    def iter_digests(self) -> Iterator[tuple[int, str]]:
        return ((number, document_digest(self.held[number])) for number in sorted(self.held))

    def iter_documents(self, document_ids: Sequence[int]) -> Iterator[CorpusDocument]:
        self.was_read += document_ids
        return (self.held[number] for number in document_ids if number in self.held)


def written(count: int, first: int = 0, seed: int = 7) -> Articles:
    """Articles in both languages with words of their own."""
    articles, chance = Articles(), random.Random(seed)
    for number in range(first, first + count):
        lines = [chance.choice(FRAMES).format(*chance.sample(HEADS, 2), chance.randrange(1000)) for _ in range(4)] + [
            f"第{number}个{chance.choice(HEADS)}井的产量是 {number} 方。"
        ]
        articles.put(number, f"{chance.choice(HEADS)}之{number}", "\n".join(lines))
    return articles


def shown(terms: Sequence[Term]) -> list[tuple[object, ...]]:
    """What is counted of the terms, exactly but for two things that are remembered of a text that has changed: the
    likeliest place of a term, which its score depends on a little, and that a line on many pages was counted for it."""
    return [
        (
            one.text,
            one.frequency,
            one.pos_tags,
            pytest.approx(one.document_count, abs=2),
            pytest.approx(one.score, abs=0.05),
        )
        for one in sorted(terms, key=lambda one: one.text)
    ]


_SMALL_LIMITS = {
    "distributed_count.MAX_RUN_ROWS": 300,
    "distributed_count.MAX_RUN_WORDS": 200,
    "distributed_count.CHUNK_CHARACTERS": 500,
    "incremental_count.PIECE_CHARACTERS": 3000,
    "incremental_count.ROWS_PER_KEY_RANGE": 100,
    "incremental_count.DOCUMENTS_PER_GENERATION": 11,
    "incremental_count.DOCUMENTS_PER_READ": 3,
}


def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the limits, so that a small corpus takes all code paths of a large corpus."""
    for name, value in _SMALL_LIMITS.items():
        monkeypatch.setattr(f"lexicon.counting.{name}", value)


def test_what_has_changed_between_two_days() -> None:
    before, now = [(1, "a"), (2, "b"), (5, "e")], [(0, "z"), (2, "x"), (5, "e"), (9, "i")]
    assert list(diff_digests(before, now)) == [
        DocumentChange(0, "z", was_stored=False),
        DocumentChange(1, None, was_stored=True),
        DocumentChange(2, "x", was_stored=True),
        DocumentChange(9, "i", was_stored=False),
    ]
    assert not list(diff_digests(now, now)) and not list(diff_digests([], []))


@pytest.mark.parametrize("is_small", [False, True])
def test_days_counted_one_by_one_are_all_counted_at_once(
    is_small: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_small:
        small_pieces(monkeypatch)
    articles = written(40)
    for day in range(4):
        if day == 1:
            articles.held.update(written(7, first=33, seed=day).held)  # changed
        if day == 2:
            articles.held = {number: one for number, one in articles.held.items() if number % 5}  # gone
        if day == 3:
            articles.held.update(written(20, first=100, seed=day).held)  # new
        found = mine_terms(articles, ALL, counts_dir=tmp_path)
        monkeypatch.undo()
        fresh = Articles()
        fresh.held = dict(articles.held)
        expected = mine_terms(fresh, ALL)
        assert len(expected) > 50
        assert shown(found) == shown(expected), day
        text = "\n".join(f"{one.title}\n{one.body}" for one in articles.held.values())
        assert all(context in text for one in found for context in one.contexts), "nothing is shown that is gone"
        if is_small:
            small_pieces(monkeypatch)


def test_the_second_day_reads_only_what_changed(tmp_path: Path) -> None:
    articles = written(60)
    mine_terms(articles, LexiconSettings(), counts_dir=tmp_path)
    articles.was_read.clear()
    assert mine_terms(articles, LexiconSettings(), counts_dir=tmp_path)
    assert articles.was_read == []
    articles.put(3, "页岩气之新", "页岩气的开发成本与致密油有关。")
    del articles.held[4]
    mine_terms(articles, LexiconSettings(max_contexts=0), counts_dir=tmp_path)
    assert articles.was_read == [3]


def test_progress_counts_what_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A document advances the task after it was counted, not when it was read, and every task ends at its total."""
    monkeypatch.setattr(counting, "PIECE_CHARACTERS", 1)
    events: list[tuple[str, int]] = []

    @contextmanager
    def task(name: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
        begun = len(events)
        yield lambda steps: events.append((name, steps))
        assert sum(steps for label, steps in events[begun:] if label == name) == total, name

    def count_in_order(function: Callable[[object], object], items: Iterable[object]) -> Iterator[object]:
        for item in items:
            yield function(item)
            events.append(("counted", 1))

    corpus = written(20)
    for change in (lambda: None, lambda: corpus.held.pop(3), lambda: corpus.put(4, "致密油", "致密油与页岩气有关。")):
        events.clear()
        change()
        mine_terms(corpus, ALL, task, tmp_path, map_ordered=count_in_order)
        counted = [name for name, _ in events if name in ("lexicon: count", "counted")]
        assert counted == ["lexicon: count", "counted"] * (len(counted) // 2) and counted
        assert {"lexicon: add up", "lexicon: score"} <= {name for name, _ in events}


def test_a_document_is_folded_once_however_many_terms_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    folded: list[str] = []
    fold_term = example_sentences.fold_term
    monkeypatch.setattr(example_sentences, "fold_term", lambda text: folded.append(text) or fold_term(text))
    keys = [word_key(head) for head in HEADS]
    text = "\n".join(FRAMES[n % 5].format(head, HEADS[n - 1], n) for n, head in enumerate(HEADS))
    found = example_sentences.find_example_sentences(text, [*keys, "nowhere"], 80)
    assert set(found) == set(keys) and len(folded) == 1


def test_a_line_that_stands_on_many_pages_counts_once() -> None:
    articles = written(30)
    for number, one in list(articles.held.items()):
        articles.put(number, one.title, f"{one.body}\n本站文章均遵守知识共享许可协议。")
    terms = {one.text: one for one in mine_terms(articles, ALL)}
    assert terms["许可协议"].frequency == 1
    assert terms["页岩气"].frequency > 10


def test_a_repeated_line_that_leaves_one_page_still_counts(tmp_path: Path) -> None:
    line = "本文研究可燃冰开发中的钻井液问题。"
    articles = Articles()
    for number in range(6):
        articles.put(number, "", f"{line}\n页岩气之{number}的评价方法。")
    assert "可燃冰" in {one.text for one in mine_terms(articles, ALL, counts_dir=tmp_path)}
    for number in range(5):
        articles.put(number, "", f"页岩气之{number}的评价方法。")
        terms = {one.text: one.frequency for one in mine_terms(articles, ALL, counts_dir=tmp_path)}
        assert terms["可燃冰"] == 1, number
    articles.put(5, "", "页岩气之5的评价方法。")
    assert "可燃冰" not in {one.text for one in mine_terms(articles, ALL, counts_dir=tmp_path)}


def torn_database(folder: Path) -> None:
    path = folder / CountsStore.DATABASE_FILE
    path.write_bytes(path.read_bytes()[:5000] + b"\xff" * 3000)


def no_database(folder: Path) -> None:
    (folder / CountsStore.DATABASE_FILE).write_bytes(b"nothing of the kind")


def torn_rows(folder: Path) -> None:
    next(folder.glob("rows-*.z")).write_bytes(b"torn")


def lost_rows(folder: Path) -> None:
    next(folder.glob("rows-*.z")).unlink()


def other_counting(folder: Path) -> None:
    with sqlite3.connect(folder / CountsStore.DATABASE_FILE) as database:
        database.execute("UPDATE about SET value = 'of other models' WHERE name = 'counting'")


@pytest.mark.parametrize(
    "damage", [torn_database, no_database, torn_rows, lost_rows, other_counting], ids=lambda one: one.__name__
)
def test_what_cannot_be_read_is_counted_again(damage: Callable[[Path], None], tmp_path: Path) -> None:
    articles = written(12)
    expected = mine_terms(articles, ALL, counts_dir=tmp_path)
    damage(tmp_path)
    articles.was_read.clear()
    assert shown(mine_terms(articles, ALL, counts_dir=tmp_path)) == shown(expected)
    assert set(articles.was_read) == set(articles.held)
    articles.was_read.clear()
    mine_terms(articles, ALL, counts_dir=tmp_path)
    assert articles.was_read == [], "and remembered again"


def test_counts_that_another_process_has_locked_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    articles = written(12)
    mine_terms(articles, ALL, counts_dir=tmp_path)
    (tmp_path / "notes.txt").write_text("of the user")
    before = sorted(tmp_path.iterdir())
    connect = sqlite3.connect
    with closing(connect(tmp_path / CountsStore.DATABASE_FILE)) as other, monkeypatch.context() as patched:
        other.execute("BEGIN EXCLUSIVE")
        patched.setattr(sqlite3, "connect", partial(connect, timeout=0))
        with pytest.raises(LexiconError, match="locked"):
            mine_terms(articles, ALL, counts_dir=tmp_path)
        other.rollback()
    assert sorted(path for path in tmp_path.iterdir() if not path.name.endswith("-journal")) == before
    articles.was_read.clear()
    mine_terms(articles, ALL, counts_dir=tmp_path)
    assert articles.was_read == []


def test_only_files_of_the_counts_are_deleted(tmp_path: Path) -> None:
    mine_terms(written(12), ALL, counts_dir=tmp_path)
    (tmp_path / "notes.txt").write_text("of the user")
    no_database(tmp_path)
    mine_terms(written(12), ALL, counts_dir=tmp_path)
    assert (tmp_path / "notes.txt").exists()


def test_a_run_that_was_stopped_leaves_the_day_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    articles = written(20)
    mine_terms(articles, ALL, counts_dir=tmp_path)
    articles.held.update(written(10, first=15, seed=3).held)

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(CountsStore, "commit_generation", stopped)  # all row files of the new day are written
        mine_terms(articles, ALL, counts_dir=tmp_path)
    left = set(tmp_path.iterdir())
    expected = mine_terms(written_again(articles), ALL)
    assert shown(mine_terms(articles, ALL, counts_dir=tmp_path)) == shown(expected)
    assert left - set(tmp_path.iterdir()), "the files that nothing names are gone"


def written_again(articles: Articles) -> Articles:
    """The same articles, of which nothing is known."""
    fresh = Articles()
    fresh.held = dict(articles.held)
    return fresh


@pytest.mark.exhaustive
def test_memory_does_not_grow_with_the_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_pieces(monkeypatch)
    monkeypatch.setattr(counting, "EVICTION_MIN_ROWS", 500)
    monkeypatch.setattr(candidate_selection, "MAX_CANDIDATE_ROWS", 200)
    monkeypatch.setattr("lexicon.model.term_model.MAX_SAMPLE_ROWS", 100)
    monkeypatch.setattr(candidate_selection, "MAX_SAMPLE_ROWS", 100)
    peaks = []
    for size in (60, 240):
        articles = Lazy(size)
        mine_terms(Lazy(60), LexiconSettings(max_contexts=1), counts_dir=tmp_path / f"warm{size}")  # tables of words
        tracemalloc.start()
        assert mine_terms(articles, LexiconSettings(max_contexts=1, depth=20), counts_dir=tmp_path / f"{size}")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0], peaks


class Lazy:
    """Articles that are made as they are read, each with words of its own."""

    def __init__(self, count: int) -> None:
        self._count = count

    def iter_digests(self) -> Iterator[tuple[int, str]]:
        return ((number, "") for number in range(self._count))

    def iter_documents(self, document_ids: Sequence[int]) -> Iterator[CorpusDocument]:
        for number in document_ids:
            yield written(1, number, number).held[number]


def test_a_day_offers_what_rose_and_no_more(tmp_path: Path) -> None:
    articles, settings = written(60), LexiconSettings(probability=0.0, depth=4)
    first = mine_terms(articles, settings, counts_dir=tmp_path)
    assert 8 <= len(first) < 16  # four of each language, and those that a run can accept
    for number in range(60, 72):
        articles.put(number, "", f"地热井{number}的保温管柱设计。本文讨论保温管柱，保温管柱的寿命是{number}年。")
    waiting = frozenset(word_key(one.text) for one in first)
    second = mine_terms(articles, settings, counts_dir=tmp_path, review_state=ReviewState(pending_keys=waiting))
    new = [one.text for one in second if word_key(one.text) not in waiting]
    assert 0 < len(new) <= 4 and "保温管柱" in new


def test_documents_stay_within_what_can_be(tmp_path: Path) -> None:
    """The line that two articles have was counted for the first; of that one another line goes, and then all of it."""
    shared, own = "本文研究可燃冰开发中的钻井液问题。", "采用可燃冰之后成本下降了。"
    articles = Articles()
    articles.put(1, "", f"{shared}\n{own}")
    articles.put(2, "", shared)
    for body in (f"{shared}\n{own}", shared, "无"):
        articles.put(1, "", body)
        found = {one.text: one for one in mine_terms(articles, ALL, counts_dir=tmp_path)}
        assert 1 <= found["可燃冰"].document_count <= found["可燃冰"].frequency <= 2
    assert found["可燃冰"].frequency == 1


def test_the_larger_the_corpus_the_more_often_a_term_has_to_occur() -> None:
    assert [required_frequency(2, documents) for documents in (0, 99, 1000, 99_999, 100_000, 1_000_000)] == [
        2,
        2,
        3,
        4,
        5,
        6,
    ]
    assert required_frequency(9, 1_000_000) == 9


def test_rows_are_parted_as_memory_asks() -> None:
    assert [key_range_count(rows) for rows in (0, 199_999, 200_000, 400_000, 10_000_000)] == [1, 1, 2, 4, 64]
    assert NO_DOCUMENT == -1  # `remove_seen_documents` and the files count on it
