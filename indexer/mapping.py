"""Article -> Solr document. Pure: the segmenters are handed in."""

import hashlib
import re
import time
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from docstore import fields
from docstore.articles.citations import authority
from docstore.articles.page_starts import packed, page_starts
from docstore.model import Article, BlockKind, Lexicon, PageType, StoredArticle
from text.folding import word_key
from text.joined import joined
from text.pinyin import sounded
from text.segment import Segmenter
from text.titles import numbers, title_keys, work_name

# What XML 1.0 cannot carry, and the joint that we put between words ourselves.
UNINDEXABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\u200b\ud800-\udfff]")
LONGEST_BODY = 500_000  # characters; a longer one is a dump of data, and Solr would hold all of it in memory
MAX_URL = 2000  # characters of a picture's URL
LONGEST_NAME = 200  # characters of a section, an author or a source


@dataclass(frozen=True)
class Analysis:
    """How text is cut: by one version of the `lexicon`, and by the base dictionary alone."""

    lexicon: Lexicon
    domain: Segmenter
    base: Segmenter

    @cached_property
    def terms(self) -> Mapping[str, str]:
        """The lexicon's terms by their `word_key`."""
        return {word_key(entry.text): entry.text for entry in self.lexicon.entries}


NO_VECTORS: Mapping[str, bytes] = {}


def to_document(
    stored: StoredArticle, analysis: Analysis, vectors: Mapping[str, bytes] = NO_VECTORS
) -> dict[str, object]:
    """The document of `stored`: field names from docstore.fields. Of title and body Solr makes the forms by
    characters; the words are joined here. `vectors` are the article's, by the ids of their models
    (`docstore.articles.vectors.VectorTable.whole`)."""
    article = stored.article
    title, body = indexable(article.title), indexable(article.body)[:LONGEST_BODY]
    base_title, base_body = analysis.base.cut(title), analysis.base.cut(body)
    title_words, body_words = base_title, base_body
    if analysis.lexicon.entries:  # until the first words are published, both cut alike
        title_words, body_words = analysis.domain.cut(title), analysis.domain.cut(body)
    document: dict[str, object] = {
        fields.ID: stored.doc_id,
        fields.URL: article.url,
        fields.SITE: stored.host,
        fields.DOMAINS: domains(stored.host),
        fields.FETCHED: solr_time(stored.fetched_at),
        fields.LANGUAGE: article.language,
        fields.LEXICON_VERSION: analysis.lexicon.version,
        fields.ARTICLE_DIGEST: article.digest,
        fields.CLUSTER: stored.duplicate_of or stored.doc_id,
        fields.SERIES: stored.series or stored.duplicate_of or stored.doc_id,
        fields.TITLE: title,
        fields.BODY: body,
        fields.TITLE_DOMAIN: joined(title_words),
        fields.BODY_DOMAIN: joined(body_words),
        fields.TITLE_BASE: joined(base_title),
        fields.TITLE_SOUND: " ".join(sound for _, sound in sounded(base_title)),
        fields.BODY_BASE: joined(base_body),
        fields.DOMAIN_TERMS: domain_terms(title_words + body_words, analysis.terms),
    }
    return document | _if_stated(stored) | vector_fields(vectors)


def vector_fields(vectors: Mapping[str, bytes]) -> dict[str, object]:
    """Vectors of a byte a dimension as Solr takes them: lists of whole numbers from -128 to 127."""
    fitting = {model: kept for model, kept in vectors.items() if len(kept) in fields.VECTOR_SIZES}
    return {fields.vector_field(model, len(kept)): list(array("b", kept)) for model, kept in fitting.items()}


def _if_stated(stored: StoredArticle) -> dict[str, object]:
    """What not every page states: a field is left out where it would be empty."""
    article = stored.article
    values: dict[str, object] = {
        fields.PUBLISHED: solr_day(article.published) if article.published else "",
        fields.PUBLISHED_TEXT: article.published,
        fields.SECTION: indexable(article.section)[:LONGEST_NAME],
        fields.AUTHOR: indexable(article.author)[:LONGEST_NAME],
        fields.SOURCE: indexable(article.source)[:LONGEST_NAME],
        fields.HEADINGS: headings(article),
        fields.SPELLING: spelt(f"{article.title}\n{article.body}"[:LONGEST_BODY]),
        fields.PAGE_TYPE: article.page_type or of_older_extraction(article),
        fields.FORMAT: article.format,
        fields.PAGE_STARTS: packed(page_starts(indexable(article.body)[:LONGEST_BODY], article.blocks)),
        fields.PICTURE: article.picture if len(article.picture) <= MAX_URL else "",
        fields.TITLE_KEY: title_keys(article.title),
        fields.TITLE_NUMBERS: " ".join(numbers(article.title)),
        fields.WORK: work_id(stored.host, article.title),
        fields.STORY: stored.story,
        fields.AUTHORITY: authority(stored.citations),
    }
    return {name: value for name, value in values.items() if value}


def of_older_extraction(article: Article) -> PageType:
    """The kind of a page that was extracted before kinds were told, until it is extracted again."""
    return PageType.ARTICLE if article.published else PageType.REFERENCE


def domains(host: str) -> list[str]:
    """`news.example.com:8080` -> itself, `news.example.com`, `example.com`, `com`."""
    labels = host.partition(":")[0].split(".")
    names = [".".join(labels[n:]) for n in range(len(labels))]
    return list(dict.fromkeys([host, *names]))


def work_id(host: str, title: str) -> str:
    """An id for what this is a numbered part of (`text.titles.work_name`), the same for all parts on `host`; "" if it
    is on its own.
    """
    name = work_name(title)
    return hashlib.sha256(f"{host}\n{name}".encode("utf-8", "surrogatepass")).hexdigest()[:16] if name else ""


def headings(article: Article) -> str:
    """The headings inside the article, one a line."""
    lines = (block.text for block in article.blocks if block.kind is BlockKind.HEADING)
    return indexable("\n".join(lines))[:LONGEST_BODY]


_LATIN_WORD = re.compile("[A-Za-zÀ-ɏ]{4,30}")


def spelt(text: str) -> str:
    """The Latin words of `text` from four letters up, each once: what a mistyped word can be corrected to."""
    return " ".join(dict.fromkeys(_LATIN_WORD.findall(text)))


def indexable(text: str) -> str:
    """`text` without characters that no index takes."""
    return UNINDEXABLE.sub(" ", text)


def domain_terms(words: list[str], known: Mapping[str, str]) -> list[str]:
    """The terms of `known` (by `word_key`) among `words`, each once, in order of first occurrence."""
    if not known:
        return []
    keys = map(_key, dict.fromkeys(words))
    return list(dict.fromkeys(known[key] for key in keys if key in known))


_key = lru_cache(1 << 16)(word_key)  # the same words stand in all documents


def solr_day(published: str) -> str:
    """`2016-05-09` or `2016-05` (its first day) as Solr writes a moment."""
    return f"{published if len(published) == 10 else published + '-01'}T00:00:00Z"


def solr_time(seconds: float) -> str:
    """Epoch seconds as Solr writes a moment."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
