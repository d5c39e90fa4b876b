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

COMMON_CRAWL_URL = "https://data.commoncrawl.org/"
WARC_SUFFIXES = (".warc", ".warc.gz", ".arc", ".arc.gz")
PATH_LIST_SUFFIXES = (".paths", ".paths.gz")
UNSUPPORTED_FORMATS = {".wet": "extracted text, without pages", ".wat": "what was made of pages, without them"}
MAX_QUEUED_PER_PROCESS = (
    8  # answers for each process that were read and are not kept yet: each at most as large as the caps allow
)
POLL_SECONDS = 1.0

ReadSource = Callable[["WarcSource"], Iterator[Page | Outcome]]


@dataclass(frozen=True)
class WarcSource:
    """A WARC file here, or at a URL that fsspec knows."""

    location: str

    @property
    def name(self) -> str:
        """Its name without folders."""
        return PurePosixPath(self.location).name

    def open(self, mode: str = "rb") -> BinaryIO:
        """Open it. OSError where it cannot be."""
        if "://" not in self.location:
            return Path(self.location).open(mode)  # type: ignore[return-value]
        stream: BinaryIO = open_remote(self.location).open()
        return stream

    def __str__(self) -> str:
        return self.location


def resolve_sources(locations: Sequence[str], base_url: str = COMMON_CRAWL_URL) -> list[WarcSource]:
    """The WARC files that `locations` name; lines of lists are below `base_url`. SettingsError for what holds no pages,
    StoreError where there is nothing."""
    return [source for location in locations for source in _resolve_location(location, base_url)]


def _resolve_location(location: str, base_url: str) -> list[WarcSource]:
    reject_derived_formats(location)
    if location.endswith(PATH_LIST_SUFFIXES):
        return [WarcSource(f"{base_url.rstrip('/')}/{line.lstrip('/')}") for line in _read_path_list(location)]
    if "://" in location:
        locations = [location] if location.endswith(WARC_SUFFIXES) else _list_remote(location)
    else:
        folder = Path(location)
        locations = sorted(map(str, folder.rglob("*"))) if folder.is_dir() else [location]
        locations = (
            [location for location in locations if location.endswith(WARC_SUFFIXES)] if folder.is_dir() else locations
        )
    if not locations:
        raise StoreError(f"{location} has no WARC files: name a file, a folder, a bucket, or a list (warc.paths.gz)")
    return [WarcSource(location) for location in locations]


def reject_derived_formats(location: str) -> None:
    """Raise SettingsError for a file that was made of pages and holds none."""
    for ending, description in UNSUPPORTED_FORMATS.items():
        if location.endswith(
            (ending, f"{ending}.gz", f"{ending}.paths", f"{ending}.paths.gz", f"{ending[1:]}.paths.gz")
        ):
            raise SettingsError(
                f"{location} holds {description}, of which nothing can be extracted: import the .warc.gz of the same crawl"
            )


def _read_path_list(location: str) -> list[str]:
    try:
        with WarcSource(location).open() as file:
            data = file.read()
        text = (gzip.decompress(data) if location.endswith(".gz") else data).decode()
    except (OSError, EOFError, ValueError) as error:
        raise StoreError(f"cannot read {location}: {error}") from error
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in lines:
        reject_derived_formats(line)
    return lines


def _list_remote(location: str) -> list[str]:
    import fsspec

    try:
        filesystem, root = fsspec.core.url_to_fs(location)
        return [
            str(filesystem.unstrip_protocol(location))
            for location in sorted(filesystem.find(root))
            if location.endswith(WARC_SUFFIXES)
        ]
    except Exception as error:
        raise _read_error(location, error) from error


def open_remote(location: str) -> Any:
    """A file at a URL, to be opened. StoreError where that cannot be."""
    try:
        import fsspec

        return fsspec.open(location, "rb")
    except Exception as error:
        raise _read_error(location, error) from error


def _read_error(location: str, exc: Exception) -> StoreError:
    if isinstance(exc, ImportError):
        return StoreError(f"{location} needs more packages: pip install 'plumbline[cluster]'")
    reason = " ".join(f"{type(exc).__name__}: {exc}".split())[:200]
    return StoreError(f"cannot read {location}: {reason}; see that it is there, and the keys in the environment")


@dataclass(frozen=True)
class SourceFailure:
    """A file that could not be read to its end, and why; what came before was handed out."""

    source: WarcSource
    reason: str


