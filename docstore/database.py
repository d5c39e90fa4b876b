"""The database connection: opening, transactions, and translation of errors to one-line messages.

Read and write transactions are separate methods because SQLite must take its write lock at the *start* of a writing
transaction. A transaction that starts as a reader and then writes fails immediately if another process wrote meanwhile.
"""

import errno
import hashlib
import math
import sqlite3
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Row,
    Select,
    Table,
    create_engine,
    event,
    func,
    inspect,
    select,
    tuple_,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from docstore.schema import SCHEMA_VERSION, metadata
from docstore.schema.base import store_meta
from docstore.schema.migrations import upgrade_schema
from domain.errors import StoreDamagedError, StoreError, StoreFullError, StoreTooNewError, StoreUnavailableError
from locks.fences import check_commit

BUSY_TIMEOUT_MS = 60_000
CONNECT_SECONDS = 5  # for PostgreSQL to accept a connection
SILENCE_SECONDS = 5.0  # of a statement, before a new connection shows whether the server hangs
IDLE_TRANSACTION_SECONDS = 300  # after which the server ends a session: a suspended machine would keep its locks
LONG_SILENCE_SECONDS = 60.0  # between later ones during a long statement
SCHEMA_ADVISORY_LOCK_ID = 0x506C756D  # serializes processes that create or upgrade the tables of a PostgreSQL store


