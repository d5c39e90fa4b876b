"""Operations on sites and settings. Their services record them with the settings file (`settings_journal.py`).

`before` has the subject and the recorded values of the operation. An undo gives them their values before, and does
nothing if one of them has another value now.
"""

from collections.abc import Callable

from crawler.site import SITE_KEYS, canonical_host
from domain.account import Role
from domain.operation import Call, Change, Field, Operation, Recording
from pipeline.engine import Engine
from pipeline.site_admin.settings_editor import CHANGE_ACTION, FileSettingsEditor
from pipeline.site_admin.site_logins import LOGIN_ACTION, StoreLogins
from pipeline.site_admin.sites import StoreSites
from search_ui.admin.site_form import SiteOption, SiteOptionKind


def site_operations(engine: Engine) -> tuple[Operation, ...]:
    """Return the operations. They raise SettingsError, `site_remove` also BusyError."""
    sites, editor = StoreSites(engine), FileSettingsEditor(engine.settings, engine.store.operations)
    logins = StoreLogins(engine, sites)

    def operation(name: str, apply: Callable[[Call], Change | None], inverse: str = "", *undone: str) -> Operation:
        fields = tuple(Field(field, is_required=True) for field in undone)
        return Operation(name, Role.OPERATOR, apply, fields, inverse, recording=Recording.BY_SERVICE)

    def site_operation(name: str, change: Callable[[str, Call], object], inverse: str = "") -> Operation:
        def apply(call: Call) -> Change | None:
            if call.expected is None:
                host = canonical_host(call.text("host"))
                return Change(host, result=change(host, call))
            host, changes = call.text("subject"), call.values["changes"]
            is_recorded = bool(changes) and changes.keys() <= SITE_KEYS.keys()
            return Change(host) if is_recorded and sites.undo_edit(host, changes, call.account, name) else None

        return operation(name, apply, inverse, "subject", "changes")

    def change_setting(call: Call) -> Change | None:
        if call.expected is None:
            return Change("", result=editor.save(call.values["edits"], call.text("digest"), call.account))
        path, values = call.text("subject"), call.values
        return Change(path) if editor.undo(path, values["before"], values["after"], call.account) else None

    def add_site(_: str, call: Call) -> str:
        return sites.add(call.text("url"), call.account)

    def change_site(host: str, call: Call) -> None:
        sites.change(host, call.values["values"], call.account)

    def change_login(host: str, call: Call) -> None:
        values = call.values
        logins.change(host, values["values"], call.text("secret"), call.account, bool(values.get("removes_secret")))

    def set_option(host: str, call: Call) -> None:
        sites.set_option(host, SiteOptionKind(call.text("kind")), call.text("value"), call.account)

    def remove_option(host: str, call: Call) -> None:
        option = SiteOption(SiteOptionKind(call.text("kind")), call.text("name"))
        sites.remove_option(host, option, call.account)

    return (
        operation(CHANGE_ACTION, change_setting, CHANGE_ACTION, "subject", "before", "after"),
        site_operation("site_add", add_site, "site_change"),
        site_operation("site_change", change_site, "site_change"),
        site_operation(LOGIN_ACTION, change_login, LOGIN_ACTION),
        site_operation("site_pause", lambda host, call: sites.pause(host, call.account), "site_resume"),
        site_operation("site_resume", lambda host, call: sites.resume(host, call.account), "site_pause"),
        site_operation("site_option_set", set_option),
        site_operation("site_option_remove", remove_option),
        site_operation("site_recrawl", lambda host, call: sites.recrawl(host, call.account)),
        site_operation("site_remove", lambda host, call: sites.remove(host, call.account), "site_add"),
    )
