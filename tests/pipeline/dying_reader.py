"""A reader of WARC files that dies, in a module that a process loads in no time."""

import os
from collections.abc import Iterator

from docstore.warc_reader import read_warc
from domain.outcome import Outcome
from domain.page import Page
from pipeline.warc_import.sources import WarcSource


def die_of_the_first(source: WarcSource) -> Iterator[Page | Outcome]:
    """The answers of a file; `a.warc.gz` ends the process."""
    if source.name == "a.warc.gz":
        os._exit(3)
    return read_warc(source, 10_000)
