"""A guide that was kept in a file goes on as one that was shown all pages again."""

import pickle
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from threading import get_native_id

import pytest

from crawler.focused_policy import (
    BLOCK_CONTENT,
    BLOCK_TITLE,
    LinkWords,
    PageWords,
    TokenizedPage,
    TopicWords,
    WordBlock,
    serialize_page,
)
from crawler.settings import FOCUSED_STRATEGIES
from domain.focused_decision import StoredFocusedDecision
from focused.concepts.synonym_groups import CilinConcepts
from focused.paper_strategies.semantic import SemanticStrategy
from focused.paper_strategies.topic_knowledge import OperatorResources
from focused.state_snapshot import FILE_MAGIC, StateSnapshot, code_digest
from focused.strategy_registry import STRATEGIES
from focused.topic_policy import TopicPolicy, TopicPolicyConfig
from text.segment import Segmenter

PAGES, SAVED, SHOWN = 90, 60, 80
KEY = b"k" * 32


def readings() -> Iterator[TokenizedPage]:
    """Pages of some subjects, linked at random, with words of their own and common ones."""
    draw = random.Random(1)

    def words(subject: int, count: int) -> tuple[str, ...]:
        return tuple(draw.choice((f"s{subject}w{draw.randrange(30)}", f"w{draw.randrange(300)}")) for _ in range(count))

    for number in range(PAGES):
        subject = number % 5
        blocks = (WordBlock(BLOCK_TITLE, words(subject, 4), 0.4), WordBlock(BLOCK_CONTENT, words(subject, 60), 0.6))
        links = (
            LinkWords(f"http://a.test/{other % 9}/p{other}.html", words(other % 5, 3), words(other % 5, 8))
            for other in draw.sample(range(3 * PAGES), 12)
        )
        page = PageWords(f"http://a.test/{number % 9}/p{number}.html", blocks[0].words, (), blocks)
        yield TokenizedPage(page, tuple(link for link in links if link.url != page.url))


ALL = tuple(readings())
TOPIC = TopicWords(("s1w1", "s1w2"), (ALL[1].words, ALL[6].words), technical=("s1w3",))
ROWS = [
    StoredFocusedDecision(one.words.url, seq, "any", "t", 0.5, True, serialize_page(one)) for seq, one in enumerate(ALL)
]


def guide_in(folder: Path, strategy: str = "vsm", key: bytes = KEY) -> TopicPolicy:
    snapshot = StateSnapshot(folder / "guide.state", key, (TOPIC,))
    focus = STRATEGIES[strategy](TOPIC)
    return TopicPolicy(
        TopicPolicyConfig(strategy, "t", focus, lambda page: PageWords(page.url), str.split, snapshot=snapshot)
    )  # type: ignore[arg-type]


def saved_in(folder: Path, strategy: str = "vsm") -> TopicPolicy:
    guide = guide_in(folder, strategy)
    guide.replay(ROWS[:SAVED])
    guide.save_snapshot()
    return guide


def loaded(folder: Path, strategy: str = "vsm", key: bytes = KEY, pages: Callable[[int], int] = int) -> TopicPolicy:
    guide = guide_in(folder, strategy, key)
    guide.load_snapshot(pages)
    return guide


@pytest.mark.parametrize("strategy", FOCUSED_STRATEGIES)
def test_a_snapshot_and_the_pages_after_it_are_as_good_as_all_pages(strategy: str, tmp_path: Path) -> None:
    saved_in(tmp_path, strategy)
    kept, anew = loaded(tmp_path, strategy), guide_in(tmp_path / "none", strategy)
    assert kept.next_seq == SAVED
    assert kept.replay(ROWS[kept.next_seq : SHOWN]) == anew.replay(ROWS[:SHOWN])
    assert (kept.next_seq, kept.state.page_count, kept.state.assessed_urls) == (
        anew.next_seq,
        anew.state.page_count,
        anew.state.assessed_urls,
    )
    assert list(kept.priority_by_url.items()) == list(anew.priority_by_url.items())
    assert (kept.state.shared_terms, kept.state.off_topic_statistics) == (
        anew.state.shared_terms,
        anew.state.off_topic_statistics,
    )
    for reading in ALL[SHOWN:]:
        assert kept.decide(reading, {}) == anew.decide(reading, {})


def test_a_live_guide_is_kept_as_one_that_was_restored(tmp_path: Path) -> None:
    live, restored = guide_in(tmp_path), saved_in(tmp_path / "other")
    for reading in ALL[:SAVED]:
        live.decide(reading, {})
    live.save_snapshot()
    kept = loaded(tmp_path)
    assert kept.priority_by_url == restored.priority_by_url
    assert [kept.decide(one, {}) for one in ALL[SAVED:]] == [restored.decide(one, {}) for one in ALL[SAVED:]]


