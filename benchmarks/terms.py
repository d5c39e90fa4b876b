"""Benchmark of term mining: `make bench-terms [DATA=DIR]`. `docs/background/mining.md` explains the figures.

DIR (default: ../shared/data) has sets below DIR/terms, each with docs.jsonl.gz and gold.tsv. `plumbline` uses the
shipped models. `plumbline-unseen` uses models trained here with the same recipe on the sets of ../shared/data without
the set of the same name; they are saved in benchmarks/out/terms_models.
"""

import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from benchmarks.command import benchmark, data_option, names
from benchmarks.results import OUT, SHARED, Figure, check_floors, check_systems, publish, values_by_name
from benchmarks.terms_models import save_model
from benchmarks.terms_seeds import seeded
from benchmarks.terms_sets import METRICS, TermSet, load_scorer, read_sets, score
from benchmarks.terms_systems import OURS, SYSTEMS, TRAINED, UNSEEN, System
from benchmarks.terms_texts import write_texts
from benchmarks.training.terms import Trainer, load_sets
from domain.errors import PlumblineError
from lexicon.counting.corpus import InMemoryCorpus
from lexicon.mining import mine_terms
from lexicon.settings import LexiconSettings
from text.folding import word_key

ROOT = Path(__file__).resolve().parents[1]
PEERS = ROOT / ".venv-peers-terms" / "bin" / "python"
ARTICLES = 50  # of WD-E4
WD_E4 = {
    "c_value_plain": LexiconSettings(scorer="c_value", rules="plain"),
    "c_value": LexiconSettings(scorer="c_value"),
    "c_value_derived": LexiconSettings(scorer="c_value", rules="derived"),
    "c_value_tokens": LexiconSettings(scorer="c_value", length_unit="token"),
    OURS: LexiconSettings(min_frequency=1),
}


@benchmark("terms", systems=",".join(TRAINED), set_names="petro", texts=40)
@data_option()
@click.option(
    "--train", default=SHARED, type=click.Path(path_type=Path), help="Folder of the training sets of plumbline-unseen."
)
@click.option("--systems", default=",".join(SYSTEMS), callback=names, help="Only these systems, comma-separated.")
@click.option("--sets", "set_names", default="", callback=names, help="Only these sets, comma-separated.")
@click.option("--texts", default=0, type=click.IntRange(0), help="Maximum number of texts per set; 0: all.")
def main(data: Path, train: Path, systems: list[str], set_names: list[str], texts: int) -> None:
    """Measure the miner and its peers."""
    if unknown := set(systems) - SYSTEMS.keys():
        raise PlumblineError(f"no system {', '.join(sorted(unknown))}; there are {', '.join(SYSTEMS)}")
    chosen, wanted = [SYSTEMS[name] for name in systems], set_names
    sets = [first_texts(one, texts) for one in read_sets(data) if not wanted or one.name in wanted]
    figures = [figure for one in sets for system in chosen for figure in quality(system, one, data, train)]
    if SYSTEMS[UNSEEN] in chosen:
        scorer = load_scorer(data)
        figures += [figure for one in sets for figure in seeded(one, unseen_model(one, train), UNSEEN, scorer)]
    figures += [figure for one in sets if one.language == "zh" for figure in wd_e4(one)]
    publish("terms", figures)
    check_systems(figures, systems if sets else (), METRICS.values())
    if data == SHARED and not texts:
        check_floors("terms", values_by_name(figures))


def first_texts(one: TermSet, count: int) -> TermSet:
    """Return at most `count` texts of a set; 0: all."""
    return replace(one, texts=one.texts[:count]) if count else one


def quality(system: System, one: TermSet, data: Path, train: Path) -> Iterator[Figure]:
    """Yield all figures of one system on one set; nothing if the system is not available."""
    if one.language not in system.languages:
        return
    model = unseen_model(one, train) if system.name == UNSEEN else None
    with tempfile.TemporaryDirectory() as folder:
        texts = Path(folder) / "texts"
        write_texts(one.texts, texts)
        answer = run_system(system, one.language, texts, model)
    if answer is None:
        return
    scored = score(one, answer["terms"], load_scorer(data))
    yield from (Figure(one.name, system.name, metric, scored[name]) for name, metric in METRICS.items())
    yield Figure(one.name, system.name, "peak_mb", answer["peak_mb"])


def run_system(system: System, language: str, texts: Path, model: Path | None) -> dict[str, Any] | None:
    """Return the answer of a worker; if the system is not installed, print a line and return None.

    Raises PlumblineError if the worker fails.
    """
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
        raise PlumblineError(f"{system.name} failed: {done.stderr[-2000:].strip()}")
    read: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
    return read


def unseen_model(one: TermSet, train: Path) -> Path:
    """Train a model on all training sets of the language except the one of this name."""
    path = OUT / "terms_models" / f"without_{one.name}.npz"
    if not path.exists():
        warnings.simplefilter("ignore")  # scikit-learn says that more steps would be possible
        path.parent.mkdir(parents=True, exist_ok=True)
        click.echo(f"training without {one.name}: some minutes")
        sets = [found for found in load_sets(train) if found.tokens.language == one.language and found.name != one.name]
        save_model(Trainer(sets).fit(frozenset(found.name for found in sets)), path)
    return path


def wd_e4(one: TermSet) -> Iterator[Figure]:
    """Repeat the experiment of the paper (WD-E4): terms that each method finds in 50 articles at its own threshold."""
    texts = one.texts[:ARTICLES]
    whole = word_key("\n".join(texts))
    files = [one.folder / name for name in ("gold.tsv", "seed.txt") if (one.folder / name).exists()]
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    gold = {term for line in lines if len(term := word_key(line.split("\t")[0])) > 1 and term in whole}
    for name, settings in WD_E4.items():
        found = {word_key(term.text) for term in mine_terms(InMemoryCorpus(("", text) for text in texts), settings)}
        right = len(found & gold)
        precision, recall = right / max(1, len(found)), right / max(1, len(gold))
        values = {"candidates": len(found), "p": precision, "r": recall}
        values["f1"] = 2 * precision * recall / (precision + recall) if right else 0.0
        yield from (Figure(f"wd-e4-{one.name}", name, metric, value) for metric, value in values.items())


if __name__ == "__main__":
    main()
