"""Explanation of a link's priority."""

import pytest

from crawler.focused_policy import BLOCK_CONTENT, LinkWords, PageWords, TopicWords, WordBlock
from focused.paper_strategies.semantic import SemanticStrategy
from pipeline.topic.explain import RecordingStrategy


@pytest.mark.parametrize(("first", "said"), [(("http://a.test/",), "discarded, but followed"), ((), "discarded")])
def test_what_a_seed_leads_to_is_told_as_followed(first: tuple[str, ...], said: str) -> None:
    watch = RecordingStrategy(SemanticStrategy(TopicWords(name=("页岩气",))), "http://a.test/1", frozenset(first))
    home = PageWords("http://a.test/", ("首页",), (), (WordBlock(BLOCK_CONTENT, ("首页", "新闻")),))
    assert watch.link_priorities(home, watch.score_page(home), [LinkWords("http://a.test/1", ("产量",))]) == [None]
    assert watch.sources[0]["promise"].partition(":")[0] == said
