"""Names of the Solr fields, for `indexer` and `search_ui`. A test compares them with `solr_conf/`.

Text is indexed in four ways (see docs/decisions/0069):

    TITLE, BODY                  CJK bigrams and stemmed English; stored
    TITLE_CHARS, BODY_CHARS      single characters
    TITLE_DOMAIN, BODY_DOMAIN    words segmented with the published lexicon
    TITLE_BASE, BODY_BASE        words segmented with the base dictionary

Python segments the text and joins the words by U+200B (`text/solr_words.py`), at which Solr splits.
"""

import re

ID = "id"  # domain.article.document_id(url)
URL = "url"
SITE = "site"  # host[:port]
HOST_SUFFIXES = "domains"  # string, multivalued: the host and all its parent domains, for `site:` queries
PUBLISHED = "published"  # pdate: day, or first of the month
PUBLISHED_TEXT = "published_text"  # "2016-05-09" or "2016-05", as extracted
FETCHED = "fetched"  # pdate
LANGUAGE = "language"
LEXICON_VERSION = "lexicon_version"  # pint: the version this document was segmented with
ARTICLE_DIGEST = "article_digest"
CLUSTER_ID = "cluster"  # id of the near-duplicate cluster: the id of its leader
SERIES_ID = "series"  # common id of similar articles that are not copies: versions, issues of a series
SECTION = "section"  # section of the site, as named on the page
AUTHOR = "author"
SOURCE = "source"  # original publisher of a republished article
PAGE_TYPE = "page_type"  # content type: article, thread, reference ... (extractor/page_types/classifier.py)
FORMAT = "format"  # file format of the source: html, or a name in domain/file_formats.py
TEXT_SOURCE = "text_source"  # domain.article.TextSource: text was recognized from pictures of pages
PAGE_STARTS = "page_starts"  # offsets of document pages in the body (domain/page_offsets.py)
PICTURE = "picture"  # URL of the lead picture
WORK_ID = "work"  # id of the law, book or series of which it is a numbered part: 16 hex digits
STORY_ID = "story"  # id of its story (news of one event): 16 hex digits
AUTHORITY = "authority"  # pfloat: logarithmic number of citations (docstore/articles/citations.py)

TITLE = "title"  # bigrams, stored
BODY = "body"  # bigrams, stored
TITLE_KEY = "title_key"  # multivalued: the title without punctuation, and unchanged (text/titles.py)
TITLE_NUMBERS = "title_numbers"  # numbers in the title, separated by spaces
TITLE_DOMAIN = "title_domain"  # words segmented with the published lexicon
BODY_DOMAIN = "body_domain"
TITLE_BASE = "title_base"  # words segmented with the base dictionary (baseline of WD-S3)
BODY_BASE = "body_base"
DOMAIN_TERMS = "domain_terms"  # string, multivalued: terms of the published lexicon that occur in the text
SPELLING = "spelling"  # distinct words of the text in scripts with blanks between words, unstemmed
SIGN_WORDS = "signs"  # string, multivalued: C++, .NET (text/sign_words.py)
STEMS_FIELD_BY_LANGUAGE = {language: f"stems_{language}" for language in ("de", "es", "fr", "ja", "ko", "pl", "ru")}
"""Fields with the stems of title and body, of articles in languages that Solr has stems for. English stems are in the
fields of all articles, because every language quotes English words."""

TITLE_CHARS = "title_chars"  # Solr fills this and the next ones from title and body (copyField)
BODY_CHARS = "body_chars"  # title and body together, as single characters
TITLE_PREFIX = "title_typed"  # the title, for prefix matches while typing
VECTOR_DIMENSIONS = (256, 384, 512, 768, 1024)
"""Vector dimensions for which the schema has a field type."""


def vector_field_name(model_id: str, dimensions: int) -> str:
    """Return the name of the field that stores the vectors of a model. Each model has a separate field.

    >>> vector_field_name("bge-small-zh-v1.5-q.7cc5f4b1", 512)
    'bge_small_zh_v1_5_q_7cc5f4b1_v512'
    """
    return f"{re.sub(r'[^A-Za-z0-9]', '_', model_id)}_v{dimensions}"
