"""The set `terms`: precision of the first hundred candidates of each language, and the cost of mining at size.

Candidates were reviewed once (`real_terms_judged.tsv`). A candidate without a review counts as wrong and is listed in
`out/real-terms.tsv`. The large corpus repeats real articles with some words replaced (benchmarks/real_terms_corpus.py).
Each day of mining runs in a separate process.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.real_terms_corpus import FileCorpus, changed, multiplied, write_documents
from benchmarks.real_vertical import Vertical
from benchmarks.results import Figure, out_folder
from domain.errors import PlumblineError
from domain.term import Term
from lexicon.counting.corpus import Corpus, CorpusDocument
from lexicon.mining import mine_terms
from pipeline.stages import StoredCorpus
from text.folding import word_key
from text.scripts import LANGUAGE_PATTERNS, language_of_term

JUDGED = Path(__file__).parent / "real_terms_judged.tsv"
FIRST = 100  # terms of each language
SIZES = (20_000, 100_000)  # documents
CHANGED = 0.02  # of them, on the second day
VERDICTS = {"yes": True, "no": False}


def term_figures(vertical: Vertical, judged: Path = JUDGED, sizes: Sequence[int] = SIZES) -> Iterator[Figure]:
    """Yield the precision of the first candidates, then the cost of mining.

    `bytes_*` and `*_share` are the maximum over `sizes`.
    """
    corpus, verdicts = StoredCorpus(vertical.engine.store.articles), load_verdicts(judged)
    terms = mine_terms(corpus, vertical.engine.settings.lexicon)
    firsts = {language: first_of(terms, language) for language in LANGUAGE_PATTERNS}
    for language, first in firsts.items():
        good = sum(verdicts.get(word_key(term.text), False) for term in first)
        unjudged = sum(word_key(term.text) not in verdicts for term in first)
        yield Figure("terms", "plumbline", f"p100_{language}", good / max(len(first), 1))
        yield Figure("terms", "plumbline", f"unjudged_{language}", unjudged)
    tell(firsts, verdicts)
    with tempfile.TemporaryDirectory() as folder:
        yield from cost_figures(all_of(corpus), Path(folder), sizes)


def load_verdicts(path: Path) -> dict[str, bool]:
    """Load lines `yes|no<TAB>term`, by `word_key`. Raises PlumblineError for another format."""
    verdicts = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line and not line.startswith("#"):
            said, _, term = line.partition("\t")
            if said not in VERDICTS or not term:
                raise PlumblineError(f"{path}, line {number}: `yes` or `no`, a tab, a term")
            verdicts[word_key(term)] = VERDICTS[said]
    return verdicts


def first_of(terms: Sequence[Term], language: str) -> list[Term]:
    """Return the first candidates of a language."""
    return [term for term in terms if language_of_term(term.text) == language][:FIRST]


def all_of(corpus: Corpus) -> list[CorpusDocument]:
    """Return all documents."""
    return list(corpus.iter_documents([number for number, _ in corpus.iter_digests()]))


def cost_figures(articles: Sequence[CorpusDocument], folder: Path, sizes: Sequence[int]) -> Iterator[Figure]:
    """Measure memory, files and CPU of two days of mining with the given numbers of documents."""
    kept, shares = [0.0], [0.0]
    for size in sizes:
        days = [folder / "day1", folder / "day2"]
        write_documents(multiplied(articles, size), days[0])
        write_documents(changed(FileCorpus(days[:1]).iter_documents(range(1, size + 1)), CHANGED), days[1])
        costs = [mined(folder, days[: number + 1]) for number in range(len(days))]
        kept.append(sum(file.stat().st_size for file in (folder / "store" / "lexicon").iterdir()) / size)
        shares.append(costs[1]["cpu_seconds"] / costs[0]["cpu_seconds"])
        yield Figure("terms", "plumbline", f"peak_mb_{size}", max(cost["peak_mb"] for cost in costs))
        yield Figure("terms", "plumbline", f"cpu_seconds_{size}", costs[0]["cpu_seconds"])
        yield Figure("terms", "plumbline", f"day2_new_{size}", costs[1]["new"])
        shutil.rmtree(folder / "store")
    yield Figure("terms", "plumbline", "bytes_per_article", max(kept))
    yield Figure("terms", "plumbline", "day2_cpu_share", max(shares))


def mined(folder: Path, files: Sequence[Path]) -> Mapping[str, float]:
    """Run `benchmarks.real_terms_worker` for one day on these files, with the store in `folder`."""
    answer = folder / "answer.json"
    paths = map(str, (folder / "store", answer, *files))
    command = [sys.executable, "-m", "benchmarks.real_terms_worker", *paths]
    subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
    spent: dict[str, float] = json.loads(answer.read_text(encoding="utf-8"))
    return spent


def tell(firsts: Mapping[str, Sequence[Term]], verdicts: Mapping[str, bool]) -> None:
    """Write the first candidates with their review, and an example sentence of each, for further review."""
    names = {True: "yes", False: "no", None: "?"}
    with (out_folder() / "real-terms.tsv").open("w", encoding="utf-8") as file:
        for language, first in firsts.items():
            for term in first:
                sentence = " ".join("".join(term.contexts[:1]).split())
                file.write(f"{names[verdicts.get(word_key(term.text))]}\t{term.text}\t{language}\t{sentence}\n")
