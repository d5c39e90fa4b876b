"""Try the login of a site: sign in, fetch a page, and say what happened."""

from contextlib import closing
from dataclasses import replace
from typing import Any

from crawler.http.fetch import Fetcher, FetchError, HttpResponse
from crawler.http.ip_policy import IpPolicy
from crawler.http.login_form import parse_html_page
from crawler.http.login_session import without_query
from crawler.settings import CrawlSettings
from crawler.site import Site, Sites, parse_site
from crawler.urls.canonical import UrlForms, host_of, parse_url_forms
from domain.errors import SiteError
from domain.login import Login, LoginTrial
from domain.message import Message
from domain.outcome import Reason

_MAX_PAGE_BYTES = 2_000_000
_MAX_REDIRECTS = 5
_MAX_LINES, _MAX_LINE_CHARS = 40, 200


def try_login(
    host: str, login: Login, secret: str, settings: CrawlSettings, ip_policy: IpPolicy, page_url: str = ""
) -> LoginTrial:
    """Sign in to a site and fetch a page of it, with the requests, protections and limits of a crawl.

    A refused secret is sent once. Neither the secret nor the result is saved.

    Args:
        host: host[:port] or *.host of the record.
        login: For a form without fields, the result has those that were found on the page.
        secret: The password or token.
        settings: Those of the crawl. Its record of the host gives headers, proxy and `render`.
        ip_policy: Which addresses may be used.
        page_url: A page that needs the login; "": the first start URL of the record, otherwise the login page.

    Returns what happened. It failed if the page is still a login page, shows `signed_out_text`, or lacks
    `signed_in_text`.
    """
    texts = {"login_signed_in_text": login.signed_in_text, "login_signed_out_text": login.signed_out_text}
    values: dict[str, Any] = {"login": login.kind.value, "login_user": login.user, "login_url": login.url, **texts}
    try:
        parse_site({"host": host, "login_fields": [*login.fields], **values})
    except SiteError as error:
        return LoginTrial(login, next(iter(error.problems.values())))
    site = replace(settings.sites.by_host.get(host, Site(host)), login_fields=login.fields, **values)
    other_records = [record for record in settings.sites.records if record.host != host]
    forms = parse_url_forms(page_url or next(iter(site.urls), login.url))
    page_url = forms.request_url if isinstance(forms, UrlForms) else ""
    trial_settings = replace(settings, sites=Sites((site, *other_records)), data_dir=None)
    with closing(Fetcher(trial_settings, ip_policy, find_login_secret=lambda _: secret)) as fetcher:
        session = fetcher.logins.find(page_url) if page_url else None
        if session is None:
            return LoginTrial(login, Message("{url} is no page of this site", url=page_url))
        problem: Message | None = None
        page = None
        try:
            response = _fetch_page(fetcher, page_url)
            page = parse_html_page(response.url, response.body, response.content_type)
            problem = _page_problem(response, login, page is not None and page.shows(login.signed_in_text))
            if problem is None and not session.generation:
                problem = Message("{url} is shown without a login: try a page that needs one", url=response.url)
        except FetchError as error:
            detail = error.outcome.detail
            problem = detail if isinstance(detail, Message) else error.outcome.summary
        form = session.form
        fields = form.field_settings if form is not None and not login.fields else login.fields
        last_page = page or session.page
        lines = [line.replace(secret, "***") if secret else line for line in (last_page.lines() if last_page else ())]
        cut_lines = tuple(line[:_MAX_LINE_CHARS] for line in lines[:_MAX_LINES])
        return LoginTrial(replace(login, fields=fields), problem, tuple(session.steps), cut_lines)


def _fetch_page(fetcher: Fetcher, url: str) -> HttpResponse:
    """Fetch a page over redirects within the login. Raises FetchError."""
    for _ in range(_MAX_REDIRECTS + 1):
        response = fetcher.get(url, {}, lambda status, _: status < 400, _MAX_PAGE_BYTES)
        target = response.redirect_forms
        if not isinstance(target, UrlForms) or fetcher.logins.find(target.url) is None:
            return response
        url = target.request_url
    raise FetchError(Reason.TOO_MANY_REDIRECTS, url)


def _page_problem(response: HttpResponse, login: Login, has_text: bool) -> Message | None:
    """Return why a page is not that of a signed-in user, or None."""
    if response.status != 200:
        url = without_query(response.url)
        target = response.redirect_url
        if isinstance(target, str):
            return Message("{url} redirects to another site: {host}", url=url, host=host_of(target))
        return Message("{url} responds with status {status}", url=url, status=str(response.status))
    if login.signed_in_text and not has_text:
        return Message("The page lacks “{text}”", text=login.signed_in_text)
    return None
