"""Errors of the store when the system refuses to let its files grow."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from docstore.database import Database, translate_errors
from docstore.schema.base import store_meta
from domain.errors import StoreError, StoreFullError
from tests.web_fixture import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
LIMITED = """
import resource, sys
from domain.errors import StoreFullError
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
try:
    {writing}
except StoreFullError as error:
    print(error)
"""
INTO_THE_DATABASE = """
    from docstore.database import Database
    from docstore.schema.base import store_meta
    database = Database(sys.argv[1])
    for number in range(1000):
        with database.write() as connection:
            database.upsert(connection, store_meta, [{"key": str(number), "value": "x" * 1000}])
        print(number)
"""
INTO_THE_ARCHIVE = """
    from pathlib import Path
    from random import randbytes
    from docstore.warc_archive import WarcArchive
    from docstore.database import translate_errors
    from domain.page import Page
    with translate_errors(), WarcArchive(Path(sys.argv[2])) as archive:
        for number in range(1000):
            body = randbytes(20_000)
            archive.append_page(Page(1, "http://a.test/", "http://a.test/", 200, "text/html", body, "", 0.0))
            print(number)
"""


@pytest.mark.parametrize("writing", [INTO_THE_DATABASE, INTO_THE_ARCHIVE], ids=["database", "archive"])
def test_a_file_may_not_grow(tmp_path: Path, writing: str) -> None:
    """Whichever file reaches its limit first, acknowledged data is readable and the error names the reason."""
    url = f"sqlite:///{tmp_path / 'store.db'}"
    program = LIMITED.replace("{writing}", writing.strip())
    command = [sys.executable, "-c", program, url, str(tmp_path / "warc")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)
    *acknowledged, complaint = done.stdout.splitlines()
    assert (
        "may not grow" in complaint
        and "free space" in complaint
        and "ulimit -f" in complaint
        and "nothing was lost" in complaint
    ), done
    assert 2 < len(acknowledged) < 1000
    if writing is INTO_THE_DATABASE:
        with Database(url).read() as connection:
            assert {row.key for row in connection.execute(store_meta.select())} >= set(acknowledged)


@pytest.mark.parametrize(
    ("number", "kind", "part"),
    [
        (errno.ENOSPC, StoreFullError, "The disk that holds the store is full: free some space"),
        (errno.EDQUOT, StoreFullError, "quota"),
        (errno.EFBIG, StoreFullError, "may not grow (File too large)"),
        (errno.EROFS, StoreError, "its folder is writable"),
    ],
    ids=["full", "quota", "limit", "read-only"],
)
def test_errors_of_files_say_what_to_do(number: int, kind: type[StoreError], part: str) -> None:
    with pytest.raises(StoreError) as caught, translate_errors():
        raise OSError(number, os.strerror(number))
    assert type(caught.value) is kind
    assert part in str(caught.value)
