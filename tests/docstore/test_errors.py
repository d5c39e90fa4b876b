"""Errors of the store: what the system, SQLite and PostgreSQL refuse."""

import errno
import os
import sqlite3

import psycopg
import pytest
from sqlalchemy.exc import DBAPIError

from docstore.database import to_store_error, translate_errors
from domain.errors import StoreDamagedError, StoreError, StoreFullError, StoreUnavailableError
from tests.builders import sqlite_error


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


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (sqlite_error(sqlite3.SQLITE_FULL, "database or disk is full"), StoreFullError),
        (sqlite_error(sqlite3.SQLITE_BUSY_SNAPSHOT, "database is locked"), StoreUnavailableError),
        (sqlite_error(sqlite3.SQLITE_CANTOPEN, "unable to open database file"), StoreUnavailableError),
        (sqlite_error(sqlite3.SQLITE_CORRUPT_INDEX, "database disk image is malformed"), StoreDamagedError),
        (sqlite_error(sqlite3.SQLITE_ERROR, "malformed JSON"), StoreError),
        (psycopg.errors.DiskFull("could not extend file: No space left on device"), StoreFullError),
        (psycopg.errors.CannotConnectNow("the database system is starting up"), StoreUnavailableError),
        (psycopg.errors.UniqueViolation("Key (url)=(http://a.test/malformed) already exists."), StoreError),
        (psycopg.errors.UniqueViolation("Key (url)=(http://a.test/No space left) already exists."), StoreError),
    ],
    ids=lambda value: str(value) if isinstance(value, Exception) else value.__name__,
)
def test_the_code_of_an_error_and_not_its_text_decides(error: Exception, kind: type[StoreError]) -> None:
    assert type(to_store_error(DBAPIError("SELECT 1", {}, error))) is kind
