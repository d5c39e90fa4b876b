"""A reader of WARC files that dies, or that sends much, in a module that a process loads in no time."""

import os
from collections.abc import Iterator
from itertools import count

from docstore.warc_reader import read_warc
from domain.outcome import Outcome, Reason
from domain.page import Page
from pipeline.warc_import.sources import WarcSource


def die_of_the_first(source: WarcSource) -> Iterator[Page | Outcome]:
    """The answers of a file; `a.warc.gz` ends the process."""
    if source.name == "a.warc.gz":
        os._exit(3)
    return read_warc(source, 10_000)


def send_much(source: WarcSource) -> Iterator[Page | Outcome]:
    """Outcomes that are larger than what a pipe holds: of `c.warc.gz` three, of other files without end."""
    numbers = range(3) if source.name == "c.warc.gz" else count()
    return (Outcome(Reason.TOO_LARGE, f"{source.name} {'x' * 1_000_000}") for _ in numbers)
