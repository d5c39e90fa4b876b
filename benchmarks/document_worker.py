"""Runs one reader over all files in a separate interpreter: `python -m benchmarks.document_worker READER JOBS ANSWERS`.

Each file is read by a fork of the interpreter that has loaded the reader, under limits. A crash or hang costs only one
file, and imports are not counted. Uses only the standard library, because it also runs in the peers' environment.
"""

import json
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any

from benchmarks.document_systems import READERS, Read

FILE_SECONDS = 60
FILE_MEGABYTES = 1_024  # that a fork may take beyond what it begins with
STATUS = Path("/proc/self/status")


def main(name: str, jobs: Path, answers: Path) -> None:
    """Read every file once and write the answers. Prints a line for each file."""
    read = READERS[name].make()
    said = []
    for job in json.loads(jobs.read_text(encoding="utf-8")):
        said.append({"id": job["id"], **in_child(read, Path(job["file"]))})
        print(job["id"], flush=True)
    answers.write_text(json.dumps(said), encoding="utf-8")


def in_child(read: Read, path: Path) -> dict[str, Any]:
    """Read one file in a child process. Returns the answer with `cpu` (s) and `rss` (MB); `died` if it was killed or
    hung.
    """
    receive, send = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(receive)
        answer_in_child(read, path, send)
    os.close(send)
    with os.fdopen(receive, "rb") as pipe:
        raw = pipe.read()
    _, status, usage = os.wait4(pid, 0)
    try:
        said: dict[str, Any] = json.loads(raw)
    except ValueError:
        said = {"error": f"died by signal {status & 127}", "died": True}
    return said | {"cpu": usage.ru_utime + usage.ru_stime, "rss": usage.ru_maxrss // 1024}


def answer_in_child(read: Read, path: Path, send: int) -> None:
    """Read one file under limits, write the answer, exit."""
    signal.alarm(FILE_SECONDS)
    limit_memory()
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115 (the process ends below)
    try:
        said: dict[str, Any] = {"error": None, **read(path.read_bytes(), path.name)}
    except MemoryError:
        said = {"error": "out of memory", "died": True}
    except BaseException as error:  # noqa: BLE001 (a reader may raise what it likes)
        said = {"error": f"{type(error).__name__}: {error}"[:200]}
    with os.fdopen(send, "wb") as pipe:
        pipe.write(json.dumps(said, default=str).encode("utf-8", "surrogatepass"))
    os._exit(0)


def limit_memory() -> None:
    """Limit memory to a fixed amount above the current size, like the workers of the pipeline."""
    now = 0
    if STATUS.exists():
        fields = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
        now = int(fields["VmData"].split()[0]) * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (now + FILE_MEGABYTES * 1024 * 1024,) * 2)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
