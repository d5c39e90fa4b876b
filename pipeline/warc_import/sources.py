"""Find WARC files of other crawlers and read several of them in parallel.

    a file, a folder                     every .warc, .warc.gz, .arc, .arc.gz, .wacz below it
    s3://bucket/prefix, https://...      a bucket, or one file in it (any URL that fsspec supports)
    warc.paths, warc.paths.gz            a list in the format of Common Crawl, one path per line, relative to a base URL

A WACZ file is a ZIP file of WARC files. Worker processes read the files and send pages to the calling process, which
stores them. The queue between them is bounded.
"""

import gzip
import multiprocessing
import os
import queue
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from multiprocessing.process import BaseProcess
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from domain.errors import SettingsError, StoreError
from domain.outcome import Outcome
from domain.page import Page

COMMON_CRAWL_URL = "https://data.commoncrawl.org/"
WARC_SUFFIXES = (".warc", ".warc.gz", ".arc", ".arc.gz")
WACZ_SUFFIX = ".wacz"
PATH_LIST_SUFFIXES = (".paths", ".paths.gz")
UNSUPPORTED_FORMATS = {".wet": "extracted text without pages", ".wat": "metadata without pages"}
MAX_QUEUED_PER_PROCESS = 8  # responses read and not stored yet; the size of each is limited by the crawl settings
POLL_SECONDS = 1.0

ReadSource = Callable[["WarcSource"], Iterator[Page | Outcome]]


@dataclass(frozen=True)
class WarcSource:
    """A WARC file: a local path or a URL that fsspec supports, or the file `member` in a WACZ file."""

    location: str
    member: str = ""

    @property
    def name(self) -> str:
        """The file name without its folders."""
        return PurePosixPath(self.location).name

    def open(self, mode: str = "rb") -> BinaryIO:
        """Open the file in binary mode. Raises OSError for a path, StoreError for a URL that cannot be opened."""
        if "://" in self.location:
            stream: BinaryIO = open_remote(self.location).open()
        else:
            stream = Path(self.location).open(mode)  # type: ignore[assignment]  # noqa: SIM115
        try:
            return zipfile.ZipFile(stream).open(self.member) if self.member else stream  # type: ignore[return-value]
        except (RuntimeError, zipfile.BadZipFile) as error:  # encrypted, unknown compression, or damaged
            raise _read_error(self.location, error) from error

    def __str__(self) -> str:
        return f"{self.location}/{self.member}" if self.member else self.location


def resolve_sources(locations: Sequence[str], base_url: str = COMMON_CRAWL_URL) -> list[WarcSource]:
    """Find the WARC files that `locations` name.

    Args:
        locations: Paths, folders, URLs or path lists.
        base_url: Base URL of the lines of path lists.

    Raises SettingsError for formats without pages (WET, WAT), and StoreError if a location has no WARC files or cannot
    be read.
    """
    return [source for location in locations for source in _resolve_location(location, base_url)]


def _resolve_location(location: str, base_url: str) -> list[WarcSource]:
    reject_derived_formats(location)
    if location.endswith(PATH_LIST_SUFFIXES):
        return [WarcSource(f"{base_url.rstrip('/')}/{line.lstrip('/')}") for line in _read_path_list(location)]
    if "://" in location:
        locations = [location] if location.endswith((*WARC_SUFFIXES, WACZ_SUFFIX)) else _list_remote(location)
    else:
        folder = Path(location)
        locations = sorted(map(str, folder.rglob("*"))) if folder.is_dir() else [location]
    if locations != [location]:
        locations = [file for file in locations if file.endswith((*WARC_SUFFIXES, WACZ_SUFFIX))]
    sources = [source for file in locations for source in _list_members(file)]
    if not sources:
        raise StoreError(f"{location} has no WARC files: pass a file, a folder, a bucket or a list (warc.paths.gz)")
    return sources


def _list_members(location: str) -> list[WarcSource]:
    """Return the WARC files in a WACZ file, otherwise the file itself: reading it then reports what is wrong."""
    if location.endswith(WACZ_SUFFIX):
        with suppress(Exception), WarcSource(location).open() as file, zipfile.ZipFile(file) as archive:
            if names := [name for name in archive.namelist() if name.endswith(WARC_SUFFIXES)]:
                return [WarcSource(location, name) for name in names]
    return [WarcSource(location)]


