"""Find WARC files of other crawlers and read several of them in parallel.

    a file, a folder                     every .warc, .warc.gz, .arc, .arc.gz, .wacz below it
    s3://bucket/prefix, https://...      a bucket, or one file in it (any URL that fsspec supports)
    warc.paths, warc.paths.gz            a list in the format of Common Crawl, one path per line, relative to a base URL

A WACZ file is a ZIP file of WARC files. Worker processes read the files and send pages to the calling process, which
stores them. Each has a pipe of its own, which is bounded.
"""

import gzip
import multiprocessing
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from multiprocessing.connection import wait
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
ENDED_READER = "the process that read it ended with exit code {}; import it again"

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
    context = multiprocessing.get_context("spawn")
    readers: dict[Any, tuple[BaseProcess, list[WarcSource]]] = {}  # process and unread files of each pipe

    def start_reader(unread: list[WarcSource]) -> None:
        """Start a process that reads these files. Its own pipe ends with it, whatever ends it."""
        receiver, sender = context.Pipe(duplex=False)
        with sender:
            process = context.Process(target=_send_results, args=(sender, unread, read_source), daemon=True)
            process.start()
        readers[receiver] = process, unread

    try:
        for index in range(processes):
            start_reader(list(sources[index::processes]))
        while readers:
            ready: list[Any] = wait(list(readers))
            for pipe in ready:
                process, unread = readers[pipe]
                try:
                    result = pipe.recv()
                except (EOFError, OSError):
                    del readers[pipe]
                    pipe.close()
                    process.join()
                    if unread:
                        yield SourceFailure(unread[0], f"{unread[0]}: {ENDED_READER.format(process.exitcode)}")
                    if unread[1:]:
                        start_reader(unread[1:])
                    continue
                if result is None:
                    del unread[0]
                else:
                    yield result
    finally:
        for process, _ in readers.values():
            process.kill()


def _send_results(pipe: Any, sources: Sequence[WarcSource], read_source: ReadSource) -> None:
    """Main function of a worker process: send the results of each file, then None."""
    for source in sources:
        for result in _iter_results(source, read_source):
            pipe.send(result)
        pipe.send(None)


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
