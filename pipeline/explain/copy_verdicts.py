"""Why another article is a duplicate of this article, or only similar; part of `plumb explain URL`."""

from docstore.articles.article_table import ArticleTable
from docstore.reports.url_report import UrlReport
from domain.article import Article
from pipeline.explain.url_explanation import CopyVerdict
from text.similarity.duplicates import ComparedArticle, DifferenceKind, TextDifference
from text.similarity.duplicates import compare_articles as compare

MAX_DIFFERENCES = 3  # per pair of articles
MAX_TEXT_LENGTH = 60  # characters of each differing text
MINOR_KINDS = (DifferenceKind.SPELLING, DifferenceKind.BOILERPLATE)  # do not distinguish two texts


def copy_verdicts(articles: ArticleTable, report: UrlReport) -> dict[int, CopyVerdict]:
    """Compare a URL's article with each near-duplicate and similar article. Returns the verdicts by `url_id`.

    Articles that the store does not have are omitted.
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
    """Return the parts of an article that duplicate detection compares."""
    return ComparedArticle(article.title, article.body, article.published)


def compare_articles(text: ComparedArticle, other: ComparedArticle) -> CopyVerdict:
    """Compare two articles. The verdict lists the most significant differences."""
    verdict = compare(text, other, MAX_DIFFERENCES)
    main_differences = sorted(verdict.differences, key=lambda difference: difference.kind in MINOR_KINDS)[
        :MAX_DIFFERENCES
    ]
    return CopyVerdict(verdict.reason, "; ".join(map(describe_difference, main_differences)))


def describe_difference(difference: TextDifference) -> str:
    """Format a difference: `numbers after “held in”: “2016”, other “2017”`."""
    after = f" after “{truncate(difference.context)}”" if difference.context else ""
    return f"{difference.kind}{after}: “{truncate(difference.left)}”, other “{truncate(difference.right)}”"


def truncate(text: str) -> str:
    """Shorten a text to MAX_TEXT_LENGTH characters."""
    return text if len(text) <= MAX_TEXT_LENGTH else text[:MAX_TEXT_LENGTH] + "…"
