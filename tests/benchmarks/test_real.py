"""The benchmark on real sites: its recipe, its web, and its figures on two small sites whose answers are known."""

import html
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from benchmarks import real, real_terms
from benchmarks.real_lists import Kept, behind_lists
from benchmarks.real_recipe import RECIPE, RecipeError, Site, Source, bring, bring_all, load_sites, tree_hash
from benchmarks.real_search import QUERIES, load_items, place_of
from benchmarks.real_terms import JUDGED, load_verdicts, term_figures
from benchmarks.real_terms_corpus import FileCorpus, changed, multiplied, write_documents
from benchmarks.real_texts import has_line_numbers, is_whole_name
from benchmarks.real_web import reply_of
from benchmarks.results import Figure, output_to
from domain.errors import PlumblineError
from lexicon.counting.corpus import CorpusDocument
from pipeline.demo.articles import generate_articles
from pipeline.progress import NullProgress

BLOG = Site("blog.test", "dev", "en", "own", "blog", scheme="https", articles=r"/20\d\d/[^/]+/$", lists=r"/tags/")
MANUAL = Site("manual.test", "dev", "en", "own", "manual", scheme="http")


DEMO = [made for made in generate_articles() if len(made.text) > 240][:20:2]


def article(number: int, links: Sequence[str] = ()) -> str:
    """A page with an article of the demo that no other number has."""
    made = DEMO[number]
    inside = "".join(f"<p>{html.escape(text)}</p>" for text in made.paragraphs)
    around = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    return (
        f"<html><head><title>{number}: {made.title}</title></head><body><ul>{around}</ul>"
        f"<article><h1>{number}: {made.title}</h1>{inside}</article></body></html>"
    )


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def sitemap(*paths: str) -> str:
    urls = "".join(f"<url><loc>https://blog.test{path}</loc></url>" for path in paths)
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'


@pytest.fixture
def trees(tmp_path: Path) -> dict[Site, Path]:
    """A blog with a sitemap that names a page that nothing leads to, and one that is not there; an empty article, and
    a list at the place of one; an article at the place of a list. A manual with a page that is out of reach."""
    posts = [f"/2024/post-{number}/" for number in range(4)]
    blog = {f"{path.strip('/')}/index.html": article(number) for number, path in enumerate(posts)}
    blog["index.html"] = article(4, [*posts[:3], "/tags/one/", "/2024/empty/", "/2024/lost/"])
    blog["tags/one/index.html"] = article(5)
    blog["2024/empty/index.html"] = "<html><head><title>Empty</title></head><body></body></html>"
    shell = '<nav><a href="/">the front page</a></nav>'
    blog["2024/lost/index.html"] = (
        f"<html><head><title>Lost</title></head><body>{shell}<ul>"
        + "".join(f'<li><a href="/x{n}">a link of some length to nowhere {n}</a></li>' for n in range(30))
        + "</ul></body></html>"
    )
    blog["2024/moved/index.html"] = (
        '<html><head><title>Moved</title><meta http-equiv="refresh" content="0; url=/"></head></html>'
    )
    blog["robots.txt"] = "Sitemap: https://blog.test/sitemap.xml\n"
    blog["sitemap.xml"] = sitemap(*posts, "/2024/gone/")
    manual = {"index.html": article(6, ["one.html"]), "one.html": article(7), "alone.html": article(8)}
    return {BLOG: write(tmp_path / "blog", blog), MANUAL: write(tmp_path / "manual", manual)}


@pytest.fixture(autouse=True)
def output_below_the_folder_of_the_test(tmp_path: Path) -> Iterator[None]:
    with output_to(tmp_path / "out"):
        yield


def values(figures: Sequence[Figure]) -> dict[tuple[str, str], float]:
    assert {figure.system for figure in figures} == {"plumbline"}
    return {(figure.set, figure.metric): figure.value for figure in figures}


