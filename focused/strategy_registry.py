"""Registry of focused strategies by name.

It is a separate module so that a crawl without a topic does not load scikit-learn.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from crawler.focused_policy import FocusedStrategy, TopicWords
from focused.fused.strategy import FusedFeatureStrategy
from focused.paper_strategies.semantic import SemanticStrategy
from focused.paper_strategies.semantic_tree import SemanticTreeStrategy, VectorSpaceStrategy
from focused.paper_strategies.topic_library import StaticKeywordsStrategy, TopicLibraryStrategy

STRATEGIES: Mapping[str, Callable[[TopicWords], FocusedStrategy]] = MappingProxyType(
    {
        "fused": FusedFeatureStrategy,
        "semantic": SemanticStrategy,
        "topic_library": TopicLibraryStrategy,
        "semantic_tree": SemanticTreeStrategy,
        "static_keywords": StaticKeywordsStrategy,
        "vsm": VectorSpaceStrategy,
    }
)
