"""Real sites for benchmarks: a recipe with the sources of their pages, and the resulting trees.

The recipe (`real_sites.toml`) names published sites by package and version, or by repository and commit, with the
SHA-256 of the files taken from each. Fetched trees are in the user's cache, outside the project. Pictures, styles and
scripts are excluded: a tree contains only files that a crawler reads.

    python -m benchmarks.real_recipe [--part dev] [--hosts a,b] [--to DIR]
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import tempfile
import tomllib
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from rich.console import Console

from domain.errors import PlumblineError

RECIPE = Path(__file__).parent / "real_sites.toml"
KEPT_SUFFIXES = (".html", ".htm", ".xhtml", ".xml", ".txt")
PAGE_SUFFIXES = (".html", ".htm", ".xhtml")
MAX_COMMAND_SECONDS = 1800


class RecipeError(PlumblineError):
    """A site is not available as the recipe states; the message has site and reason."""


@dataclass(frozen=True)
class Source:
    """Source of a part of a site.

    kind: a key of `FETCHERS`; name, version: repository URL and commit, or package and version, depending on kind.
    inside: the folder of the package that contains the site; under: the path on the site; without: glob patterns of
    excluded paths.
    """

    kind: str
    name: str
    version: str
    inside: str = ""
    under: str = ""
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class Site:
    """A site: its host, kind, sources, and patterns of paths (with query) of known type.

    articles, lists: regular expressions that match a path from its start; "" if unknown. A path that matches neither is
    not scored. part: `dev` or `held`. sha256: `tree_hash` of the tree, "" for an own site.
    """

    host: str
    part: str
    language: str
    generator: str
    kind: str
    sources: tuple[Source, ...] = ()
    sha256: str = ""
    pages: int = 0
    scheme: str = "http"
    start: str = "/"
    articles: str = ""
    lists: str = ""


def load_sites(path: Path) -> list[Site]:
    """Load the sites of a recipe. Raises RecipeError with the fault of the file."""
    try:
        return [_site(table) for table in tomllib.loads(path.read_text(encoding="utf-8"))["site"]]
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise RecipeError(f"{path} is no recipe of sites: {error!r}") from error


def _site(table: Mapping[str, Any]) -> Site:
    sources = tuple(
        Source(**{**source, "without": tuple(source.get("without", ()))}) for source in table.get("source", ())
    )
    return Site(**{key: value for key, value in table.items() if key != "source"}, sources=sources)


def cache_folder() -> Path:
    """Return the folder of fetched trees: `plumbline/real` in the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plumbline" / "real"


def bring(site: Site, folder: Path) -> Path:
    """Return the site's tree below `folder`, and fetch it if missing. Raises RecipeError.

    A tree is moved into place when complete. Its name contains its hash, so trees of different recipes are never
    confused.
    """
    tree = folder / f"{site.host}-{site.sha256[:12] or 'new'}"
    if not tree.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as work:
            made = Path(work) / "tree"
            for number, source in enumerate(site.sources):
                _take(site, source, Path(work) / str(number), made)
            _check(site, made)
            made.rename(tree)
    return tree


def _take(site: Site, source: Source, work: Path, made: Path) -> None:
    """Fetch one source into `work` and copy the selected files into `made`."""
    if source.kind not in FETCHERS:
        raise RecipeError(f"{site.host}: no kind of source is called {source.kind!r}; there are {', '.join(FETCHERS)}")
    work.mkdir(parents=True)
    try:
        unpacked = FETCHERS[source.kind](source, work)
        for path in kept_files(unpacked / source.inside, source.without):
            target = made / source.under / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(unpacked / source.inside / path, target)
    except (OSError, subprocess.SubprocessError, zipfile.BadZipFile) as error:
        raise RecipeError(f"{site.host}: {source.kind} {source.name} {source.version}: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    if (
        isinstance(error, FileNotFoundError)
        and not error.filename2
        and error.strerror
        and "/" not in str(error.filename)
    ):
        return f"{error.filename} is not installed"
    if isinstance(error, subprocess.CalledProcessError):
        lines = (error.stderr or error.stdout or "").strip().splitlines()
        return lines[-1] if lines else f"{error.cmd[0]} ended with {error.returncode}"
    return str(error)


