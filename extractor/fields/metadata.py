"""Reads the metadata of an article: author, source, section, keywords, lead picture, canonical URL and next page."""

import html
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from itertools import chain
from urllib.parse import parse_qsl, urljoin, urlsplit

from extractor.article_blocks import iter_picture_urls
from extractor.fields.byline import (
    BylineZone,
    byline_line_indices,
    find_author,
    find_byline_zone,
    find_source,
    span_start,
)
from extractor.fields.json_ld import JsonLdArticle, find_json_ld_article
from extractor.fields.title_matching import host_of, normalize_letters
from extractor.page.parsed_page import Body, ParsedPage
from extractor.page.tag_info import parse_attributes
from extractor.page.urls import split_url

MAX_KEYWORDS = 20
MAX_CANDIDATE_KEYWORDS = 80
MAX_KEYWORD_CHARS = 40
MAX_TRUSTED_KEYWORDS = 10  # of longer lists, which describe the site, only the keywords in the article are used
MAX_SECTION_CHARS = 40
MAX_BREADCRUMB_LINES = 8
BREADCRUMB_SEPARATOR_RE = re.compile(r"-{1,2}>|>{1,2}|＞|»|›|→|/|\||┊|·")
NON_SECTION_LABELS = frozenset(
    (
        "首页", "首頁", "主页", "网站首页", "home", "homepage", "正文", "文章", "内容", "详情", "article", "blog",
        "当前位置", "浏览", "您的位置", "所在位置", "startseite", "accueil", "inicio", "you are here", "breadcrumb",
        "tags", "返回", "上一页", "下一页", "articles", "index", "more",
    )
)  # fmt: skip
# A breadcrumb step that names the page or an action: 浏览文章, 新闻正文, 查看详细内容, "read article", "news details".
PAGE_ACTION_RE = re.compile(
    r"(?:正在|当前)?(?:浏览|查看|阅读|显示)(?:文章|新闻|资讯|信息|公告|帖子|正文|全文|原文|内容|详细|详情|页面){1,2}"
    r"|(?:文章|新闻|资讯|信息|公告|帖子|详细)(?:浏览|查看|阅读|正文|全文|内容|详细|详情|显示)页?面?"
    r"|(?:当前|文章|新闻|内容|详情)页面?"
    r"|(?:view|read|show|browse)(?: the| this)?(?: full)? (?:article|story|post|page|news|text|content|details?)"
    r"|(?:article|news|story|post|page) (?:details?|contents?|text|view)",
    re.I,
)
BREADCRUMB_PREFIX_RE = re.compile(r"^.{0,12}?(?:位置|当前在|您在|you are here)(?:是|[:：])?\s*[:：]?\s*", re.I)
BREADCRUMB_RE = re.compile(r"(?:首页|首頁|主页|正文|\bhome|位置).{0,60}[>＞»›]|[>＞»›].{0,30}正文|位置[:：]", re.I)
SECTION_META_NAMES = (
    "article:section", "og:article:section", "parsely-section", "sailthru.section", "section", "cxenseparse:section",
    "channel", "category", "lanmu", "columnname",
)  # fmt: skip
KEYWORD_META_NAMES = ("news_keywords", "keywords", "article:tag", "parsely-tags", "sailthru.tags")
KEYWORD_SEPARATOR_RE = re.compile(r"[,，;；、|｜\n]")
# Labelled lists beside the article, on one line: `分类：能源  标签：页岩气, 压裂`, `Tags: shale gas, drilling`.
SECTION_LABEL_RE = re.compile(
    r"(?:^|[\s|｜])(?:所属)?(?:分类|栏目|专栏|categor(?:y|ies)|filed under|posted in)\s?[:：]\s?", re.I
)
KEYWORD_LABEL_RE = re.compile(
    r"(?:^|[\s|｜])(?:文章)?(?:标签|關鍵詞|关键词|关键字|tags?|tagged|keywords)\s?[:：]\s?", re.I
)
NEXT_LABEL_RE = re.compile(r"[\s|｜][^\s:：]{2,12}\s?[:：](?!//)")
MAX_LABELLED_LINE_SIZE = 60.0  # in Chinese characters
NOT_KEYWORD_RE = re.compile(r"://|[<>={}]")
PICTURE_META_NAMES = (
    "og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src", "weibo:article:image",
    "thumbnail", "image",
)  # fmt: skip
DECORATIVE_PICTURE_RE = re.compile(
    r"logo|default|blank|spacer|placeholder|1x1|pixel|avatar|favicon|sprite|qrcode|erweima|/icons?/|loading|\.svg"
)
MIN_PICTURE_SIDE_PIXELS = 100  # of a picture in the text, if its size is known


