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
from indexer.mapping import indexable
from text.mixed_terms import MixedTerms

LOOK_UP = 500
_HAN_RUN = re.compile("[\u4e00-\u9fff]+")


class PhraseIndex(Protocol):
    """What this module needs of Solr."""

    def ids_containing(self, phrases: Sequence[str]) -> Iterator[str]:
        """The ids of documents whose title or body holds one of `phrases`."""


def url_ids_holding(terms: Iterable[str], store: Store, index: PhraseIndex) -> set[int]:
    """The articles (`url_id`) whose title or body may hold one of `terms`."""
    runs = {term: longest_run(term) for term in terms}
    phrases = sorted({run for run in runs.values() if run})
    found = set[int]()
    if phrases:
        for doc_ids in batched(index.ids_containing(phrases), LOOK_UP):
            found.update(store.articles.url_ids(doc_ids))
    if others := [term for term, run in runs.items() if not run]:
        found.update(read_for(others, store.articles.plain_texts()))
    return found


def longest_run(term: str) -> str:
    """The longest run of common Chinese characters in `term`; "" if it has none."""
    return max(_HAN_RUN.findall(term), key=len, default="")


def read_for(terms: Sequence[str], texts: Iterable[tuple[int, str, str]]) -> Iterator[int]:
    """The ids of those `texts` (id, title, body) that hold one of `terms`. About 0.1 ms a text of two pages."""
    finder = MixedTerms(terms)
    for url_id, title, body in texts:
        if any(True for _ in finder.spans(indexable(f"{title}\n{body}"))):
            yield url_id
