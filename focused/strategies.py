"""The table of focused strategies by name. A crawl without a topic need not load scikit-learn."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from crawler.guide import FocusedStrategy, TopicWords
from focused.fused.strategy import Fused
from focused.papers.semantic import Semantic
from focused.papers.semantic_tree import SemanticTree, Vsm
from focused.papers.topic_library import StaticKeywords, TopicLibrary

FOCUSES: Mapping[str, Callable[[TopicWords], FocusedStrategy]] = MappingProxyType(
    {
        "fused": Fused,
        "semantic": Semantic,
        "topic_library": TopicLibrary,
        "semantic_tree": SemanticTree,
        "static_keywords": StaticKeywords,
        "vsm": Vsm,
    }
)
