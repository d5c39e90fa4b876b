"""The comparison search of Wang Du 2019 (WD-S3, WD-E5) on real articles: multi-word terms with each lexicon.

The articles are those of the Chinese collection with the longest texts. Their terms are mined, and all are accepted.
The best terms that the base dictionary splits are searched with each lexicon.
"""

import re
import statistics
from collections.abc import Iterator, Sequence

from benchmarks.results import Figure
from benchmarks.search_data import Collection, Document
from benchmarks.search_systems import OURS, TIMEOUT, Ours
from domain.errors import PlumblineError
from domain.term import Lexicon, LexiconEntry, Term
from lexicon.counting.corpus import InMemoryCorpus
from lexicon.mining import mine_terms
from lexicon.settings import LexiconSettings
from search_ui.query.solr_client import SolrSearchClient
from search_ui.services.compare import LEXICON_NAMES, compare_lexicons
from text.segment import RjiebaSegmenter, Segmenter, base_segmenter

ARTICLES, MIN_ARTICLES = 3_000, 1_000
TERMS = 50
MIN_DOCUMENTS = 3  # documents that must contain a term; a single result has no ranking to compare
_CHINESE = re.compile("[\u4e00-\u9fff]")


def compare_figures(url: str, collections: Sequence[Collection], name: str) -> Iterator[Figure]:
    """Yield MRR and P@10 of the documents that contain the complete term, with the base dictionary and the domain
    lexicon.
    """
    documents = articles(collections)
    terms = mined(documents)
    lexicon = accepted(terms)
    domain = RjiebaSegmenter((entry.text, entry.frequency, entry.pos_tag) for entry in lexicon.entries)
    chosen = looked_for(terms, base_segmenter())
    index = Ours(url, name, lexicon)
    try:
        index.load(documents)
        yield Figure(name, OURS, "articles", len(documents))
        yield Figure(name, OURS, "terms", len(chosen))
        yield from sides(
            SolrSearchClient(url, name, TIMEOUT), {"base": base_segmenter(), "domain": domain}, chosen, name
        )
    finally:
        index.drop()


def mined(documents: Sequence[Document]) -> list[Term]:
    """Return the terms of the documents' texts by C-value, best first."""
    settings = LexiconSettings(scorer="c_value", max_contexts=0, depth=0)
    return mine_terms(InMemoryCorpus((doc.title, doc.text) for doc in documents), settings)


def accepted(terms: Sequence[Term]) -> Lexicon:
    """Return the lexicon of a reviewer who accepts everything."""
    return Lexicon(1, tuple(LexiconEntry(term.text) for term in terms))


def sides(
    client: SolrSearchClient, segmenters: dict[str, Segmenter], terms: Sequence[str], name: str
) -> Iterator[Figure]:
    """Return the means over `terms` for each lexicon and measure."""
    found = [compare_lexicons(client, segmenters, term) for term in terms]
    for n, side in enumerate(LEXICON_NAMES):
        measures = [both[n].measures for both in found]
        yield Figure(name, OURS, f"mrr_{side}", statistics.fmean(one.reciprocal_rank for one in measures))
        yield Figure(name, OURS, f"p10_{side}", statistics.fmean(one.precision_at_10 for one in measures))


def articles(collections: Sequence[Collection]) -> Sequence[Document]:
    """Return the first articles of the Chinese collection with the longest texts. Raises PlumblineError if there is
    none.
    """
    chinese = [found for found in collections if len(found.documents) >= MIN_ARTICLES and _is_chinese(found)]
    if not chinese:
        raise PlumblineError(f"no Chinese collection of {MIN_ARTICLES} documents: the comparison needs one")
    longest = max(chinese, key=lambda found: statistics.fmean(len(doc.text) for doc in found.documents))
    return longest.documents[:ARTICLES]


def _is_chinese(collection: Collection) -> bool:
    sample = "".join(doc.text for doc in collection.documents[:100])
    return len(_CHINESE.findall(sample)) > len(sample) / 2


def looked_for(terms: Sequence[Term], base: Segmenter) -> list[str]:
    """Return the best terms that several documents contain and the base dictionary splits."""
    several = (term.text for term in terms if term.document_count >= MIN_DOCUMENTS and _CHINESE.search(term.text))
    return [text for text in several if len(base.cut(text)) > 1][:TERMS]