def reject_derived_formats(location: str) -> None:
    """Raise SettingsError for a file that was derived from pages and contains none."""
    for ending, description in UNSUPPORTED_FORMATS.items():
        if location.endswith(
            (ending, f"{ending}.gz", f"{ending}.paths", f"{ending}.paths.gz", f"{ending[1:]}.paths.gz")
        ):
            raise SettingsError(
                f"{location} contains {description} and cannot be imported: import the .warc.gz of the same crawl"
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
    try:
        import fsspec

        filesystem, root = fsspec.core.url_to_fs(location)
        return [str(filesystem.unstrip_protocol(location)) for location in sorted(filesystem.find(root))]
    except Exception as error:
        raise _read_error(location, error) from error


def open_remote(location: str) -> Any:
    """Return an fsspec file for a URL; its open() reads bytes. Raises StoreError if the URL is not supported."""
    try:
        import fsspec

        return fsspec.open(location, "rb")
    except Exception as error:
        raise _read_error(location, error) from error


def _read_error(location: str, exc: Exception) -> StoreError:
    if isinstance(exc, ImportError):
        return StoreError(f"{location} needs additional packages: pip install 'plumbline-search[s3]'")
    reason = " ".join(f"{type(exc).__name__}: {exc}".split())[:200]
    return StoreError(f"cannot read {location}: {reason}; check that it exists, and the credentials in the environment")


@dataclass(frozen=True)
class SourceFailure:
    """A file that could not be read to its end, and the reason. Earlier pages of the file were returned."""

    source: WarcSource
    reason: str


def read_sources(
    sources: Sequence[WarcSource], read_source: ReadSource, processes: int
) -> Iterator[Page | Outcome | SourceFailure]:
    """Read all files; yields pages, outcomes and failures, those of each file in order.

    Reads in this process if there is only one file or `processes` is 1.
    """
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
    """Worker processes with their remaining files; the first file of each is the one it reads."""

    def __init__(self, read_source: ReadSource, processes: int) -> None:
        self.running: list[tuple[BaseProcess, list[WarcSource]]] = []
        self._read = read_source
        self._context = multiprocessing.get_context("spawn")
        self._results: Any = self._context.Queue(MAX_QUEUED_PER_PROCESS * processes)

    def start(self, sources: Sequence[WarcSource]) -> None:
        """Start a process that reads these files."""
        arguments = (self._results, list(sources), self._read)
        process = self._context.Process(target=_reader_process, args=arguments, daemon=True)
        process.start()
        self.running.append((process, list(sources)))

    def next_results(self) -> Iterator[Page | Outcome | SourceFailure]:
        """Yield the next result of any process; a SourceFailure for each process that has died."""
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
        """Remove the first file of a process that finished it; join the process if no files remain."""
        [(process, sources)] = [reader for reader in self.running if reader[0].pid == pid]
        sources.pop(0)
        if not sources:
            process.join()
            self.running.remove((process, sources))

    def _replace_dead(self) -> Iterator[SourceFailure]:
        for process, sources in [reader for reader in self.running if reader[0].exitcode]:
            self.running.remove((process, sources))
            yield SourceFailure(
                sources[0],
                f"{sources[0]}: the process that read it ended with exit code {process.exitcode}; import it again",
            )
            if sources[1:]:
                self.start(sources[1:])


def _reader_process(results: Any, sources: Sequence[WarcSource], read_source: ReadSource) -> None:
    """Main function of a worker process: send the results of each file, then the process id."""
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
    """Filter of the URLs to import.

    Attributes:
        url_patterns: Shell patterns (`*`, `?`); a URL must match one of them. Empty: all URLs match.
        domains: The host must be one of these domains or a subdomain. Empty: all hosts match.
    """

    url_patterns: Sequence[str] = ()
    domains: Sequence[str] = ()

    def matches(self, url: str) -> bool:
        """True if the URL is to be imported."""
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
