"""A function for worker processes, which import it by PYTHONPATH."""

import time

from tests.web_fixture import PATIENCE


def hang(*arguments: object) -> None:
    """Do not return in time, whatever the arguments are."""
    time.sleep(2 * PATIENCE)
