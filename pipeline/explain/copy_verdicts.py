"""Why an article is a copy of another, or similar to it and none: what `plumb explain URL` tells of each of them."""

from docstore.articles.article_table import ArticleTable
from docstore.model import Article
from docstore.reports.url_report import UrlReport
from pipeline.explain.url_explanation import CopyVerdict
from text.similarity.duplicates import ComparedArticle, DifferenceKind, TextDifference
from text.similarity.duplicates import compare_articles as compare

MAX_DIFFERENCES = 3  # differences of each pair
MAX_TEXT_LENGTH = 60  # characters of what differs
MINOR_KINDS = (DifferenceKind.SPELLING, DifferenceKind.BOILERPLATE)  # they make no other text of it


def copy_verdicts(articles: ArticleTable, report: UrlReport) -> dict[int, CopyVerdict]:
    """The verdict on each near-duplicate and similar article of a URL's article, by `url_id`; none on articles that
    the store does not have.
    """
    if report.article is None:
        return {}
    article_id = report.article.url_id
    other_ids = dict.fromkeys(other_id.url_id for other_id in (*report.near_duplicates, *report.similar_articles))
    stored_articles = articles.load_by_url_ids([*other_ids, article_id])
    texts = {url_id: comparable_text(stored_article.article) for url_id, stored_article in stored_articles.items()}
    return (
        {other_id: compare_articles(texts[article_id], texts[other_id]) for other_id in other_ids if other_id in texts}
        if article_id in texts
        else {}
    )


def comparable_text(article: Article) -> ComparedArticle:
    """An article as copies are told by it."""
    return ComparedArticle(article.title, article.body, article.published)


def compare_articles(text: ComparedArticle, other: ComparedArticle) -> CopyVerdict:
    """The verdict on two articles, with the differences that tell most."""
    verdict = compare(text, other, MAX_DIFFERENCES)
    main_differences = sorted(verdict.differences, key=lambda difference: difference.kind in MINOR_KINDS)[
        :MAX_DIFFERENCES
    ]
    return CopyVerdict(verdict.reason, "; ".join(map(describe_difference, main_differences)))


def describe_difference(difference: TextDifference) -> str:
    """`numbers after “held in”: “2016”, there “2017”`."""
    after = f" after “{truncate(difference.context)}”" if difference.context else ""
    return f"{difference.kind}{after}: “{truncate(difference.left)}”, there “{truncate(difference.right)}”"


def truncate(text: str) -> str:
    """A text as long as a line bears."""
    return text if len(text) <= MAX_TEXT_LENGTH else text[:MAX_TEXT_LENGTH] + "…"
