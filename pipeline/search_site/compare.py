"""The comparison search (Wang Du 2019, WD-S3, figs. 6-7): one term with the base and with the domain lexicon."""

from collections.abc import Sequence

from pipeline.engine import Engine
from pipeline.search_site.serve import search_client
from search_ui.pages.compare import Side, compare


def compare_term(engine: Engine, term: str) -> Sequence[Side]:
    """Both result lists for `term`, base first, with the rank of the first whole-term document, MRR and P@10."""
    analysis = engine.analysis()
    return compare(search_client(engine), {"base": analysis.base, "domain": analysis.domain}, term)
