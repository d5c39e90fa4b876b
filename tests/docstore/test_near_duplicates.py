"""Clusters of near-duplicates: found by similarity, decided by texts, stable when articles change or are removed."""

import random
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from sqlalchemy import event, func, select

from docstore.near_duplicates.clusters import MAX_LEADERS_PER_KEY, MAX_TEXT_COMPARISONS, CopyDetection, signature_bands
from docstore.schema.article_tables import near_duplicate_keys
from docstore.store import Store
from domain.article import Article, document_id
from domain.index_change import IndexOperation
from domain.outcome import Reason
from domain.pagination import estimate_jaccard
from tests.conftest import logic_store_url, on_both
from tests.docstore.test_resolve_roles import Web as AnyWeb
from tests.docstore.test_resolve_roles import url

store_url = logic_store_url
PLACES = 128


@dataclass(frozen=True)
class Titled:
    """A text that is a copy of another unless their titles are of two issues."""

    title: str
    body: str
    published: str

    @property
    def duplicate_keys(self) -> tuple[int, ...]:
        return (hash(self.issue),) if self.issue else ()

    @property
    def issue(self) -> str:
        return self.title.partition(" issue ")[2]

    def is_duplicate_of(self, other: "Titled") -> bool:
        return self.issue == other.issue


GROUPING = CopyDetection(0.8, Titled)


class Web(AnyWeb):
    """Pages whose copies are decided by their titles."""

    grouping = GROUPING


def signature(seed: object, share: float = 1.0, other: object = 0) -> tuple[int, ...]:
    """That of a text of which `share` is text `seed`'s, the rest `other`'s."""
    chance, noise, pick = random.Random(str(seed)), random.Random(f"{seed} {other}"), random.Random(f"pick {other}")
    mine = [chance.getrandbits(32) for _ in range(PLACES)]
    changed = set(pick.sample(range(PLACES), round(PLACES * (1 - share))))
    return tuple(noise.getrandbits(32) if n in changed else value for n, value in enumerate(mine))


def article(name: str, signature: tuple[int, ...], issue: str = "") -> Article:
    title = f"题目{name}" + (f" issue {issue}" if issue else "")
    return Article(url(name), title, f"{name}的正文。", signature=signature)


def groups(web: Web) -> dict[str, str]:
    """Article -> the one it stands behind."""
    names = {document_id(address): address.removeprefix(url("")) for address in web.articles()}
    names[""] = ""
    found = web.articles().items()
    return {address.removeprefix(url("")): names[stored.duplicate_of] for address, stored in found}


@pytest.fixture
def web(store: Store) -> Web:
    return Web(store)


def test_a_copy_stands_behind_the_first(web: Web) -> None:
    web.add(article("1", signature("a")))
    web.add(article("2", signature("b")), article("3", signature("a", 0.9)), article("4", ()))
    web.add(article("5", signature("a", 0.95, "x")), article("6", ()))
    assert groups(web) == {"1": "", "2": "", "3": "1", "4": "", "5": "1", "6": ""}


@pytest.mark.parametrize(("threshold", "behind"), [(0.5, "1"), (0.8, "")])
def test_the_threshold_is_a_setting(store: Store, threshold: float, behind: str) -> None:
    web = Web(store)
    web.grouping = replace(GROUPING, min_jaccard=threshold)
    web.add(article("1", signature("a")), article("2", signature("a", 0.75)))
    assert groups(web)["2"] == behind


@on_both
def test_where_the_first_goes_another_takes_over(web: Web) -> None:
    web.add(*(article(str(n), signature("a", 0.97, n)) for n in range(4)))
    assert groups(web) == {"0": "", "1": "0", "2": "0", "3": "0"}
    web.log()
    web.lose("0")
    assert groups(web) == {"1": "", "2": "1", "3": "1"}
    assert sorted(web.log()) == [
        (IndexOperation.DELETE, "0"),
        (IndexOperation.UPSERT, "1"),
        (IndexOperation.UPSERT, "2"),
        (IndexOperation.UPSERT, "3"),
    ]
    web.add(article("0", signature("a")))
    assert groups(web) == {"0": "1", "1": "", "2": "1", "3": "1"}


def test_a_first_that_changes_a_little_stays_the_first(web: Web) -> None:
    """Even if one behind it was known before it."""
    web.add(article("9", signature("c")), article("1", signature("a")))
    web.add(article("9", signature("a")))
    assert groups(web) == {"1": "", "9": "1"}
    web.log()
    web.add(replace(article("1", signature("a", 0.98)), body="改了一点。"))
    assert groups(web) == {"1": "", "9": "1"}
    assert sorted(web.log()) == [
        (IndexOperation.UPSERT, "1"),
        (IndexOperation.UPSERT, "9"),
    ]  # their series is another one


