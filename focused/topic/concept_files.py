"""The operator's files of concepts, each told by its form (`focused.papers.concepts`); none is shipped.

Aa01A01= 人 士 人物             Cilin               00001740-a  cmn:lemma  能    Chinese Open Wordnet
玄武岩 <tab> 材料 矿物           pooled sememes      人/N/human|人  with a tree:   HowNet 2000 (Liu and Li)
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from docstore.errors import SettingsError
from focused.papers.concepts import Concepts, Several
from focused.papers.concepts_groups import Cilin, read_lines, read_wordnet
from focused.papers.concepts_hownet import read_liu_li, read_sememes

_CILIN = re.compile(r"[A-Z][a-z]\d\d[A-Z]\d\d[=#@]\s")
_WORDNET = re.compile(r"\d{8}-[a-z]\t\S*lemma\t")
_TREE = re.compile(r"\d+\t[^\t]+\t\d+$")
_GLOSSARY = re.compile(r"[^\t/]+/[^\t/]*/\S")
_SEMEMES = re.compile(r"[^\t]+\t\S")


def concepts_of(files: Sequence[Path]) -> Concepts | None:
    """All of them together, the first that knows a word speaking; None for no file. SettingsError for a file that
    cannot be read or has no known form."""
    return _read(tuple(files)) if files else None


@cache
def _read(files: tuple[Path, ...]) -> Concepts:
    rows = [(path, _lines(path)) for path in files]
    tree = next((lines for _, lines in rows if _TREE.match(lines[0])), None)
    found = [one for path, lines in rows if (one := _provider(path, lines, tree)) is not None]
    if not found:
        raise SettingsError("crawl.concepts has a sememe tree and no glossary that goes with it")
    return Several(found)


def _lines(path: Path) -> list[str]:
    try:
        lines = [line.rstrip("\n") for line in read_lines(path)]
    except (OSError, UnicodeDecodeError, EOFError) as error:
        raise SettingsError(f"crawl.concepts: cannot read {path}: {error}") from error
    if not lines:
        raise SettingsError(f"crawl.concepts: {path} is empty")
    return lines


def _provider(path: Path, lines: list[str], tree: Iterable[str] | None) -> Concepts | None:
    """The provider for a file; None for the tree, which belongs to another."""
    first = lines[0]
    if _CILIN.match(first):
        return Cilin(lines)
    if _WORDNET.match(first):
        return read_wordnet(lines)
    if _TREE.match(first):
        return None
    if _GLOSSARY.match(first) and tree is not None:
        return read_liu_li(lines, tree)
    if _SEMEMES.match(first):
        return read_sememes(lines)
    raise SettingsError(
        f"crawl.concepts: {path} has none of the known forms: Cilin, Open Wordnet, sememes by word, or HowNet's "
        "glossary together with its sememe tree"
    )
