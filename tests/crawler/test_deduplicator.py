"""Duplicate pages by content, canonical URL and DUST rules, and preferred spellings of URLs."""

from pathlib import Path

import pytest
from lxml import html

from crawler.dedup import deduplicator
from crawler.dedup.content_fingerprint import EMPTY_FINGERPRINT, ContentFingerprint, fingerprint_page
from crawler.dedup.deduplicator import Deduplicator, SeenSentences
from crawler.dedup.dust import DustRules
from domain.outcome import Reason
from tests.crawler.test_crawl import run
from tests.crawler_fakes import MemoryTable, settings
from tests.web_fixture import Answer, Site, page

H = "http://site.test"
TEXT = "<p>国家能源局发布了今年第一季度的油气产量数据，同比增长。</p>"
FRAME = "".join(
    f"<p>Sentence number {chr(97 + n) * 9} of what the site says on each of its pages. </p>" for n in range(20)
)


def content(text: str) -> ContentFingerprint:
    return fingerprint_page(html.fromstring(f"<html><body>{text}</body></html>"))


@pytest.mark.parametrize(
    ("one", "other", "exact", "loose"),
    [
        pytest.param(TEXT, TEXT.replace("<p>", "<p class=x>\n "), True, True, id="markup and space"),
        pytest.param(TEXT + "3 次", TEXT + "41 次", False, True, id="a counter"),
        pytest.param(TEXT, TEXT.replace("油气", "煤炭"), False, False, id="another text"),
        pytest.param(TEXT + "<script>x=1</script>", TEXT + "<script>y=2</script>", True, True, id="scripts"),
    ],
)
def test_content(one: str, other: str, exact: bool, loose: bool) -> None:
    first, second = content(one), content(other)
    assert (first.exact_digest == second.exact_digest, first.digitless_digest == second.digitless_digest) == (
        exact,
        loose,
    )


def test_a_page_that_hardly_says_anything_is_like_no_other() -> None:
    assert content("<p>加载中</p><script>load()</script>") == EMPTY_FINGERPRINT
    doubles = Deduplicator(DustRules())
    doubles.record_page(H + "/1", EMPTY_FINGERPRINT)
    assert doubles.novelty(H + "/2", EMPTY_FINGERPRINT) == 1.0
    assert not doubles.has_same_content(H + "/1", EMPTY_FINGERPRINT)


def test_what_was_said_before_is_not_new_but_on_another_host() -> None:
    doubles, said = Deduplicator(DustRules()), content(TEXT)
    assert doubles.novelty(H + "/1", said) == 1.0
    assert doubles.novelty(H + "/2", said) == 0.0
    assert doubles.novelty("http://other.test/1", said) == 1.0


def test_old_sentences_are_forgotten_and_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deduplicator, "_BUCKETS", 64)  # 256 sentences
    sentences = SeenSentences()
    pages = [ContentFingerprint("x", "x", tuple((1000 * page + n, 50) for n in range(20))) for page in range(100)]
    size = len(sentences._hashes)
    assert [sentences.add_and_score_novelty("a.test", page) for page in pages] == [1.0] * 100
    assert sentences.add_and_score_novelty("a.test", pages[-1]) == 0.0
    assert sentences.add_and_score_novelty("a.test", pages[0]) == 1.0
    assert len(sentences._hashes) == size


@pytest.mark.parametrize(
    ("text", "is_new"),
    [
        (TEXT + "<p>第 41 天</p>", False),
        (TEXT + "<p>nothing found for xyzzy-plugh</p>", False),
        (TEXT + "".join(f"<a href=/{n}>{'link ' * n}</a>" for n in range(9)), False),
        (TEXT + "<p>A whole paragraph that no other page of the site has, long enough to be one.</p>", True),
        (TEXT + FRAME + "<p>A paragraph that no other page of the site has.</p>", False),
    ],
    ids=["a number", "the URL's own words", "links", "a paragraph", "little beside a template"],
)
def test_what_is_news(text: str, is_new: bool) -> None:
    doubles = Deduplicator(DustRules())
    url = H + "/search/xyzzy-plugh"
    doubles.novelty(H + "/frame", content(FRAME))
    for n in range(20):
        doubles.novelty(f"{H}/{n}", content(TEXT.replace("油气", "油气" * n) + "<p>nothing found for" + "</p>"))
    root = html.fromstring(f"<html><body>{text.replace('</p><p>', '</p>' + chr(10) + '<p>')}</body></html>")
    assert (doubles.novelty(url, fingerprint_page(root, url)) > 0) is is_new


