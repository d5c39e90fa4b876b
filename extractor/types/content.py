"""What kind of page an article is, told by what it is made of: for those whose page says nothing more.

dated, a text            -> article      news, a post, a report
no date of publication   -> reference    a page of an encyclopedia, of a company's site
half of it code          -> code         a listing, a page of an API
pictures with captions   -> pictures
"""

from docstore.model import Article, BlockKind, PageType

MIN_PICTURES = 3
MAX_TEXT_PER_PICTURE = 100  # characters: a caption
MIN_CODE = 0.5  # of the text's characters


TEXTS = (None, PageType.ARTICLE, PageType.REFERENCE)  # kinds that may be made of code or pictures


def kind_with_content(article: Article, kind: PageType | None) -> PageType:
    """The kind of a page for which the page itself speaks as `kind` (None: nothing does)."""
    made = type_by_content(article)
    if kind is None or (kind in TEXTS and made in (PageType.CODE, PageType.PICTURES)):
        return made
    return kind


def type_by_content(article: Article) -> PageType:
    """The kind of page that `article` is."""
    pictures = sum(block.kind is BlockKind.PICTURE for block in article.blocks)
    if pictures >= MIN_PICTURES and len(article.body) <= pictures * MAX_TEXT_PER_PICTURE:
        return PageType.PICTURES
    code = sum(len(block.text) for block in article.blocks if block.kind is BlockKind.CODE)
    if code and code >= MIN_CODE * len(article.body):
        return PageType.CODE
    return PageType.ARTICLE if article.published else PageType.REFERENCE
