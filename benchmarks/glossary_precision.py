"""The precision of the set `auto` of `make bench-glossary`: automatically accepted terms, judged by eye.

    precision_zh, precision_en   share of right terms among the judged terms that are still accepted
    tested_zh, tested_en         the same in the corpora whose name ends in `_3`: no rule was written after reading them
    names_zh, names_en           share of proper names (organisations, products, laws) among them; they count as right
    judged_zh, judged_en         number of judged terms that are still accepted
    kappa                        agreement of the two judgements (Cohen) in right or wrong

The terms are accepted in the demo and in corpora of DIR, and drawn by checksum. Guideline: is this a complete term of
its domain that a glossary of the domain could list, and not a name of a person, a unit, a fragment or a general word?
`glossary_precision.tsv` has the judgements (1 right, n right as a proper name, 0 wrong) and sentences of the demo.
One judge made both, the second time from the terms alone in another order. A term is right if both say so. `python -m
benchmarks.glossary_precision` prints the drawn terms without judgements.
"""

import csv
import gzip
import hashlib
import json
import lzma
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from benchmarks.command import data_option
from benchmarks.glossary_relations import cohen_kappa
from benchmarks.results import OURS, Figure
from benchmarks.terms_models import mine_in_memory
from domain.errors import PlumblineError
from domain.term import Term
from lexicon.automatic_acceptance import select_confident_terms
from lexicon.model.term_model import load_shipped_models
from lexicon.sentences import iter_sentences
from pipeline.demo.featured import load_articles
from text.scripts import language_of_term
from text.segment import base_segmenter

JUDGEMENTS = Path(__file__).parent / "glossary_precision.tsv"
RIGHT, NAME, WRONG = "1", "n", "0"
MIN_KEPT_SHARE = 0.5  # of the right terms that must still be accepted
DEMO = "demo"
UNREAD = "_3"  # end of the names of corpora that were read after the rules were written
SENTENCES_PER_TERM = 2
MAX_SENTENCE_CHARS = 160
EARTH_SCIENCES = tuple(f"Geography.{name}" for name in ("Geology", "Climate", "Storms", "Natural", "Mineralogy"))
MAX_TERMS: dict[tuple[str, str], int] = {
    (DEMO, "zh"): 100,
    (DEMO, "en"): 100,
    ("zh_statute", "zh"): 40,
    ("zh_docs", "zh"): 40,
    ("zh_docs", "en"): 40,
    ("en_wiki", "en"): 80,
    ("zh_statute_2", "zh"): 50,
    ("zh_docs_2", "zh"): 50,
    ("zh_docs_2", "en"): 30,
    ("en_wiki_2", "en"): 70,
    ("zh_statute_3", "zh"): 40,
    ("zh_docs_3", "zh"): 40,
    ("zh_docs_3", "en"): 20,
    ("en_wiki_3", "en"): 60,
}
"""Number of drawn terms by corpus and language."""


class Judgement(NamedTuple):
    """Two judgements of a term of a corpus."""

    corpus: str
    term: str
    first: str
    second: str

    @property
    def is_right(self) -> bool:
        """True if both judgements say so."""
        return WRONG not in (self.first, self.second)


def precision_figures(data: Path, step: int) -> Iterator[Figure]:
    """Yield the figures; only each `step`-th text of the corpora is mined.

    Raises:
        PlumblineError: fewer than MIN_KEPT_SHARE of the right terms are accepted, so the figures would say nothing.
    """
    judgements = read_judgements()
    accepted = {(corpus, term.text) for corpus, _, term in iter_accepted(data, step)}
    kept = [judgement for judgement in judgements if (judgement.corpus, judgement.term) in accepted]
    right_count = sum(judgement.is_right for judgement in judgements)
    kept_count = sum(judgement.is_right for judgement in kept)
    if step == 1 and kept_count < MIN_KEPT_SHARE * right_count:
        raise PlumblineError(
            f"only {kept_count} of {right_count} right terms in {JUDGEMENTS.name} are still accepted: "
            "draw and judge new ones with `python -m benchmarks.glossary_precision`"
        )
    for language in ("zh", "en"):
        rows = [judgement for judgement in kept if language_of_term(judgement.term) == language]
        tested = [row.is_right for row in rows if row.corpus.endswith(UNREAD)]
        yield Figure("auto", OURS, f"precision_{language}", float(np.mean([row.is_right for row in rows])))
        names = [NAME in (row.first, row.second) for row in rows]
        yield Figure("auto", OURS, f"names_{language}", float(np.mean(names)))
        yield Figure("auto", OURS, f"judged_{language}", len(rows))
        if tested:
            yield Figure("auto", OURS, f"tested_{language}", float(np.mean(tested)))
    first, second = ([values[index] != WRONG for values in judgements] for index in (2, 3))
    yield Figure("auto", OURS, "kappa", cohen_kappa(first, second))


