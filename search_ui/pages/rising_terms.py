"""Public page and feed of the published terms that rise in the news."""

from collections.abc import Sequence
from datetime import timedelta
from urllib.parse import quote

from flask import Blueprint, Response, render_template

from domain.rising_term import RisingTerm
from search_ui.context import current_site, external_url, render_page
from search_ui.i18n import translate
from search_ui.local_dates import local_day
from search_ui.pages.feeds import FeedEntry, feed_response, parse_timestamp

blueprint = Blueprint("rising_terms", __name__)

MAX_AGE_DAYS = 14  # without new articles no run removes a term from the list


@blueprint.get("/terms/rising")
def show_rising_terms() -> Response:
    """Show the rising terms, each with its articles since the rise began."""
    return render_page("rising_terms.html", rising_terms=current_rising_terms())


@blueprint.get("/terms/rising.atom")
def rising_terms_feed() -> Response:
    """Return the rising terms as an Atom feed."""
    entries = [_to_entry(term) for term in current_rising_terms()]
    body = render_template(
        "feed.atom.xml",
        entries=entries,
        updated=max((entry.atom_date for entry in entries), default="1970-01-01T00:00:00+00:00"),
        query=translate("Rising terms"),
        page=external_url("rising_terms.show_rising_terms"),
        itself=external_url("rising_terms.rising_terms_feed"),
    )
    return feed_response(body, "atom")


def current_rising_terms() -> Sequence[RisingTerm]:
    """Return the rising terms of the site that are not out of date, the newest first."""
    site = current_site()
    oldest = local_day(site.clock()) - timedelta(days=MAX_AGE_DAYS)
    return [term for term in site.backend.rising_terms() if term.since >= oldest.isoformat()]


def _to_entry(term: RisingTerm) -> FeedEntry:
    return FeedEntry(
        doc_id=f"rising:{term.since}:{quote(term.text)}",
        title=term.text,
        link=external_url("public.search", q=term.text, **{"from": term.since}),
        summary=translate(
            "rose from {earlier} to {count} articles since {since}",
            earlier=term.earlier_count,
            count=term.count,
            since=term.since,
        ),
        site=current_site().settings.title,
        updated_at=parse_timestamp(term.since),
    )