def read_sources(
    sources: Sequence[WarcSource], read_source: ReadSource, processes: int
) -> Iterator[Page | Outcome | SourceFailure]:
    """The answers of all files, of each in its order. With one file or one process nothing else is started."""
    processes = min(processes, len(sources))
    if processes < 2:
        for source in sources:
            yield from _iter_results(source, read_source)
        return
    readers = _ReaderPool(read_source, processes)
    try:
        for index in range(processes):
            readers.start(sources[index::processes])
        while readers.running:
            yield from readers.next_results()
    finally:
        for process, _ in readers.running:
            process.kill()


class _ReaderPool:
    """Processes that read files, and the files that each has before it, the one it reads first."""

    def __init__(self, read_source: ReadSource, processes: int) -> None:
        self.running: list[tuple[BaseProcess, list[WarcSource]]] = []
        self._read = read_source
        self._context = multiprocessing.get_context("spawn")
        self._results: Any = self._context.Queue(MAX_QUEUED_PER_PROCESS * processes)

    def start(self, sources: Sequence[WarcSource]) -> None:
        """Let a process read these."""
        arguments = (self._results, list(sources), self._read)
        process = self._context.Process(target=_reader_process, args=arguments, daemon=True)
        process.start()
        self.running.append((process, list(sources)))

    def next_results(self) -> Iterator[Page | Outcome | SourceFailure]:
        """What one of them says next; of one that died, which file that was at."""
        try:
            message = self._results.get(timeout=POLL_SECONDS)
        except queue.Empty:
            yield from self._replace_dead()
            return
        if isinstance(message, int):
            self._source_done(message)
        else:
            yield message

    def _source_done(self, pid: int) -> None:
        """A process has come to the end of a file."""
        [(process, sources)] = [reader for reader in self.running if reader[0].pid == pid]
        sources.pop(0)
        if not sources:
            process.join()
            self.running.remove((process, sources))

    def _replace_dead(self) -> Iterator[SourceFailure]:
        for process, sources in [reader for reader in self.running if reader[0].exitcode]:
            self.running.remove((process, sources))
            yield SourceFailure(sources[0], f"{sources[0]}: its reader ended with {process.exitcode}; import it again")
            if sources[1:]:
                self.start(sources[1:])


def _reader_process(results: Any, sources: Sequence[WarcSource], read_source: ReadSource) -> None:
    """In a process of its own: hand over the answers, after each file the number of the process."""
    for source in sources:
        for result in _iter_results(source, read_source):
            results.put(result)
        results.put(os.getpid())


def _iter_results(source: WarcSource, read_source: ReadSource) -> Iterator[Page | Outcome | SourceFailure]:
    try:
        yield from read_source(source)
    except StoreError as error:
        yield SourceFailure(source, str(error))
    except Exception as error:
        if "://" not in source.location:
            raise
        yield SourceFailure(source, str(_read_error(source.location, error)))


@dataclass(frozen=True)
class ImportFilter:
    """Which URLs are taken: those that match one of the patterns `url_patterns` (`*`, `?`), of one of the `domains`. Without
    patterns or domains all."""

    url_patterns: Sequence[str] = ()
    domains: Sequence[str] = ()

    def matches(self, url: str) -> bool:
        """Is this one taken?"""
        return (
            not self.url_patterns or any(fnmatchcase(url, pattern) for pattern in self.url_patterns)
        ) and self._matches_domain(url)

    def _matches_domain(self, url: str) -> bool:
        try:
            host = (urlsplit(url).hostname or "") if self.domains else ""
        except ValueError:
            return False
        return not self.domains or any(f".{host}".endswith(f".{domain.lower().strip('.')}") for domain in self.domains)


NO_FILTER = ImportFilter()


def read_matching(source: WarcSource, max_bytes: int, url_filter: ImportFilter) -> Iterator[Page | Outcome]:
    """The answers of a file that are taken; of the others an outcome."""
    from docstore.warc_reader import read_warc

    return read_warc(source, max_bytes, decode_body, url_filter.matches)


def decode_body(body: bytes, coding: str, max_bytes: int) -> bytes | Outcome:
    """A body without its content codings, or why there is none. Many tools undo them and keep the header."""
    from crawler.http.content_encoding import ContentDecodingError, TooLargeError, decode_body

    try:
        return decode_body(body, coding, max_bytes)
    except TooLargeError as error:
        return Outcome(Reason.TOO_LARGE, str(error))
    except ContentDecodingError as error:
        return body if body.lstrip().startswith(b"<") else Outcome(Reason.MALFORMED_RESPONSE, str(error))
