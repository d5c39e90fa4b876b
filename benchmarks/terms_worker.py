"""One miner over one corpus, in a process of its own.

`python -m benchmarks.terms_worker SYSTEM LANGUAGE TEXTS ANSWER [MODEL]`: TEXTS holds a JSON string a line; ANSWER gets
the terms, the CPU seconds from text to list, and the peak memory.
"""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.extract_worker import forget_peak, peak_megabytes
from benchmarks.terms_systems import SYSTEMS

WARM_UP = {
    "zh": ["这是一段预热用的文字，共有两句话。储层特征与PDC钻头。"] * 3,
    "en": ["This is a text to warm up with; natural language processing systems, and shale gas."] * 3,
}


def main(name: str, language: str, texts: Path, answer: Path, model: Path | None) -> None:
    """Warm up, mine once, write the answer."""
    mine = SYSTEMS[name].make(model)
    mine(WARM_UP[language], language)
    forget_peak()
    start = time.process_time()
    terms = mine(lines_of(texts), language)
    seconds = time.process_time() - start
    answer.write_text(json.dumps({"terms": terms, "seconds": seconds, "peak_mb": peak_megabytes()}), encoding="utf-8")


def lines_of(path: Path) -> Iterator[str]:
    """The texts in a file, one after another."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]), Path(sys.argv[5]) if sys.argv[5:] else None)
