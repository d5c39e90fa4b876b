"""The pages that a second worker's gain is measured on."""

from itertools import islice

from benchmarks.gold_web import GoldPage
from benchmarks.scale_speedup import Took, figures, repeated
from crawler.urls.canonical import host_of

PAGES = [
    GoldPage("set", str(number), f"http://{host}.test/{number}?a=1", b"", "utf-8", "", "")
    for host in ("one", "two")
    for number in range(3)
]


def test_pages_come_again_at_other_sites() -> None:
    some = list(islice(repeated(PAGES), 15))
    assert len({page.url for page in some}) == 15
    assert [page.id for page in some] == ["0", "1", "2"] * 5
    assert all(page.url.endswith(f".test/{page.id}?a=1") for page in some)
    assert some == list(islice(repeated(PAGES), 15))


def test_pages_of_a_site_stay_together() -> None:
    hosts = [host_of(page.url) for page in islice(repeated(PAGES), 12)]
    assert len(set(hosts)) == 4
    assert [len(set(hosts[start : start + 3])) for start in range(0, 12, 3)] == [1] * 4
    assert sorted(hosts) != sorted(hosts, key=lambda host: host.partition(".")[2])


def test_the_gain_is_the_median_of_turns() -> None:
    cpu = dict.fromkeys(("driver", "scheduler", "workers", "postgresql", "others"), 1.0)
    one = [Took(seconds, cpu, 5, "") for seconds in (10.0, 12.0, 30.0)]
    two = [Took(seconds, cpu, 5, "") for seconds in (8.0, 8.0, 10.0)]
    found = {figure.metric: figure.value for figure in figures("somewhere", one, two)}
    assert (found["seconds_one_worker"], found["seconds_two_workers"]) == (12.0, 8.0)
    assert found["speedup_two_workers"] == 1.5
