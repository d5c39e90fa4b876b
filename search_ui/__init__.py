"""The search site: what the readers of the vertical see, and where its administrator reviews new words.

Comes in: a reader's words and filters, Solr's answers, the review actions that `pipeline` hands in.
Goes out: pages in Chinese and English, the same results as JSON, decisions on terms.

    public.py          home, results, an article, help    review.py, admin.py   the signed-in area
    api.py, feeds.py   the same for programs              suggestions.py        as one types
    finding.py         which questions a page asks Solr
    query.py           request -> Solr params    (pure)   ranking.py, filters.py, query_language.py stand behind it
    results.py         Solr's answers -> hits, facets     (pure)
    article.py, explanation.py   one article, and why it is found   (pure)
    compare.py         base against domain lexicon        (Wang Du 2019, WD-S3)
    search.py          asks Solr; the only network call of the package

Open `finding.py` first, then `query.py`; `ranking.py` says how documents are ranked and why no reader can reach Solr's
syntax.
"""

from search_ui.app import create_app
from search_ui.settings import SearchSettings

__all__ = ["SearchSettings", "create_app"]
