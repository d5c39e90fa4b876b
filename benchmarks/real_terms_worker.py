"""One day of mining in a separate process: `python -m benchmarks.real_terms_worker FOLDER ANSWER FILE...`.

FILEs contain the documents (benchmarks/real_terms_corpus.py), later files the newer versions. FOLDER has the store and
the mining state of the previous day, if any. ANSWER gets the CPU seconds and the peak memory.
"""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.extract_worker import peak_megabytes
from benchmarks.real_terms_corpus import FileCorpus
from docstore.store import open_sqlite_store
from lexicon.mining import mine_terms
from lexicon.settings import LexiconSettings
from pipeline.stages import load_review_state


def main(folder: Path, answer: Path, files: Sequence[Path]) -> None:
    """Mine once, as `plumb` does."""
    corpus = FileCorpus(files)
    start = time.process_time()
    with open_sqlite_store(folder) as store:
        counts, reviewed = folder / "lexicon", load_review_state(store)
        terms = mine_terms(corpus, LexiconSettings(), counts_dir=counts, review_state=reviewed)
        new = store.lexicons.replace_candidates(terms)
    spent = {"cpu_seconds": time.process_time() - start, "peak_mb": peak_megabytes()}
    answer.write_text(json.dumps({**spent, "terms": len(terms), "new": new}), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), [Path(path) for path in sys.argv[3:]])