def read_judgements() -> list[Judgement]:
    """Return the rows of JUDGEMENTS."""
    with JUDGEMENTS.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, dialect="excel-tab")
        return [Judgement(row["corpus"], row["term"], row["first"], row["second"]) for row in rows]


def iter_accepted(data: Path, step: int = 1) -> Iterator[tuple[str, str, Term]]:
    """Yield corpus, language and term of all terms that a run with the shipped models accepts."""
    models, segmenter = load_shipped_models(), base_segmenter()
    for corpus, texts in iter_corpora(data):
        for term in select_confident_terms(mine_in_memory(texts[::step], models), segmenter, texts=texts[::step]):
            yield corpus, language_of_term(term.text), term


def draw_terms(data: Path) -> list[tuple[str, str]]:
    """Return corpus and text of the drawn terms; a term of several corpora belongs to the first."""
    texts: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    corpus_by_text: dict[str, str] = {}
    for corpus, language, term in iter_accepted(data):
        if corpus_by_text.setdefault(term.text, corpus) == corpus:
            texts[corpus, language].append(term.text)
    return [
        (corpus, text)
        for (corpus, language), maximum in MAX_TERMS.items()
        for text in sorted(texts[corpus, language], key=checksum)[:maximum]
    ]


def checksum(text: str) -> bytes:
    """Return the checksum that decides whether a term is drawn."""
    return hashlib.sha256(f"accepted {text}".encode()).digest()


def iter_corpora(data: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield name and texts of the demo and three parts of Chinese laws, manuals, and an English encyclopaedia."""
    yield DEMO, load_demo_texts()
    with gzip.open(data / "ir" / "zh_statute" / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        laws = [f"{law['title']}\n{law['text']}" for law in map(json.loads, lines)]
    yield "zh_statute", laws[::6]
    yield "zh_statute_2", laws[1::6]
    yield "zh_statute_3", laws[2::6]
    manuals = read_pages(data / "webgraph" / "zh_docs.jsonl.xz")
    yield "zh_docs", [page_text(page) for page in manuals[::12]]
    yield "zh_docs_2", [page_text(page) for page in manuals[3::12]]
    yield "zh_docs_3", [page_text(page) for page in manuals[9::12]]
    wiki_pages = read_pages(data / "webgraph" / "wikispeedia.jsonl.xz")
    for name, topics, step in (
        ("en_wiki", ("Science",), 2),
        ("en_wiki_2", ("Design_and_Technology", "IT", "Business"), 1),
        ("en_wiki_3", (*EARTH_SCIENCES, "Mathematics", "Citizenship"), 1),
    ):
        pages = [page for page in wiki_pages if any(topic.startswith(topics) for topic in page["topics"])]
        yield name, [page_text(page) for page in pages[::step]]


def read_pages(path: Path) -> list[dict[str, Any]]:
    """Return the rows of an xz-packed file of JSON lines."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def page_text(page: Mapping[str, Any]) -> str:
    """Return title and paragraphs of a page, one per line."""
    return "\n".join((page["title"], *page["paras"]))


def load_demo_texts() -> list[str]:
    """Return the articles of the demo."""
    return ["\n".join((article.title, *article.paragraphs)) for article in load_articles()]


def find_sentences(term: str, texts: Sequence[str]) -> list[str]:
    """Return at most SENTENCES_PER_TERM different sentences that contain the term, the shortest first."""
    sentences = {sentence for text in texts if term in text for sentence in iter_sentences(text) if term in sentence}
    short_sentences = [sentence for sentence in sentences if len(sentence) <= MAX_SENTENCE_CHARS]
    return sorted(short_sentences, key=lambda sentence: (len(sentence), sentence))[:SENTENCES_PER_TERM]


@click.command()
@data_option()
@click.option("--seed", default=0, help="Seed of the order.")
def main(data: Path, seed: int) -> None:
    """Print the drawn terms in random order with sentences of the demo, one a line, without judgements."""
    terms, demo_texts = draw_terms(data), load_demo_texts()
    random.Random(seed).shuffle(terms)
    for corpus, text in terms:
        click.echo("\t".join((corpus, text, *(find_sentences(text, demo_texts) if corpus == DEMO else ()))))


if __name__ == "__main__":
    main()
