"""Runs `plumb` and kills it (SIGKILL) after a transaction: `python -m tests.faults.kill_at_commit NUMBER ...`.

Transactions are counted from the first one in which term mining saves its candidates.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from sqlalchemy import Connection

from docstore.database import Database
from docstore.terms.lexicons import LexiconTable
from pipeline.cli.main import main


def run_until_commit(number: int) -> None:
    """Run `plumb`, and kill it as soon as transaction `number` is committed."""
    write, replace_candidates, commits = Database.write, LexiconTable.replace_candidates, list[int]()

    @contextmanager
    def counted_write(database: Database) -> Iterator[Connection]:
        with write(database) as connection:
            yield connection
        if commits:
            commits.append(1)
            if len(commits) > number:
                os.kill(os.getpid(), signal.SIGKILL)

    def counted_mining(*arguments: object) -> int:
        commits.append(0)
        return replace_candidates(*arguments)  # type: ignore[arg-type]

    with (
        patch.object(Database, "write", counted_write),
        patch.object(LexiconTable, "replace_candidates", counted_mining),
    ):
        main()


if __name__ == "__main__":
    run_until_commit(int(sys.argv.pop(1)))
