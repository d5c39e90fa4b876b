"""Extractor stage: a fetched page becomes an article, or an outcome that says why it is none.

In: bytes (or text) of a page and its URL.   Out: docstore.model.Article or Outcome.

Open extract.py first; it is the flow: charset.py (bytes to text), dom.py (text to a clean tree), document.py (what the
head says), lines.py (the tree as lines of text), methods/ (which lines are the body; a setting chooses), title.py,
date.py, language.py, and check.py (what is no article). blocks.py holds the counts of Wang Du 2019 that the paper's
methods score.
"""

from extractor.extract import ArticleExtractor, extract
from extractor.settings import ExtractSettings

__all__ = ["ArticleExtractor", "ExtractSettings", "extract"]
