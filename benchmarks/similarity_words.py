"""Zhou's similarity of word pairs (ZK-E1): `python -m benchmarks.similarity_words [--data DIR]`.

pairs       DIR/wordsim/*.txt, two words and a human score per line; similar: above HIGH of the scale, not: below LOW
similarity  ZK-A1 with vectors trained on DIR's sibling webgraph (zh_docs) and with the concepts in DIR/hownet
grid        accuracy of "similarity above 0" for each Th1, Th2 and mix; each file is scored with the settings that are
            best on the pairs of all other files
"""

import itertools
import json
import lzma
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from benchmarks.command import benchmark, data_option
from benchmarks.results import SHARED, Figure, publish
from domain.errors import PlumblineError
from domain.paper_settings import DEFAULT_PAPERS, ZhouKunSettings
from focused.concepts.hownet import read_pooled_sememes
from focused.concepts.source import ConceptSource
from focused.concepts.synonym_groups import read_data_lines
from focused.paper_strategies.word_similarity import combine_similarities
from focused.paper_strategies.word_vectors import EMPTY_VECTORS, WordVectors, train_word_vectors
from text.segment import base_segmenter

HIGH, LOW = 0.6, 0.4  # parts of the scale of human scores
STEPS = tuple(round(0.05 * step, 2) for step in range(17))  # of Th1 and Th2
ALPHAS, BETAS = (0.7, 0.8, 0.9, 1.0), (0.4, 0.6, 0.8, 0.9, 1.0)
NAMES = ("sim_alpha", "sim_beta", "th1", "th2")


@dataclass(frozen=True)
class Pair:
    """Two words: similarity by vectors and by concepts (None: unknown), and whether people find them similar."""

    by_vectors: float | None
    by_concepts: float | None
    alike: bool


@benchmark("similarity_words", pages=20)
@data_option(SHARED / "lexical", "A folder of the form of ../shared/data/lexical.")
@click.option("--web", default=SHARED / "webgraph", type=click.Path(path_type=Path), help="Text to train vectors on.")
@click.option("--pages", default=0, type=click.IntRange(0), help="Number of pages of the text; 0: all.")
def main(data: Path, web: Path, pages: int) -> None:
    """Print the accuracy of the word similarity, and the best thresholds."""
    vectors = vectors_of(web, pages)
    concepts = concepts_in(data)
    sets = {path.stem: pairs_of(path, vectors, concepts) for path in sorted((data / "wordsim").glob("wordsim-*.txt"))}
    sets = {name: pairs for name, pairs in sets.items() if pairs}
    if not sets:
        raise PlumblineError(f"no word pairs in {data}/wordsim")
    publish("similarity_words", list(figures(sets)))


def figures(sets: Mapping[str, Sequence[Pair]]) -> Iterator[Figure]:
    """Yield for each file the accuracy with the defaults, with the settings of the other files, and of either source
    only.
    """
    for name, pairs in sets.items():
        others = [pair for other, some in sets.items() if other != name for pair in some] or pairs
        tuned = best_of(others)
        yield Figure(name, "plumbline", "pairs", len(pairs))
        yield Figure(name, "plumbline", "accuracy_default", accuracy(pairs, DEFAULT_PAPERS.zhou_kun))
        yield Figure(name, "plumbline", "accuracy_tuned_on_others", accuracy(pairs, tuned))
        yield Figure(name, "vectors", "accuracy", accuracy([replace(one, by_concepts=None) for one in pairs], tuned))
        yield Figure(name, "concepts", "accuracy", accuracy([replace(one, by_vectors=None) for one in pairs], tuned))
    everything = [pair for some in sets.values() for pair in some]
    best = best_of(everything)
    for metric in NAMES:
        yield Figure("all", "plumbline", f"best_{metric}", getattr(best, metric))
    yield Figure("all", "plumbline", "best_accuracy", accuracy(everything, best))
    for th1 in STEPS[::2]:
        for th2 in STEPS[::4]:
            value = accuracy(everything, replace(best, th1=th1, th2=th2))
            yield Figure("all", "plumbline", f"accuracy_th1_{th1:.1f}_th2_{th2:.1f}", value)


def best_of(pairs: Sequence[Pair]) -> ZhouKunSettings:
    """Return the settings with the highest accuracy; among equals those closest to the defaults."""
    grid = itertools.product(ALPHAS, BETAS, STEPS, STEPS)
    made = (ZhouKunSettings(sim_alpha=a, sim_beta=b, th1=th1, th2=th2) for a, b, th1, th2 in grid)
    return max(made, key=lambda settings: (accuracy(pairs, settings), -distance(settings)))


def distance(settings: ZhouKunSettings) -> float:
    """How far from the defaults."""
    return float(sum(abs(getattr(settings, name) - getattr(DEFAULT_PAPERS.zhou_kun, name)) for name in NAMES))


def accuracy(pairs: Sequence[Pair], settings: ZhouKunSettings) -> float:
    """Return the share of pairs for which "similarity above 0" is correct; both kinds of pair have equal weight."""
    right = {True: 0, False: 0}
    total = {True: 0, False: 0}
    for pair in pairs:
        total[pair.alike] += 1
        right[pair.alike] += (combine_similarities(pair.by_vectors, pair.by_concepts, settings) > 0) == pair.alike
    shares = [right[kind] / total[kind] for kind in (True, False) if total[kind]]
    return sum(shares) / len(shares) if shares else 0.0


def pairs_of(path: Path, vectors: WordVectors, concepts: ConceptSource | None) -> list[Pair]:
    """Return the pairs of a file with a clear human score."""
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    scored = [(one, other, float(score)) for one, other, score in (row for row in rows if len(row) == 3)]
    top = max((score for *_, score in scored), default=0.0)
    found: list[Pair] = []
    for one, other, score in scored:
        if one != other and not LOW * top <= score <= HIGH * top:
            by_concepts = concepts.similarity(one, other) if concepts else None
            found.append(Pair(vectors.similarity(one, other), by_concepts, score > HIGH * top))
    return found


def vectors_of(web: Path, pages: int = 0) -> WordVectors:
    """Train word vectors on Chinese pages (`pages` limits them, 0: all); no vectors without pages."""
    path = web / "zh_docs.jsonl.xz"
    return train_word_vectors(list(itertools.islice(texts_of(path), pages or None))) if path.exists() else EMPTY_VECTORS


def texts_of(path: Path) -> Iterable[list[str]]:
    """Yield the segmented paragraphs of each page."""
    segmenter = base_segmenter()
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            words = segmenter.cut(" ".join((row["title"], *row["paras"])))
            yield [word for word in words if len(word) > 1 and word[0].isalpha()]


def concepts_in(data: Path) -> ConceptSource | None:
    """Load HowNet's sememes by word; None if the files do not exist."""
    path = data / "hownet" / "word_sememes.tsv.gz"
    try:
        return read_pooled_sememes(read_data_lines(path)) if path.exists() else None
    except OSError as error:
        raise PlumblineError(f"cannot read {path}: {error}") from error


if __name__ == "__main__":
    main()