@dataclass(frozen=True)
class Metadata:
    """Fields of `domain.article.Article` that only the page states; missing values are empty.

    Attributes:
        author: Names of the authors, joined by ", ".
        source: Medium that the article was taken from.
        section: Section of the site that contains the article.
        picture: Absolute URL of the lead picture.
        canonical_url: Absolute URL that the page declares as its own.
        next_url: Absolute URL of the next page of the article.
    """

    author: str = ""
    source: str = ""
    section: str = ""
    keywords: tuple[str, ...] = ()
    picture: str = ""
    canonical_url: str = ""
    next_url: str = ""


def find_metadata(page: ParsedPage, body: Body, title: str) -> Metadata:
    """Read the metadata of a page whose article has this body and title. Does not raise for any input."""
    json_ld_article = find_json_ld_article(page.json_ld, page.url, page.head_titles)
    zone = find_byline_zone(page, body.span_index)
    site_names = normalized_site_names(page, title)
    # Neither the URL of a home page nor a private host other than that of the page is the canonical URL of an article.
    candidates = (page.head_links.get("canonical", ""), page.metas.get("og:url", ""), json_ld_article.url)
    absolute_urls = (absolute_url(page.url, candidate) for candidate in candidates if candidate)
    canonical = next((url for url in absolute_urls if url and may_be_canonical(url, page.url)), "")
    author, source = find_author(page, zone, json_ld_article, site_names), find_source(page, zone, json_ld_article)
    return Metadata(
        author="" if author == source else author,
        source=source,
        section=find_section(page, zone, json_ld_article, title, site_names),
        keywords=find_keywords(page, zone, json_ld_article, body, title, site_names),
        picture=find_picture(page, json_ld_article, body),
        canonical_url=canonical,
        next_url=find_next_page_url(page, zone, canonical),
    )


def normalized_site_names(page: ParsedPage, title: str) -> frozenset[str]:
    """Return the normalized names of the site from its metas, the rest of <title>, and the host."""
    metas = page.metas
    declared_names = [
        metas.get(name, "") for name in ("og:site_name", "application-name", "copyright", "publisher", "generator")
    ]
    title_rest = page.title.replace(title, " ") if title and title in page.title else ""
    url = page.url or page.head_links.get("canonical", "") or metas.get("og:url", "")
    host = host_of(url)
    host_labels = [host, *host.split(".")[:-1], *host.split(".")[-2:-1]]
    parts = (
        part
        for text in (*declared_names, *re.split(r"[_|｜–—-]|\s[·•»]\s", title_rest), *host_labels)
        for part in (text, text.split(" ")[0])
    )
    return frozenset(name for part in parts if len(name := normalize_letters(part)) > 1)


def find_section(
    page: ParsedPage, zone: BylineZone, json_ld_article: JsonLdArticle, title: str, site_names: frozenset[str]
) -> str:
    """Return the section of an article from metas, JSON-LD, the last breadcrumb or a labelled line, or ""."""
    fields = (page.metas[name] for name in SECTION_META_NAMES if name in page.metas)
    breadcrumb_sections = (
        last_breadcrumb(crumbs, title, site_names)
        for crumbs in (json_ld_article.breadcrumbs, *iter_breadcrumbs(page, zone))
    )
    labelled_sections = (words[0] for words in iter_labelled_lists(page, zone, SECTION_LABEL_RE))
    texts = chain(fields, [json_ld_article.section], breadcrumb_sections, labelled_sections)
    sections = (clean_section(text) for text in texts)
    return next((text for text in sections if is_section(text, site_names)), "")


def iter_labelled_lists(page: ParsedPage, zone: BylineZone, label_re: re.Pattern[str]) -> Iterator[list[str]]:
    """Yield the words after a label in the short lines around title and text: the texts of links if there are any."""
    for index in byline_line_indices(page, zone):
        line = page.layout.lines[index]
        match = label_re.search(line.text) if line.size <= MAX_LABELLED_LINE_SIZE else None
        if match is None:
            continue
        value = NEXT_LABEL_RE.split(line.text[match.end() :], maxsplit=1)[0]
        links = ["".join(line.text_pieces[start:end]).strip() for start, end, _ in line.links]
        if words := [text for text in links if text and text in value] or [w for w in split_keywords(value) if w]:
            yield words


def clean_section(text: str) -> str:
    """Return a section name: only the first word of a Chinese name, other names complete."""
    words = html.unescape(text).split()
    return words[0] if words and not words[0].isascii() else " ".join(words)


