"""The set `relations` of `make bench-glossary`: broader terms that lexicon/relations.py proposes.

    broader_right, broader_judged   share of right proposals, and number of judged ones, in the half of the pairs on
                                    which no rule was tuned
    tuned_right, tuned_judged       the same for the other half
    kappa                           agreement of the two judgements (Cohen)

The proposals come from the demo and from corpora of DIR. They are drawn by checksum, the same number from each corpus,
so that a change of a rule replaces few of them. A pair is right if the term is a kind or an instance of the broader
term. `glossary_relations.tsv` has the judgements: 1 right, 0 wrong. One judge made both from the terms alone, the
second time from scratch in another order. A pair with two judgements is right if both say so.
`python -m benchmarks.glossary_relations` prints the pairs in random order.
"""

import csv
import gzip
import hashlib
import json
import lzma
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np

from benchmarks.command import data_option
from benchmarks.results import OURS, Figure
from benchmarks.terms_models import count_in_memory, counted_corpus, select_from_table
from domain.term_relation import RelationKind
from lexicon.model.term_model import iter_spellings, load_shipped_models, rank_rows
from lexicon.relations import RelationFinder
from lexicon.sentences import match_sentences
from pipeline.demo.featured import load_articles
from text.mixed_terms import MixedTermMatcher

JUDGEMENTS = Path(__file__).parent / "glossary_relations.tsv"
TERM_SETS = ("petro", "scicn", "cmeee", "acl_rdtec2", "acter_en_htfl", "acter_en_wind")
PAIRS_PER_CORPUS = 13
DEMO_TERM_COUNT = 200  # as many candidates as the demo accepts
_NO_TERM_TYPES = ("OOD_Term", "Named_Entity")


class Corpus(NamedTuple):
    """Texts and their known terms."""

    name: str
    terms: Sequence[str]
    texts: Sequence[str]


class Pair(NamedTuple):
    """A term and its proposed broader term, of a corpus."""

    corpus: str
    term: str
    broader: str

    @property
    def is_tuning_half(self) -> bool:
        """True if the rules may be tuned on this pair: half of the pairs, by checksum."""
        return self.checksum[0] % 2 == 0

    @property
    def checksum(self) -> bytes:
        """Checksum of the terms."""
        return hashlib.sha256(f"relation {self.term} > {self.broader}".encode()).digest()


def relation_figures(data: Path, step: int) -> Iterator[Figure]:
    """Yield the rows of the set `relations`; only each `step`-th text is searched."""
    judgements = read_judgements()
    for prefix, pairs in zip(("broader", "tuned"), draw_pairs(data, step), strict=True):
        judged_pairs = [judgements[pair] for pair in pairs if pair in judgements]
        if judged_pairs:
            yield Figure("relations", OURS, f"{prefix}_right", float(np.mean([all(both) for both in judged_pairs])))
            yield Figure("relations", OURS, f"{prefix}_judged", len(judged_pairs))
    both = [pair for pair in judgements.values() if len(pair) == 2]
    yield Figure("relations", OURS, "kappa", cohen_kappa([pair[0] for pair in both], [pair[1] for pair in both]))


def draw_pairs(data: Path, step: int = 1) -> tuple[list[Pair], list[Pair]]:
    """Return the drawn pairs of the half without tuning and of the other half."""
    halves: tuple[list[Pair], list[Pair]] = ([], [])
    for corpus in read_corpora(data):
        pairs = sorted(find_pairs(corpus._replace(texts=corpus.texts[::step])), key=lambda pair: pair.checksum)
        for half, drawn in enumerate(halves):
            drawn += [pair for pair in pairs if pair.is_tuning_half == bool(half)][:PAIRS_PER_CORPUS]
    return halves


def find_pairs(corpus: Corpus) -> set[Pair]:
    """Return the broader terms that a run would propose."""
    finder = RelationFinder(corpus.terms)
    matcher = MixedTermMatcher(finder.term_by_key)
    sentences = (sentence for text in corpus.texts for sentence in match_sentences(text, matcher))
    relations = (relation for sentence in sentences for relation in finder.find(sentence))
    return {
        Pair(corpus.name, relation.term, relation.other)
        for relation in relations
        if relation.kind is RelationKind.BROADER
    }


def read_judgements() -> dict[Pair, tuple[bool, ...]]:
    """Return the judgements of each pair in JUDGEMENTS: two, or one in the half that the rules were tuned on."""
    with JUDGEMENTS.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, dialect="excel-tab"))
    return {
        Pair(row["corpus"], row["term"], row["broader"]): tuple(
            value == "1" for value in (row["first"], row["second"]) if value
        )
        for row in rows
    }


def cohen_kappa(first: Sequence[bool], second: Sequence[bool]) -> float:
    """Return the agreement of two judgements of the same pairs, corrected for chance; 1 is complete agreement."""
    agreement = float(np.mean(np.equal(first, second)))
    shares = np.mean(first), np.mean(second)
    by_chance = float(shares[0] * shares[1] + (1 - shares[0]) * (1 - shares[1]))
    return (agreement - by_chance) / (1 - by_chance) if by_chance < 1 else 1.0


def read_corpora(data: Path) -> Iterator[Corpus]:
    """Yield the demo and the corpora of `data`."""
    texts = ["\n".join((article.title, *article.paragraphs)) for article in load_articles()]
    table = count_in_memory(texts, load_shipped_models())
    rows, _ = rank_rows(load_shipped_models(), select_from_table(table, load_shipped_models()))
    yield Corpus("demo", list(iter_spellings(counted_corpus(table), rows))[:DEMO_TERM_COUNT], texts)
    for name in TERM_SETS:
        folder = data / "terms" / name
        with gzip.open(folder / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
            texts = [json.loads(line)["text"] for line in lines]
        with (folder / "gold.tsv").open(encoding="utf-8", newline="") as lines:
            terms = [
                row[0] for row in csv.reader(lines, "excel-tab", quoting=csv.QUOTE_NONE) if row[2] not in _NO_TERM_TYPES
            ]
        seed = folder / "seed.txt"
        terms += seed.read_text("utf-8").splitlines() if seed.exists() else []
        yield Corpus(name, [term for term in terms if len(term) > 1], texts)
    with lzma.open(data / "webgraph" / "wikispeedia.jsonl.xz", "rt", encoding="utf-8") as lines:
        pages = [row for row in map(json.loads, lines) if any(topic.startswith("Science") for topic in row["topics"])]
    titles = [re.sub(r"\s*\(.*", "", page["title"]) for page in pages]
    yield Corpus("en_wiki", titles, ["\n".join(page["paras"]) for page in pages])


@click.command()
@data_option()
@click.option("--tuning-half", is_flag=True, help="Of the half that the rules may be tuned on.")
@click.option("--seed", default=0, help="Seed of the order.")
def main(data: Path, tuning_half: bool, seed: int) -> None:
    """Print the drawn pairs in random order, one a line, without the rule that found them."""
    pairs = draw_pairs(data)[int(tuning_half)]
    random.Random(seed).shuffle(pairs)
    for pair in pairs:
        click.echo("\t".join(pair))


if __name__ == "__main__":
    main()
