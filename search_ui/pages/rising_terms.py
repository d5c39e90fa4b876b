"""Public page and feed of the published terms that rise in the news."""

from urllib.parse import quote

from flask import Blueprint, Response, render_template

from domain.rising_term import RisingTerm
from search_ui.context import current_services, current_site, external_url, render_page
from search_ui.i18n import translate
from search_ui.pages.feeds import FeedEntry, feed_response, parse_timestamp
from search_ui.services.terms import find_rising_terms

blueprint = Blueprint("rising_terms", __name__)


@blueprint.get("/terms/rising")
def show_rising_terms() -> Response:
    """Show the rising terms, each with its articles since the rise began."""
    return render_page("rising_terms.html", rising_terms=find_rising_terms(current_services()))


@blueprint.get("/terms/rising.atom")
def rising_terms_feed() -> Response:
    """Return the rising terms as an Atom feed."""
    entries = [_to_entry(term) for term in find_rising_terms(current_services())]
    body = render_template(
        "feed.atom.xml",
        entries=entries,
        updated=max((entry.atom_date for entry in entries), default="1970-01-01T00:00:00+00:00"),
        query=translate("Rising terms"),
        page=external_url("rising_terms.show_rising_terms"),
        itself=external_url("rising_terms.rising_terms_feed"),
    )
    return feed_response(body, "atom")


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
