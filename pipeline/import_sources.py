"""Where WARC files are that somebody else made, and reading several of them side by side.

    a file, a folder                     every .warc, .warc.gz, .arc, .arc.gz below it
    s3://bucket/prefix, https://...      a bucket, or one file there (whatever fsspec knows)
    warc.paths, warc.paths.gz            a list as Common Crawl has it, a path a line, below `base`

Each file is read in a process of its own, which makes pages of it; one process, the caller's, keeps them. What stands
between them is bounded.
"""

import gzip
import multiprocessing
import os
import queue
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from multiprocessing.process import BaseProcess
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from docstore.errors import SettingsError, StoreError
from docstore.model import Outcome, Page, Reason

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
    processes = min(processes, len(sources))
    if processes < 2:
        for source in sources:
            yield from _answers(source, read)
        return
    readers = _Readers(read, processes)
    try:
        for number in range(processes):
            readers.start(sources[number::processes])
        while readers.running:
            yield from readers.next()
    finally:
        for process, _ in readers.running:
            process.kill()


class _Readers:
    """Processes that read files, and the files that each has before it, the one it reads first."""

    def __init__(self, read: Read, processes: int) -> None:
        self.running: list[tuple[BaseProcess, list[WarcSource]]] = []
        self._read = read
        self._context = multiprocessing.get_context("spawn")
        self._handed: Any = self._context.Queue(IN_FLIGHT * processes)

    def start(self, sources: Sequence[WarcSource]) -> None:
        """Let a process read these."""
        arguments = (self._handed, list(sources), self._read)
        process = self._context.Process(target=_read_into, args=arguments, daemon=True)
        process.start()
        self.running.append((process, list(sources)))

    def next(self) -> Iterator[Page | Outcome | Failed]:
        """What one of them says next; of one that died, which file that was at."""
        try:
            said = self._handed.get(timeout=POLL_SECONDS)
        except queue.Empty:
            yield from self._died()
            return
        if isinstance(said, int):
            self._done(said)
        else:
            yield said

    def _done(self, pid: int) -> None:
        """A process has come to the end of a file."""
        [(process, sources)] = [one for one in self.running if one[0].pid == pid]
        sources.pop(0)
        if not sources:
            process.join()
            self.running.remove((process, sources))

    def _died(self) -> Iterator[Failed]:
        for process, sources in [one for one in self.running if one[0].exitcode]:
            self.running.remove((process, sources))
            yield Failed(sources[0], f"{sources[0]}: its reader ended with {process.exitcode}; import it again")
            if sources[1:]:
                self.start(sources[1:])


def _read_into(handed: Any, sources: Sequence[WarcSource], read: Read) -> None:
    """In a process of its own: hand over the answers, after each file the number of the process."""
    for source in sources:
        for answer in _answers(source, read):
            handed.put(answer)
        handed.put(os.getpid())


def _answers(source: WarcSource, read: Read) -> Iterator[Page | Outcome | Failed]:
    try:
        yield from read(source)
    except StoreError as error:
        yield Failed(source, str(error))
    except Exception as error:
        if "://" not in source.place:
            raise
        yield Failed(source, str(_fault(source.place, error)))


@dataclass(frozen=True)
class ImportFilter:
    """Which URLs are taken: those that match one of the patterns `urls` (`*`, `?`), of one of the `domains`. Without
    patterns or domains all."""

    urls: Sequence[str] = ()
    domains: Sequence[str] = ()

    def takes(self, url: str) -> bool:
        """Is this one taken?"""
        return (not self.urls or any(fnmatchcase(url, one) for one in self.urls)) and self._is_of_domain(url)

    def _is_of_domain(self, url: str) -> bool:
        try:
            host = (urlsplit(url).hostname or "") if self.domains else ""
        except ValueError:
            return False
        return not self.domains or any(f".{host}".endswith(f".{one.lower().strip('.')}") for one in self.domains)


ALL_URLS = ImportFilter()


def answers_in(source: WarcSource, cap: int, taken: ImportFilter) -> Iterator[Page | Outcome]:
    """The answers of a file that are taken; of the others an outcome."""
    from docstore.warc_reading import read_warc

    return read_warc(source, cap, decoded, taken.takes)


def decoded(body: bytes, coding: str, cap: int) -> bytes | Outcome:
    """A body without its content codings, or why there is none. Many tools undo them and keep the header."""
    from crawler.http.content_encoding import CodingError, TooLargeError, undo

    try:
        return undo(body, coding, cap)
    except TooLargeError as error:
        return Outcome(Reason.TOO_LARGE, str(error))
    except CodingError as error:
        return body if body.lstrip().startswith(b"<") else Outcome(Reason.BAD_RESPONSE, str(error))
