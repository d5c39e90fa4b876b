"""Groups of near-duplicates in the store: found by what is alike, stable when articles change or go."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import event

from docstore.joining import likeness
from docstore.model import Article, Reason, document_id
from docstore.near_duplicates import bands_of
from docstore.records import Op
from docstore.store import Store
from tests.test_docstore_settling import Web, url

PLACES = 128


def signature(seed: object, share: float = 1.0, other: object = 0) -> tuple[int, ...]:
    """That of a text of which `share` is text `seed`'s, the rest `other`'s."""
    chance, noise, pick = random.Random(str(seed)), random.Random(f"{seed} {other}"), random.Random(f"pick {other}")
    mine = [chance.getrandbits(32) for _ in range(PLACES)]
    changed = set(pick.sample(range(PLACES), round(PLACES * (1 - share))))
    return tuple(noise.getrandbits(32) if n in changed else value for n, value in enumerate(mine))


def article(name: str, signature: tuple[int, ...]) -> Article:
    return Article(url(name), f"题目{name}", f"{name}的正文。", signature=signature)


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
    save = store.articles.save
    store.articles.save = lambda extractions: save(extractions, threshold)  # type: ignore[method-assign,assignment]
    web.add(article("1", signature("a")), article("2", signature("a", 0.75)))
    assert groups(web)["2"] == behind


def test_where_the_first_goes_another_takes_over(web: Web) -> None:
    web.add(*(article(str(n), signature("a", 0.97, n)) for n in range(4)))
    assert groups(web) == {"0": "", "1": "0", "2": "0", "3": "0"}
    web.log()
    web.lose("0")
    assert groups(web) == {"1": "", "2": "1", "3": "1"}
    assert sorted(web.log()) == [(Op.DELETE, "0"), (Op.UPSERT, "1"), (Op.UPSERT, "2"), (Op.UPSERT, "3")]
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
    assert web.log() == [(Op.UPSERT, "1")]


def test_a_first_that_becomes_another_text_is_left(web: Web) -> None:
    web.add(*(article(str(n), signature("a", 0.97, n)) for n in range(3)))
    web.add(article("0", signature("new")))
    assert groups(web) == {"0": "", "1": "", "2": "1"}


def test_an_article_that_becomes_a_double_leaves_its_group(web: Web) -> None:
    web.add(article("1", signature("a")), article("2", signature("a", 0.97)))
    web.add(article("0", signature("b")))
    twin = replace(article("1", signature("a")), title="题目0", body="0的正文。", canonical_url=url("0"))
    assert web.add(twin) == [Reason.DOUBLE]
    assert groups(web) == {"0": "", "2": ""}


def test_the_same_again_changes_nothing(web: Web) -> None:
    pages = [article("1", signature("a")), article("2", signature("a", 0.9))]
    web.add(*pages)
    web.log()
    assert web.add(*pages) == [Reason.SAME_ARTICLE] * 2
    assert (groups(web), web.log()) == ({"1": "", "2": "1"}, [])


def test_bands_find_what_is_alike_and_little_else() -> None:
    found = dict.fromkeys((0.3, 0.8, 0.9), 0)
    for share in found:
        for n in range(1000):
            one, other = signature(n), signature(n, share)
            assert likeness(one, other) == pytest.approx(share, abs=0.01)
            found[share] += bool(set(bands_of(one)) & set(bands_of(other)))
    assert found[0.9] == 1000
    assert found[0.8] >= 990
    assert found[0.3] <= 60


def test_bands_are_64_bit_numbers_that_know_their_place() -> None:
    bands = bands_of((7,) * PLACES)
    assert len(set(bands)) == len(bands) == PLACES // 6
    assert all(-(2**63) <= band < 2**63 for band in bands)
    assert bands_of(()) == []


def test_thousands_of_articles_cost_what_is_alike(tmp_path: Path) -> None:
    """1,000 articles in 250 groups: rows looked at to place one more do not grow with the store."""
    with Store(f"sqlite:///{tmp_path / 'x.db'}", tmp_path / "warc") as store:
        web = Web(store)
        compared: list[int] = []
        for n in range(0, 1_000, 100):
            web.add(*(article(str(k), signature(k % 250, 0.95, k)) for k in range(n, n + 100)))
        found = groups(web)
        wrong = [k for k in range(1_000) if found[str(k)] != ("" if k < 250 else str(k % 250))]
        assert len(wrong) <= 10, wrong

        def count(_connection: object, _cursor: object, statement: str, *_: object) -> None:
            compared.append("bands" in statement)

        event.listen(store._database._engine, "before_cursor_execute", count)
        web.add(article("new", signature(3, 0.95, "new")))
        assert groups(web)["new"] == "3"
        assert sum(compared) < 10