def test_sites_and_lists_are_measured_on_a_vertical_that_can_be_kept(trees: dict[Site, Path], tmp_path: Path) -> None:
    found = values(real.measure(trees, tmp_path / "kept", ["sites", "lists"], NullProgress()))
    assert found["sites", "sitemap_known"] == found["sites blog.test", "sitemap_known"] == 1.0  # gone, but known
    assert ("sites manual.test", "sitemap_known") not in found
    assert found["sites manual.test", "pages_known"] == pytest.approx(2 / 3)
    assert found["sites", "crawl gone"] >= 1
    assert found["sites", "articles_known"] == pytest.approx(6 / 7), "nothing leads to the one that moved"
    assert (tmp_path / "out" / "real-sites.tsv").read_text() == "unknown\thttps://blog.test/2024/moved/\n"
    assert found["lists", "articles"] == 8
    assert found["lists", "kept_as_articles"] == pytest.approx(1 / 8)  # the article below /tags/
    assert found["lists blog.test", "lists_kept"] == 1
    assert found["lists", "articles_sampled"] == 5  # four posts and the lost one; what is empty or moved is none
    assert found["lists", "articles_lost"] == 1
    told = (tmp_path / "out" / "real-lists.tsv").read_text()
    assert "kept\thttps://blog.test/tags/one/\n" in told and "lost\thttps://blog.test/2024/lost/\t" in told

    write(trees[MANUAL], {"one.html": article(7, ["alone.html"])})
    again = values(real.measure(trees, tmp_path / "kept", ["sites"], NullProgress()))
    assert again["sites manual.test", "pages_known"] == pytest.approx(2 / 3), "a kept vertical is not crawled again"
    with pytest.raises(PlumblineError, match="made of other sites"):
        real.measure({MANUAL: trees[MANUAL]}, tmp_path / "kept", ["sites"], NullProgress())


def test_articles_behind_list_pages_are_named() -> None:
    post, tag, other = (f"https://blog.test{path}" for path in ("/2024/a/", "/tags/a/", "/2024/b/"))
    site_of = {post: BLOG, tag: BLOG, other: BLOG}.get
    kept = [Kept(post, "1", "2"), Kept(tag, "2", ""), Kept(other, "3", "1"), Kept("http://x.test/", "4", "2")]
    assert behind_lists(kept, site_of) == {post: tag}
    assert behind_lists([Kept(post, "1", ""), Kept(tag, "2", "1")], site_of) == {}


