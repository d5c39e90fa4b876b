"""Near-duplicate keys in segments give the same copies as table rows, after any change, removal or crash."""

import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, event, func, select, text, update

from docstore.near_duplicates import key_compaction
from docstore.near_duplicates.key_compaction import choose_segments_to_merge, iter_slice_entries, month_start
from docstore.near_duplicates.key_segments import (
    Bucket,
    DamagedKeysError,
    KeySegment,
    bucket_bits_for,
    bucket_for_key,
    contains_seal,
    load_seals,
    pack_bucket,
    ready_segments,
)
from docstore.schema.article_tables import key_segment_buckets, key_segments, near_duplicate_keys, sealed_leaders
from docstore.schema.crawl_tables import urls
from docstore.store import Store
from domain.errors import StoreError
from tests.conftest import logic_store_url, on_both
from tests.docstore.test_migrations import drop_definition_columns
from tests.docstore.test_near_duplicates import GROUPING, Web, article, groups, series, signature

store_url = logic_store_url

DAY = 86_400.0
OCTOBER = 1_790_812_800.0  # 2026-10-01 UTC


class Clock:
    """A time that tests set."""

    def __init__(self) -> None:
        self.now = OCTOBER

    def __call__(self) -> float:
        return self.now


class Nights(Web):
    """A store whose months pass."""

    def __init__(self, url: str, folder: Path) -> None:
        self.clock = Clock()
        super().__init__(Store(url, folder, clock=self.clock))

    def next_month(self) -> None:
        """A moment of the month after this one."""
        self.clock.now += 31 * DAY

    def rows(self) -> int:
        """How many keys are rows."""
        with self.store._database.read() as connection:
            return connection.scalar(select(func.count()).select_from(near_duplicate_keys)) or 0

    def keys(self) -> Counter[tuple[int, str]]:
        """Every key that counts with the URL of its article, and how often: in rows and in parts."""
        with self.store._database.read() as connection:
            found = Counter((row.band, row.url_id) for row in connection.execute(select(near_duplicate_keys)))
            for part in ready_segments(connection):
                entries = list(iter_slice_entries(connection, part, 0, 0))
                seals = load_seals(connection, {url_id for _, url_id in entries})
                found.update(entry for entry in entries if contains_seal(part, seals.get(entry[1])))
            names = {row.url_id: row.url for row in connection.execute(select(urls.c.url_id, urls.c.url))}
        return Counter({(key, names[url_id]): count for (key, url_id), count in found.items()})

    def parts(self) -> list[KeySegment]:
        with self.store._database.read() as connection:
            return ready_segments(connection)


@pytest.fixture
def nights(store_url: str, tmp_path: Path) -> Iterator[Nights]:
    found = Nights(store_url, tmp_path / "warc")
    yield found
    found.store.close()


@pytest.fixture
def unsealed(tmp_path: Path) -> Iterator[Nights]:
    """Another store, of which nothing is sealed."""
    found = Nights(f"sqlite:///{tmp_path / 'unsealed.db'}", tmp_path / "other-warc")
    yield found
    found.store.close()


# -- the form


