"""A story: the news of one event on several sites, as a timeline. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from docstore import solr_fields
from search_ui.pages.article import SUMMARY_FIELDS, RelatedArticle, parse_related
from search_ui.query.solr_client import SolrResponse
from search_ui.query.solr_query import Params, SolrQuery, select_params
from search_ui.settings import SearchSettings

MAX_STORY_ARTICLES = 200  # articles of a story
_STORY_ID_RE = re.compile("[0-9a-f]{16}")
_OLDEST_FIRST = f"{solr_fields.PUBLISHED} asc,{solr_fields.FETCHED} asc,{solr_fields.ID} asc"


@dataclass(frozen=True)
class StoryDay:
    """What was published on one day, an ISO date."""

    day: str
    articles: tuple[RelatedArticle, ...]


@dataclass(frozen=True)
class Story:
    """The articles of a story by their days, oldest first; `title` is the first one's, `site_count` how many tell it."""

    story_id: str
    title: str
    days: tuple[StoryDay, ...]
    site_count: int

    @property
    def article_count(self) -> int:
        """How many articles there are."""
        return sum(len(day.articles) for day in self.days)


def is_story_id(text: str) -> bool:
    """Could this be the id of a story?"""
    return bool(_STORY_ID_RE.fullmatch(text))


def story_params(story_id: str) -> Params:
    """What fetches the articles of a story, of copies one, oldest first."""
    clause = SolrQuery.term(solr_fields.STORY_ID, "story", story_id)
    return select_params(
        clause, [SolrQuery.collapse_clusters(_OLDEST_FIRST)], MAX_STORY_ARTICLES, SUMMARY_FIELDS, _OLDEST_FIRST
    )


def parse_story(story_id: str, response: SolrResponse, settings: SearchSettings) -> Story | None:
    """Read Solr's answer to `story_params`; None if no article tells the story (any more)."""
    story_articles: Sequence[RelatedArticle] = parse_related(response, settings)
    if not story_articles:
        return None
    days = groupby(story_articles, key=lambda article: article.published)
    by_day = tuple(StoryDay(day, tuple(articles)) for day, articles in days)
    return Story(story_id, story_articles[0].title, by_day, len({article.site_name for article in story_articles}))