@on_both
def test_a_first_that_becomes_another_text_is_left(web: Web) -> None:
    web.add(*(article(str(n), signature("a", 0.97, n)) for n in range(3)))
    web.add(article("0", signature("new")))
    assert groups(web) == {"0": "", "1": "", "2": "1"}


def test_an_article_that_becomes_a_double_leaves_its_group(web: Web) -> None:
    web.add(article("1", signature("a")), article("2", signature("a", 0.97)))
    web.add(article("0", signature("b")))
    twin = replace(article("1", signature("a")), title="题目0", body="0的正文。", canonical_url=url("0"))
    assert web.add(twin) == [Reason.ALTERNATE_VERSION]
    assert groups(web) == {"0": "", "2": ""}


def test_the_same_again_changes_nothing(web: Web) -> None:
    pages = [article("1", signature("a")), article("2", signature("a", 0.9))]
    web.add(*pages)
    web.log()
    assert web.add(*pages) == [Reason.ARTICLE_UNCHANGED] * 2
    assert (groups(web), web.log()) == ({"1": "", "2": "1"}, [])


def test_bands_find_what_is_alike_and_little_else() -> None:
    found = dict.fromkeys((0.3, 0.8, 0.9), 0)
    for share in found:
        for n in range(1000):
            one, other = signature(n), signature(n, share)
            assert estimate_jaccard(one, other) == pytest.approx(share, abs=0.01)
            found[share] += bool(set(signature_bands(one)) & set(signature_bands(other)))
    assert found[0.9] == 1000
    assert found[0.8] >= 990
    assert found[0.3] <= 60


def test_bands_are_64_bit_numbers_that_know_their_place() -> None:
    bands = signature_bands((7,) * PLACES)
    assert len(set(bands)) == len(bands) == PLACES // 6
    assert all(-(2**63) <= band < 2**63 for band in bands)
    assert signature_bands(()) == []


def series(web: Web) -> dict[str, set[str]]:
    """Article -> the articles of its series."""
    found = {address.removeprefix(url("")): stored.series_id for address, stored in web.articles().items()}
    return {name: {other for other, series in found.items() if series == mine} for name, mine in found.items()}


def test_what_is_alike_and_no_copy_stands_for_itself_and_is_of_one_series(web: Web) -> None:
    web.add(article("1", signature("a"), "May"), article("2", signature("a", 0.95), "June"))
    web.add(article("3", signature("a", 0.95, "x"), "May"), article("4", signature("b")), article("5", ()))
    assert groups(web) == {"1": "", "2": "", "3": "1", "4": "", "5": ""}
    assert series(web) == {**{key: {"1", "2", "3"} for key in "123"}, "4": {"4"}, "5": {"5"}}


@on_both
def test_who_becomes_another_text_is_of_another_series(web: Web) -> None:
    web.add(*(article(str(n), signature("a", 0.95, n), f"No. {n}") for n in range(3)))
    web.add(article("0", signature("new"), "No. 0"))
    assert series(web) == {"0": {"0"}, "1": {"1", "2"}, "2": {"1", "2"}}
    web.log()
    web.add(article("0", signature("a"), "No. 0"))
    assert series(web) == {key: {"0", "1", "2"} for key in "012"}
    assert web.log() == [(IndexOperation.UPSERT, "0")]


@on_both
def test_who_was_a_copy_and_is_another_issue_is_shown_again(web: Web) -> None:
    web.add(article("1", signature("a"), "May"), article("2", signature("a", 0.97), "May"))
    assert groups(web) == {"1": "", "2": "1"}
    web.add(article("2", signature("a", 0.97), "June"))
    assert groups(web) == {"1": "", "2": ""}
    web.add(article("1", signature("a"), "June"))
    assert groups(web) == {"1": "2", "2": ""}
    assert series(web) == {key: {"1", "2"} for key in "12"}


def test_the_copy_of_one_issue_among_very_many_is_found(web: Web) -> None:
    """More issues than leave the same bands: keys of the text tell which are looked at."""
    issues = 5 * MAX_LEADERS_PER_KEY
    for start in range(0, issues, 40):
        web.add(*(article(str(n), signature("a", 0.97, n), f"No. {n}") for n in range(start, start + 40)))
    assert set(groups(web).values()) == {""}
    wanted = (3, MAX_LEADERS_PER_KEY, issues - 1)
    web.add(*(article(f"copy{n}", signature("a", 0.97, f"copy {n}"), f"No. {n}") for n in wanted))
    assert {n: groups(web)[f"copy{n}"] for n in wanted} == {n: str(n) for n in wanted}
    assert all(len(members) == issues + len(wanted) for members in series(web).values())


