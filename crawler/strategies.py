"""Which pages to keep and which links to follow: the contract of METHODS section 5, and the table of names.

In: a fetched page, a link on it. Out: a judgement, a priority. One file per paper; adding a strategy is one file, one
line in `STRATEGIES` and one in the docs. Open `strategy.py` first.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from crawler.breadth_first import BreadthFirst
from crawler.strategy import ParentPage, Relevance, Strategy

STRATEGIES: Mapping[str, Callable[[], Strategy]] = MappingProxyType({"breadth_first": BreadthFirst})

__all__ = ["STRATEGIES", "ParentPage", "Relevance", "Strategy"]
