"""Loader of the administrator's concept files (`focused.concepts.source`). None is shipped.

The first line of a file determines its format:

Aa01A01= 人 士 人物             Cilin               00001740-a  cmn:lemma  能    Chinese Open Wordnet
玄武岩 <tab> 材料 矿物           pooled sememes      人/N/human|人  with a tree:   HowNet 2000 (Liu and Li)
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from domain.errors import SettingsError
from focused.concepts.hownet import read_hownet, read_pooled_sememes
from focused.concepts.source import CombinedConcepts, ConceptSource
from focused.concepts.synonym_groups import CilinConcepts, read_data_lines, read_open_wordnet

_CILIN_LINE = re.compile(r"[A-Z][a-z]\d\d[A-Z]\d\d[=#@]\s")
_WORDNET_LINE = re.compile(r"\d{8}-[a-z]\t\S*lemma\t")
_SEMEME_TREE_LINE = re.compile(r"\d+\t[^\t]+\t\d+$")
_GLOSSARY_LINE = re.compile(r"[^\t/]+/[^\t/]*/\S")
_POOLED_SEMEMES_LINE = re.compile(r"[^\t]+\t\S")


def load_concepts(files: Sequence[Path]) -> ConceptSource | None:
    """Load the files as one concept source, or return None if `files` is empty.

    The first file that knows both words determines their similarity.

    Raises:
        SettingsError: a file cannot be read or has an unknown format.
    """
    versions = []  # path, size and modification time (ns), so that a changed file is read again
    for path in files:
        try:
            file_stat = path.stat()
        except OSError as error:
            raise SettingsError(f"crawl.concepts: cannot read {path}: {error}") from error
        versions.append((path, file_stat.st_size, file_stat.st_mtime_ns))
    return _load_cached(tuple(versions)) if versions else None


@lru_cache(maxsize=2)
def _load_cached(versions: tuple[tuple[Path, int, int], ...]) -> ConceptSource:
    files_with_lines = []
    for path, _, _ in versions:
        try:
            lines = [line.rstrip("\n") for line in read_data_lines(path)]
        except (OSError, UnicodeDecodeError, EOFError) as error:
            raise SettingsError(f"crawl.concepts: cannot read {path}: {error}") from error
        if not lines:
            raise SettingsError(f"crawl.concepts: {path} is empty")
        files_with_lines.append((path, lines))
    tree = next((lines for _, lines in files_with_lines if _SEMEME_TREE_LINE.match(lines[0])), None)
    sources = [source for path, lines in files_with_lines if (source := _parse_source(path, lines, tree)) is not None]
    if not sources:
        raise SettingsError("crawl.concepts: a sememe tree is given without its HowNet glossary; add the glossary file")
    return CombinedConcepts(sources)


def _parse_source(path: Path, lines: list[str], tree: Iterable[str] | None) -> ConceptSource | None:
    """Return the concept source of a file, or None for the sememe tree, which belongs to the glossary."""
    first = lines[0]
    if _CILIN_LINE.match(first):
        return CilinConcepts(lines)
    if _WORDNET_LINE.match(first):
        return read_open_wordnet(lines)
    if _SEMEME_TREE_LINE.match(first):
        return None
    if _GLOSSARY_LINE.match(first) and tree is not None:
        return read_hownet(lines, tree)
    if _POOLED_SEMEMES_LINE.match(first):
        return read_pooled_sememes(lines)
    raise SettingsError(
        f"crawl.concepts: {path} has an unknown format; known formats: Cilin, Open Wordnet, sememes by word, and "
        "HowNet's glossary together with its sememe tree"
    )
