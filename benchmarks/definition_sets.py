"""Terms with the sentences that contain them, and which of these sentences define the term: DIR/definitions."""

import gzip
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

GOOD_LABEL = 2
TRAINING_SETS = ("zh_docs", "en_wiki")
SET_NAMES = ("statute", *TRAINING_SETS, "en_deft")


class LabelledTerm(NamedTuple):
    """A term, its sentences, their labels and their documents in the same order.

    Label 2 is a definition, 1 half a definition, 0 none. `best_label` is the best label of the whole term.
    """

    text: str
    sentences: tuple[str, ...]
    labels: tuple[int, ...]
    documents: tuple[str, ...]
    best_label: int

    @property
    def is_training_half(self) -> bool:
        """True if the weights may be learned from this term: half of the terms, by checksum."""
        return hashlib.sha256(f"definition {self.text}".encode()).digest()[0] % 2 == 0


def read_terms(data: Path, name: str) -> list[LabelledTerm]:
    """Read one set of DIR/definitions."""
    folder = data / "definitions" / name
    gold = {row["term"]: row for row in map(json.loads, (folder / "gold.jsonl").read_text("utf-8").splitlines())}
    terms = []
    with gzip.open(folder / "terms.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            answer = gold[row["term"]]
            sentences = tuple(sentence["text"] for sentence in row["sentences"])
            labels = tuple(answer["labels"].get(sentence["id"], 0) for sentence in row["sentences"])
            documents = tuple(sentence["doc"] for sentence in row["sentences"])
            terms.append(LabelledTerm(row["term"].partition(" @")[0], sentences, labels, documents, answer["best"]))
    return terms


def unseen_terms(terms: Sequence[LabelledTerm]) -> list[LabelledTerm]:
    """Return the other half of the terms, with the sentences of documents of which the training half has none."""
    training_documents = {document for term in terms if term.is_training_half for document in term.documents}
    held_out = []
    for term in terms:
        rows = [row for row in zip(*term[1:4], strict=True) if row[2] not in training_documents]
        if rows and not term.is_training_half:
            sentences, labels, documents = zip(*rows, strict=True)
            held_out.append(LabelledTerm(term.text, sentences, labels, documents, max(labels)))
    return held_out
