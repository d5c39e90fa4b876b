"""The connection to the store: opening, transactions, and errors said in one line.

Reads and writes are told apart because SQLite must take its write lock at the *start* of a writing transaction:
one that starts as a reader and then writes fails at once when another process wrote in between.
"""

import errno
import sqlite3
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Table, create_engine, event, func, select
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from docstore.errors import StoreError, StoreFullError, StoreTooNewError
from docstore.integrity import page_checksums
from docstore.schema import SCHEMA_VERSION, metadata
from docstore.schema.base import store_meta
from docstore.schema.migrations import upgrade_schema

BUSY_TIMEOUT_MS = 60_000
SCHEMA_ADVISORY_LOCK_ID = 0x506C756D  # two programs that open a store at once must not both make or change its tables

CommitCheck = Callable[[Connection], None]
COMMIT_CHECKS: ContextVar[tuple[CommitCheck, ...]] = ContextVar("guards", default=())


@contextmanager
def commit_check(check: CommitCheck) -> Iterator[None]:
    """Have `check` asked at the end of every writing transaction of this thread; what it raises takes all back."""
    token = COMMIT_CHECKS.set((*COMMIT_CHECKS.get(), check))
    try:
        yield
    finally:
        COMMIT_CHECKS.reset(token)


class Database:
    """One store. `url` is a SQLAlchemy URL: `sqlite:///FILE` or `postgresql+psycopg://...`.

    `store_id` tells it from every other one: made with it, copied and restored with it (32 hex digits).
    Raises StoreError when it cannot be opened, StoreTooNewError when a newer program made it.
    """

    def __init__(self, url: str) -> None:
        self._engine = open_engine(url)
        self.sqlite_path = sqlite_path_from_engine(self._engine)
        if self.sqlite_path is not None:
            page_checksums.register_open(self.sqlite_path)
        try:
            self._initialize_schema()
        except BaseException:
            self.close()
            raise

    def _initialize_schema(self) -> None:
        with self.write() as connection:
            if connection.dialect.name == "postgresql":  # SQLite's writers wait for each other anyway
                connection.execute(select(func.pg_advisory_xact_lock(SCHEMA_ADVISORY_LOCK_ID)))
            metadata.create_all(connection)
            self.is_new = ensure_schema_version(connection, self)
            self.store_id = ensure_store_id(connection, self)

    @property
    def is_shared(self) -> bool:
        """May other machines have it open as well?"""
        return self._engine.dialect.name == "postgresql"

    @property
    def url(self) -> str:
        """The URL that it was opened by, with its password."""
        return self._engine.url.render_as_string(hide_password=False)

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """What a long report reads: all its questions see one moment, and hold up nobody who writes."""
        with translate_errors(), self._engine.connect() as connection:
            if self.is_shared:  # SQLite's readers have it so anyway
                connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            with connection.begin():
                yield connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A consistent view; nothing can be written through it on SQLite without a later refusal."""
        with translate_errors(), self._engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """One transaction: all of it is kept, or nothing."""
        with translate_errors(), self._engine.connect() as connection:
            connection.execution_options(plumb_write=True)
            with connection.begin():
                changes_before = total_changes(connection)
                yield connection
                for check in COMMIT_CHECKS.get():
                    check(connection)
                is_changed = self.sqlite_path is not None and total_changes(connection) != changes_before
                self._invalidate_checksums(is_changed)
        self._invalidate_checksums(is_changed)  # again: somebody may have made them before the commit

    def _invalidate_checksums(self, is_changed: bool) -> None:
        if is_changed and self.sqlite_path is not None:
            page_checksums.delete_checksums(self.sqlite_path)

    def upsert(
        self, connection: Connection, table: Table, rows: Sequence[dict[str, Any]], update_columns: Sequence[str] = ()
    ) -> int:
        """Insert `rows`; where the primary key exists, set the columns `update_columns` instead (none: leave the row).

        Returns how many rows were inserted or updated.
        """
        if not rows:
            return 0
        statement = dialect_insert(connection, table)
        if update_columns:
            keys = list(table.primary_key.columns)
            updated_values = {name: statement.excluded[name] for name in update_columns}
            statement = statement.on_conflict_do_update(index_elements=keys, set_=updated_values)
        else:
            statement = statement.on_conflict_do_nothing()
        options = {"preserve_rowcount": True}
        return connection.execute(statement, list(rows), execution_options=options).rowcount

    def close(self) -> None:
        """Give all connections back."""
        self._engine.dispose()
        if self.sqlite_path is not None:
            page_checksums.register_close(self.sqlite_path)
            self.sqlite_path = None


def dialect_insert(connection: Connection, table: Table) -> Any:
    """An INSERT that can be told what to do where the key exists; each database has its own."""
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects import postgresql  # loading it takes .1 s

        return postgresql.insert(table)
    return sqlite.insert(table)


def open_engine(url: str) -> Engine:
    """An engine for `url`, with SQLite set to WAL and explicit transactions."""
    try:
        parsed_url = make_url(url)
        engine = create_engine(parsed_url, pool_pre_ping=parsed_url.get_backend_name() != "sqlite")
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError) as error:
        raise StoreError(
            f"store.url is not usable ({error}); use sqlite:///FILE or postgresql+psycopg://..."
        ) from error
    if parsed_url.get_backend_name() == "sqlite":
        event.listen(engine, "connect", configure_sqlite_connection)
        event.listen(engine, "begin", begin_sqlite_transaction)
    return engine


def sqlite_path_from_engine(engine: Engine) -> Path | None:
    """The file of a SQLite store; None for another database, and for one in memory."""
    name = engine.url.database
    return Path(name) if engine.url.get_backend_name() == "sqlite" and name and name != ":memory:" else None


def total_changes(connection: Connection) -> int:
    """Rows that a connection has changed since it was opened; 0 where there are no files to look after."""
    driver_connection = connection.connection.driver_connection
    return driver_connection.total_changes if isinstance(driver_connection, sqlite3.Connection) else 0


def configure_sqlite_connection(connection: sqlite3.Connection, _record: object) -> None:
    """WAL lets readers go on while one writes; a commit then survives kill -9 without an fsync of its own."""
    connection.isolation_level = None  # transactions are begun by `begin_sqlite_transaction`, not guessed by the driver
    for pragma in (
        f"busy_timeout={BUSY_TIMEOUT_MS}",
        "journal_mode=WAL",
        "synchronous=NORMAL",
        "foreign_keys=ON",
    ):
        connection.execute(f"PRAGMA {pragma}")


def begin_sqlite_transaction(connection: Connection) -> None:
    """Take the write lock first where something is to be written (see the module's docstring)."""
    is_write = connection.get_execution_options().get("plumb_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_write else "BEGIN")


def ensure_schema_version(connection: Connection, database: Database) -> bool:
    """Stamp a fresh store, bring an older one up to date, refuse one that a newer program made. Is it a fresh one?"""
    row = {"key": "schema_version", "value": str(SCHEMA_VERSION)}
    is_new = database.upsert(connection, store_meta, [row]) == 1
    stored_version = connection.scalar(select(store_meta.c.value).where(store_meta.c.key == "schema_version"))
    if not str(stored_version).isdecimal():
        raise StoreError(f"the store is damaged (schema version {stored_version!r}): restore it from a backup")
    if int(str(stored_version)) > SCHEMA_VERSION:
        raise StoreTooNewError(
            f"this store has schema version {stored_version}, this program knows {SCHEMA_VERSION}: "
            "update the program, or point store.url at another store"
        )
    if int(str(stored_version)) < SCHEMA_VERSION:
        upgrade_schema(connection, int(str(stored_version)))
        database.upsert(connection, store_meta, [row], update_columns=("value",))
    return is_new


def ensure_store_id(connection: Connection, database: Database) -> str:
    """The id of the store, made where it has none."""
    database.upsert(connection, store_meta, [{"key": "store_id", "value": uuid.uuid4().hex}])
    return str(connection.scalar(select(store_meta.c.value).where(store_meta.c.key == "store_id")))


@contextmanager
def translate_errors() -> Iterator[None]:
    """Turn the database's errors into one line that says what to do."""
    try:
        yield
    except SQLAlchemyError as error:
        raise to_store_error(error) from error
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise StoreFullError(DISK_FULL_MESSAGE) from error
        if error.errno in FILE_LIMIT_ERRNOS:
            raise file_limit_error(str(error.strerror)) from error
        raise StoreError(f"the store failed ({error}): see that its folder can be written, then run again") from error


DISK_FULL_MESSAGE = (
    "the disk that holds the store is full: free some space, then run the same command again; nothing was lost"
)
FILE_LIMIT_ERRNOS = (errno.EDQUOT, errno.EFBIG)
# Of all reasons why the system may refuse a write, SQLite tells a full disk apart, and no other.
SQLITE_WRITE_ERROR_NAMES = ("SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHMSIZE")


def file_limit_error(text: str) -> StoreFullError:
    """The error for a file of the store that the system does not let grow; `text` is what the system calls it."""
    return StoreFullError(
        f"the store's files may not grow ({text}): see that neither a quota nor a limit on the size of files "
        "(ulimit -f) stops them and that the disk is sound, then run the same command again; nothing was lost"
    )


def to_store_error(error: SQLAlchemyError) -> StoreError:
    """The project's error for one of SQLAlchemy's."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    text = " ".join(str(cause).split()).rstrip(".")
    if "disk is full" in text or "No space left" in text:
        return StoreFullError(DISK_FULL_MESSAGE)
    if getattr(cause, "sqlite_errorname", "") in SQLITE_WRITE_ERROR_NAMES:
        return file_limit_error(text)
    if "database is locked" in text:
        return StoreError("the store is locked by another program: close what holds it open, then try again")
    if "not a database" in text or "malformed" in text:
        return StoreError(f"the store is damaged ({text}): restore it from a backup, or start with a fresh data_dir")
    return StoreError(f"the store failed ({text}): see that it is there and can be written, then run again")
