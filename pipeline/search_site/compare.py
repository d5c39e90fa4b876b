"""Comparison search (Wang Du 2019, WD-S3, figs. 6-7): one term with the base and with the domain lexicon."""

from collections.abc import Sequence

from pipeline.engine import Engine
from pipeline.search_site.search_app import create_search_client
from search_ui.pages.compare import LexiconResult, compare_lexicons


def compare_term(engine: Engine, term: str) -> Sequence[LexiconResult]:
    """Return the results for `term` with both lexicons, base first.

    Each has the rank of the first document that contains the complete term, MRR and P@10.
    """
    analysis = engine.analysis()
    return compare_lexicons(
        create_search_client(engine), {"base": analysis.base_segmenter, "domain": analysis.domain_segmenter}, term
    )