@pytest.mark.parametrize("count", [1, 150, 5_000])
def test_what_was_packed_is_found(count: int) -> None:
    chance = random.Random(count)
    keys = [chance.randrange(-(2**63), 2**63) for _ in range(count)]
    entries = sorted((key, chance.randrange(1, 10**9)) for key in (*keys, *keys[: count // 3]))
    bits = bucket_bits_for(len(entries))
    buckets: dict[int, list[tuple[int, int]]] = {}
    for entry in entries:
        buckets.setdefault(bucket_for_key(entry[0], bits), []).append(entry)
    packed = {number: Bucket(pack_bucket(own, bits), number, bits) for number, own in buckets.items()}
    assert [entry for number in sorted(packed) for entry in packed[number].iter_entries()] == entries
    for key in keys:
        found = sorted(packed[bucket_for_key(key, bits)].leaders_with_key(key))
        assert found == sorted(url_id for other, url_id in entries if other == key)


@pytest.mark.parametrize("key", [-(2**63), -1, 0, 2**63 - 1])
@pytest.mark.parametrize("bits", [0, 1, 7, 40])
def test_the_ends_of_all_keys_have_their_buckets(key: int, bits: int) -> None:
    bucket = Bucket(pack_bucket([(key, 5)], bits), bucket_for_key(key, bits), bits)
    assert 0 <= bucket.bucket_number < 2**bits
    assert (list(bucket.iter_entries()), list(bucket.leaders_with_key(key))) == ([(key, 5)], [5])


def test_a_byte_that_is_another_is_told() -> None:
    packed = pack_bucket([(7, 5), (8, 6)], 3)
    for place in range(len(packed)):
        changed = packed[:place] + bytes([packed[place] ^ 1]) + packed[place + 1 :]
        with pytest.raises(DamagedKeysError):
            Bucket(changed, 0, 3)
    with pytest.raises(DamagedKeysError):
        Bucket(b"", 0, 3)


def parts_of(*sizes: int) -> list[KeySegment]:
    return [KeySegment(n, n, n, 0, size) for n, size in enumerate(sizes)]


@pytest.mark.parametrize(
    ("sizes", "merged"),
    [
        ((), 0),
        ((5,), 0),
        ((5, 5, 5), 0),
        ((5, 5, 5, 5), 4),
        ((99, 5, 5, 5), 0),
        ((99, 5, 5, 5, 5), 4),
        ((12, 5, 5, 5), 4),
    ],
)
def test_parts_of_a_size_are_merged(sizes: tuple[int, ...], merged: int) -> None:
    parts = parts_of(*sizes)
    assert choose_segments_to_merge(parts) == parts[len(parts) - merged :]


def test_there_are_few_parts_however_much_is_sealed() -> None:
    sizes: list[int] = []
    written = most = 0
    for _ in range(2_000):
        sizes.append(1)
        while due := choose_segments_to_merge(parts_of(*sizes)):
            sizes[len(sizes) - len(due) :] = [sum(part.entry_count for part in due)]
            written += sizes[-1]
        most = max(most, len(sizes))
    assert sum(sizes) == 2_000
    assert most <= 16
    assert written <= 10 * 2_000


# -- what is found


def test_the_same_copies_are_found_as_by_rows(
    nights: Nights, unsealed: Nights, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Articles that come, change and go in seven months, half of them copies of others; some seals a month, merged."""
    monkeypatch.setattr(key_compaction, "ARTICLES_PER_SEAL", 7)
    monkeypatch.setattr(key_compaction, "MERGE_SLICE_BITS", 1)
    chance, sealed, most_parts = random.Random(5), 0, 0
    for month in range(7):
        fresh = [
            article(
                str(chance.randrange(240)), signature(chance.randrange(80), chance.choice((1.0, 0.95, 0.7)), n), issue
            )
            for n, issue in enumerate(chance.choices(("", "", "May", "June"), k=40), 40 * month)
        ]
        fresh = list({one.url: one for one in fresh}.values())
        gone = [str(chance.randrange(240)) for _ in range(6)]
        for web in (nights, unsealed):
            web.add(*fresh)
            web.lose(*gone)
            web.next_month()
        sealed += nights.store.key_compaction.seal_past_months(min_rows=0)
        most_parts = max(most_parts, len(nights.parts()))
        assert nights.rows() == 0
        assert groups(nights) == groups(unsealed)
        assert series(nights) == series(unsealed)
        assert nights.keys() == unsealed.keys()
        assert nights.log() == unsealed.log()
        assert list(nights.store.key_compaction.iter_faults()) == []
    assert sum(behind != "" for behind in groups(nights).values()) > 20
    assert sealed > 100
    assert 1 < most_parts < 7


@on_both
def test_an_article_that_is_gone_has_no_copies(nights: Nights) -> None:
    nights.add(article("1", signature("a")), article("2", signature("b")))
    nights.next_month()
    assert nights.store.key_compaction.seal_past_months(min_rows=0) == 2
    nights.lose("1")
    nights.add(article("3", signature("a")), article("4", signature("b")))
    assert groups(nights) == {"2": "", "3": "", "4": "2"}
    nights.add(article("1", signature("new")))  # the same URL, with another text
    nights.next_month()
    nights.store.key_compaction.seal_past_months(min_rows=0)
    nights.lose("3")
    nights.add(article("5", signature("a")), article("6", signature("new")))
    assert groups(nights) == {"1": "", "2": "", "4": "2", "5": "", "6": "1"}


@on_both
def test_what_is_few_or_of_this_month_stays_in_rows(nights: Nights) -> None:
    nights.add(article("1", signature("a")))
    rows = nights.rows()
    assert rows > 20
    assert nights.store.key_compaction.seal_past_months(min_rows=0) == 0
    nights.next_month()
    assert nights.store.key_compaction.seal_past_months() == 0
    assert nights.store.key_compaction.seal_past_months(min_rows=rows) == 0
    assert nights.rows() == rows
    nights.add(article("2", signature("b")))
    assert nights.store.key_compaction.seal_past_months(min_rows=rows) == 1
    assert nights.rows() == rows  # of the other one
    nights.add(article("3", signature("c")))
    assert nights.store.key_compaction.seal_past_months(min_rows=0) == 0  # once a month
    assert len(nights.parts()) == 1


def test_where_nothing_is_sealed_nothing_of_it_is_asked(nights: Nights) -> None:
    asked: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        asked.append(statement)

    event.listen(nights.store._database._engine, "before_cursor_execute", note)
    nights.add(*(article(str(n), signature(n)) for n in range(20)))
    assert sum("key_parts" in statement for statement in asked) == 1  # for all articles of a batch
    assert not any(name in statement for statement in asked for name in ("sealed_keys", "sealed_leaders"))


# -- damage


def sealed_store(nights: Nights) -> None:
    nights.add(*(article(str(n), signature(n % 40, 0.97, n)) for n in range(60)))
    nights.next_month()
    nights.store.key_compaction.seal_past_months(min_rows=0)
    nights.log()


@on_both
def test_damage_is_told_and_what_is_thrown_away_is_made_again(nights: Nights) -> None:
    sealed_store(nights)
    before, keys = groups(nights), nights.keys()
    with nights.store._database.write() as connection:
        [row, *_] = connection.execute(select(key_segment_buckets))
        changed = row.entries[:-1] + bytes([row.entries[-1] ^ 255])
        mine = (key_segment_buckets.c.part == row.part, key_segment_buckets.c.bucket == row.bucket)
        connection.execute(update(key_segment_buckets).where(*mine).values(entries=changed))
    [fault] = nights.store.key_compaction.iter_faults()
    assert "entries" in fault
    with pytest.raises(StoreError, match="check --repair"):
        nights.add(*(article(f"x{n}", signature(n)) for n in range(40)))
    nights.store.key_compaction.drop_all()
    assert (list(nights.store.key_compaction.iter_faults()), nights.keys()) == ([], Counter())
    assert not nights.store.articles.is_grouping_current(1)
    assert sum(nights.store.articles.regroup_all(1, GROUPING)) == 60
    assert (groups(nights), nights.keys()) == (before, keys)
    assert nights.store.key_compaction.seal_past_months(min_rows=0) > 0
    assert nights.keys() == keys


def test_a_part_that_is_lost_is_told(nights: Nights) -> None:
    sealed_store(nights)
    with nights.store._database.write() as connection:
        connection.execute(key_segments.delete())
        leaders = connection.scalar(select(func.count()).select_from(sealed_leaders))
    [fault] = nights.store.key_compaction.iter_faults()
    assert f"of {leaders} articles" in fault


# -- kill -9

KILLED = """
import os, signal, sys
from pathlib import Path
from sqlalchemy import event
from docstore.near_duplicates import key_compaction
from docstore.store import Store

url, folder, now = sys.argv[1], Path(sys.argv[2]), float(sys.argv[3])
key_compaction.ARTICLES_PER_SEAL, key_compaction.MERGE_SLICE_BITS = 3, 0
for line in sys.stdin:
    if (child := os.fork()) == 0:
        left = int(line)
        def count(*_):
            global left
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
        with Store(url, folder, clock=lambda: now) as store:
            event.listen(store._database._engine, "before_cursor_execute", count)
            event.listen(store._database._engine, "commit", count)
            store.key_compaction.seal_past_months(min_rows=0)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def test_a_kill_loses_nothing_and_doubles_nothing(nights: Nights, store_url: str, tmp_path: Path) -> None:
    """Kill the compaction at one statement after another until it completes."""
    nights.add(*(article(str(n), signature(n)) for n in range(36)))
    nights.lose("3", "4")
    nights.add(article("5", signature("changed")))
    before = nights.keys()
    nights.next_month()
    command = [sys.executable, "-c", KILLED, store_url, str(tmp_path / "warc"), str(nights.clock.now)]
    chance, ends, states = random.Random(7), list[int](), Counter[str]()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as nursery:
        assert nursery.stdin is not None
        assert nursery.stdout is not None
        while not ends or ends[-1] != 0:
            assert len(ends) < 200, ends
            nursery.stdin.write(f"{chance.randrange(40 + 10 * len(ends))}\n")
            nursery.stdin.flush()
            ends.append(int(nursery.stdout.readline()))
            assert nights.keys() == before
            with nights.store._database.read() as connection:
                states.update(connection.scalars(select(key_segments.c.state)))
        nursery.stdin.close()
    assert set(ends) == {-signal.SIGKILL, 0}
    assert states["building"] > 0
    assert states["dropped"] > 0
    assert nights.rows() == 0
    assert list(nights.store.key_compaction.iter_faults()) == []
    with nights.store._database.read() as connection:
        assert set(connection.scalars(select(key_segment_buckets.c.part))) == {
            part.segment_id for part in nights.parts()
        }


# -- older stores


@on_both
def test_a_store_of_version_8_keeps_its_rows_and_is_sealed(nights: Nights, store_url: str, tmp_path: Path) -> None:
    nights.add(*(article(str(n), signature(n)) for n in range(5)))
    before = nights.keys()
    engine = create_engine(store_url)
    with engine.begin() as connection:
        for name in ("sealed_leaders", "sealed_keys", "key_parts", "recognized_pages"):
            connection.execute(text(f"DROP TABLE {name}"))
        connection.execute(text("ALTER TABLE articles DROP COLUMN text_source"))
        drop_definition_columns(connection)
        connection.execute(text("UPDATE meta SET value = '8' WHERE key = 'schema_version'"))
    engine.dispose()
    upgraded = Nights(store_url, tmp_path / "warc")
    assert upgraded.keys() == before
    upgraded.next_month()
    assert upgraded.store.key_compaction.seal_past_months(min_rows=0) == 5
    assert upgraded.keys() == before
    upgraded.add(article("copy", signature(3)))
    assert groups(upgraded)["copy"] == "3"
    upgraded.store.close()


def test_months_begin_at_midnight_utc() -> None:
    assert month_start(OCTOBER) == OCTOBER
    assert month_start(OCTOBER + 30.9 * DAY) == OCTOBER
    assert month_start(OCTOBER + 31 * DAY) == OCTOBER + 31 * DAY
