"""WARC files in an object store: moto's real server, which also dies in the middle."""

import fcntl
import hashlib
import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from docstore.warc_archive import WarcArchive, WarcRecordLostError, WarcRecordNotUploadedError
from docstore.warc_object_store import WarcObjectStore, machine_from_file_name, machine_name
from domain.errors import StoreError
from domain.page import Page, WarcPointer
from indexer.embedded_solr import find_free_port
from tests.object_store import environment, make_bucket, object_store
from tests.web_fixture import PATIENCE


def page(number: int) -> Page:
    body = f"<p>{number}</p>".encode() * 200
    url = f"http://a.test/{number}"
    return Page(0, url, url, 200, "text/html", body, hashlib.sha256(body).hexdigest(), 1e9)


def written(archive: WarcArchive, numbers: range) -> list[tuple[WarcPointer, str]]:
    return [(archive.append_page(one), one.digest) for one in map(page, numbers)]


def test_closed_files_go_to_the_store_and_are_read_there_by_range(bucket: str, tmp_path: Path) -> None:
    with WarcArchive(tmp_path / "here", rotate_bytes=1000, object_store_url=bucket) as archive:
        kept = written(archive, range(5))
        assert [archive.read_body(*one) for one in kept] == [
            page(n).body for n in range(5)
        ]  # the open file is read here
    assert list((tmp_path / "here").iterdir()) == []
    assert set(WarcObjectStore(bucket).file_sizes()) == {pointer.file_name for pointer, _ in kept}
    with WarcArchive(tmp_path / "another machine", object_store_url=bucket) as elsewhere:
        assert [elsewhere.read_body(*one) for one in kept] == [page(n).body for n in range(5)]
        assert elsewhere.read_page(*kept[3]).url == "http://a.test/3"
        assert elsewhere.export_records([pointer for pointer, _ in kept], tmp_path / "out.warc.gz") == 5
        with pytest.raises(WarcRecordLostError, match="does not match its digest"):
            elsewhere.read_body(kept[0][0], kept[1][1])


def test_a_page_that_its_machine_has_not_uploaded_waits_and_one_of_ours_is_lost(bucket: str, tmp_path: Path) -> None:
    name = f"plumbline-20260101000000-{machine_name()}-12-abcdef-00001.warc.gz"
    assert (
        machine_from_file_name(name) == machine_name()
        and machine_from_file_name("plumbline-20260101000000-12-abcdef-00001.warc.gz") == ""
    )
    with WarcArchive(tmp_path, object_store_url=bucket) as archive:
        with pytest.raises(WarcRecordNotUploadedError, match="still on the machine other-host"):
            archive.read_body(WarcPointer(name.replace(machine_name(), "other-host"), 0, 10), "")
        with pytest.raises(WarcRecordLostError) as lost:
            archive.read_body(WarcPointer(name, 0, 10), "")
    assert not isinstance(lost.value, WarcRecordNotUploadedError)


def crawl_and_die(folder: Path, bucket: str, said: "multiprocessing.Queue[list[tuple[WarcPointer, str]]]") -> None:
    archive = WarcArchive(folder, object_store_url=bucket)
    said.put(written(archive, range(3)))
    said.close()
    said.join_thread()
    os.kill(os.getpid(), signal.SIGKILL)


def test_what_a_killed_process_left_is_uploaded_by_the_next(bucket: str, tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    said: multiprocessing.Queue[list[tuple[WarcPointer, str]]] = context.Queue()
    process = context.Process(target=crawl_and_die, args=(tmp_path, bucket, said))
    process.start()
    kept = said.get(timeout=PATIENCE)
    process.join(PATIENCE)
    [left] = tmp_path.iterdir()
    with WarcArchive(tmp_path, object_store_url=bucket) as archive, left.open("rb") as writing:
        fcntl.flock(writing, fcntl.LOCK_EX)
        assert archive.upload_closed_files() == 1  # somebody writes it still
        fcntl.flock(writing, fcntl.LOCK_UN)
        assert archive.upload_closed_files() == 0
        assert [archive.read_body(*one) for one in kept] == [page(n).body for n in range(3)]
    assert not left.exists()


def test_a_store_that_dies_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    port = find_free_port()
    for name, value in {**environment(f"http://127.0.0.1:{port}"), "AWS_MAX_ATTEMPTS": "1"}.items():
        monkeypatch.setenv(name, value)
    remote = "s3://dying/pages"
    with object_store(port, tmp_path / "log") as (url, server):
        make_bucket(url, "dying")
        archive = WarcArchive(tmp_path / "here", rotate_bytes=10, object_store_url=remote)
        kept = written(archive, range(2))
        server.kill()
        server.wait()
        kept += written(archive, range(2, 4))
        archive.close()
    assert archive.upload_closed_files() > 0
    gone = next(pointer for pointer, _ in kept if not (tmp_path / "here" / pointer.file_name).exists())
    with pytest.raises(StoreError, match="is not responding"):
        archive.read_body(gone, "")
    with object_store(port, tmp_path / "log") as (url, _):  # it has forgotten what it had; ours is here still
        make_bucket(url, "dying")
        assert archive.upload_closed_files() == 0
        found = [one for one in kept if one[0].file_name in WarcObjectStore(remote).file_sizes()]
        assert len(found) >= 2
        assert [hashlib.sha256(archive.read_body(*one)).hexdigest() for one in found] == [digest for _, digest in found]
