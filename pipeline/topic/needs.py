"""What the configured strategy lacks for a topic. Crawl, `plumb topic show` and the review page state the same."""

from dataclasses import replace

from crawler.settings import resolve_strategy
from domain.topic import Topic
from focused.strategy_needs import StrategyNeeds, assess_needs
from pipeline.settings import Settings


def topic_needs(settings: Settings, topic: Topic, article_count: int) -> StrategyNeeds:
    """Return what the strategy of a crawl for `topic` lacks. Raises SettingsError as `resolve_strategy`."""
    return assess_needs(
        resolve_strategy(replace(settings.crawl, topic=topic.name)),
        has_vector_file=bool(settings.papers.vectors) and (settings.folder / settings.papers.vectors).is_file(),
        has_concepts=any((settings.folder / name).is_file() for name in settings.crawl.concepts),
        has_tree=bool(topic.term_tree),
        article_count=article_count,
    )
