"""Renders the files of a site from articles and the site's design (data/site_*.toml). Writes nothing to disk.

Every site has a home page with the newest articles of each section, list pages of 20 articles, and article pages. An
article page has navigation, breadcrumbs, hot and related news, a share box and a long footer. There are also
robots.txt, pictures, a style sheet and an icon. Any article is at most three links away from the home page: home ->
list -> list page n -> article.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from string import Template

from pipeline.demo import picture
from pipeline.demo.articles import DemoArticle, load_toml
from pipeline.demo.featured import DemoDocument
from pipeline.demo.pdf import render_pdf

SITES = {  # (host, name) by site key
    "cangyuan": ("news.cangyuan-oil.localhost", "苍原石油新闻中心"),
    "lanwan": ("www.lanwan-gas.localhost", "蓝湾天然气网"),
    "yuanshan": ("daily.yuanshan-energy.localhost", "远山能源日报"),
}
ARTICLES_PER_LIST_PAGE = 20
_ARTICLES_PER_BOX = 8
_MAX_HOT_LINKS = 10
_MAX_RELATED_LINKS = 6


@dataclass(frozen=True)
class Section:
    """A section of a site. It shows the article sections `article_sections` in the folder (or list name) `folder`."""

    name: str
    folder: str
    article_sections: Sequence[str]


@dataclass(frozen=True)
class Redirect:
    """A redirect from `path` to `target` with the HTTP status `status`."""

    path: str
    target: str
    status: int


@dataclass(frozen=True)
class SiteDesign:
    """Templates and URL scheme of a site. All fields except the first three are the keys of data/site_*.toml."""

    key: str
    host: str
    name: str
    encoding: str
    html_type: str
    title_form: str
    article_path: str
    list_path: str
    first_id: int
    body_end: str
    redirect_from: str
    redirect_status: int
    section: tuple[Section, ...]
    piece: Mapping[str, Template]
    file: Mapping[str, str]

    def section_for(self, article: DemoArticle) -> Section:
        """Return the section of this site that shows `article`."""
        return next(section for section in self.section if article.section in section.article_sections)

    def page_path(self, article: DemoArticle) -> str:
        """Return the path of the page of `article` below the site's root, without the first slash."""
        folder = self.section_for(article).folder
        return self.article_path.format(date=article.date, id=self.first_id + article.number, folder=folder)

    def list_url(self, section: Section, page: int = 1) -> str:
        """Return the path of a section's list page."""
        suffix = "" if page == 1 else f"_{page}"
        return "/" + self.list_path.format(folder=section.folder, page=suffix)

    def fill_template(self, template_name: str, **values: str) -> str:
        """Fill the placeholders of a template; `values` must already be HTML."""
        return self.piece[template_name].substitute(values)

    def paragraph(self, text: str) -> str:
        """Render a paragraph of an article body."""
        return self.fill_template("paragraph", text=_escape(text))


@dataclass(frozen=True)
class RenderedSite:
    """The files of a site by path below its root, and its redirect."""

    files: Mapping[str, bytes]
    redirect: Redirect


def load_design(key: str) -> SiteDesign:
    """Load the design of a site of SITES."""
    raw = load_toml(f"site_{key}.toml")
    raw["section"] = tuple(Section(**row) for row in raw["section"])
    raw["piece"] = {name: Template(text.lstrip("\n")) for name, text in raw["piece"].items()}
    raw["file"] = {path: text.lstrip("\n") for path, text in raw["file"].items()}
    host, name = SITES[key]
    return SiteDesign(key=key, host=host, name=name, **raw)


def render_site(
    design: SiteDesign, articles: Sequence[DemoArticle], documents: Sequence[DemoDocument] = ()
) -> RenderedSite:
    """Render the site of `design` with its articles and documents; lists show the newest first."""
    site_articles = sorted((a for a in articles if a.site == design.key), key=lambda a: a.number, reverse=True)
    pages = dict(_SiteRenderer(design, site_articles).iter_pages())
    texts = {**pages, **design.file}
    files = {path: text.encode(design.encoding) for path, text in texts.items()}
    files |= {_picture_path(a): picture.draw_scene(a.number) for a in site_articles if a.has_picture}
    files |= {
        document.path: render_pdf(document.title, document.author, document.date, document.language, document.pages)
        for document in documents
        if document.site == design.key
    }
    files["favicon.ico"] = picture.draw_icon()
    newest = next(a for a in site_articles if not a.has_picture)
    target = "/" + design.page_path(newest)
    return RenderedSite(files, Redirect(design.redirect_from, target, design.redirect_status))


