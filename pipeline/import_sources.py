"""Where WARC files are that somebody else made, and reading several of them side by side.

    a file, a folder                     every .warc, .warc.gz, .arc, .arc.gz below it
    s3://bucket/prefix, https://...      a bucket, or one file there (whatever fsspec knows)
    warc.paths, warc.paths.gz            a list as Common Crawl has it, a path a line, below `base`

Each file is read in a process of its own, which makes pages of it; one process, the caller's, keeps them. What stands
between them is bounded.
"""

import gzip
import multiprocessing
import queue
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from docstore.errors import SettingsError, StoreError
from docstore.model import Outcome, Page

COMMON_CRAWL = "https://data.commoncrawl.org/"
WARCS = (".warc", ".warc.gz", ".arc", ".arc.gz")
LISTS = (".paths", ".paths.gz")
TEXTS = {".wet": "extracted text, without pages", ".wat": "what was made of pages, without them"}
IN_FLIGHT = 8  # answers for each process that were read and are not kept yet: each at most as large as the caps allow
POLL_SECONDS = 1.0

Read = Callable[["WarcSource"], Iterator[Page | Outcome]]


@dataclass(frozen=True)
class WarcSource:
    """A WARC file here, or at a URL that fsspec knows."""

    place: str

    @property
    def name(self) -> str:
        """Its name without folders."""
        return PurePosixPath(self.place).name

    def open(self, mode: str = "rb") -> BinaryIO:
        """Open it. OSError where it cannot be."""
        if "://" not in self.place:
            return Path(self.place).open(mode)  # type: ignore[return-value]
        opened: BinaryIO = remote(self.place).open()
        return opened

    def __str__(self) -> str:
        return self.place


def sources_of(places: Sequence[str], base: str = COMMON_CRAWL) -> list[WarcSource]:
    """The WARC files that `places` name; lines of lists are below `base`. SettingsError for what holds no pages,
    StoreError where there is nothing."""
    return [source for place in places for source in _sources_at(place, base)]


def _sources_at(place: str, base: str) -> list[WarcSource]:
    refuse_text(place)
    if place.endswith(LISTS):
        return [WarcSource(f"{base.rstrip('/')}/{line.lstrip('/')}") for line in _lines_of(place)]
    if "://" in place:
        found = [place] if place.endswith(WARCS) else _below(place)
    else:
        folder = Path(place)
        found = sorted(map(str, folder.rglob("*"))) if folder.is_dir() else [place]
        found = [one for one in found if one.endswith(WARCS)] if folder.is_dir() else found
    if not found:
        raise StoreError(f"{place} has no WARC files: name a file, a folder, a bucket, or a list (warc.paths.gz)")
    return [WarcSource(one) for one in found]


def refuse_text(place: str) -> None:
    """Raise SettingsError for a file that was made of pages and holds none."""
    for ending, what in TEXTS.items():
        if place.endswith((ending, f"{ending}.gz", f"{ending}.paths", f"{ending}.paths.gz", f"{ending[1:]}.paths.gz")):
            raise SettingsError(
                f"{place} holds {what}, of which nothing can be extracted: import the .warc.gz of the same crawl"
            )


def _lines_of(place: str) -> list[str]:
    try:
        with WarcSource(place).open() as file:
            data = file.read()
        text = (gzip.decompress(data) if place.endswith(".gz") else data).decode()
    except (OSError, EOFError, ValueError) as error:
        raise StoreError(f"cannot read {place}: {error}") from error
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in lines:
        refuse_text(line)
    return lines


def _below(place: str) -> list[str]:
    import fsspec

    try:
        files, root = fsspec.core.url_to_fs(place)
        return [str(files.unstrip_protocol(one)) for one in sorted(files.find(root)) if one.endswith(WARCS)]
    except Exception as error:
        raise _fault(place, error) from error


def remote(place: str) -> Any:
    """A file at a URL, to be opened. StoreError where that cannot be."""
    try:
        import fsspec

        return fsspec.open(place, "rb")
    except Exception as error:
        raise _fault(place, error) from error


def _fault(place: str, error: Exception) -> StoreError:
    if isinstance(error, ImportError):
        return StoreError(f"{place} needs more packages: pip install 'plumbline[cluster]'")
    why = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return StoreError(f"cannot read {place}: {why}; see that it is there, and the keys in the environment")


@dataclass(frozen=True)
class Failed:
    """A file that could not be read to its end, and why; what came before was handed out."""

    source: WarcSource
    why: str


def read_all(sources: Sequence[WarcSource], read: Read, processes: int) -> Iterator[Page | Outcome | Failed]:
    """The answers of all files, of each in its order. With one file or one process nothing else is started."""
    if processes < 2 or len(sources) < 2:
        for source in sources:
            yield from _answers(source, read)
        return
    context = multiprocessing.get_context("spawn")
    handed: Any = context.Queue(IN_FLIGHT * processes)
    waiting, running = list(sources)[::-1], list[BaseProcess]()
    try:
        while waiting or running:
            while waiting and len(running) < processes:
                source = waiting.pop()
                begun = context.Process(target=_read_into, args=(handed, source, read), name=source.place, daemon=True)
                begun.start()
                running.append(begun)
            yield from _handed(handed, running)
    finally:
        for process in running:
            process.kill()


def _handed(handed: Any, running: list[BaseProcess]) -> Iterator[Page | Outcome | Failed]:
    """What comes until a process has ended; that is taken out."""
    while True:
        try:
            said = handed.get(timeout=POLL_SECONDS)
        except queue.Empty:
            died = [process for process in running if not process.is_alive() and process.exitcode]
            for process in died:
                running.remove(process)
                yield Failed(WarcSource(process.name), f"its reader ended with {process.exitcode}")
            if died:
                return
            continue
        if isinstance(said, int):
            [process] = [one for one in running if one.pid == said]
            process.join()
            running.remove(process)
            return
        yield said


def _read_into(handed: Any, source: WarcSource, read: Read) -> None:
    """In a process of its own: hand over the answers, and at the end the number of the process."""
    process = multiprocessing.current_process()
    for answer in _answers(source, read):
        handed.put(answer)
    handed.put(process.pid)


def _answers(source: WarcSource, read: Read) -> Iterator[Page | Outcome | Failed]:
    try:
        yield from read(source)
    except StoreError as error:
        yield Failed(source, str(error))
    except Exception as error:
        if "://" not in source.place:
            raise
        yield Failed(source, str(_fault(source.place, error)))
