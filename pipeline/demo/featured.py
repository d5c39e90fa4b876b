"""Articles and documents of the demo that show single features of the search (data/featured.toml)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from pipeline.demo.articles import DemoArticle, generate_articles, load_toml
from pipeline.demo.pdf import PdfPage


@dataclass(frozen=True)
class DemoDocument:
    """A PDF file at `path` of the site with the key `site`, without a leading slash."""

    site: str
    path: str
    title: str
    author: str
    date: date
    language: str
    pages: tuple[PdfPage, ...]


def load_articles() -> tuple[DemoArticle, ...]:
    """Return the generated articles and, as the newest ones, the featured articles."""
    generated = generate_articles()
    return generated + tuple(
        DemoArticle(
            site=row["site"],
            number=number,
            section=row["section"],
            title=row["title"],
            date=row["date"],
            source=row["source"],
            author=row["author"],
            paragraphs=tuple(row["paragraphs"]),
            has_picture=False,
            language="en" if row["section"] == "english" else "zh",
            story="featured",
            attachment=row.get("attachment", ""),
            attachment_title=row.get("attachment_title", ""),
        )
        for number, row in enumerate(load_toml("featured.toml")["article"], start=len(generated) + 1)
    )


def load_documents() -> Sequence[DemoDocument]:
    """Return the documents of all sites."""
    return [
        DemoDocument(
            site=row["site"],
            path=row["path"],
            title=row["title"],
            author=row["author"],
            date=row["date"],
            language=row["language"],
            pages=tuple(PdfPage(page["heading"], tuple(page["paragraphs"])) for page in row["page"]),
        )
        for row in load_toml("featured.toml")["document"]
    ]