def is_section(text: str, site_names: frozenset[str]) -> bool:
    """Return whether a text may be the name of a section."""
    if (
        not 1 < len(text) <= MAX_SECTION_CHARS
        or text.casefold() in NON_SECTION_LABELS
        or PAGE_ACTION_RE.fullmatch(text)
        or normalize_letters(text) in site_names
    ):
        return False
    return "://" not in text and not text.replace(".", "").isdecimal()


def last_breadcrumb(breadcrumbs: Iterable[str], title: str, site_names: frozenset[str]) -> str:
    """Return the last step of a breadcrumb trail that is neither the article nor the home page."""
    normalized_title = normalize_letters(title)
    labels = [
        step
        for step in breadcrumbs
        if step
        and (
            not normalized_title
            or (normalize_letters(step) not in normalized_title and normalized_title not in normalize_letters(step))
        )
    ]
    return next((step for step in reversed(labels) if is_section(step, site_names)), "")


def iter_breadcrumbs(page: ParsedPage, zone: BylineZone) -> Iterator[list[str]]:
    """Yield the breadcrumb trails above the text: elements with a matching class, and lines with separators."""
    layout = page.layout
    for inline_element in layout.inline_elements:
        if inline_element.line_index <= zone.first_text_line and ("crumb" in inline_element.tag_info.identifiers):
            yield split_breadcrumb(inline_element.text)
    for span in layout.spans[: bisect_right(layout.spans, zone.first_text_line, key=span_start)]:
        if (
            span.tag_info.is_metadata
            and "crumb" in span.tag_info.identifiers
            and span.end_line - span.start_line <= MAX_BREADCRUMB_LINES
        ):
            lines = layout.lines[span.start_line : span.end_line]
            yield split_breadcrumb(lines[0].text) if len(lines) == 1 else [line.text.strip(" >/›»|") for line in lines]
    title_or_text_line = zone.title_line if zone.title_line >= 0 else zone.first_text_line
    for line in layout.lines[max(0, title_or_text_line - 12) : title_or_text_line + 3]:
        if line.size < 60 and BREADCRUMB_RE.search(line.text):
            yield split_breadcrumb(line.text)


def split_breadcrumb(trail: str) -> list[str]:
    """Split a breadcrumb trail on one line into its steps."""
    labels = BREADCRUMB_SEPARATOR_RE.split(BREADCRUMB_PREFIX_RE.sub("", trail[:200]))
    return [step.strip() for step in labels] if len(labels) > 1 else []


def find_keywords(
    page: ParsedPage,
    zone: BylineZone,
    json_ld_article: JsonLdArticle,
    body: Body,
    title: str,
    site_names: frozenset[str],
) -> tuple[str, ...]:
    """Return the keywords of the article.

    A list longer than MAX_TRUSTED_KEYWORDS describes the site: only its keywords that occur in the article are used.
    The same holds for a list without any keyword of the article. Without such a list, a line `标签：` or `Tags:` beside
    the article is used.
    """
    declared_keywords = next((page.metas[name] for name in KEYWORD_META_NAMES if page.metas.get(name, "").strip()), "")
    candidate_keywords = split_keywords(declared_keywords) if declared_keywords else list(json_ld_article.keywords)
    normalized_title = normalize_letters(title)
    keyword_by_normalized: dict[str, str] = {}
    for word in candidate_keywords[:MAX_CANDIDATE_KEYWORDS]:
        if is_keyword(word, normalized_title, site_names):
            keyword_by_normalized.setdefault(normalize_letters(word), word)
    unique_keywords = list(keyword_by_normalized.values())
    text = f"{title}\n{body.text}".casefold()
    article_keywords = [word for word in unique_keywords if word.casefold() in text]
    is_trusted = bool(article_keywords) and len(unique_keywords) <= MAX_TRUSTED_KEYWORDS
    keywords = unique_keywords if is_trusted else article_keywords
    if not keywords:
        labelled_keywords = next(iter_labelled_lists(page, zone, KEYWORD_LABEL_RE), [])
        keywords = [word for word in dict.fromkeys(labelled_keywords) if is_keyword(word, normalized_title, site_names)]
    return tuple(keywords[:MAX_KEYWORDS])


def split_keywords(text: str) -> list[str]:
    """Split a keyword list at separators, or at spaces if it has only short Chinese words without separators."""
    words = [word.strip().strip(" .。\"'#") for word in KEYWORD_SEPARATOR_RE.split(html.unescape(text))]
    if len(words) == 1 and not text.isascii() and all(len(word) <= 8 for word in text.split()):
        words = html.unescape(text).split()
    return [" ".join(word.split()) for word in words]


