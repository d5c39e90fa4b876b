"""The comparison search (Wang Du 2019, WD-S3, figs. 6-7): one term with the base and with the domain lexicon."""

from collections.abc import Sequence

from pipeline.engine import Engine
from pipeline.search_site.serve import create_search_client
from search_ui.pages.compare import LexiconResult, compare_lexicons


def compare_term(engine: Engine, term: str) -> Sequence[LexiconResult]:
    """Both result lists for `term`, base first, with the rank of the first whole-term document, MRR and P@10."""
    analysis = engine.analysis()
    return compare_lexicons(
        create_search_client(engine), {"base": analysis.base_segmenter, "domain": analysis.domain_segmenter}, term
    )
