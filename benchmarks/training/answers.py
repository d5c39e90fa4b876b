"""Train the confidence threshold of answers: `python -m benchmarks.training.answers CASES MODEL_ID`, offline.

CASES is the output of `make bench-search ARGS='--sets answers'`, benchmarks/out/answers_cases.jsonl (`answers_en` for
English), one question per line:

    {"query": "12q", "own": true, "found": true, "evidence": {"nearest": 0.71, ...}}

`own` questions belong to the searched collection, the others to other collections. `found` is true if one of the quotes
is from a document that answers. A hash of the question number selects half of the questions for training; the other
half is reported. Updates search_ui/query/semantic/answer_models.json for the embedding model with this id.
"""

import hashlib
import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

MODELS = Path(__file__).parents[2] / "search_ui" / "query" / "semantic" / "answer_models.json"
WANTED = 0.75  # share of the shown answers that are to hold the answer, and some to spare for questions not seen
SPARE = 0.02

Case = dict[str, Any]


@click.command()
@click.argument("cases", type=click.Path(exists=True, path_type=Path))
@click.argument("model_id")
def main(cases: Path, model_id: str) -> None:
    """Fit, report both halves, write."""
    every: list[Case] = [json.loads(line) for line in cases.read_text("utf-8").splitlines()]
    halves = [[case for case in every if half_of(case["query"]) == part] for part in (0, 1)]
    names = sorted(every[0]["evidence"])
    fitted = LogisticRegression(C=100.0, max_iter=1000).fit(table(halves[0], names), truth(halves[0]))
    shown_from = threshold(fitted.predict_proba(table(halves[0], names))[:, 1], halves[0])
    for name, half in zip(("taught with", "held out"), halves, strict=True):
        click.echo(f"{name}: {report(fitted.predict_proba(table(half, names))[:, 1], half, shown_from)}")
    weights = {name: round(float(weight), 4) for name, weight in zip(names, fitted.coef_[0], strict=True)}
    write(model_id, weights, round(float(fitted.intercept_[0]), 4), shown_from)


def half_of(query: str) -> int:
    """Return the half of a question: 0 for training, 1 for the report."""
    return hashlib.sha256(query.rstrip("abcdefghijklmnopqrstuvwxyz").encode()).digest()[0] % 2


def table(cases: Sequence[Case], names: Sequence[str]) -> Any:
    """Return the features, (n, d), one row per case."""
    return np.array([[case["evidence"][name] for name in names] for case in cases])


def truth(cases: Sequence[Case]) -> Any:
    """Return the labels, (n,): True if the answer would be correct."""
    return np.array([case["own"] and case["found"] for case in cases])


def threshold(sure: Any, cases: Sequence[Case]) -> float:
    """Return the lowest confidence at which the share of correct answers reaches the target."""
    for least in np.arange(0.3, 0.9, 0.01):
        shown = [case["found"] for case, one in zip(cases, sure, strict=True) if case["own"] and one >= least]
        if shown and statistics.fmean(shown) >= WANTED + SPARE:
            return round(float(least), 2)
    return 0.9


def report(sure: Any, cases: Sequence[Case], least: float) -> str:
    """Print how well own questions are separated from others, and the share of shown answers."""
    own = np.array([case["own"] for case in cases])
    right = truth(cases)
    shown = sure >= least
    told = f"{len(cases)} questions, {own.sum()} own; auroc {roc_auc_score(own, sure):.4f}"
    held = f"shown of own {shown[own].mean():.3f}, found there {right[shown & own].mean():.3f}"
    return f"{told}; {held}; shown of others {shown[~own].mean():.3f}"


def write(model_id: str, weights: dict[str, float], bias: float, shown_from: float) -> None:
    """Add one model to the shipped models."""
    told = json.loads(MODELS.read_text("utf-8"))
    told["models"][model_id] = {"weights": weights, "bias": bias, "shown_from": shown_from}
    MODELS.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
