"""The search site: what the readers of the vertical see, and where its administrator reviews new words.

Comes in: a reader's words and filters, Solr's answers, the review actions that `pipeline` hands in.
Goes out: pages in Chinese and English, the same results as JSON, decisions on terms.

    public.py    home, results, comparison        review.py   login, candidates, publication
    query.py     reader's words -> Solr params    (pure)
    results.py   Solr's answer -> hits, facets    (pure)
    compare.py   base against domain lexicon      (Wang Du 2019, WD-S3)
    search.py    asks Solr; the only network call of the package

Open `query.py` first: it says how documents are ranked and why no reader can reach Solr's syntax.
"""

from search_ui.app import create_app
from search_ui.settings import SearchSettings

__all__ = ["SearchSettings", "create_app"]