def reasons(table: MemoryTable, prefix: str) -> set[str]:
    return {reason for path, reason in table.reasons().items() if path.startswith(prefix)}


def test_a_pattern_whose_pages_say_the_same_is_left(tmp_path: Path) -> None:
    pages = {f"/day/{number}": page(text=TEXT + f"第 {number} 天") for number in range(90)}
    pages |= {f"/news/{number}": page(text=TEXT + "第" + "长" * (number + 1)) for number in range(90)}
    links = [path for pair in zip(*[iter(pages)] * 2, strict=True) for path in pair]
    table = MemoryTable()
    with Site({"/": page(*links), **pages}) as site:
        run(table, settings(site.url(), threads=1), tmp_path)
        asked = site.asked()
    assert sum(path.startswith("/day/") for path in asked) < 60
    assert sum(path.startswith("/news/") for path in asked if path in pages) == 90
    assert Reason.CRAWLER_TRAP in reasons(table, "/day/")


def test_a_page_that_says_what_its_canonical_says_is_not_kept(tmp_path: Path) -> None:
    named = f'<link rel="canonical" href="/one">{TEXT}'
    table = MemoryTable()
    with Site({"/": page("/one", "/one/print"), "/one": page(text=TEXT), "/one/print": page(text=named)}) as site:
        run(table, settings(site.url(), threads=1), tmp_path)
    assert table.reasons()["/one/print"] == Reason.SAME_CONTENT
    assert sorted(table.pages) == [site.url("/"), site.url("/one")]


def test_an_unknown_canonical_is_asked_and_a_wrong_one_costs_nothing(tmp_path: Path) -> None:
    pages = {
        "/": page("/amp/one", "/two", text="<p>首页</p>" * 20),
        "/amp/one": page(text=f'<link rel="canonical" href="/one">{TEXT}'),
        "/one": page(text=TEXT + "完整"),
        "/two": page(text=f'<link rel="canonical" href="/">{TEXT}二'),  # every page names the home page as its own
    }
    table = MemoryTable()
    with Site(pages) as site:
        run(table, settings(site.url(), depth=1), tmp_path)
        assert sorted(site.asked()) == ["/", "/amp/one", "/one", "/two"]
        assert sorted(table.pages) == sorted(site.url(path) for path in pages)


def test_other_forms_of_known_addresses_are_not_asked_once_the_site_has_taught_so(tmp_path: Path) -> None:
    pages = {f"/p/{number}": page(text=TEXT + "第" + "长" * number) for number in range(40)}
    first = [f"/p/{number}" for number in range(10)] + [f"/p/{number}?from=list" for number in range(10)]
    both = [form for number in range(10, 40) for form in (f"/p/{number}", f"/p/{number}?from=home")]
    site_pages = {"/": page(*first), **pages}
    site_pages |= {f"{path}?from={where}": pages[path] for path in pages for where in ("list", "home")}
    table = MemoryTable()
    with Site(site_pages) as site:
        run(table, settings(site.url(), threads=1), tmp_path)
        site.pages["/"] = page(*first, *both)
        site.requests.clear()
        run(table, settings(site.url(), threads=1), tmp_path)
        asked = set(site.asked())
    assert {f"/p/{number}" for number in range(10, 40)} <= asked
    assert not any(path.endswith("from=home") for path in asked)


@pytest.mark.parametrize(
    ("linked", "wanted"),
    [
        pytest.param("/x?a=1&b=2", "/x?b=2&a=1", id="parameters in the site's order"),
        pytest.param("/a/b", "/a//b", id="slashes in a row"),
    ],
)
def test_a_site_that_answers_only_its_own_spelling_is_asked_so(tmp_path: Path, linked: str, wanted: str) -> None:
    table = MemoryTable()
    pages = {"/": page(wanted), linked: Answer(301, b"", {"Location": wanted}), wanted: page(text=TEXT)}
    with Site(pages) as site:
        run(table, settings(site.url(), threads=1), tmp_path)
        assert site.asked() == ["/", linked, wanted]
        assert table.pages[site.url(linked)].final_url == site.url(wanted)


def test_a_site_that_sends_its_own_spelling_away_ends_in_one_outcome(tmp_path: Path) -> None:
    table = MemoryTable()
    both = {"/a/b": Answer(302, b"", {"Location": "/a//b"}), "/a//b": Answer(302, b"", {"Location": "/a/b"})}
    with Site({"/": page("/a/b"), **both}) as site:
        run(table, settings(site.url()), tmp_path)
        assert site.asked() == ["/", "/a/b", "/a//b"]
    assert table.reasons()["/a/b"] == Reason.TOO_MANY_REDIRECTS
