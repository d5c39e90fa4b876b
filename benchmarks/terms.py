"""The term mining benchmark: `make bench-terms [DATA=DIR]`. What its figures mean is in `docs/terms.md`.

DIR (default: ../shared/data) has sets below DIR/terms: docs.jsonl.gz and gold.tsv each. `plumbline` has the shipped
models. `plumbline-unseen` has models made here, by the same recipe, from the sets of ../shared/data but the one of the
same name; they are kept in benchmarks/out/terms_models.
"""

import gzip
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from benchmarks.results import OUT, SHARED, Figure, publish
from benchmarks.terms_corpus import write_corpus
from benchmarks.terms_systems import OURS, SHIPPED, SYSTEMS, UNSEEN, System
from docstore.errors import PlumblineError
from lexicon.build import mine_terms
from lexicon.learned import save_model
from lexicon.settings import LexiconSettings
from lexicon.tokens import language_of
from lexicon.training import Trainer, load_sets
from semantics.folding import word_key

ROOT = Path(__file__).resolve().parents[1]
PEERS = ROOT / ".venv-peers-terms" / "bin" / "python"
METRICS = {"AvP": "avp", "P@100": "p100", "P@500": "p500", "bestF1": "best_f1"}
ARTICLES = 50  # of WD-E4
WD_E4 = {
    "c_value_plain": LexiconSettings(scorer="c_value", rules="plain"),
    "c_value": LexiconSettings(scorer="c_value"),
    "c_value_derived": LexiconSettings(scorer="c_value", rules="derived"),
    "c_value_tokens": LexiconSettings(scorer="c_value", length_unit="token"),
    OURS: LexiconSettings(min_frequency=1),
}


@dataclass(frozen=True)
class TermSet:
    """An annotated corpus."""

    name: str
    folder: Path
    language: str
    texts: list[str]


@click.command()
@click.option("--data", default=SHARED, type=click.Path(path_type=Path), help="A folder of the form of ../shared/data.")
@click.option("--train", default=SHARED, type=click.Path(path_type=Path), help="Where plumbline-unseen learns.")
@click.option("--systems", default=",".join(SYSTEMS), help="Only these systems, comma-separated.")
@click.option("--sets", "set_names", default="", help="Only these sets, comma-separated; `speed` is one.")
@click.option("--megabytes", default="10,30,100", help="Sizes of the generated corpora of set speed, comma-separated.")
def main(data: Path, train: Path, systems: str, set_names: str, megabytes: str) -> None:
    """Measure the miner and its peers."""
    chosen = [SYSTEMS[name] for name in systems.split(",") if name]
    wanted = [name for name in set_names.split(",") if name]
    sets = [one for one in read_sets(data) if not wanted or one.name in wanted]
    figures = [figure for one in sets for system in chosen for figure in quality(system, one, data, train)]
    figures += [figure for one in sets if one.language == "zh" for figure in wd_e4(one)]
    if not wanted or "speed" in wanted:
        figures += list(speed(read_sets(data), [float(size) for size in megabytes.split(",")]))
    publish("terms", figures)


