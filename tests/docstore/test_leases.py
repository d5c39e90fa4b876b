"""Who does which work on which machine: leases that end, and who has lost one cannot write."""

import threading
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import func, select

from docstore.database import Database, guarded
from docstore.errors import BusyError, LeaseLostError
from docstore.locking.leases import Heartbeat, LeaseTable, fence
from docstore.locking.shared_locks import STAGE, holder_name, shared_holder, shared_lock
from docstore.schema.base import meta
from docstore.store import Store
from tests.web_fixture import PATIENCE

LONG = 600.0  # seconds


def write(database: Database, key: str) -> None:
    with database.write() as connection:
        database.upsert(connection, meta, [{"key": key, "value": ""}])


def test_a_lease_has_one_holder_and_its_token_rises(store: Store) -> None:
    one, other = store.leases.named("one"), store.leases.named("other")
    (first,) = one.take("host", ["a"], LONG)
    assert other.take("host", ["a"], LONG) == []
    assert store.leases.holders("host") == {"a": "one"}
    one.release([first])
    (second,) = other.take("host", ["a"], LONG)
    assert second.token > first.token
    assert one.renew([first], LONG) == []
    assert other.renew([second], LONG) == [second]


def test_some_of_many(store: Store) -> None:
    keys = [str(number) for number in range(25)]
    taken = store.leases.take("block", keys, LONG, most=10)
    rest = store.leases.take("block", keys, LONG, most=100)
    assert (len(taken), len(rest)) == (10, 15)
    assert {lease.key for lease in (*taken, *rest)} == set(keys)


def test_what_is_given_back_may_rest(store: Store) -> None:
    lease = store.leases.take("host", ["a"], LONG)
    store.leases.release(lease, rest=LONG)
    assert store.leases.take("host", ["a"], LONG) == []
    assert store.leases.holders("host") == {}


def test_who_lost_a_lease_cannot_write(store_url: str) -> None:
    with closing(Database(store_url)) as database:
        leases = LeaseTable(database)
        (stale,) = leases.take("block", ["1"], 0.0)  # its end is past at once
        with guarded(lambda connection: fence(connection, [stale])):
            write(database, "kept")  # nobody has begun yet
        leases.take("block", ["1"], LONG)
        with pytest.raises(LeaseLostError, match="block 1"), guarded(lambda connection: fence(connection, [stale])):
            write(database, "lost")
        with database.read() as connection:
            keys = set(connection.scalars(meta.select().with_only_columns(meta.c.key)))
    assert "kept" in keys
    assert "lost" not in keys


@pytest.mark.postgres
def test_nobody_begins_while_a_fenced_transaction_is_open(postgres_store: str) -> None:
    with closing(Database(postgres_store)) as database:
        leases = LeaseTable(database)
        held = leases.take("block", ["1"], 0.0)
        with database.write() as connection:
            fence(connection, held)
            assert leases.take("block", ["1"], LONG) == []
        assert len(leases.take("block", ["1"], LONG)) == 1


@pytest.mark.postgres
def test_many_take_at_once_and_none_gets_the_same(postgres_store: str) -> None:
    keys, got = [str(number) for number in range(200)], []
    with closing(Database(postgres_store)) as database:

        def take() -> None:
            own = LeaseTable(database, threading.current_thread().name)
            while taken := own.take("block", keys, LONG, most=7):
                got.extend(taken)

        threads = [threading.Thread(target=take) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
    assert sorted(lease.key for lease in got) == sorted(keys)


def test_a_heartbeat_keeps_leases_and_notices_a_loss(store: Store) -> None:
    with closing(Heartbeat(store.leases.named("one"), LONG, 0.01)) as heartbeat:
        (lease,) = heartbeat.take("host", ["a"])
        assert heartbeat.left(lease) > 0
        store.leases.named("other").take_over("host", "a", LONG, of="one")
        noticed = threading.Event()
        for _ in range(1000):
            if heartbeat.left(lease) <= 0:
                noticed.set()
                break
            noticed.wait(0.01)
        assert noticed.is_set()
    assert store.leases.holders("host") != {"a": "one"}


@pytest.mark.postgres
def test_one_machine_at_a_time_in_a_stage(postgres_store: str, tmp_path: Path) -> None:
    with Store(postgres_store, tmp_path / "warc") as store:
        with shared_lock(tmp_path / "one", store.leases, "crawl", LONG):
            assert shared_holder(store.leases, "crawl") is not None
            with (
                pytest.raises(BusyError, match=r"is in the crawl stage"),
                shared_lock(tmp_path / "other", store.leases, "crawl", LONG),
            ):
                pass
            with shared_lock(tmp_path / "other", store.leases, "extract", LONG):
                pass
        assert shared_holder(store.leases, "crawl") is None
        with shared_lock(tmp_path / "other", store.leases, "crawl", LONG):
            pass


@pytest.mark.postgres
def test_what_was_killed_on_this_machine_leaves_no_lock_behind(postgres_store: str, tmp_path: Path) -> None:
    with Store(postgres_store, tmp_path / "warc") as store:
        (left,) = store.leases.named(holder_name(tmp_path)).take(STAGE, ["index"], LONG)
        with shared_lock(tmp_path, store.leases, "index", LONG):
            assert store.leases.renew([left], LONG) == []


def test_a_report_sees_one_moment(store_url: str) -> None:
    with closing(Database(store_url)) as database:
        count = select(func.count()).select_from(meta)
        with database.snapshot() as connection:
            before = connection.scalar(count)
            write(database, "new")
            assert connection.scalar(count) == before
        with database.snapshot() as connection:
            assert connection.scalar(count) == (before or 0) + 1
