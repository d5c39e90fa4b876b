"""Runs one miner on one corpus in a separate process.

`python -m benchmarks.terms_worker SYSTEM LANGUAGE TEXTS ANSWER [MODEL]`: TEXTS is a file of `terms_texts`. ANSWER gets
the terms, the CPU and wall seconds from text to list, and the peak memory.
"""

import json
import sys
import time
from pathlib import Path

from benchmarks.extract_worker import forget_peak, peak_megabytes
from benchmarks.terms_systems import SYSTEMS
from benchmarks.terms_texts import TextFile

WARM_UP = {
    "zh": ["这是一段预热用的文字，共有两句话。储层特征与PDC钻头。"] * 3,
    "en": ["This is a text to warm up with; natural language processing systems, and shale gas."] * 3,
}


def main(name: str, language: str, texts: Path, answer: Path, model: Path | None) -> None:
    """Warm up, mine once, write the answer."""
    mine = SYSTEMS[name].make(model)
    mine(WARM_UP[language], language)
    forget_peak()
    start, begun = time.process_time(), time.perf_counter()
    terms = mine(TextFile(texts), language)
    used = {"seconds": time.process_time() - start, "wall_seconds": time.perf_counter() - begun}
    answer.write_text(json.dumps({"terms": terms, **used, "peak_mb": peak_megabytes()}), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]), Path(sys.argv[5]) if sys.argv[5:] else None)
