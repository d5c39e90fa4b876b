"""The table of focused strategies by name. A crawl without a topic need not load scikit-learn."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from crawler.strategies.focus import Focus, Topic
from crawler.strategies.fused import Fused
from crawler.strategies.semantic import Semantic
from crawler.strategies.semantic_tree import SemanticTree, Vsm
from crawler.strategies.topic_library import StaticKeywords, TopicLibrary

FOCUSES: Mapping[str, Callable[[Topic], Focus]] = MappingProxyType(
    {
        "fused": Fused,
        "semantic": Semantic,
        "topic_library": TopicLibrary,
        "semantic_tree": SemanticTree,
        "static_keywords": StaticKeywords,
        "vsm": Vsm,
    }
)
