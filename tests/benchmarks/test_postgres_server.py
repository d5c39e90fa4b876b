"""The PostgreSQL of a benchmark ends with it."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DEADLINE_SECONDS = 120.0
PROGRAM = """
import sys
from pathlib import Path
from benchmarks.postgres_server import PostgresServer
server = PostgresServer(Path(sys.argv[1]))
print(server.pid, flush=True)
sys.stdin.read()
server.close()
"""


@pytest.mark.postgres
@pytest.mark.process
@pytest.mark.parametrize("end", [None, signal.SIGTERM, signal.SIGKILL])
def test_the_server_ends_with_its_benchmark(tmp_path: Path, end: signal.Signals | None) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "postgres")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as program:
        assert program.stdin and program.stdout
        server_pid = int(program.stdout.readline())
        assert Path(f"/proc/{server_pid}").exists()
        program.stdin.close() if end is None else program.send_signal(end)
        program.wait(DEADLINE_SECONDS)
    deadline = time.monotonic() + DEADLINE_SECONDS
    while Path(f"/proc/{server_pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{server_pid}").exists()