def _check(site: Site, made: Path) -> None:
    digest = tree_hash(made)
    if site.sha256 and digest != site.sha256:
        raise RecipeError(f"{site.host}: what was fetched has the SHA-256 {digest}, the recipe says {site.sha256}")


def kept_files(folder: Path, without: Sequence[str] = ()) -> list[Path]:
    """Yield the files of a tree that a crawler may read, by relative path, sorted; without links and hidden files."""
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sorted(
        path
        for path in found
        if path.suffix.lower() in KEPT_SUFFIXES
        and not any(part.startswith(".") for part in path.parts)
        and not any(fnmatch(path.as_posix(), pattern) for pattern in without)
    )


def page_count(tree: Path) -> int:
    """Return the number of HTML files of a tree."""
    return sum(path.suffix.lower() in PAGE_SUFFIXES for path in kept_files(tree))


def tree_hash(tree: Path) -> str:
    """Return the SHA-256 over paths and contents of a tree; equal on every machine."""
    whole = hashlib.sha256()
    for path in kept_files(tree):
        content = hashlib.sha256((tree / path).read_bytes()).hexdigest()
        whole.update(f"{content}  {path.as_posix()}\n".encode())
    return whole.hexdigest()


def _run(command: Sequence[str], folder: Path) -> None:
    """Run a command of a fetcher without prompts."""
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C.UTF-8"}
    subprocess.run(
        command,
        cwd=folder,
        env=environment,
        check=True,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=MAX_COMMAND_SECONDS,
    )


def _git(source: Source, work: Path) -> Path:
    """Fetch one commit of a repository. Transfers only selected files, unchanged."""
    patterns = [f"*{suffix}" for suffix in KEPT_SUFFIXES] + [f"!/{path}" for path in source.without]
    _run(["git", "init", "--quiet"], work)
    (work / ".git" / "info" / "attributes").write_text("* -text -filter -ident\n")
    _run(["git", "remote", "add", "origin", source.name], work)
    _run(["git", "sparse-checkout", "set", "--no-cone", *patterns], work)
    _run(["git", "fetch", "--quiet", "--depth", "1", "--filter=blob:none", "origin", source.version], work)
    _run(["git", "checkout", "--quiet", source.version], work)
    return work


def _apt(source: Source, work: Path) -> Path:
    _run(["apt-get", "download", "--quiet", f"{source.name}={source.version}"], work)
    _run(["dpkg-deb", "-x", *(path.name for path in work.glob("*.deb")), "."], work)
    return work


def _maven(source: Source, work: Path) -> Path:
    artifact = f"-Dartifact={source.name}:{source.version}:jar:javadoc"
    _run(["mvn", "--batch-mode", "--quiet", "dependency:copy", artifact, "-DoutputDirectory=."], work)
    for jar in work.glob("*.jar"):
        with zipfile.ZipFile(jar) as archive:
            archive.extractall(work)
    return work


FETCHERS: Mapping[str, Callable[[Source, Path], Path]] = {"git": _git, "apt": _apt, "maven": _maven}
"""How each kind of source is fetched into a folder; the answer is the folder that holds what was unpacked."""


def bring_all(sites: Sequence[Site], folder: Path, console: Console) -> Iterator[tuple[Site, Path]]:
    """Return each site with its tree. A site that is not available is reported with the reason and skipped."""
    for number, site in enumerate(sites, 1):
        console.print(f"[{number}/{len(sites)}] {site.host}", markup=False, highlight=False)
        try:
            yield site, bring(site, folder)
        except RecipeError as error:
            console.print(f"left out: {error}", markup=False, highlight=False)


def main() -> None:
    """Fetch the sites and describe each tree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recipe", type=Path, default=RECIPE)
    parser.add_argument("--part", help="dev or held; default: both")
    parser.add_argument("--hosts", help="only these, separated by commas")
    parser.add_argument("--to", type=Path, default=cache_folder())
    options = parser.parse_args()
    hosts = options.hosts.split(",") if options.hosts else []
    sites = [
        site
        for site in load_sites(options.recipe)
        if options.part in (None, site.part) and (not hosts or site.host in hosts)
    ]
    console = Console(stderr=True)
    for site, tree in bring_all(sites, options.to, console):
        print(site.host, page_count(tree), tree_hash(tree), tree, sep="\t", flush=True)


if __name__ == "__main__":
    main()