def test_terms_and_their_cost_are_measured(
    trees: dict[Site, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(real_terms, "FIRST", 5)
    judged = tmp_path / "judged.tsv"
    judged.write_text("# said\ttext\n", encoding="utf-8")
    monkeypatch.setattr(real, "SETS", {"terms": partial(term_figures, judged=judged, sizes=[30])})
    found = values(real.measure(trees, tmp_path / "kept", ["terms"], NullProgress()))
    assert (found["terms", "p100_zh"], found["terms", "unjudged_zh"]) == (0, 5)
    told = [line.split("\t") for line in (tmp_path / "out" / "real-terms.tsv").read_text("utf-8").splitlines()]
    texts = [text for said, text, language, _ in told if (said, language) == ("?", "zh")]
    assert len(texts) == 5
    assert 50 < found["terms", "peak_mb_30"] < 2000 and found["terms", "cpu_seconds_30"] > 0
    assert found["terms", "bytes_per_article"] > 0 and 0 < found["terms", "day2_cpu_share"] < 2

    judged.write_text("".join(f"{'no' if n else 'yes'}\t{text}\n" for n, text in enumerate(texts[:4])))
    monkeypatch.setattr(real, "SETS", {"terms": partial(term_figures, judged=judged, sizes=[])})
    found = values(real.measure(trees, tmp_path / "kept", ["terms"], NullProgress()))
    assert (found["terms", "p100_zh"], found["terms", "unjudged_zh"]) == (0.2, 1)
    judged.write_text("maybe\tshale gas\n")
    with pytest.raises(PlumblineError, match="line 1"):
        load_verdicts(judged)
    assert len(load_verdicts(JUDGED)) >= 200


def test_a_corpus_of_any_size_is_made_of_real_articles(tmp_path: Path) -> None:
    articles = [CorpusDocument(n, made.title, "\n".join(made.paragraphs)) for n, made in enumerate(DEMO)]
    write_documents(multiplied(articles, 25), tmp_path / "day1")
    corpus = FileCorpus([tmp_path / "day1"])
    documents = list(corpus.iter_documents([number for number, _ in corpus.iter_digests()]))
    assert [document.document_id for document in documents] == list(range(1, 26))
    assert documents[0].body == articles[0].body != documents[10].body != documents[20].body
    assert write_documents(changed(documents, 0.4), tmp_path / "day2")
    both = FileCorpus([tmp_path / "day1", tmp_path / "day2"])
    other = [one for one, two in zip(corpus.iter_digests(), both.iter_digests(), strict=True) if one != two]
    assert 3 < len(other) < 20
    number = other[0][0]
    assert next(both.iter_documents([number])).body != documents[number - 1].body


def test_authors_and_line_numbers_of_saved_articles_are_checked_with_the_page(
    trees: dict[Site, Path], tmp_path: Path
) -> None:
    by_jane = article(7, ["alone.html"]).replace("</h1>", "</h1><p class='author'>Jane Doe</p>")
    numbers = "".join(f"<tr><td>{n}</td></tr>" for n in range(1, 9))
    gutter = f"<table><tr><td class='gutter'><table>{numbers}</table></td><td>x = 1</td></tr></table>"
    write(trees[MANUAL], {"one.html": by_jane, "alone.html": article(8).replace("</article>", f"{gutter}</article>")})
    found = values(real.measure(trees, tmp_path / "kept", ["authors", "gutters"], NullProgress()))
    assert found["authors", "names"] >= 1 and found["authors", "whole"] == 1
    assert (found["gutters", "pages"], found["gutters", "kept"]) == (1, 0)
    assert is_whole_name("Jane Doe", "<p>By Jane Doe, staff writer") and is_whole_name("张三", "作者：张三 编辑：李四")
    assert not is_whole_name("Jane", "<p>By Jane Doe") and not is_whole_name("Doe", "<p>By Jane Doe")
    assert not is_whole_name("VACUUM", "<p>freed by <code>VACUUM</code>")
    assert not is_whole_name("UserAttribute", "<p>refused by UserAttributeValidator")
    assert has_line_numbers("before\n7\n8\n9\n10\n11\nafter") and has_line_numbers("1 2 3 4 5 x = 1")
    assert not has_line_numbers("1\n2\n3") and not has_line_numbers("2020 2025 2030 2035 2040")


@pytest.mark.solr
@pytest.mark.exhaustive
def test_publishing_segments_only_what_contains_a_term(trees: dict[Site, Path], tmp_path: Path) -> None:
    for _ in range(2):  # the terms are taken out again
        found = values(real.measure(trees, tmp_path / "kept", ["publish"], NullProgress()))
        assert found["publish", "terms"] >= 1 and found["publish", "containing"] >= 1
        assert 0 < found["publish", "resegmented_share"] <= 1.2


@pytest.mark.solr
@pytest.mark.exhaustive
def test_a_restored_backup_answers_alike(trees: dict[Site, Path], tmp_path: Path) -> None:
    found = values(real.measure(trees, tmp_path / "kept", ["restore"], NullProgress()))
    assert found["restore", "queries"] >= 4
    assert (found["restore", "equal"], found["restore", "wrong_counts"]) == (1, 0)


@pytest.mark.exhaustive
def test_a_second_night_on_what_stands_still_costs_less(trees: dict[Site, Path], tmp_path: Path) -> None:
    found = values(real.measure(trees, tmp_path / "kept", ["nights"], NullProgress()))
    assert found["nights", "day1_requests"] > 10
    assert 0 < found["nights", "day2_requests_share"] <= 1
    assert found["nights", "day2_bytes_share"] < 0.5
    assert 0 < found["nights", "unchanged_list_requests_share"] <= 0.1


def test_files_are_answered_as_a_static_host_does(tmp_path: Path) -> None:
    files = {"index.html": "front", "a/index.html": "a", "b.html": "b", "说明.html": "zh", "404.html": "own"}
    tree = write(tmp_path, {**files, "map.xml": "<x/>"})
    assert reply_of(tree, "/").content == b"front"
    assert (reply_of(tree, "/a").status, reply_of(tree, "/a").location) == (301, "/a/")
    assert reply_of(tree, "/b").content == reply_of(tree, "/b.html?x=1").content == b"b"
    assert reply_of(tree, "/%E8%AF%B4%E6%98%8E.html").content == b"zh"
    assert reply_of(tree, "/map.xml").content_type == "application/xml"
    assert (reply_of(tree, "/none/").status, reply_of(tree, "/none/").content) == (404, b"own")
    assert reply_of(tree, "/a/../../secret").status == 404


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    return subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


def test_a_tree_is_fetched_whole_and_checked(tmp_path: Path) -> None:
    repository = write(tmp_path / "origin", {"site/a.html": "a\r\n", "site/big.xml": "x", "site/p.png": "picture"})
    write(repository, {".gitattributes": "*.html text\n", "readme.txt": "no page of the site"})
    git(repository, "init", "--quiet")
    git(repository, "config", "uploadpack.allowFilter", "true")
    git(repository, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(repository, "config", "core.autocrlf", "false")
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "-m", "site")
    commit = git(repository, "rev-parse", "HEAD").strip()
    source = Source("git", repository.as_uri(), commit, inside="site", under="docs", without=("big.xml",))
    expected = write(tmp_path / "expected", {"docs/a.html": git(repository, "show", "HEAD:site/a.html")})
    site = Site("s.test", "dev", "en", "own", "manual", (source,), tree_hash(expected))
    tree = bring(site, tmp_path / "cache")
    assert [path.name for path in tree.rglob("*") if path.is_file()] == ["a.html"]
    (tree / "docs" / "a.html").write_text("kept")
    assert bring(site, tmp_path / "cache") == tree, "it is fetched once"

    changed = Site("s.test", "dev", "en", "own", "manual", (source,), "0" * 64)
    missing = Site("m.test", "dev", "en", "own", "manual", (Source("git", f"{repository.as_uri()}-no", commit),))
    strange = Site("k.test", "dev", "en", "own", "manual", (Source("ftp", "x", "1"),))
    with pytest.raises(RecipeError, match="the recipe says 0000"):
        bring(changed, tmp_path / "cache")
    console = Console(record=True, width=400)
    assert [one for one, _ in bring_all([changed, missing, strange, site], tmp_path / "cache", console)] == [site]
    said = console.export_text()
    assert "left out: m.test: git" in said and "left out: s.test" in said and "'ftp'" in said
    assert sorted(path.name for path in (tmp_path / "cache").iterdir()) == [tree.name], "nothing half made is left"


def test_the_recipe_and_the_queries_are_of_one_piece() -> None:
    sites = load_sites(RECIPE)
    dev = [site for site in sites if site.part == "dev"]
    assert sum(site.pages for site in dev) >= 15_000 and len(dev) >= 8
    assert all(len(site.sha256) == 64 for site in sites) and len({site.host for site in sites}) == len(sites)
    assert {"Hexo", "Hugo", "Jekyll", "Sphinx", "Javadoc", "DocBook"} <= {site.generator for site in dev}
    assert len(sites) - len(dev) >= len(sites) // 4
    items = load_items(QUERIES)
    hosts = {site.host for site in dev}
    assert sorted(item.language for item in items) == ["en"] * 30 + ["zh"] * 30
    assert all(url.split("/")[2] in hosts for item in items for url in item.urls)


def test_places_are_those_of_the_page_however_it_is_spelled() -> None:
    hits = [{"url": "https://a.test/x/index.html"}, {"url": "http://a.test/y.html"}]
    assert place_of(["http://a.test/x/"], hits) == 1
    assert place_of(["https://a.test/z", "https://a.test/y"], hits) == 2
    assert place_of(["https://a.test/z"], hits) == 0


def test_what_cannot_be_measured_is_said_in_a_line(tmp_path: Path) -> None:
    write(tmp_path, {"real/sites.toml": '[[site]]\nhost = "x.test"\npart = "dev"\n'})
    refused = CliRunner().invoke(real.main, ["--data", str(tmp_path)])
    assert refused.exit_code == 1 and "is no recipe of sites" in refused.output
    refused = CliRunner().invoke(real.main, ["--sets", "moon"])
    assert "no set moon; there are sites, lists" in refused.output
    (tmp_path / "queries.tsv").write_text("a query without a URL\n")
    with pytest.raises(PlumblineError, match="line 1"):
        load_items(tmp_path / "queries.tsv")
