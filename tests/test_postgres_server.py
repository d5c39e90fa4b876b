"""The PostgreSQL of a program ends with it."""

import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from subprocess import PIPE
from tempfile import TemporaryDirectory

import pytest

ROOT = Path(__file__).parents[1]
DEADLINE_SECONDS = 120.0
PROGRAM = """
import sys
from pathlib import Path
from tests.postgres_server import PostgresServer
server = PostgresServer(Path(sys.argv[1]))
print(server.pid, flush=True)
sys.stdin.read()
server.close()
"""


@pytest.mark.postgres
@pytest.mark.process
@pytest.mark.parametrize("end", [None, signal.SIGTERM, signal.SIGKILL])
def test_the_server_ends_with_its_program(end: signal.Signals | None) -> None:
    # Not in tmp_path: for root the server runs as another user, who loses access to it when another pytest starts.
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="plumbline-postgres-", ignore_cleanup_errors=True))
        command = [sys.executable, "-c", PROGRAM, f"{folder}/postgres"]
        program = stack.enter_context(subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True, cwd=ROOT))
        assert program.stdin and program.stdout
        server_pid = int(program.stdout.readline())
        assert Path(f"/proc/{server_pid}").exists()
        program.stdin.close() if end is None else program.send_signal(end)
        program.wait(DEADLINE_SECONDS)
        deadline = time.monotonic() + DEADLINE_SECONDS
        while Path(f"/proc/{server_pid}").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
    assert not Path(f"/proc/{server_pid}").exists()
