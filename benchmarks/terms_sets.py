"""The annotated corpora of the term mining benchmark, and the scoring of a term list."""

import gzip
import importlib.util
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from benchmarks.results import SHARED
from domain.errors import PlumblineError
from lexicon.counting.tokens import detect_line_language

METRICS = {"AvP": "avp", "P@100": "p100", "P@500": "p500", "bestF1": "best_f1"}


@dataclass(frozen=True)
class TermSet:
    """An annotated corpus."""

    name: str
    folder: Path
    language: str
    texts: list[str]


def read_sets(data: Path) -> list[TermSet]:
    """Return the sets below `data`/terms."""
    sets = []
    for gold in sorted((data / "terms").glob("*/gold.tsv")):
        with gzip.open(gold.parent / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
            texts = [json.loads(line)["text"] for line in lines]
        sets.append(TermSet(gold.parent.name, gold.parent, detect_line_language("".join(texts[:20])), texts))
    if not sets:
        raise PlumblineError(f"no sets in {data / 'terms'}: give DATA=DIR, a folder of the form of ../shared/data")
    return sets


def known_of(one: TermSet, scorer: ModuleType) -> set[str]:
    """Return the terms of the set's seed dictionary, if any; they are excluded from the gold."""
    seed = one.folder / "seed.txt"
    return set(scorer.load_ranked(seed)) if seed.exists() else set()


def gold_of(one: TermSet, scorer: ModuleType) -> set[str]:
    """Return the gold terms without one-character terms and without the seed dictionary."""
    known = known_of(one, scorer)
    return {term for term in scorer.load_gold(one.folder / "gold.tsv") if len(term) > 1 and term not in known}


def score(one: TermSet, terms: Sequence[str], scorer: ModuleType, given: Collection[str] = ()) -> dict[str, float]:
    """Score with ../shared/tools/score_terms.py; the terms `given` beforehand are ignored."""
    known = known_of(one, scorer).union(given)
    normal = dict.fromkeys(scorer.norm(term) for term in terms)
    ranked = [term for term in normal if len(term) > 1 and term not in known]
    scored: dict[str, float] = scorer.score(ranked, gold_of(one, scorer) - known)
    return scored


def load_scorer(data: Path) -> ModuleType:
    """Load score_terms.py next to `data`, otherwise next to ../shared/data."""
    for folder in (data.parent, SHARED.parent):
        path = folder / "tools" / "score_terms.py"
        if path.exists():
            spec = importlib.util.spec_from_file_location("score_terms", path)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    raise PlumblineError(f"no score_terms.py beside {data}, and none in {SHARED.parent}: the figures need it")
