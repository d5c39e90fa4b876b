"""The logins of sites as an operator tries, saves and removes them: keys of [[sites]], and a secret in its own file."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from crawler.http.ip_policy import PublicOnlyPolicy
from crawler.http.login import try_login
from crawler.http.login_secrets import check_secret, find_secret, save_secret, secret_variable
from crawler.http.login_state import clear_login_failure
from crawler.site import Sites, parse_site, url_host
from crawler.urls.registrable_domains import site_domain
from domain.errors import SettingsError, SiteError
from domain.login import LoginTrial
from domain.message import Message, error_message
from pipeline.engine import Engine
from pipeline.logs import register_secrets
from pipeline.settings import SITES
from pipeline.settings_source import Sections
from pipeline.site_admin.settings_editor import form_text
from pipeline.site_admin.site_check import MAX_FETCH_SECONDS
from pipeline.site_admin.sites import StoreSites
from pipeline.site_tables import change_tables, find_table, parse_form, parse_start_url
from search_ui.admin.site_form import LOGIN_FORM_KEYS, SecretSource, SiteLogin

LOGIN_ACTION = "site_login"  # code of the action
MIN_FOUND_SECRET_LENGTH = 8  # in other fields: a shorter text, such as "user", can be there by chance


class StoreLogins:
    """Reads, tries and saves the logins of sites. Raises SiteError for invalid values, and SettingsError.

    A secret is in no setting and no record, and no result of this class has it.
    """

    def __init__(self, engine: Engine, sites: StoreSites) -> None:
        self._engine = engine
        self._sites = sites

    def load(self, host: str) -> SiteLogin:
        """Return the login of a host, and where its secret comes from."""
        table = find_table(self._sections(), host)
        source, problem = SecretSource.NONE, ""
        try:
            source = self._secret_source(host)
        except SettingsError as error:
            problem = error_message(error)
        return SiteLogin(
            host,
            {key: form_text(table.get(key)) for key in LOGIN_FORM_KEYS},
            source,
            secret_variable(host),
            problem,
            table.get("readers", ""),
            next(iter(table.get("urls", ())), ""),
            bool(table.get("render")),
        )

    def try_login(self, host: str, values: Mapping[str, str], secret: str, page_url: str) -> LoginTrial:
        """Sign in with the values of the form, which are not saved, and fetch a page. An empty secret: the saved one.

        The result has no secret, even if the site shows it.
        """
        sections = self._sections()
        new_sections: Sections = {**sections, **change_tables(sections, {host: parse_form(values)})}
        site = parse_site(find_table(new_sections, host))
        problems = self._secret_problems(host, values, secret)
        if not site.login:
            problems["login"] = Message("Choose how the crawl signs in.")
        login, secret = site.login_settings, secret or find_secret(self._folder, host)
        if problems or login is None:
            raise SiteError(host, problems)
        crawl = self._engine.settings.current().crawl
        timeout = min(crawl.total_timeout, MAX_FETCH_SECONDS)
        crawl = replace(crawl, sites=Sites.parse(new_sections[SITES]), total_timeout=timeout)
        policy, page_url = PublicOnlyPolicy(crawl.inside_hosts), page_url and parse_start_url(page_url)
        return try_login(host, login, secret, crawl, policy, page_url)

    def change(
        self, host: str, values: Mapping[str, str], secret: str, account: str, removes_secret: bool = False
    ) -> None:
        """Save the values of the form in one recorded edit, then the secret. An empty secret: the saved one stays.

        Without a login, or with `removes_secret`, the secret is removed from the file. The next run signs in even if
        the site was paused, because earlier sign-ins had failed.
        """
        removes_secret = removes_secret or not values["login"]
        if not removes_secret and (problems := self._secret_problems(host, values, secret)):
            raise SiteError(host, problems)
        self._sites.change(host, values, account, LOGIN_ACTION)
        if removes_secret or secret:
            save_secret(self._folder, host, "" if removes_secret else secret)
        clear_login_failure(self._engine.settings.data_dir, host)

    def _secret_problems(self, host: str, values: Mapping[str, str], secret: str) -> dict[str, Message]:
        check_secret(secret)
        register_secrets(secret)
        stored_url = find_table(self._sections(), host).get("login_url", "")
        return find_secret_problems(host, values, secret, self._secret_source(host), stored_url)

    def _secret_source(self, host: str) -> SecretSource:
        if os.environ.get(secret_variable(host)):
            return SecretSource.ENVIRONMENT
        return SecretSource.FILE if find_secret(self._folder, host) else SecretSource.NONE

    def _sections(self) -> Sections:
        return {SITES: self._engine.settings.require_source().stored(SITES) or ()}

    @property
    def _folder(self) -> Path:
        return self._engine.settings.folder


def find_secret_problems(
    host: str, values: Mapping[str, str], secret: str, source: SecretSource, stored_url: str
) -> dict[str, Message]:
    """Return why a login cannot use a secret, by field. Pure.

    Args:
        host: The host of the site.
        values: The values of the form.
        secret: The password that was entered; "": the saved one.
        source: Where the saved one comes from.
        stored_url: The saved `login_url`. A saved password is not sent to a form that nobody could enter before.
    """
    if source is SecretSource.ENVIRONMENT and secret:
        return {"secret": Message("The environment sets the password. Change it there.")}
    if source is SecretSource.NONE and not secret:
        return {"secret": Message("Enter the password.")}
    if secret:
        repeating_keys = [
            key for key in LOGIN_FORM_KEYS if len(secret) >= MIN_FOUND_SECRET_LENGTH and secret in values[key]
        ]
        problem = Message("This contains the password. Enter it in its own field only.")
        return dict.fromkeys(repeating_keys, problem)
    login_host = url_host(values["login_url"]) if values["login_url"] else host
    is_known = login_host == url_host(stored_url) or site_domain(login_host) == site_domain(host)
    if is_known and not (stored_url.startswith("https:") and values["login_url"].startswith("http:")):
        return {}
    if source is SecretSource.ENVIRONMENT:
        problem = Message(
            "This is another site or unencrypted, and the environment sets the password: "
            "change it in the settings file."
        )
        return {"login_url": problem}
    return {"secret": Message("Enter the password again: the form is on another site than before, or unencrypted.")}
