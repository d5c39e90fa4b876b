"""The set `lists`: list pages that were saved as articles, and articles that were lost."""

import hashlib
import html
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.real_recipe import Site
from benchmarks.real_vertical import Vertical, is_article, is_list, path_of
from benchmarks.results import Figure, out_folder
from crawler.urls.canonical import canonicalize_url
from domain.outcome import Stage

SAMPLE = 300
MIN_TEXT = 100  # characters that an article has more than the barest page of its kind
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_UNSEEN = re.compile(r"<(script|style|head)\b.*?</\1\s*>|<!--.*?-->|<[^>]*>", re.IGNORECASE | re.DOTALL)
_REFRESH = re.compile(r"<meta\b[^>]*http-equiv=[\"']?refresh", re.IGNORECASE)
_CANONICAL = re.compile(r"<link\b(?=[^>]*\brel=[\"']?canonical\b)[^>]*\bhref=[\"']?([^\"' >]+)", re.IGNORECASE)


@dataclass(frozen=True)
class Kept:
    """An article of the store; see `domain.article.StoredArticle`."""

    url: str
    doc_id: str
    duplicate_of: str


def list_figures(vertical: Vertical) -> Iterator[Figure]:
    """Yield the shares, and the fates of lost articles; each such URL is a line of `out/real-lists.tsv`."""
    kept = [Kept(one.article.url, one.doc_id, one.duplicate_of) for one in vertical.engine.store.articles.iter_all()]
    wrong = [one.url for one in kept if (site := vertical.site_of(one.url)) and is_list(site, path_of(one.url))]
    yield Figure("lists", "plumbline", "kept_as_articles", len(wrong) / max(len(kept), 1))
    yield Figure("lists", "plumbline", "articles", len(kept))
    fates = sampled_fates(vertical)
    lost = {url: fate for url, fate in fates.items() if fate}
    yield Figure("lists", "plumbline", "articles_lost", len(lost))
    yield Figure("lists", "plumbline", "articles_sampled", len(fates))
    for fate, count in sorted(Counter(fate.partition(" ")[0] for fate in lost.values()).items()):
        yield Figure("lists", "plumbline", f"articles_lost {fate}", count)
    hidden = behind_lists(kept, vertical.site_of)
    yield Figure("lists", "plumbline", "articles_behind_lists", len(hidden))
    hosts = Counter(site.host for url in wrong if (site := vertical.site_of(url)))
    for host, count in sorted(hosts.items()):
        yield Figure(f"lists {host}", "plumbline", "lists_kept", count)
    tell(wrong, lost, hidden)


def behind_lists(kept: Sequence[Kept], site_of: Callable[[str], Site | None]) -> dict[str, str]:
    """Return articles that count as near-duplicates of a list page: URL -> that page."""
    urls = {one.doc_id: one.url for one in kept}
    return {
        one.url: urls[one.duplicate_of]
        for one in kept
        if one.duplicate_of in urls
        and (site := site_of(one.url))
        and is_article(site, path_of(one.url))
        and is_list(site, path_of(urls[one.duplicate_of]))
    }


def sampled_fates(vertical: Vertical) -> dict[str, str]:
    """Return the same sample of fetched articles each time, with their `fate_of`."""
    fates: dict[str, str] = {}
    explain = vertical.engine.store.status.url_report
    certain = (spelled for site in vertical.sites for spelled in certain_articles(vertical, site))
    for spelled in sorted(certain, key=lambda urls: hashlib.sha256(urls[0].encode()).digest()):
        fetched = next((url for url in spelled if (told := explain(url)) and told.page), "")
        if fetched:
            fates[fetched] = fate_of(vertical, fetched)
        if len(fates) == SAMPLE:
            break
    return fates


def certain_articles(vertical: Vertical, site: Site) -> Iterator[list[str]]:
    """Return the URL variants of each page that is certainly an article.

    Criteria: its path, a title that no other page of the site has, no redirect, no other canonical URL, and enough
    text.
    """
    titles: Counter[str] = Counter()
    found: list[tuple[str, int, list[str]]] = []
    for path, file in vertical.pages_of(site) if site.articles else ():
        text = file.read_text(encoding="utf-8", errors="replace")
        if _REFRESH.search(text):
            continue
        title = title_of(text)
        titles[title] += 1
        spelled = vertical.spellings(site, path)
        named = _CANONICAL.search(text)
        if is_article(site, path) and spelled and (not named or canonicalize_url(html.unescape(named[1])) in spelled):
            found.append((title, len("".join(_UNSEEN.sub(" ", text).split())), spelled))
    barest = min((length for _title, length, _spelled in found), default=0)
    for title, length, spelled in found:
        if title and titles[title] == 1 and length >= barest + MIN_TEXT:
            yield spelled


def title_of(text: str) -> str:
    """Return the title element of a page."""
    found = _TITLE.search(text)
    return " ".join(html.unescape(found[1]).split()) if found else ""


def fate_of(vertical: Vertical, url: str) -> str:
    """Return "" for a separate article, otherwise the reason why it is not, and the article it is a duplicate of."""
    told = vertical.engine.store.status.url_report(url)
    if told and told.article:
        head = told.article.duplicate_of
        return f"near_duplicate {url_of(vertical, head)}" if head else ""
    said = told.outcome(Stage.EXTRACT) if told else None
    return f"{said.reason} {said.detail}".strip() if said else "not_extracted"


def url_of(vertical: Vertical, doc_id: str) -> str:
    """Return the URL of the article with this id."""
    found = vertical.engine.store.articles.load_by_url_ids(vertical.engine.store.articles.find_url_ids([doc_id]))
    return next((stored.article.url for stored in found.values()), doc_id)


def tell(wrong: Sequence[str], lost: Mapping[str, str], hidden: Mapping[str, str]) -> None:
    """Write the saved list pages, and the lost or hidden articles, for manual inspection."""
    lines = [f"kept\t{url}\n" for url in sorted(wrong)]
    lines += [f"lost\t{url}\t{fate}\n" for url, fate in sorted(lost.items())]
    lines += [f"hidden\t{url}\t{page}\n" for url, page in sorted(hidden.items())]
    (out_folder() / "real-lists.tsv").write_text("".join(lines), encoding="utf-8")