def test_older_stores_are_grouped_again_and_a_kill_costs_one_batch(web: Web, tmp_path: Path) -> None:
    web.grouping = CopyDetection(0.8, lambda *_: Titled("", "", ""))  # as if all that is alike were the same
    web.add(*(article(str(n), signature("a", 0.97, n), f"No. {n % 200}") for n in range(250)))
    assert set(groups(web).values()) == {"", "0"}
    web.log()
    articles = web.store.articles
    assert not articles.is_grouping_current(1)
    broken_off = articles.regroup_all(1, GROUPING)
    assert next(broken_off) == 100
    broken_off.close()
    assert not articles.is_grouping_current(1)
    assert list(articles.regroup_all(1, GROUPING)) == [100, 50]  # where it was broken off
    assert articles.is_grouping_current(1)
    assert groups(web) == {str(n): str(n - 200) if n >= 200 else "" for n in range(250)}
    assert len(web.log()) == 248  # all but "0", and its copy "200"
    assert list(articles.regroup_all(2, GROUPING)) == [100, 100, 50]
    assert web.log() == []  # nothing has changed


def test_an_interrupted_grouping_of_an_older_version_does_not_count(web: Web) -> None:
    web.add(*(article(str(n), signature(n)) for n in range(150)))
    broken_off = web.store.articles.regroup_all(3, GROUPING)
    assert next(broken_off) == 100
    broken_off.close()
    assert list(web.store.articles.regroup_all(4, GROUPING)) == [100, 50]
    assert web.store.articles.is_grouping_current(4)


@on_both
def test_the_copies_of_a_removed_leader_are_grouped_in_batches(web: Web) -> None:
    web.add(*(article(str(n), signature("a", 0.97, n)) for n in range(250)))
    web.crawl("0", gone=True)
    compared = []

    def make_text(*values: str) -> Titled:
        compared.append(values)
        if len(compared) > 2 * 230:
            raise KeyboardInterrupt
        return Titled(*values)

    with pytest.raises(KeyboardInterrupt):
        web.store.articles.resolve_removed_pages(CopyDetection(0.8, make_text))
    leaders = list(groups_of_known(web).values())
    assert (leaders.count("1"), leaders.count("")) == (199, 1)
    web.store.articles.resolve_removed_pages(GROUPING)
    leaders = list(groups_of_known(web).values())
    assert (leaders.count("1"), leaders.count("")) == (248, 1)


def groups_of_known(web: Web) -> dict[str, str | None]:
    """Article -> the one it stands behind; None if that is removed."""
    names = {document_id(address): address.removeprefix(url("")) for address in web.articles()} | {"": ""}
    return {address.removeprefix(url("")): names.get(stored.duplicate_of) for address, stored in web.articles().items()}


def test_hundreds_of_articles_cost_what_is_alike(tmp_path: Path) -> None:
    """400 articles in 100 groups: rows looked at to place one more do not grow with the store."""
    with Store(f"sqlite:///{tmp_path / 'x.db'}", tmp_path / "warc") as store:
        web = Web(store)
        compared: list[int] = []
        for n in range(0, 400, 100):
            web.add(*(article(str(k), signature(k % 100, 0.95, k)) for k in range(n, n + 100)))
        found = groups(web)
        wrong = [k for k in range(400) if found[str(k)] != ("" if k < 100 else str(k % 100))]
        assert len(wrong) <= 4, wrong

        def count(_connection: object, _cursor: object, statement: str, *_: object) -> None:
            compared.append("bands" in statement)

        event.listen(store._database._engine, "before_cursor_execute", count)
        web.add(article("new", signature(3, 0.95, "new")))
        assert groups(web)["new"] == "3"
        assert sum(compared) < 10


def test_one_series_of_hundreds_costs_a_bounded_number_of_rows_and_comparisons(tmp_path: Path) -> None:
    read: list[str] = []

    @dataclass(frozen=True)
    class Counted(Titled):
        def is_duplicate_of(self, other: Titled) -> bool:
            read.append(other.title)
            return super().is_duplicate_of(other)

    with Store(f"sqlite:///{tmp_path / 'x.db'}", tmp_path / "warc") as store:
        web = Web(store)
        web.grouping = CopyDetection(0.6, Counted)
        for start in range(0, 400, 100):
            web.add(*(article(str(n), signature("a", 0.95, n), f"No. {n}") for n in range(start, start + 100)))
        assert len(read) <= 400 * MAX_TEXT_COMPARISONS
        with store._database.read() as connection:
            keys = connection.scalar(select(func.count()).select_from(near_duplicate_keys))
            most = connection.scalar(
                select(func.count())
                .select_from(near_duplicate_keys)
                .group_by(near_duplicate_keys.c.band)
                .order_by(func.count().desc())
            )
        assert most is not None and most <= MAX_LEADERS_PER_KEY
        assert keys is not None and keys <= 4_000
