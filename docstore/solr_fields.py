"""Solr field names, once, for `indexer` and `search_ui`. A test compares them with `solr_conf/`.

Text is indexed four ways (see docs/decisions/0069): as CJK bigrams with English stemming (`TITLE`, `BODY`, which also
store the original), as single characters, as words of the domain lexicon, and as words of the base dictionary.
Words are cut in Python and joined by U+200B (`text/solr_words.py`), at which Solr splits.
"""

import re

ID = "id"  # docstore.model.document_id(url)
URL = "url"
SITE = "site"  # host[:port]
HOST_SUFFIXES = "domains"  # string, multivalued: the host and every domain it belongs to, as `site:` asks for them
PUBLISHED = "published"  # pdate: day, or first of the month
PUBLISHED_TEXT = "published_text"  # "2016-05-09" or "2016-05", as extracted
FETCHED = "fetched"  # pdate
LANGUAGE = "language"
LEXICON_VERSION = "lexicon_version"  # pint: the version this document was segmented with
ARTICLE_DIGEST = "article_digest"
CLUSTER_ID = "cluster"  # the id that copies have in common: of the article that stands for all of them
SERIES_ID = "series"  # an id that similar articles have in common that are no copies: versions, issues of one series
SECTION = "section"  # the channel it stands in, as the page names it
AUTHOR = "author"
SOURCE = "source"  # whom it was taken over from
PAGE_TYPE = "page_type"  # what kind of page it is: article, thread, reference ... (extractor/page_types/classifier.py)
FORMAT = "format"  # the file format it was read from: html, or a name of docstore/file_formats.py
PAGE_STARTS = "page_starts"  # where in the body the pages of a document begin (docstore/articles/page_offsets.py)
PICTURE = "picture"  # URL of its lead picture
WORK_ID = "work"  # the law, book or series that it is a numbered part of: 16 hex digits, the same for all its parts
STORY_ID = "story"  # the news of one event that it is among: 16 hex digits, the same for all of them
AUTHORITY = "authority"  # pfloat: how often others cite it, on a scale of logarithms (docstore/articles/citations.py)

TITLE = "title"  # bigrams, stored
BODY = "body"  # bigrams, stored
TITLE_KEY = "title_key"  # multivalued: the title's letters and digits alone, and as it stands (text/titles.py)
TITLE_NUMBERS = "title_numbers"  # the numbers in the title, a blank between
TITLE_PINYIN = "title_sound"  # how the title sounds, a blank between syllables (text/pinyin.py)
TITLE_DOMAIN = "title_domain"  # words by the published lexicon, joined
BODY_DOMAIN = "body_domain"
TITLE_BASE = "title_base"  # words by the base dictionary alone (the comparison of WD-S3)
BODY_BASE = "body_base"
HEADINGS = "headings"  # bigrams of the headings in the body, not stored
DOMAIN_TERMS = "domain_terms"  # string, multivalued: terms of the published lexicon that occur in the text
SPELLING = "spelling"  # the Latin words of the text as they are spelt, each once

TITLE_CHARS = "title_chars"
BODY_CHARS = "body_chars"  # title and body together, as single characters
TITLE_PREFIX = "title_typed"  # the title: matches what has been typed of it so far
COPY_FIELD_TARGETS = (TITLE_CHARS, BODY_CHARS, TITLE_PREFIX)
"""What Solr fills by itself, from title and body."""

VECTOR_DIMENSIONS = (256, 384, 512, 768, 1024)
"""Dimensions that there are fields for."""


def vector_field_name(model_id: str, dimensions: int) -> str:
    """The field with the vectors of a model, of `dimensions` dimensions: each model has one of its own.

    >>> vector_field("bge-small-zh-v1.5-q.7cc5f4b1", 512)
    'bge_small_zh_v1_5_q_7cc5f4b1_v512'
    """
    return f"{re.sub(r'[^A-Za-z0-9]', '_', model_id)}_v{dimensions}"


WRITTEN_FIELDS = (
    ID,
    URL,
    SITE,
    HOST_SUFFIXES,
    PUBLISHED,
    PUBLISHED_TEXT,
    FETCHED,
    LANGUAGE,
    LEXICON_VERSION,
    ARTICLE_DIGEST,
    CLUSTER_ID,
    SERIES_ID,
    SECTION,
    AUTHOR,
    SOURCE,
    PAGE_TYPE,
    FORMAT,
    PAGE_STARTS,
    PICTURE,
    WORK_ID,
    STORY_ID,
    AUTHORITY,
    TITLE,
    BODY,
    TITLE_KEY,
    TITLE_NUMBERS,
    TITLE_PINYIN,
    TITLE_DOMAIN,
    BODY_DOMAIN,
    TITLE_BASE,
    BODY_BASE,
    HEADINGS,
    SPELLING,
    DOMAIN_TERMS,
)
