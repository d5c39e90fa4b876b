"""Decides the page type by the content of the article if the page declares no type.

dated, a text            -> article      news, a post, a report
no date of publication   -> reference    a page of an encyclopedia, of a company's site
half of it code          -> code         a listing, a page of an API
pictures with captions   -> pictures
"""

from domain.article import Article, BlockKind, PageType

MIN_GALLERY_PICTURES = 3
MAX_CHARS_PER_PICTURE = 100  # the length of a caption
MIN_CODE_SHARE = 0.5  # share of code in the characters of the body
CONTENT_OVERRIDABLE_TYPES = (None, PageType.ARTICLE, PageType.REFERENCE)  # may become CODE or GALLERY


def refine_type_by_content(article: Article, page_type: PageType | None) -> PageType:
    """Return the final page type. `page_type` is the declared type, None if the page declares none."""
    content_type = type_by_content(article)
    if page_type is None or (
        page_type in CONTENT_OVERRIDABLE_TYPES and content_type in (PageType.CODE, PageType.GALLERY)
    ):
        return content_type
    return page_type


def type_by_content(article: Article) -> PageType:
    """Return the page type that follows from the blocks and the date of an article."""
    picture_count = sum(block.kind is BlockKind.PICTURE for block in article.blocks)
    if picture_count >= MIN_GALLERY_PICTURES and len(article.body) <= picture_count * MAX_CHARS_PER_PICTURE:
        return PageType.GALLERY
    code_chars = sum(len(block.text) for block in article.blocks if block.kind is BlockKind.CODE)
    if code_chars and code_chars >= MIN_CODE_SHARE * len(article.body):
        return PageType.CODE
    return PageType.ARTICLE if article.published else PageType.REFERENCE