def test_what_the_operator_gave_is_not_kept_with_the_state(tmp_path: Path) -> None:
    given = OperatorResources(concepts=CilinConcepts(["Aa01A01= s1w1 s1w9"]))
    means = guide_in(tmp_path).config
    snapshot = StateSnapshot(tmp_path / "guide.state", KEY, (TOPIC, given, given.concepts))
    first, second = (
        TopicPolicy(replace(means, strategy=SemanticStrategy(TOPIC, given), snapshot=snapshot)) for _ in range(2)
    )
    first.replay(ROWS[:SAVED])
    first.save_snapshot()
    second.load_snapshot(int)
    assert second.state.strategy._knowledge.resources is given  # type: ignore[attr-defined]
    assert second.decide(ALL[-1], {}) == first.decide(ALL[-1], {})


def damaged(data: bytes) -> Iterator[bytes]:
    yield b""
    yield data[:50]
    yield data[:-1]
    yield data[:-9] + bytes([data[-9] ^ 1]) + data[-8:]


def test_a_file_that_does_not_fit_is_not_used(tmp_path: Path) -> None:
    saved_in(tmp_path)
    path = tmp_path / "guide.state"
    whole = path.read_bytes()
    assert loaded(tmp_path).next_seq == SAVED
    assert loaded(tmp_path, key=b"x" * 32).next_seq == 0
    assert not path.exists() and loaded(tmp_path).next_seq == 0
    path.write_bytes(whole)
    assert loaded(tmp_path, pages=lambda seq: seq - 1).next_seq == 0  # the store has lost a page
    assert not path.exists()  # when that page is judged again, the number of pages fits
    for data in damaged(whole):
        path.write_bytes(data)
        assert loaded(tmp_path).next_seq == 0
    assert len(code_digest()) == 64


class Call:
    """Unpickled, it is what a function returns."""

    def __init__(self, function: object, *arguments: object) -> None:
        self._made = function, arguments

    def __reduce__(self) -> object:  # type: ignore[override]
        return self._made


def dotted(path: Path) -> bytes:
    """`os.remove` by way of a module of ours."""
    name = b"focused.topic.topic_file_store\nos.remove\n"
    return b"\x80\x04c" + name + b"(X" + len(str(path)).to_bytes(4, "little") + str(path).encode() + b"tR."


@pytest.mark.parametrize("kind", ["function", "dotted", "class", "number"])
def test_a_file_that_somebody_else_wrote_runs_nothing(kind: str, tmp_path: Path) -> None:
    victim, path = tmp_path / "victim", tmp_path / "guide.state"
    victim.touch()
    payload = {
        "function": pickle.dumps(Call(Path.unlink, victim)),
        "dotted": dotted(victim),
        "class": pickle.dumps(Segmenter),
        "number": pickle.dumps(7),
    }[kind]
    path.write_bytes(FILE_MAGIC + KEY + sha256(payload).digest() + payload)
    assert loaded(tmp_path).next_seq == 0
    assert victim.exists()


def test_a_page_that_is_read_again_outdates_the_file_until_it_is_written_anew(tmp_path: Path) -> None:
    saved_in(tmp_path)
    guide = loaded(tmp_path)
    again = replace(ALL[3], links=(*ALL[3].links, LinkWords("http://a.test/new")))
    guide.decide(again, {})
    assert loaded(tmp_path).next_seq == 0
    guide.save_snapshot()
    assert "http://a.test/new" in loaded(tmp_path, pages=lambda seq: SAVED).priority_by_url
    for reading in ALL[: SAVED // 10]:
        guide.decide(reading, {})
    guide.save_snapshot()
    assert loaded(tmp_path, pages=lambda seq: SAVED).next_seq == 0  # so many that all are to be read as they are now


def test_a_page_that_was_shown_by_half_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved_in(tmp_path)
    guide = loaded(tmp_path)

    def stopped(*_: object) -> Sequence[float]:
        raise KeyboardInterrupt

    monkeypatch.setattr(guide.state.strategy, "link_priorities", stopped)
    with pytest.raises(KeyboardInterrupt):
        guide.decide(ALL[SAVED], {})
    guide.save_snapshot()
    assert loaded(tmp_path).next_seq == SAVED


def test_a_long_run_keeps_its_state_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("focused.topic_policy.SNAPSHOT_MIN_PAGES", 10)
    guide = guide_in(tmp_path)
    for reading in ALL:
        guide.decide(reading, {})
    assert SAVED < loaded(tmp_path).next_seq < PAGES


def test_a_disk_that_is_full_does_not_end_the_crawl(tmp_path: Path) -> None:
    (tmp_path / f"guide.state.{get_native_id()}.new").mkdir()
    saved_in(tmp_path)
    assert loaded(tmp_path).next_seq == 0


def test_what_was_missing_does_not_stand_for_what_is_given_later(tmp_path: Path) -> None:
    StateSnapshot(tmp_path / "state", KEY, (TOPIC, None)).save({TOPIC.name: None})
    assert StateSnapshot(tmp_path / "state", KEY, (TOPIC, OperatorResources())).load() == {TOPIC.name: None}
