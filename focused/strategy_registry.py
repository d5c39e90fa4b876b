"""Registry of focused strategies by name.

It is a separate module so that a crawl without a topic does not load scikit-learn.
"""

from collections.abc import Callable, Mapping

from crawler.focused_policy import FocusedStrategy
from focused.fused.strategy import FusedFeatureStrategy
from focused.paper_strategies.paper_strategy import StaticKeywordsStrategy, VectorSpaceStrategy
from focused.paper_strategies.semantic import SemanticStrategy
from focused.paper_strategies.semantic_tree import SemanticTreeStrategy
from focused.paper_strategies.topic_library import TopicLibraryStrategy

STRATEGIES: Mapping[str, Callable[..., FocusedStrategy]] = {
    "fused": FusedFeatureStrategy,
    "semantic": SemanticStrategy,
    "topic_library": TopicLibraryStrategy,
    "semantic_tree": SemanticTreeStrategy,
    "static_keywords": StaticKeywordsStrategy,
    "vsm": VectorSpaceStrategy,
}
"""Name -> function of the topic (`TopicWords`) and, except for `fused`, of the `OperatorResources`."""
