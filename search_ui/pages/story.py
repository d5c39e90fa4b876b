"""A news story: the articles about one event on several sites, as a timeline. No I/O."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from search_ui.query.display_text import clean_text, first_sentences, is_spaced_script
from search_ui.query.results import ArticleSummary, list_articles
from search_ui.query.solr_client import SolrResponse
from search_ui.query.solr_query import Params, SolrQuery, select_params
from search_ui.services.articles import SUMMARY_FIELDS
from search_ui.settings import SearchSettings
from solr_client import solr_fields

MAX_STORY_ARTICLES = 200
EXCERPT_CHARS = 160  # of an article; at least one sentence is shown
_MAX_SENTENCE_CHARS = 400
_STORY_ID_RE = re.compile("[0-9a-f]{16}")
_OLDEST_FIRST = f"{solr_fields.PUBLISHED} asc,{solr_fields.FETCHED} asc,{solr_fields.ID} asc"


@dataclass(frozen=True)
class StoryDay:
    """The articles of one day (ISO date), each with the beginning of its text."""

    day: str
    articles: tuple[tuple[ArticleSummary, str], ...]


@dataclass(frozen=True)
class Story:
    """The articles of a story by day, oldest first.

    `title` and `language` are those of the first, `site_count` is the number of sites.
    """

    story_id: str
    title: str
    days: tuple[StoryDay, ...]
    site_count: int
    language: str = ""

    @property
    def article_count(self) -> int:
        """The number of articles of the story."""
        return sum(len(day.articles) for day in self.days)


def is_story_id(text: str) -> bool:
    """Return True if the text has the form of a story id."""
    return bool(_STORY_ID_RE.fullmatch(text))


def story_params(story_id: str) -> Params:
    """Build the request for the articles of a story, near-duplicates once, oldest first.

    No word of a text is highlighted, so Solr returns the beginning of each text instead of the whole of it.
    """
    excerpt_params = [
        ("hl", "true"),
        ("hl.method", "unified"),
        ("hl.fl", solr_fields.BODY),
        ("hl.requireFieldMatch", "true"),
        ("hl.defaultSummary", "true"),
        ("hl.snippets", "2"),
        ("hl.fragsize", str(EXCERPT_CHARS)),
    ]
    clause = SolrQuery.term(solr_fields.STORY_ID, "story", story_id)
    return select_params(
        clause,
        [SolrQuery.collapse_clusters(_OLDEST_FIRST)],
        MAX_STORY_ARTICLES,
        SUMMARY_FIELDS,
        _OLDEST_FIRST,
        extra_params=excerpt_params,
    )


def parse_story(story_id: str, response: SolrResponse, settings: SearchSettings) -> Story | None:
    """Parse the response to `story_params`. Returns None if no article belongs to the story."""
    highlighting = response.get("highlighting", {})
    articles = list_articles(response, settings)
    if not articles:
        return None
    excerpts = [_join_excerpt(highlighting.get(article.doc_id, {}).get(solr_fields.BODY, ())) for article in articles]
    days = groupby(zip(articles, excerpts, strict=True), key=lambda pair: pair[0].published)
    by_day = tuple(StoryDay(day, tuple(pairs)) for day, pairs in days)
    sites = {article.site_name for article in articles}
    return Story(story_id, articles[0].plain_title, by_day, len(sites), articles[0].language)


def _join_excerpt(fragments: Sequence[str]) -> str:
    """Return the first sentences of a text from Solr's fragments."""
    separator = " " if is_spaced_script("".join(fragments)) else ""
    text = first_sentences(clean_text(separator.join(fragments)), EXCERPT_CHARS)
    return text if len(text) <= _MAX_SENTENCE_CHARS else f"{text[:_MAX_SENTENCE_CHARS]}…"
