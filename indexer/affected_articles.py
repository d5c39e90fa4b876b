"""Which articles hold one of some terms: those that a new lexicon version may cut differently.

Solr answers where it can be trusted: it makes every common Chinese character a token of its own, so a run of them is
found as a phrase wherever it stands. Of everything else its tokens hang on the neighbours (`image xlink` in
`image xlink:href`, `CO2` in `CO2_b`), so terms without such a run are looked for in the texts themselves, by the same
rule that cuts them (`text.mixed_terms`). Articles too many may come, none too few.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from docstore.batches import batched
from docstore.store import Store
from indexer.document_mapping import strip_unindexable
from text.mixed_terms import MixedTermMatcher

LOOKUP_BATCH_SIZE = 500
_HAN_RUN = re.compile("[\u4e00-\u9fff]+")


class PhraseIndex(Protocol):
    """What this module needs of Solr."""

    def iter_ids_containing(self, phrases: Sequence[str]) -> Iterator[str]:
        """The ids of documents whose title or body holds one of `phrases`."""


def find_url_ids_containing(terms: Iterable[str], store: Store, index: PhraseIndex) -> set[int]:
    """The articles (`url_id`) whose title or body may hold one of `terms`."""
    run_by_term = {term: longest_han_run(term) for term in terms}
    phrases = sorted({run for run in run_by_term.values() if run})
    url_ids = set[int]()
    if phrases:
        for doc_ids in batched(index.iter_ids_containing(phrases), LOOKUP_BATCH_SIZE):
            url_ids.update(store.articles.find_url_ids(doc_ids))
    if terms_without_run := [term for term, run in run_by_term.items() if not run]:
        url_ids.update(iter_texts_containing(terms_without_run, store.articles.iter_plain_texts()))
    return url_ids


def longest_han_run(term: str) -> str:
    """The longest run of common Chinese characters in `term`; "" if it has none."""
    return max(_HAN_RUN.findall(term), key=len, default="")


def iter_texts_containing(terms: Sequence[str], texts: Iterable[tuple[int, str, str]]) -> Iterator[int]:
    """The ids of those `texts` (id, title, body) that hold one of `terms`. About 0.1 ms a text of two pages."""
    matcher = MixedTermMatcher(terms)
    for url_id, title, body in texts:
        if any(True for _ in matcher.iter_spans(strip_unindexable(f"{title}\n{body}"))):
            yield url_id
