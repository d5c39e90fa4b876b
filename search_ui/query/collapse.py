"""Near-duplicates show once: on the first page without Solr's `collapse`, which costs half as much as the ranking.

The first page is asked for with some hits to spare, and of each cluster the first stays. That is what collapsing in
this order would show. Pure.
"""

from docstore import fields
from search_ui.query.solr_client import Answer

SPARE = 5  # hits that are asked for besides a page's
FEW = 1000  # hits of which the pages must be numbered rightly: a hundred


def first_of_each(answer: Answer, size: int) -> Answer | None:
    """An answer that was not collapsed as if it had been, `size` hits long; None if Solr has to collapse after all.

    That is so where there are too few to fill the page, and where few were found and copies among them: how many pages
    those make nobody can tell from the first.
    """
    found = answer.get("response", {})
    docs, every = found.get("docs", ()), int(found.get("numFound", 0))
    names = [str(doc.get(fields.CLUSTER, doc.get(fields.ID))) for doc in docs]
    kept = [doc for place, doc in enumerate(docs) if names.index(names[place]) == place]
    hidden = len(docs) - len(kept)
    if every > len(docs) and hidden and (len(kept) < size or every <= FEW):
        return None
    return {**answer, "response": {**found, "numFound": every - hidden, "docs": kept[:size]}}
