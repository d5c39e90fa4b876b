"""`make lint`: rejects names and phrases that the style guide (docs/develop/style.md) rules out.

    python deploy/check_language.py [FILE ...]

Names: a participle or pronoun as the whole name (`found`, `one`), a constant without a noun (`MOST`), a function `x_of`
that is not well-known usage. Phrases: idioms in docstrings, comments, messages and documentation. Prints one line for
each and exits with 1 if there are any.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PRODUCT = (
    "crawler",
    "docstore",
    "domain",
    "extractor",
    "focused",
    "indexer",
    "lexicon",
    "locks",
    "maven_jars",
    "pipeline",
    "search_ui",
    "solr_client",
    "solr_conf",
    "text",
)
RETIRED_NAMES = frozenset(
    [
        "found",
        "told",
        "said",
        "kept",
        "held",
        "made",
        "known",
        "seen",
        "taken",
        "given",
        "shown",
        "gone",
        "meant",
        "thought",
        "asked",
        "wanted",
        "begun",
        "chosen",
        "drawn",
        "hidden",
        "lost",
        "sent",
        "spoken",
        "understood",
        "one",
        "ones",
        "others",
        "here",
        "there",
        "both",
        "most",
        "least",
        "whole",
        "own",
        "near",
        "enough",
        "few",
        "many",
        "mine",
        "ours",
        "learned",
        "noted",
        "judged",
        "waited",
        "looked",
        "counted",
        "picked",
        "dropped",
        "passed",
        "proposed",
        "refused",
    ]
)
RETIRED_CONSTANTS = frozenset(
    [
        "MOST",
        "LEAST",
        "FEW",
        "MANY",
        "ENOUGH",
        "HALF",
        "NEVER",
        "NOWHERE",
        "AT",
        "NEAR",
        "FAR",
        "CLOSE",
        "LONG",
        "SHORT",
        "SMALL",
        "LARGE",
        "BIG",
        "ALIKE",
        "SPARE",
        "FIRST",
        "LAST",
        "OFFER",
        "WAIT",
        "MORE",
        "LESS",
        "LABEL",
        "SURE",
        "KIN",
    ]
)
USUAL_OF = frozenset(["host_of", "port_of", "domain_of", "ancestors_of", "is_duplicate_of"])
PUBLIC_NAME = "# public name"  # marks a field whose name is a column, a JSON key or part of a file format
RETIRED_PHRASES = tuple(
    re.compile(pattern)
    for pattern in (
        r"\b[Ww]ho (?:types|works|computes|judges|asks|searches|moves|wants|looks|makes|reads|may)\b",
        r"\banew\b",
        r"\bamiss\b",
        r"\bto be had\b",
        r"\bare ones\b",
        r"\b(?:is|are|was|were|be|been) (?:told|asked)\b",
        r"\bfore(?:tell|told)\b",
        r"\bwhat is left\b",
        r"\bas far as\b",
        r"\bknows no more\b",
        r"\b(?:in|has) its turn\b",
        r"\bout of hand\b",
        r"\bto the letter\b",
        r"\bby heart\b",
        r"\blikeness(?!\.json)",
        r"\bwithout a word\b",
        r"\bhow the nights\b",
    )
)


def name_faults(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield (line, name) of every definition with a retired name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from ((argument.lineno, argument.arg) for argument in arguments(node) if is_retired(argument.arg))
            if is_retired(node.name) or (node.name.endswith("_of") and node.name not in USUAL_OF):
                yield node.lineno, node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            if is_retired(node.id) or node.id.strip("_") in RETIRED_CONSTANTS:
                yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_retired(node.attr):
            yield node.lineno, node.attr


def arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    """Return all named parameters of a function."""
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def is_retired(name: str) -> bool:
    """Return True if a name is only a participle or pronoun."""
    return name.strip("_") in RETIRED_NAMES


def phrase_faults(lines: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield (line, fault) of every retired phrase."""
    for number, line in lines:
        for pattern in RETIRED_PHRASES:
            if match := pattern.search(line):
                yield number, f"phrase “{match.group()}”"


def prose_of_python(text: str, tree: ast.Module) -> list[tuple[int, str]]:
    """Return (line number, line) of the comments and of the strings that contain a space."""
    prose = [
        (token.start[0], token.string)
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            prose += enumerate(node.value.split("\n"), node.lineno)
    return prose


def main(files: list[str]) -> int:
    """Check the files, or all files that git tracks; return the exit status."""
    tracked = ["git", "ls-files", "*.py", "*.md", "*.html", "*.po"]
    names = files or subprocess.run(tracked, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    faults = 0
    for name in names:
        if name == Path(__file__).relative_to(ROOT).as_posix():
            continue
        text = (ROOT / name).read_text("utf-8")
        if name.endswith(".py"):
            tree = ast.parse(text)
            rows = [*phrase_faults(prose_of_python(text, tree))]
            lines = text.split("\n")
            faulty_names = name_faults(tree) if name.startswith(PRODUCT) else ()
            rows += (row for row in faulty_names if PUBLIC_NAME not in lines[row[0] - 1])
        else:
            rows = [*phrase_faults(list(enumerate(text.split("\n"), 1)))]
        for line, fault in sorted(rows):
            print(f"{name}:{line}: {fault}")
        faults += len(rows)
    if faults:
        print(f"{faults} names or phrases that docs/develop/style.md rules out")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
