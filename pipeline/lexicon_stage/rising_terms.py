"""Finds the rising terms of a vertical after term mining, in the dates and beginnings of its newest articles."""

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING

from domain.message import Message
from domain.progress import track
from domain.rising_term import RisingTerm
from domain.term import TermStatus
from text.folding import normalize_text, word_key
from text.mixed_terms import TermFinder

if TYPE_CHECKING:
    from docstore.articles.article_table import ArticleLead
    from pipeline.engine import Engine

HISTORY_DAYS = 60
RISING_DAYS = 7  # days after a burst was noticed on which its term counts as rising
MAX_ARTICLES = 50_000  # newest articles that are read
MAX_TERMS = 50  # rising published terms, and rising candidates
MIN_KEY_CHARS = 2


def update_rising_terms(engine: "Engine", today: date | None = None) -> tuple[str, ...]:
    """Save the rising terms that readers see, and those of reviewers: words of the lexicon and candidates.

    The former rise in the articles that everyone finds.

    Args:
        engine: The vertical.
        today: The current day; articles with later dates are ignored.

    Returns:
        Notes for the report of the stage.
    """
    from lexicon.bursts import LEAD_CHARS

    store, today = engine.store, today or date.fromtimestamp(time.time())
    first_day = today - timedelta(days=HISTORY_DAYS)
    leads = store.articles.list_leads(first_day.isoformat(), today.isoformat(), LEAD_CHARS, MAX_ARTICLES)
    lexicon = store.lexicons.load_latest()
    hidden_texts = store.lexicons.published_term_states(lexicon.version).hidden_texts
    published_terms = [entry.text for entry in lexicon.entries if entry.text not in hidden_texts]
    _, undecided_terms = store.review_queue.undecided_terms()
    candidates = [*hidden_texts, *(term.text for term in undecided_terms if term.status is TermStatus.CANDIDATE)]
    signed_in_sites = engine.settings.current().search.signed_in_sites
    public_leads = [lead for lead in leads if not signed_in_sites.covers(lead.host)]
    rising_terms = []
    for terms, some_leads in ((published_terms, public_leads), (candidates, leads)):
        articles_by_term = find_articles(track(engine.progress.task, "lexicon: rising terms", some_leads), terms)
        rising_terms += find_rising_terms(some_leads, articles_by_term, today)
    store.rising_terms.save(rising_terms)
    count = len(rising_terms)
    return (Message("1 rising term", "{n} rising terms", n=count),) if count else ()


def find_rising_terms(
    leads: Sequence["ArticleLead"], articles_by_term: Mapping[str, Sequence[int]], today: date
) -> list[RisingTerm]:
    """Return the terms with a burst in the last RISING_DAYS days, the newest first, at most MAX_TERMS.

    If the articles come from several sites a burst needs two of them: a new site or a new template is no event.

    Args:
        leads: The articles.
        articles_by_term: Result of `find_articles`.
        today: The current day.
    """
    from lexicon.bursts import find_bursts

    if not leads:
        return []
    first_day = min(lead.published for lead in leads)
    days = [(lead.published - first_day).days for lead in leads]
    min_sites = min(2, len({lead.host for lead in leads}))
    rising_terms = []
    for burst in reversed(find_bursts(articles_by_term, days)):
        articles = articles_by_term[burst.term]
        sites = {leads[article].host for article in articles if burst.first_day <= days[article] <= burst.day}
        is_recent = first_day + timedelta(days=burst.day + RISING_DAYS) >= today
        if is_recent and len(sites) >= min_sites:
            earliest = 2 * burst.first_day - max(days) - 1
            count = sum(days[article] >= burst.first_day for article in articles)
            earlier_count = sum(earliest <= days[article] < burst.first_day for article in articles)
            since = (first_day + timedelta(days=burst.first_day)).isoformat()
            rising_terms.append(RisingTerm(burst.term, since, count, earlier_count))
    rising_terms.sort(key=lambda term: (term.since, term.count), reverse=True)
    return rising_terms[:MAX_TERMS]


def find_articles(leads: Iterable["ArticleLead"], terms: Iterable[str]) -> Mapping[str, Sequence[int]]:
    """Return the indices of the articles whose title or first characters contain each term, whatever its spelling."""
    terms_by_key: defaultdict[str, list[str]] = defaultdict(list)
    for term in terms:
        terms_by_key[word_key(term)].append(term)
    finder = TermFinder(key for key in terms_by_key if len(key) >= MIN_KEY_CHARS)
    articles_by_term: defaultdict[str, list[int]] = defaultdict(list)
    for index, lead in enumerate(leads):
        for key in finder.find_terms(normalize_text(f"{lead.title}。{lead.text}")):
            for term in terms_by_key[key]:
                articles_by_term[term].append(index)
    return articles_by_term
