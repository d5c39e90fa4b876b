"""Extractor stage: a fetched page becomes an article, or an outcome that says why it is none.

In: bytes (or text) of a page and its URL.   Out: docstore.model.Article or Outcome.

Open extract.py first; it is the flow: document.py (a page as the decisions see it) by charset.py (bytes to text),
dom.py (scripts cut, text to a clean tree) and lines.py (the tree as lines of text, names.py reading its tags);
methods/ (which lines are the body; a setting chooses), check.py and list_page.py (what is no
article), stated_body.py (a text that only machines are told), title.py, date.py, metadata.py,
language.py, structure.py (paragraphs, lists, tables, pictures) and rendering.py (as text, HTML, Markdown).
near_duplicates.py makes signatures of bodies; blocks.py and tag_blocks.py hold what the papers count (Wang Du 2019,
Wu 2015).
"""

from extractor.extract import ArticleExtractor, extract
from extractor.settings import ExtractSettings

__all__ = ["ArticleExtractor", "ExtractSettings", "extract"]