def is_keyword(word: str, title: str, site_names: frozenset[str]) -> bool:
    """Return whether a word is a keyword of the article: not its title, not the site and not markup."""
    name = normalize_letters(word)
    return (
        0 < len(name) <= MAX_KEYWORD_CHARS
        and name != title
        and name not in site_names
        and not NOT_KEYWORD_RE.search(word)
    )


def find_picture(page: ParsedPage, json_ld_article: JsonLdArticle, body: Body) -> str:
    """Return the absolute URL of the lead picture: from metadata, or the first large picture in the text."""
    fields = (page.metas[name] for name in PICTURE_META_NAMES if name in page.metas)
    base_url = absolute_url(page.url, page.head_links.get("base", "")) or page.url
    for candidate_url in chain(fields, [json_ld_article.picture], iter_body_picture_urls(page, body, base_url)):
        if (
            candidate_url
            and not DECORATIVE_PICTURE_RE.search(candidate_url.lower())
            and not candidate_url.startswith("data:")
        ):
            url = absolute_url(base_url, candidate_url)
            if url:
                return url
    return ""


def iter_body_picture_urls(page: ParsedPage, body: Body, base_url: str) -> Iterator[str]:
    """Yield the URLs of the pictures in the text, except small ones."""
    if not body.line_indices:
        return
    first, last = body.line_indices[0] - 1, body.line_indices[-1] + 1
    for picture in page.layout.pictures:
        if first <= picture.line_index <= last:
            attributes = parse_attributes(picture.attribute_text)
            sides = [attributes.get(name, "").removesuffix("px") for name in ("width", "height")]
            if not any(side.isdecimal() and len(side) < 5 and int(side) < MIN_PICTURE_SIDE_PIXELS for side in sides):
                yield next(filter(None, iter_picture_urls(attributes, base_url)), "")


MAX_URL_CHARS = 2_000
# Search range for a pager, before and after the end of the text.
MAX_PAGER_LINES_BEFORE_END = 10
MAX_PAGER_LINES_AFTER_END = 30
MAX_PAGER_TEXT_CHARS = 16  # of a link in a pager
NEXT_PAGE_LABELS = frozenset(
    (
        "下一页", "下一頁", "下页", "下頁", "后一页", "下一页>", "下一页>>", "下一页»", "[下一页]", "next page",
        "next page >", "next page »", "nächste seite", "page suivante", "página siguiente", "próxima página",
        "pagina successiva", "次のページ", "다음 페이지", "следующая страница",
    )
)  # fmt: skip
WEAK_NEXT_LABELS = frozenset(
    ("next", "next >", "next »", "next ›", ">", "»", "›", ">>", "→", "next →", "weiter", "suivant", "次へ")
)
PAGE_NUMBER_PARAMS = frozenset(("page", "pn", "pg", "pageno", "page_no", "paged", "pageindex", "seite"))
# Page number in a path: /page/2, /2, _2.html, -2.html
PAGE_NUMBER_PATH_RE = re.compile(r"(?P<mark>/page/|/p|/|[_-]p?)(?P<number>\d{1,3})(?P<end>/?|\.\w{3,5})$")
PRIVATE_HOST_RE = re.compile(r"localhost|example\.|\.local$|\.internal$|\.invalid$|^(?:dev|staging|preview)\.")


def absolute_url(base: str, href: str) -> str:
    """Return an absolute http(s) URL without fragment, or an empty string for any other value."""
    try:
        href = href.strip()[:MAX_URL_CHARS]
        absolute_href = href if href.startswith(("http://", "https://")) else urljoin(base, href)
        url = absolute_href.partition("#")[0]
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or len(url) > MAX_URL_CHARS:
            return ""
    except ValueError:
        return ""
    return url.replace(" ", "%20") if url.isprintable() else ""


def may_be_canonical(candidate: str, url: str) -> bool:
    """Return whether a URL may be the canonical URL of the page at `url`, which may be empty (unknown)."""
    parts, page_parts = split_url(candidate[:MAX_URL_CHARS]), split_url(url[:MAX_URL_CHARS])
    host = parts.hostname or ""
    if not host or (host != page_parts.hostname and (is_private_host(host) or "." not in host)):
        return False
    is_home, is_page_home = (not (url_parts.path.strip("/") or url_parts.query) for url_parts in (parts, page_parts))
    return not is_home or (is_page_home and bool(url))


