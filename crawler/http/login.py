"""Sign in to sites that ask for a name, and keep their sessions."""

from crawler.http.ip_policy import IpPolicy
from crawler.settings import CrawlSettings
from domain.login import Login, LoginTrial
from domain.message import Message


def try_login(
    host: str, login: Login, secret: str, settings: CrawlSettings, ip_policy: IpPolicy, page_url: str = ""
) -> LoginTrial:
    """Sign in to a site and fetch a page of it, with the requests, protections and limits of a crawl.

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
    return LoginTrial(login, Message("not implemented"))
