"""Generate data/term_priors.tsv.gz: `python -m benchmarks.training.term_priors LIST... [--out FILE]`.

A LIST has one term per line, before the first tab. The output contains counts of words, characters and word pairs that
occur in at least three terms, so no list can be reconstructed from it.
"""

import argparse
import gzip
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from text.segment import cut_by_dictionary

LEAST = 3
PLACES = ("first", "inside", "last")


def count_terms(terms: Iterable[str]) -> Iterator[str]:
    """Return the lines of the file: `word`, `char` or `pair`, the item, and its counts."""
    words: Counter[tuple[str, str]] = Counter()
    chars: Counter[tuple[str, str]] = Counter()
    pairs: Counter[str] = Counter()
    for term in terms:
        parts = [word for word in cut_by_dictionary(term) if not word.isspace()]
        if len(parts) > 1:
            words.update(_placed(parts))
        chars.update(_placed(term))
        pairs.update(f"{left} {right}" for left, right in pairwise(parts))
    for kind, counts in (("word", words), ("char", chars)):
        for text in sorted({text for text, _ in counts}):
            numbers = [counts[text, place] for place in PLACES]
            if sum(numbers) >= LEAST:
                yield "\t".join([kind, text, *map(str, numbers)])
    yield from (f"pair\t{pair}\t{count}" for pair, count in sorted(pairs.items()) if count >= LEAST)


def _placed(parts: Sequence[str]) -> Iterator[tuple[str, str]]:
    yield parts[0], PLACES[0]
    yield from ((part, PLACES[1]) for part in parts[1:-1])
    yield parts[-1], PLACES[2]


def terms_of(paths: Iterable[Path]) -> list[str]:
    """Return the distinct terms of some lists, in NFKC and lower case."""
    lines = (line for path in paths for line in path.read_text(encoding="utf-8").splitlines())
    terms = {unicodedata.normalize("NFKC", line.split("\t")[0].strip()).lower() for line in lines}
    return sorted(terms - {""})


def main() -> None:
    """Count and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lists", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "data" / "term_priors.tsv.gz")
    given = parser.parse_args()
    text = "\n".join(count_terms(terms_of(given.lists)))
    given.out.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