@dataclass(frozen=True)
class _SiteRenderer:
    """Renders the HTML pages of one site. `articles` contains only the site's articles, newest first."""

    design: SiteDesign
    articles: Sequence[DemoArticle]

    def iter_pages(self) -> Iterator[tuple[str, str]]:
        """Yield (path, HTML) of every page."""
        yield "index.html", self._render_home()
        for section in self.design.section:
            members = self._articles_in(section)
            chunks = [members[i : i + ARTICLES_PER_LIST_PAGE] for i in range(0, len(members), ARTICLES_PER_LIST_PAGE)]
            pager = "".join(
                self.design.fill_template("page", url=self.design.list_url(section, number), title=str(number))
                for number in range(1, len(chunks) + 1)
            )
            for number, chunk in enumerate(chunks, start=1):
                main = self.design.fill_template(
                    "listing", section=section.name, items=self._render_items(chunk), pager=pager
                )
                path = self.design.list_url(section, number).removeprefix("/")
                yield path, self._wrap_page(f"{section.name}_{self.design.name}", main)
        for article in self.articles:
            yield self.design.page_path(article), self._render_article(article)

    def _articles_in(self, section: Section) -> list[DemoArticle]:
        return [article for article in self.articles if article.section in section.article_sections]

    def _wrap_page(self, html_title: str, main: str) -> str:
        nav = (("nav", self.design.list_url(s), s.name) for s in self.design.section)
        hot = self.articles[:: max(1, len(self.articles) // _MAX_HOT_LINKS)][:_MAX_HOT_LINKS]
        return self.design.fill_template(
            "shell",
            html_title=html_title,
            nav="".join(self.design.fill_template(piece, url=url, title=name) for piece, url, name in nav),
            hot=self._render_links(hot),
            main=main,
        )

    def _render_home(self) -> str:
        headline = next(article for article in self.articles if article.has_picture)
        boxes = "\n".join(
            self.design.fill_template(
                "box",
                section=section.name,
                section_url=self.design.list_url(section),
                items=self._render_items(self._articles_in(section)[:_ARTICLES_PER_BOX]),
            )
            for section in self.design.section
        )
        main = self.design.fill_template(
            "home",
            headline=_escape(headline.title),
            headline_url=self._url(headline),
            headline_image="/" + _picture_path(headline),
            boxes=boxes,
        )
        return self._wrap_page(self.design.name, main)

    def _render_article(self, article: DemoArticle) -> str:
        design, section, title = self.design, self.design.section_for(article), _escape(article.title)
        title_template = Template(design.title_form)
        paragraphs = [design.paragraph(text) for text in article.paragraphs]
        if article.attachment:
            link = f'<a href="/{_escape(article.attachment)}">{_escape(article.attachment_title)} (PDF)</a>'
            paragraphs.append(design.fill_template("paragraph", text=link))
        picture = ""
        if article.has_picture:
            picture = design.fill_template("picture", image="/" + _picture_path(article), title=title)
        main = design.fill_template(
            "article",
            title=title,
            section=section.name,
            section_url=design.list_url(section),
            byline=self._render_byline(article),
            picture=picture,
            body="\n".join(paragraphs),
            related=self._render_links(self._related_articles(article, section)),
        )
        return self._wrap_page(title_template.substitute(title=title, section=section.name, site=design.name), main)

    def _render_byline(self, article: DemoArticle) -> str:
        clock = f"{8 + article.number % 11:02d}:{article.number * 7 % 60:02d}"
        return self.design.fill_template(
            f"byline_{article.language}",
            source=_escape(article.source),
            author=_escape(article.author),
            date=article.date.isoformat(),
            clock=clock,
        )

    def _related_articles(self, article: DemoArticle, section: Section) -> list[DemoArticle]:
        """Return the articles of the same section that are closest in time."""
        other_articles = [other for other in self._articles_in(section) if other is not article]
        return sorted(other_articles, key=lambda other: abs(other.number - article.number))[:_MAX_RELATED_LINKS]

    def _url(self, article: DemoArticle) -> str:
        return "/" + self.design.page_path(article)

    def _render_links(self, articles: Sequence[DemoArticle]) -> str:
        return "\n".join(self.design.fill_template("link", url=self._url(a), title=_escape(a.title)) for a in articles)

    def _render_items(self, articles: Sequence[DemoArticle]) -> str:
        return "\n".join(
            self.design.fill_template("item", url=self._url(a), title=_escape(a.title), date=a.date.isoformat())
            for a in articles
        )


def _picture_path(article: DemoArticle) -> str:
    return f"images/pic_{article.number}.png"


def _escape(text: str) -> str:
    return escape(text, quote=True)
