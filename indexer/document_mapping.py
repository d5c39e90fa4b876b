"""Maps an article to a Solr document. No I/O: the segmenters are arguments."""

import hashlib
import re
import time
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from domain.article import ARTICLE_FIELDS, Article, PageType, StoredArticle
from domain.article_relations import authority_score
from domain.page_offsets import find_page_offsets, format_page_offsets
from domain.term import Lexicon
from solr_client import solr_fields
from text.folding import fold_width, normalize_text
from text.mixed_terms import TermFinder
from text.scripts import ALPHABETIC
from text.segment import Segmenter
from text.sign_words import find_sign_words
from text.solr_words import join_words
from text.titles import extract_numbers, series_name, title_lookup_keys

UNINDEXABLE_CHARS_RE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")  # XML 1.0 forbids them
MAX_BODY_CHARS = 500_000  # a longer body is a data dump, and Solr would hold all of it in memory
MAX_URL_CHARS = 2000  # URL of a picture


@dataclass(frozen=True)
class TextAnalysis:
    """Segmenters of one version of the `lexicon`, and of the base dictionary without it."""

    lexicon: Lexicon
    domain_segmenter: Segmenter
    base_segmenter: Segmenter

    @cached_property
    def term_finder(self) -> TermFinder:
        """Finds the terms of the lexicon."""
        return TermFinder(entry.text for entry in self.lexicon.entries)


NO_VECTORS: Mapping[str, bytes] = {}


def to_solr_document(
    stored_article: StoredArticle, analysis: TextAnalysis, vectors: Mapping[str, bytes] = NO_VECTORS
) -> dict[str, object]:
    """Return the Solr document of an article; field names are those of solr_client.solr_fields.

    Segmented words are joined here. Solr derives the character fields from title and body.

    Args:
        stored_article: The article.
        analysis: Segmenters and lexicon.
        vectors: Vectors of the article by model id (`docstore.articles.vectors.VectorTable.article_vectors`).
    """
    article = stored_article.article
    title, body = strip_unindexable(article.title), strip_unindexable(article.body)[:MAX_BODY_CHARS]
    plain_title, plain_body = fold_width(normalize_text(title)), fold_width(normalize_text(body))
    base_title, base_body = analysis.base_segmenter.cut(plain_title), analysis.base_segmenter.cut(plain_body)
    title_words, body_words = base_title, base_body
    if analysis.lexicon.entries:  # without terms, both segmenters are equal
        title_words, body_words = analysis.domain_segmenter.cut(plain_title), analysis.domain_segmenter.cut(plain_body)
    document: dict[str, object] = {
        solr_fields.ID: stored_article.doc_id,
        solr_fields.URL: article.url,
        solr_fields.SITE: stored_article.host,
        solr_fields.HOST_SUFFIXES: domain_suffixes(stored_article.host),
        solr_fields.FETCHED: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(stored_article.fetched_at)),
        solr_fields.LANGUAGE: article.language,
        solr_fields.LEXICON_VERSION: analysis.lexicon.version,
        solr_fields.ARTICLE_DIGEST: article.digest,
        solr_fields.CLUSTER_ID: stored_article.duplicate_of or stored_article.doc_id,
        solr_fields.SERIES_ID: stored_article.series_id or stored_article.duplicate_of or stored_article.doc_id,
        solr_fields.TITLE: title,
        solr_fields.BODY: body,
        solr_fields.TITLE_DOMAIN: join_words(title_words),
        solr_fields.BODY_DOMAIN: join_words(body_words),
        solr_fields.TITLE_BASE: join_words(base_title),
        solr_fields.BODY_BASE: join_words(base_body),
        solr_fields.DOMAIN_TERMS: analysis.term_finder.find_terms(f"{plain_title}。{plain_body}"),
        solr_fields.SPELLING: " ".join(dict.fromkeys(_SPELLED_WORD_RE.findall(f"{plain_title}\n{plain_body}"))),
        solr_fields.SIGN_WORDS: find_sign_words(f"{plain_title}\n{plain_body}"),
    }
    if stems_field := solr_fields.STEMS_FIELD_BY_LANGUAGE.get(article.language.partition("-")[0]):
        document[stems_field] = f"{title}\n{body}"
    return document | _optional_fields(stored_article) | vector_fields(vectors)


def vector_fields(vectors: Mapping[str, bytes]) -> dict[str, object]:
    """Return int8 vectors as Solr fields: lists of integers from -128 to 127."""
    supported_vectors = {
        model: vector for model, vector in vectors.items() if len(vector) in solr_fields.VECTOR_DIMENSIONS
    }
    return {
        solr_fields.vector_field_name(model, len(vector)): list(array("b", vector))
        for model, vector in supported_vectors.items()
    }


def _optional_fields(stored_article: StoredArticle) -> dict[str, object]:
    """Return the fields that not every page has; empty fields are left out."""
    article = stored_article.article
    values: dict[str, object] = {
        solr_fields.PUBLISHED: date_to_solr(article.published) if article.published else "",
        # Pages that were extracted before page types existed have none.
        solr_fields.PAGE_TYPE: article.page_type or (PageType.ARTICLE if article.published else PageType.REFERENCE),
        solr_fields.PAGE_STARTS: format_page_offsets(
            find_page_offsets(strip_unindexable(article.body)[:MAX_BODY_CHARS], article.blocks)
        ),
        solr_fields.PICTURE: article.picture if len(article.picture) <= MAX_URL_CHARS else "",
        solr_fields.TITLE_KEY: title_lookup_keys(article.title),
        solr_fields.TITLE_NUMBERS: " ".join(extract_numbers(article.title)),
        solr_fields.WORK_ID: work_id(stored_article.host, article.title),
        solr_fields.STORY_ID: stored_article.story_id,
        solr_fields.AUTHORITY: authority_score(stored_article.citation_count),
    }
    return {name: value for name, value in (copied_fields(article) | values).items() if value}


def copied_fields(article: Article) -> dict[str, object]:
    """Return the Solr fields that are copies of text fields, as `domain.article.ARTICLE_FIELDS` declares them."""
    return {
        declaration.solr_name: strip_unindexable(getattr(article, name))[: declaration.max_indexed_chars or None]
        for name, declaration in ARTICLE_FIELDS.items()
        if declaration.solr_name
    }


def domain_suffixes(host: str) -> list[str]:
    """Return the host and its parent domains: `news.example.com:8080`, `news.example.com`, `example.com`, `com`."""
    labels = host.partition(":")[0].split(".")
    names = [".".join(labels[n:]) for n in range(len(labels))]
    return list(dict.fromkeys([host, *names]))


def work_id(host: str, title: str) -> str:
    """Return the id of the work of which this is a numbered part (`text.titles.series_name`), or an empty string.

    All parts on one `host` have the same id.
    """
    name = series_name(title)
    return hashlib.sha256(f"{host}\n{name}".encode("utf-8", "surrogatepass")).hexdigest()[:16] if name else ""


_SPELLED_WORD_RE = re.compile(f"{ALPHABETIC}{{4,}}")


def strip_unindexable(text: str) -> str:
    """Replace characters that cannot be indexed by blanks."""
    return UNINDEXABLE_CHARS_RE.sub(" ", text)


def date_to_solr(published: str) -> str:
    """Convert `2016-05-09`, or `2016-05` (its first day), to a Solr date."""
    return f"{published if len(published) == 10 else published + '-01'}T00:00:00Z"
