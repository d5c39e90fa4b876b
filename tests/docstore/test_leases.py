"""Leases: exclusive work across machines. Work that lost a lease commits and requests nothing."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import func, select

from docstore.database import Database
from docstore.locking.cluster_locks import (
    STAGE_LEASE_KIND,
    cluster_stage_holder,
    cluster_stage_lock,
    holder_name,
    machine_id,
)
from docstore.locking.leases import LeaseFence, LeaseHeartbeat, LeaseTable
from docstore.schema.base import store_meta
from docstore.store import Store
from domain.errors import BusyError, LeaseLostError, StoreError
from locks.fences import check_request, hold_fence, in_this_context
from tests.faults.fencing import fence_faults
from tests.web_fixture import PATIENCE

LONG = 600.0  # seconds


def write(database: Database, key: str) -> None:
    with database.write() as connection:
        database.insert_missing(connection, store_meta, [{"key": key, "value": ""}])


def test_a_lease_has_one_holder_and_its_token_rises(store: Store) -> None:
    one, other = store.leases.with_holder("one"), store.leases.with_holder("other")
    (first,) = one.acquire("host", ["a"], LONG)
    assert other.acquire("host", ["a"], LONG) == []
    assert store.leases.holders_by_key("host") == {"a": "one"}
    one.release([first])
    assert one.renew([first], LONG) == []  # a heartbeat that read its leases before they were released
    (second,) = other.acquire("host", ["a"], LONG)
    assert second.token > first.token
    assert one.renew([first], LONG) == []
    assert other.renew([second], LONG) == [second]


def test_some_of_many(store: Store) -> None:
    keys = [str(number) for number in range(25)]
    taken = store.leases.acquire("block", keys, LONG, limit=10)
    rest = store.leases.acquire("block", keys, LONG, limit=100)
    assert (len(taken), len(rest)) == (10, 15)
    assert {lease.key for lease in (*taken, *rest)} == set(keys)


def test_what_is_given_back_may_rest(store: Store) -> None:
    lease = store.leases.acquire("host", ["a"], LONG)
    store.leases.release(lease, cooldown_seconds=LONG)
    assert store.leases.acquire("host", ["a"], LONG) == []
    assert store.leases.holders_by_key("host") == {}


def test_a_lost_lease_stops_commits_and_requests_in_every_thread(store_url: str) -> None:
    with (
        closing(Database(store_url)) as database,
        closing(LeaseHeartbeat(LeaseTable(database), 0.0, LONG)) as heartbeat,  # a lease expires at once
        ThreadPoolExecutor(1) as other_thread,
    ):
        with hold_fence(LeaseFence(heartbeat, heartbeat.acquire("block", ["1"]))):
            write(database, "kept")  # no other process has acquired it yet
            tasks = [in_this_context(check_request), in_this_context(partial(write, database, "lost"))]
        LeaseTable(database).acquire("block", ["1"], LONG)
        for task in tasks:
            with pytest.raises(LeaseLostError, match="block 1"):
                other_thread.submit(task).result(PATIENCE)
        with database.read() as connection:
            keys = set(connection.scalars(store_meta.select().with_only_columns(store_meta.c.key)))
    assert "kept" in keys
    assert "lost" not in keys


@pytest.mark.postgres
def test_nobody_begins_while_a_fenced_transaction_is_open(postgres_store: str) -> None:
    with (
        closing(Database(postgres_store)) as database,
        closing(LeaseHeartbeat(LeaseTable(database), 0.0, LONG)) as heartbeat,
    ):
        leases = LeaseTable(database)
        fence = LeaseFence(heartbeat, heartbeat.acquire("block", ["1"]))
        with database.write() as connection:
            fence.check_commit(connection)
            assert leases.acquire("block", ["1"], LONG) == []
        assert len(leases.acquire("block", ["1"], LONG)) == 1


@pytest.mark.postgres
def test_many_take_at_once_and_none_gets_the_same(postgres_store: str) -> None:
    keys, got = [str(number) for number in range(200)], []
    with closing(Database(postgres_store)) as database:

        def take() -> None:
            own = LeaseTable(database, threading.current_thread().name)
            while taken := own.acquire("block", keys, LONG, limit=7):
                got.extend(taken)

        threads = [threading.Thread(target=take) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
    assert sorted(lease.key for lease in got) == sorted(keys)


def test_a_heartbeat_keeps_leases_and_notices_a_loss(store: Store) -> None:
    with closing(LeaseHeartbeat(store.leases.with_holder("one"), LONG, 0.01)) as heartbeat:
        (lease,) = heartbeat.acquire("host", ["a"])
        assert heartbeat.seconds_left(lease) > 0
        store.leases.with_holder("other").take_over("host", "a", LONG, holder_prefix="one")
        deadline = time.monotonic() + PATIENCE
        while heartbeat.seconds_left(lease) > 0:
            assert time.monotonic() < deadline, "the loss is not noticed"
            time.sleep(0.01)
    assert store.leases.holders_by_key("host") != {"a": "one"}


@pytest.mark.postgres
def test_one_machine_at_a_time_in_a_stage(postgres_store: str, tmp_path: Path) -> None:
    with Store(postgres_store, tmp_path / "warc") as store:
        with cluster_stage_lock(tmp_path / "one", store.leases, "crawl", LONG):
            assert cluster_stage_holder(store.leases, "crawl") is not None
            with (
                pytest.raises(BusyError, match=r"is in the “crawl” stage"),
                cluster_stage_lock(tmp_path / "other", store.leases, "crawl", LONG),
            ):
                pass
            with cluster_stage_lock(tmp_path / "other", store.leases, "extract", LONG):
                pass
        assert cluster_stage_holder(store.leases, "crawl") is None
        with cluster_stage_lock(tmp_path / "other", store.leases, "crawl", LONG):
            pass


@pytest.mark.postgres
def test_what_was_killed_on_this_machine_leaves_no_lock_behind(postgres_store: str, tmp_path: Path) -> None:
    with Store(postgres_store, tmp_path / "warc") as store:
        (left,) = store.leases.with_holder(holder_name(tmp_path)).acquire(STAGE_LEASE_KIND, ["index"], LONG)
        with cluster_stage_lock(tmp_path, store.leases, "index", LONG):
            assert store.leases.renew([left], LONG) == []


def test_a_full_disk_leaves_no_empty_machine_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def open_full_disk(path: str, flags: int) -> int:
        Path(path).touch()
        return os.open("/dev/full", os.O_WRONLY)

    with monkeypatch.context() as patch, pytest.raises(StoreError, match="No space left"):
        patch.setattr("docstore.locking.cluster_locks.open_private", open_full_disk)
        machine_id(tmp_path)
    created_id = machine_id(tmp_path)
    assert len(created_id) == 16 and machine_id(tmp_path) == created_id
    assert [file.name for file in (tmp_path / "locks").iterdir()] == ["machine"]


def test_an_empty_machine_id_is_refused(tmp_path: Path) -> None:
    (tmp_path / "locks").mkdir()
    (tmp_path / "locks" / "machine").touch()
    with pytest.raises(StoreError, match="is empty: delete it"):
        machine_id(tmp_path)


def test_a_report_sees_one_moment(store_url: str) -> None:
    with closing(Database(store_url)) as database:
        count = select(func.count()).select_from(store_meta)
        with database.snapshot() as connection:
            before = connection.scalar(count)
            write(database, "new")
            assert connection.scalar(count) == before
        with database.snapshot() as connection:
            assert connection.scalar(count) == (before or 0) + 1


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.process
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds processes in /proc")
def test_a_crawl_that_lost_its_lease_commits_and_requests_nothing(postgres_store: str, tmp_path: Path) -> None:
    tally = fence_faults(postgres_store, tmp_path)
    assert tally.complaints == [] and tally.survived == tally.tried == 1
    assert tally.figures == {"commits_after_loss": 0, "requests_after_loss": 0}