def is_private_host(host: str) -> bool:
    """Return whether a host is not a public name: an IP address, or the name of a development machine."""
    try:
        ip_address(host)
    except ValueError:
        return PRIVATE_HOST_RE.search(host) is not None
    return True


def find_next_page_url(page: ParsedPage, zone: BylineZone, canonical: str) -> str:
    """Return the URL of the next page of the article, or an empty string if it is not certain."""
    base = page.url or canonical
    if not base:
        return ""
    current = parse_paged_url(base)
    link_rel_next = [("next page", page.head_links["next"])] if "next" in page.head_links else []
    links = [(text, absolute_url(base, href)) for text, href in (*link_rel_next, *iter_pager_links(page, zone))]
    pages = [(text, url, parse_paged_url(url)) for text, url in links if url]
    if current.base != current.full_url and not any(
        text.isdecimal() and candidate.base == current.base for text, _, candidate in pages
    ):
        # No pager: the number in the URL belongs to the article, not to a page of it.
        pages = [entry for entry in pages if entry[2].base == current.full_url]
    return next((url for text, url, candidate in pages if leads_to_next_page(current, candidate, text)), "")


def iter_pager_links(page: ParsedPage, zone: BylineZone) -> Iterator[tuple[str, str]]:
    """Yield text (lower case) and href of pager links around the end of the text."""
    lines = page.layout.lines
    for line in lines[
        max(zone.first_text_line, zone.end_line - MAX_PAGER_LINES_BEFORE_END) : zone.end_line
        + MAX_PAGER_LINES_AFTER_END
    ]:
        for start, end, attribute_text in line.links:
            text = "".join(line.text_pieces[start:end]).strip().lower()
            if (
                text
                and len(text) <= MAX_PAGER_TEXT_CHARS
                and (text in NEXT_PAGE_LABELS or text in WEAK_NEXT_LABELS or text.isdecimal())
            ):
                yield text, parse_attributes(attribute_text).get("href", "")


@dataclass(frozen=True, slots=True)
class PagedUrl:
    """A URL as that of one page of an article. a.test/n/1_2.html has the base a.test/n/1.html and the number 2.

    Attributes:
        full_url: Host, path and query without page number parameters.
        base: The part that all pages of the article share, if `number` is a page number.
        number: Page number; 0 if the URL has none.
        is_explicit_number: True if the number is in a parameter or after a separator, and not a complete path segment.
    """

    full_url: str
    base: str
    number: int
    is_explicit_number: bool


def parse_paged_url(url: str) -> PagedUrl:
    """Parse a URL that may contain a page number."""
    parts = split_url(url[:MAX_URL_CHARS])
    host, path = parts.hostname or "", parts.path
    params = parse_qsl(parts.query, keep_blank_values=True)
    numbers = [value for name, value in params if is_page_number_param(name, value)]
    other_params = "&".join(f"{name}={value}" for name, value in params if not is_page_number_param(name, value))
    full_url = f"{host}{path.rstrip('/')}?{other_params}"
    if numbers:
        return PagedUrl(full_url, full_url, int(numbers[0]), True)
    match = PAGE_NUMBER_PATH_RE.search(path)
    if match is None:
        return PagedUrl(full_url, full_url, 0, False)
    stem = f"{host}{path[: match.start()]}{match['end'].rstrip('/')}?{other_params}"
    return PagedUrl(full_url, stem, int(match["number"]), match["mark"] != "/")


def is_page_number_param(name: str, value: str) -> bool:
    """Return whether a query parameter is a page number."""
    return name.lower() in PAGE_NUMBER_PARAMS and value.isdecimal() and len(value) <= 3


def leads_to_next_page(current: PagedUrl, candidate: PagedUrl, text: str) -> bool:
    """Return whether a link with this text leads to the next page of the same article.

    A page without a number is the first. Its next page has the number 2, or 1 if the pages are counted from 0. Between
    two numbered pages a link "next" is not sufficient, because article 13 may follow article 12 in the same way.
    """
    if text.isdecimal() and int(text) != candidate.number and candidate.number != 1:
        return False
    is_number_in_query = current.number > 0 and current.base == current.full_url
    if candidate.base == current.full_url and candidate.number and not is_number_in_query:
        return candidate.number == 2 or (
            candidate.number == 1 and candidate.is_explicit_number and text in NEXT_PAGE_LABELS
        )
    is_labelled_next = text in NEXT_PAGE_LABELS or (text.isdecimal() and candidate.is_explicit_number)
    return (
        is_labelled_next
        and candidate.base == current.base
        and current.number > 0
        and candidate.number == current.number + 1
    )
