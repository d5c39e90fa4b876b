"""Creates the store of a vertical with one vector: `python structure_search_store.py CONFIG MODEL_ID VECTOR_FILE`.

The site searches with the models that have vectors in the store. Runs with the code of the checkout in PYTHONPATH,
which can be an older commit with another schema and other modules.
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from docstore.articles.vectors import ARTICLE_PASSAGE_NUMBER, EmbeddingResult, PassageVector
from pipeline.engine import Engine
from pipeline.progress import NullProgress
from pipeline.settings import load_settings

outcomes = import_module("domain.outcome" if find_spec("domain") else "docstore.model")  # older commits have no domain

if __name__ == "__main__":
    config, model_id, vector_file = sys.argv[1:]
    passage = PassageVector(ARTICLE_PASSAGE_NUMBER, 0, 0, Path(vector_file).read_bytes())
    with Engine(load_settings(Path(config)), NullProgress()) as engine:
        engine.store.vectors.save(
            model_id, [EmbeddingResult("0" * 64, (passage,), outcomes.Outcome(outcomes.Reason.EMBEDDED))]
        )
