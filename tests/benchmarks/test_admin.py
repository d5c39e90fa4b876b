"""The sets of `make bench-admin` that need neither Solr nor a crawl, on a handful of data."""

import pytest

from benchmarks.admin_kill9 import measure_kill9
from benchmarks.admin_roles import measure_roles
from benchmarks.results import values_by_name

pytestmark = pytest.mark.slow


def test_no_role_gets_what_another_one_is_for() -> None:
    measured = values_by_name(measure_roles(few=True))
    assert measured["roles requests"] > 5 and measured["roles leaks"] == 0


def test_a_kill_leaves_no_action_half_done() -> None:
    measured = values_by_name(measure_kill9(few=True))
    assert measured["kill9 kills"] == 2 and measured["kill9 half_done"] == 0