class Database:
    """Connections to the database of one store.

    Args:
        url: SQLAlchemy URL, `sqlite:///FILE` or `postgresql+psycopg://...`.

    Attributes:
        store_id: Unique id of the store, 32 hex digits. Created with the store; backups and restores preserve it.
        is_new: True if this call created the store.

    Raises:
        StoreError: The database cannot be opened.
        StoreTooNewError: A newer program version created the store.
    """

    def __init__(self, url: str) -> None:
        self._engine = open_engine(url)
        self._joined = threading.local()
        try:
            self._initialize_schema()
        except BaseException:
            self.close()
            raise

    def _initialize_schema(self) -> None:
        """Create or upgrade the tables unless the store says that it has those of this program."""
        with self.read() as connection:
            meta_values = read_store_meta(connection)
        stored_schema = (meta_values.get("schema_version"), meta_values.get("tables"))
        if stored_schema == (str(SCHEMA_VERSION), tables_digest()) and "store_id" in meta_values:
            self.is_new, self.store_id = False, meta_values["store_id"]
            return
        with self.write() as connection:
            if connection.dialect.name == "postgresql":  # SQLite has a single writer
                connection.execute(select(func.pg_advisory_xact_lock(SCHEMA_ADVISORY_LOCK_ID)))
            metadata.create_all(connection)
            self.is_new = ensure_schema_version(connection, self)
            self.insert_missing(connection, store_meta, [{"key": "store_id", "value": uuid.uuid4().hex}])
            self.store_id = str(connection.scalar(select(store_meta.c.value).where(store_meta.c.key == "store_id")))
            self.upsert(connection, store_meta, [{"key": "tables", "value": tables_digest()}])

    @property
    def is_shared(self) -> bool:
        """True if other machines can open the store too (PostgreSQL)."""
        return self._engine.dialect.name == "postgresql"

    @property
    def url(self) -> str:
        """The SQLAlchemy URL of the database, including the password."""
        return self._engine.url.render_as_string(hide_password=False)

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Open a write transaction that all reads and writes of this thread join until it ends."""
        with self.write() as connection:
            self._joined.connection = connection
            try:
                yield connection
            finally:
                del self._joined.connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Open a read-only transaction for long reports.

        All its queries see the same state, and it does not block writers.
        """
        with translate_errors(), self._engine.connect() as connection:
            if self.is_shared:  # SQLite readers always have snapshot isolation
                connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            with connection.begin():
                yield connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a read transaction with a consistent view. Use `write` for any change."""
        if (joined := getattr(self._joined, "connection", None)) is not None:
            yield joined
            return
        with translate_errors(), self._engine.connect() as connection, connection.begin():
            yield connection

    def iter_batches(
        self, query: Select[Any], key: ColumnElement[int], size: int, after: int = 0
    ) -> Iterator[Sequence[Row[Any]]]:
        """Yield the rows of a query in batches, ordered by a unique column.

        No transaction is open between two batches, so the caller can write.

        Args:
            query: Query that selects `key`, without order and limit.
            key: The unique column.
            size: Maximum number of rows of a batch.
            after: Only rows with a larger key.
        """
        return self.iter_batches_by_keys(query, (key,), size, (after,))

    def iter_batches_by_keys(
        self, query: Select[Any], keys: Sequence[ColumnElement[Any]], size: int, after: Sequence[str | int]
    ) -> Iterator[Sequence[Row[Any]]]:
        """Yield the rows of a query in batches, ordered by columns that are unique together. See `iter_batches`."""
        row_value = tuple_(*keys) if len(keys) > 1 else keys[0]
        while True:
            is_later = row_value > (tuple(after) if len(keys) > 1 else after[0])
            with self.read() as connection:
                rows = connection.execute(query.where(is_later).order_by(*keys).limit(size)).all()
            if not rows:
                return
            yield rows
            after = [getattr(rows[-1], str(key.key)) for key in keys]

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Open a write transaction.

        It commits completely at the end of the block, or rolls back if the block raises. Raises LeaseLostError instead
        of committing if the work of this context has lost its lease (locks/fences.py).
        """
        if (joined := getattr(self._joined, "connection", None)) is not None:
            yield joined
            return
        with translate_errors(), self._engine.connect() as connection:
            connection.execution_options(plumb_write=True)
            with connection.begin():
                yield connection
                check_commit(connection)

    def insert_missing(self, connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> int:
        """Insert the rows that violate no unique key. Returns their number."""
        if not rows:
            return 0
        statement = dialect_insert(connection.dialect.name, table).on_conflict_do_nothing()
        return int(connection.execute(statement, list(rows), execution_options={"preserve_rowcount": True}).rowcount)

    def upsert(
        self, connection: Connection, table: Table, rows: Sequence[dict[str, Any]], update_columns: Sequence[str] = ()
    ) -> None:
        """Insert `rows`. If a primary key exists, update its `update_columns` instead; all columns if empty."""
        if not rows:
            return
        names = tuple(update_columns) or tuple(name for name in rows[0] if not table.c[name].primary_key)
        connection.execute(_upsert_statement(connection.dialect.name, table, names), list(rows))

    def close(self) -> None:
        """Close all connections to the database."""
        self._engine.dispose()


class StorePart:
    """A group of tables or an operation on them: an attribute of `docstore.store.Store`.

    Args:
        database: Database of the store.
        clock: Returns the current time in epoch seconds.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock


@lru_cache(maxsize=256)
def _upsert_statement(dialect: str, table: Table, names: tuple[str, ...]) -> Any:
    statement = dialect_insert(dialect, table)
    updated_values = {name: statement.excluded[name] for name in names}
    return statement.on_conflict_do_update(index_elements=list(table.primary_key.columns), set_=updated_values)


def dialect_insert(dialect: str, table: Table) -> Any:
    """Return an INSERT construct with ON CONFLICT support for the database `dialect`."""
    if dialect == "postgresql":
        from sqlalchemy.dialects import postgresql  # the import takes 0.1 s

        return postgresql.insert(table)
    return sqlite.insert(table)


def contains_text(column: ColumnElement[str], text: str) -> ColumnElement[bool]:
    """SQL condition: a column contains a text. The case of the letters a to z does not matter, as in SQLite."""
    return func.lower(column).contains(text.encode().lower().decode(), autoescape=True)


def sqlite_url(file: Path) -> str:
    """Return the SQLAlchemy URL of a database file. Its path may contain characters with a meaning in URLs."""
    return URL.create("sqlite", database=str(file)).render_as_string()


def open_engine(url: str) -> Engine:
    """Create the engine for `url`. SQLite gets WAL mode and explicit transactions.

    Raises:
        StoreError: The URL is invalid or its driver is missing.
    """
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
    else:
        event.listen(engine, "do_connect", create_watched_connect())
    return engine


def create_watched_connect() -> Callable[..., Any]:
    """Return a function that connects to PostgreSQL for SQLAlchemy. No statement waits for a server that hangs.

    A server hangs if it neither continues a statement nor accepts a new connection in time. Then the statement fails.
    Until the server accepts a connection, one thread at a time tries it, and all others fail at once.
    """
    import psycopg  # an extra

    lock, retry_at, message = threading.RLock(), 0.0, "the database server does not respond"

    def connect(_: object, __: object, arguments: Sequence[Any], parameters: dict[str, Any]) -> Any:
        nonlocal retry_at
        with lock:
            if time.monotonic() < retry_at:
                raise psycopg.OperationalError(message)
            retry_at = retry_at and time.monotonic() + 2 * CONNECT_SECONDS
        try:
            connection = WatchedConnection.connect(*arguments, **{"connect_timeout": CONNECT_SECONDS, **parameters})
        except psycopg.errors.ConnectionTimeout:
            retry_at = time.monotonic() + CONNECT_SECONDS
            raise
        connection.parameters, retry_at = (arguments, parameters), 0.0
        connection.execute(f"SET idle_in_transaction_session_timeout = '{IDLE_TRANSACTION_SECONDS}s'")
        connection.commit()
        return connection

    class WatchedConnection(psycopg.Connection[Any]):
        parameters: Any

        def wait(self, steps: Any, *arguments: Any, **options: Any) -> Any:  # type: ignore[override]
            return super().wait(self.watch(steps), *arguments, **options)

        def watch(self, steps: Any) -> Any:
            is_ready, check_at = None, time.monotonic() + SILENCE_SECONDS
            while True:
                try:
                    is_ready = yield steps.send(is_ready)
                except StopIteration as end:
                    return end.value
                if is_ready:
                    check_at = time.monotonic() + SILENCE_SECONDS
                elif time.monotonic() > check_at:
                    self.require_server()
                    check_at = time.monotonic() + LONG_SILENCE_SECONDS

        def require_server(self) -> None:
            with lock:  # one thread finds out for all
                try:
                    connect(None, None, *self.parameters).close()
                except psycopg.OperationalError:
                    if retry_at:  # otherwise it responds, with an error
                        self.pgconn.finish()
                        raise

    return connect


def configure_sqlite_connection(connection: sqlite3.Connection, _record: object) -> None:
    """Set the pragmas of a new connection.

    In WAL mode readers continue during a write. With `synchronous=NORMAL` a commit survives kill -9 without its own
    fsync.
    """
    connection.isolation_level = None  # the driver must not start transactions: `begin_sqlite_transaction` does
    for pragma in (f"busy_timeout={BUSY_TIMEOUT_MS}", "journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")
    connection.create_function("floor", 1, math.floor, deterministic=True)  # not in every build of SQLite


def begin_sqlite_transaction(connection: Connection) -> None:
    """Begin a transaction, with the write lock if it is a write transaction (see the module docstring)."""
    is_write = connection.get_execution_options().get("plumb_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_write else "BEGIN")


def read_store_meta(connection: Connection) -> dict[str, str]:
    """Return the single values of a store by key; empty if it has no tables yet."""
    if not inspect(connection).has_table(store_meta.name):
        return {}
    return {row.key: row.value for row in connection.execute(select(store_meta))}


@cache
def tables_digest() -> str:
    """Return a digest of the names of all tables. New tables do not change the schema version."""
    return hashlib.sha256(" ".join(sorted(metadata.tables)).encode()).hexdigest()[:16]


def ensure_schema_version(connection: Connection, database: Database) -> bool:
    """Write the schema version into a new store, or upgrade an older store. Returns True for a new store.

    Raises:
        StoreError: The stored version is not a number.
        StoreTooNewError: A newer program version created the store.
    """
    row = {"key": "schema_version", "value": str(SCHEMA_VERSION)}
    is_new = database.insert_missing(connection, store_meta, [row]) == 1
    stored_version = connection.scalar(select(store_meta.c.value).where(store_meta.c.key == "schema_version"))
    if not str(stored_version).isdecimal():
        raise StoreError(f"the store is damaged (schema version {stored_version!r}): restore it from a backup")
    if int(str(stored_version)) > SCHEMA_VERSION:
        raise StoreTooNewError(
            f"this store has schema version {stored_version}, this program supports {SCHEMA_VERSION}: "
            "update the program, or point store.url at another store"
        )
    if int(str(stored_version)) < SCHEMA_VERSION:
        upgrade_schema(connection, int(str(stored_version)))
        database.upsert(connection, store_meta, [row])
    return is_new


@contextmanager
def translate_errors() -> Iterator[None]:
    """Convert database and file system errors to a StoreError: one line with the cause and the next step."""
    try:
        yield
    except (SQLAlchemyError, OSError) as error:
        raise to_store_error(error) from error


# SQLite reports a full disk separately. All other write errors of the system share these codes.
SQLITE_WRITE_ERRORS = (sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE)
CLOSED_SQLITE_CODES = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)  # READONLY: also of a damaged header
CLOSED_SQLSTATE_CLASSES = ("08", "53", "55", "57")  # no connection, too many of them, in use, shutting down


def to_store_error(error: SQLAlchemyError | sqlite3.Error | OSError) -> StoreError:
    """Convert an error of SQLAlchemy, SQLite or a file by its code. Its text can quote what is stored."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    text = " ".join(str(cause).split()).rstrip(".")
    sqlite_code, file_code = getattr(cause, "sqlite_errorcode", 0), getattr(cause, "errno", 0)
    primary_code, sqlstate = sqlite_code & 0xFF, getattr(cause, "sqlstate", "")
    if primary_code == sqlite3.SQLITE_FULL or file_code == errno.ENOSPC or sqlstate == "53100":
        return StoreFullError(
            "The disk that holds the store is full: free some space, then run again; nothing was lost"
        )
    if sqlite_code in SQLITE_WRITE_ERRORS or file_code in (errno.EDQUOT, errno.EFBIG):
        return StoreFullError(
            "The files of the store may not grow ({detail}): check the free space, the disk quota, the file size "
            "limit (ulimit -f) and the health of the disk, then run again; nothing was lost",
            detail=getattr(cause, "strerror", text),
        )
    if primary_code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreUnavailableError("The store is locked by another program: close that program, then run again")
    if primary_code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return StoreDamagedError(
            "The store is damaged ({detail}): stop “plumb serve”, then run “plumb check --repair”", detail=text
        )
    # psycopg has no SQLSTATE if the server did not answer.
    is_closed = primary_code in CLOSED_SQLITE_CODES or sqlstate is None or sqlstate[:2] in CLOSED_SQLSTATE_CLASSES
    return (StoreUnavailableError if is_closed else StoreError)(
        "The store failed ({detail}): check that it exists and its folder is writable, then run again", detail=text
    )