def read_sets(data: Path) -> list[TermSet]:
    """The sets below `data`/terms."""
    sets = []
    for gold in sorted((data / "terms").glob("*/gold.tsv")):
        with gzip.open(gold.parent / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
            texts = [json.loads(line)["text"] for line in lines]
        sets.append(TermSet(gold.parent.name, gold.parent, language_of("".join(texts[:20])), texts))
    if not sets:
        raise PlumblineError(f"no sets in {data / 'terms'}: give DATA=DIR, a folder of the form of ../shared/data")
    return sets


def quality(system: System, one: TermSet, data: Path, train: Path) -> Iterator[Figure]:
    """All figures of one system on one set; none where it cannot be had."""
    if one.language not in system.languages:
        return
    model = unseen_model(one, train) if system.name == UNSEEN else None
    with tempfile.TemporaryDirectory() as folder:
        texts = Path(folder) / "texts"
        texts.write_text("".join(json.dumps(text) + "\n" for text in one.texts), encoding="utf-8")
        answer = run_system(system, one.language, texts, model)
    if answer is None:
        return
    scored = score(one, answer["terms"], load_scorer(data))
    yield from (Figure(one.name, system.name, metric, scored[name]) for name, metric in METRICS.items())
    yield Figure(one.name, system.name, "chars_per_s", sum(map(len, one.texts)) / answer["seconds"])
    yield Figure(one.name, system.name, "peak_mb", answer["peak_mb"])


def run_system(system: System, language: str, texts: Path, model: Path | None) -> dict[str, Any] | None:
    """The answer of a worker; None, and a line for the person, where the system is not there or fails."""
    python = Path(sys.executable) if system.is_ours else PEERS
    if not python.exists():
        click.echo(f"{system.name} is not installed: `make bench-terms` makes {PEERS.parents[1].name}")
        return None
    answer = texts.with_name("answer.json")
    command = [str(python), "-m", "benchmarks.terms_worker", system.name, language, str(texts), str(answer)]
    one_core = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        command + ([str(model)] if model else []), cwd=ROOT, env=os.environ | one_core, capture_output=True, text=True
    )
    if done.returncode:
        click.echo(f"{system.name} failed: {done.stderr.strip().splitlines()[-1:]}")
        return None
    read: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
    return read


def score(one: TermSet, terms: Sequence[str], scorer: ModuleType) -> dict[str, float]:
    """By ../shared/tools/score_terms.py, terms of one character and those of the seed dictionary left out."""
    seed = one.folder / "seed.txt"
    known = set(scorer.load_ranked(seed)) if seed.exists() else set()
    gold = {term for term in scorer.load_gold(one.folder / "gold.tsv") if len(term) > 1 and term not in known}
    normal = dict.fromkeys(scorer.norm(term) for term in terms)
    ranked = [term for term in normal if len(term) > 1 and term not in known]
    scored: dict[str, float] = scorer.score(ranked, gold)
    return scored


def load_scorer(data: Path) -> ModuleType:
    """score_terms.py beside `data`, or else beside ../shared/data."""
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


def unseen_model(one: TermSet, train: Path) -> Path:
    """A model from all training sets of the language but the one of this name."""
    path = OUT / "terms_models" / f"without_{one.name}.npz"
    if not path.exists():
        warnings.simplefilter("ignore")  # scikit-learn says that more steps would be possible
        path.parent.mkdir(parents=True, exist_ok=True)
        click.echo(f"training without {one.name}: some minutes")
        sets = [found for found in load_sets(train) if found.tokens.language == one.language and found.name != one.name]
        save_model(Trainer(sets).fit(frozenset(found.name for found in sets)), path)
    return path


def speed(sets: Sequence[TermSet], sizes: Sequence[float]) -> Iterator[Figure]:
    """The growth curve: ours with the default settings, on ever larger corpora of Chinese text."""
    texts = [text for one in sets if one.language == "zh" for text in one.texts]
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "texts"
            characters = write_corpus(texts, size, path)
            answer = run_system(SYSTEMS[SHIPPED], "zh", path, None)
        if answer:
            name = f"speed-{size:g}mb"
            yield Figure(name, OURS, "chars_per_s", characters / answer["seconds"])
            yield Figure(name, OURS, "peak_mb", answer["peak_mb"])
            yield Figure(name, OURS, "terms", len(answer["terms"]))


def wd_e4(one: TermSet) -> Iterator[Figure]:
    """The paper's experiment (WD-E4): what each way finds in 50 articles at its own threshold."""
    texts = one.texts[:ARTICLES]
    whole = word_key("\n".join(texts))
    files = [one.folder / name for name in ("gold.tsv", "seed.txt") if (one.folder / name).exists()]
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    gold = {term for line in lines if len(term := word_key(line.split("\t")[0])) > 1 and term in whole}
    for name, settings in WD_E4.items():
        found = {word_key(term.text) for term in mine_terms([("", text) for text in texts], settings)}
        right = len(found & gold)
        precision, recall = right / max(1, len(found)), right / max(1, len(gold))
        values = {"candidates": len(found), "p": precision, "r": recall}
        values["f1"] = 2 * precision * recall / (precision + recall) if right else 0.0
        yield from (Figure(f"wd-e4-{one.name}", name, metric, value) for metric, value in values.items())


if __name__ == "__main__":
    main()
