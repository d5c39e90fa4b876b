"""Set `roles` of `make bench-admin`: every page and action of the administration, requested with every wrong role.

`leaks` is the number of requests to a real server that were answered although the role has no right to them. The rights
are the table of the test of accounts, which fails for a route without an entry.
"""

import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.admin_site import Client, open_engine, write_config
from benchmarks.results import OURS, Figure
from domain.account import Role
from pipeline.search_site.serve import SearchSite
from tests.search_ui.test_accounts import ADMIN_RIGHTS

FORBIDDEN, TO_SIGN_IN = 403, 303
EXAMPLE_BY_NAME = {"host": "news.example", "form": "jieba", "kind": "decide", "run_id": "1"}
FEW_ROUTES = 5


def measure_roles(few: bool) -> Sequence[Figure]:
    """Request every route with every wrong role; returns the numbers of requests and leaks."""
    rights = list(ADMIN_RIGHTS.items())[: FEW_ROUTES if few else None]
    with (
        tempfile.TemporaryDirectory() as folder,
        open_engine(write_config(Path(folder))) as engine,
        SearchSite(engine) as site,
    ):
        clients = {role: Client(site.url, role) for role in (None, *Role)}
        leaks, request_count = [], 0
        for (method, rule), roles in rights:
            for role in wrong_roles(roles):
                request_count += 1
                response = clients[role].send(method, example_path(rule))
                is_sent_to_sign_in = (
                    response.status_code == TO_SIGN_IN and "/admin/login" in response.headers["Location"]
                )
                if response.status_code != FORBIDDEN and not is_sent_to_sign_in:
                    leaks.append(f"{method} {rule} as {role}: {response.status_code}")
        for leak in leaks:
            print(leak)
    return [Figure("roles", OURS, "requests", request_count), Figure("roles", OURS, "leaks", len(leaks))]


def wrong_roles(roles: frozenset[Role]) -> Iterator[Role | None]:
    """Yield the roles without a right: nobody, and all that are neither listed nor the administrator's."""
    yield None
    yield from (role for role in Role if role not in roles and role is not Role.OPERATOR)


def example_path(rule: str) -> str:
    """Return a path for a route: `/admin/sites/<host>` -> `/admin/sites/news.example`."""
    return re.sub(r"<(?:[a-z]+:)?([a-z_]+)>", lambda match: EXAMPLE_BY_NAME.get(match[1], "x"), rule)
