"""Repositories of sites, as snapshots: which sites make a web, and the files of each.

[[web]]                       # benchmarks/focus_webs.toml
name = "news_en"
[[web.site]]
repo = "owner/name"           # a git directory REPOS/owner+name, with or without a work tree
licence = "CC0-1.0"           # as the repository states it, "none stated" where it does not
host = "news.test"
kind = "blog"                 # blog, manual, wiki: `focus_web_sites`
"""

import subprocess
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from domain.errors import PlumblineError

KINDS = ("blog", "manual", "wiki")
MAX_BYTES = 400_000  # of a page; what is larger is a dump or a listing of code


@dataclass(frozen=True)
class Site:
    """A repository and the selection of its pages.

    under     folder of the pages, "" for all ends      suffixes of page files without   suffixes of files that are not
    pages domains   hosts that its own pages use in links ref       branch or commit of the snapshot
    """

    repo: str
    licence: str
    host: str
    kind: str
    under: str = ""
    ends: tuple[str, ...] = (".md", ".markdown")
    without: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    ref: str = "HEAD"


@dataclass(frozen=True)
class Web:
    """Sites that make one closed set of pages."""

    name: str
    sites: tuple[Site, ...]


def webs_of(path: Path) -> Sequence[Web]:
    """Load the webs of a file. Raises PlumblineError for another format."""
    try:
        rows = tomllib.loads(path.read_text(encoding="utf-8"))["web"]
        webs = [Web(row["name"], tuple(site_of(one) for one in row["site"])) for row in rows]
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise PlumblineError(f"{path} names no webs: {error}; see benchmarks/focus_web_sources.py") from error
    odd = [site.repo for web in webs for site in web.sites if site.kind not in KINDS]
    if odd:
        raise PlumblineError(f"{path}: the kind of {', '.join(odd)} is none of {', '.join(KINDS)}")
    return webs


def site_of(row: dict[str, object]) -> Site:
    """Convert a row of the file; lists become tuples."""
    return Site(**{key: tuple(value) if isinstance(value, list) else value for key, value in row.items()})  # type: ignore[arg-type]


def git_directory(repos: Path, repo: str) -> Path:
    """Find the snapshot of `owner/name` below `repos`. Raises PlumblineError if there is none."""
    folder = repos / repo.replace("/", "+")
    for place in (folder, folder / ".git", folder / "repo", folder / "repo" / ".git"):
        if (place / "HEAD").is_file():
            return place
    raise PlumblineError(f"no snapshot of {repo} in {repos}: clone it there (git clone --bare) as {folder.name}")


def commit_of(directory: Path, ref: str) -> str:
    """Return the commit of a branch of a snapshot."""
    return git(directory, "rev-parse", ref).decode().strip()


def files_of(directory: Path, site: Site) -> Iterator[tuple[str, str]]:
    """Yield path and text of each file that may be a page, in order of paths."""
    listed = git(directory, "ls-tree", "-r", "-z", "--full-tree", site.ref, *([site.under] if site.under else []))
    blobs = []
    for line in listed.decode("utf-8", "replace").split("\0"):
        about, _, path = line.partition("\t")
        is_page = path.lower().endswith(site.ends) and not path.lower().endswith(site.without)
        if path and is_page and about.split()[1] == "blob":
            blobs.append((path, about.split()[2]))
    asked = "".join(f"{blob}\n" for _, blob in blobs).encode()
    content, start = git(directory, "cat-file", "--batch", given=asked), 0
    for path, _ in blobs:
        end = content.index(b"\n", start)
        size = int(content[start:end].rsplit(b" ", 1)[-1])
        data = content[end + 1 : end + 1 + size]
        start = end + size + 2
        if size <= MAX_BYTES and b"\0" not in data:
            yield path, data.decode("utf-8", "replace").removeprefix("\ufeff")


def git(directory: Path, *arguments: str, given: bytes = b"") -> bytes:
    """Run git and return its output. Raises PlumblineError with git's message."""
    done = subprocess.run(["git", f"--git-dir={directory}", *arguments], input=given, capture_output=True, check=False)
    if done.returncode:
        raise PlumblineError(f"git {arguments[0]} of {directory}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
