"""Pages as a focused crawl reads them: by the extractor's blocks, cut once by the words of lexicon and topic."""

from collections.abc import Iterable

from docstore.model import Lexicon, Outcome, Page
from docstore.topics import ExamplePage
from extractor.article_extractor import ArticleExtractor
from extractor.methods.tag_blocks import tag_blocks
from lexicon.dictionary import check_term
from text.segment import RjiebaSegmenter, Segmenter

_DESCRIPTIONS = ("description", "keywords")  # of Zhou: <title>, meta description, meta keywords
_MAX_TEXT = 200_000  # characters of a page that are looked at


def segmenter_of(lexicon: Lexicon, terms: Iterable[str]) -> Segmenter:
    """A segmenter that knows the words of the lexicon and the terms of a topic."""
    known = {entry.text for entry in lexicon.entries}
    fresh = dict.fromkeys(term for term in terms if term not in known and not check_term(term))
    return RjiebaSegmenter(
        [*((one.text, one.frequency, one.tag) for one in lexicon.entries), *((term, 0, "n") for term in fresh)]
    )


def example_of(page: Page) -> ExamplePage:
    """A page of the crawl, as `read_example` reads it."""
    return read_example(page.url, page.body, page.content_type, page.final_url)


def read_example(url: str, html: bytes, content_type: str = "", base: str = "") -> ExamplePage:
    """A page with the text of its title, its description and its blocks (WY-F1 to F5); nothing but its URL where
    it cannot be read. `base` is where it was found, if elsewhere."""
    document = ArticleExtractor().document(html, base or url, content_type)
    if isinstance(document, Outcome):
        return ExamplePage(url)
    description = " ".join(document.metas.get(name, "") for name in _DESCRIPTIONS).strip()
    blocks: list[tuple[str, float, str]] = []
    left = _MAX_TEXT
    for block in tag_blocks(document):
        blocks.append((str(block.type), round(block.weight, 6), block.content[:left]))
        left -= len(block.content)
        if left <= 0:
            break
    return ExamplePage(url, document.title, description, tuple(blocks))
