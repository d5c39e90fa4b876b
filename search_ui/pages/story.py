"""A story: the news of one event on several sites, as a timeline. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from docstore import fields
from search_ui.pages.article import NAMED, Neighbour, neighbours
from search_ui.query.clauses import Clause, Params, select_params
from search_ui.query.solr_client import Answer
from search_ui.settings import SearchSettings

MAX_TOLD = 200  # articles of a story
_ID = re.compile("[0-9a-f]{16}")
_OLDEST = f"{fields.PUBLISHED} asc,{fields.FETCHED} asc,{fields.ID} asc"


@dataclass(frozen=True)
class StoryDay:
    """What was published on one day, an ISO date."""

    day: str
    articles: tuple[Neighbour, ...]


@dataclass(frozen=True)
class Story:
    """The articles of a story by their days, oldest first; `title` is the first one's, `sites` how many tell it."""

    story_id: str
    title: str
    days: tuple[StoryDay, ...]
    sites: int

    @property
    def count(self) -> int:
        """How many articles there are."""
        return sum(len(day.articles) for day in self.days)


def is_story_id(text: str) -> bool:
    """Could this be the id of a story?"""
    return bool(_ID.fullmatch(text))


def story_params(story_id: str) -> Params:
    """What fetches the articles of a story, of copies one, oldest first."""
    told = Clause.one_value(fields.STORY, "story", story_id)
    return select_params(told, [Clause.one_of_each_cluster(_OLDEST)], MAX_TOLD, NAMED, _OLDEST)


def story_of(story_id: str, answer: Answer, settings: SearchSettings) -> Story | None:
    """Read Solr's answer to `story_params`; None if no article tells the story (any more)."""
    told: Sequence[Neighbour] = neighbours(answer, settings)
    if not told:
        return None
    days = groupby(told, key=lambda one: one.published)
    by_day = tuple(StoryDay(day, tuple(articles)) for day, articles in days)
    return Story(story_id, told[0].title, by_day, len({one.site_name for one in told}))
