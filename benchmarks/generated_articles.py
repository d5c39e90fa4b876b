"""Articles of realistic length and vocabulary, generated from word frequencies, with the pages that contain them.

Words follow the frequencies of the dictionaries of jieba (Chinese) and pyspellchecker (English), so that lengths of
posting lists are realistic. An article repeats the words of its topic, and a word often has one of its usual
successors, so that texts compress like prose. The same number always gives the same article.
"""

import hashlib
import random
import zlib
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from spellchecker import SpellChecker

from domain.article import Article, Block, BlockKind
from domain.page import Page
from extractor.minhash import minhash_signature
from text.background_frequencies import iter_jieba_dictionary

SITES = 40
ENGLISH_SHARE = 0.25
CHINESE_CHARS, ENGLISH_CHARS = (1_500, 3_000), (3_000, 8_000)
TOPIC_WORDS, TOPIC_SHARE = 40, 0.3
SUCCESSORS, SUCCESSOR_SHARE = 4, 0.6
SENTENCE_WORDS, PARAGRAPH_SENTENCES, TITLE_WORDS = (6, 22), (2, 5), (5, 10)
HEADING_SHARE, LINK_SHARE = 0.15, 0.2
NAVIGATION_LINKS, RELATED_LINKS, SCRIPT_VALUES = 60, 40, 700
FETCHED_AT = 1_700_000_000.0


class Vocabulary(NamedTuple):
    """Words of a language, most frequent first, with cumulative frequencies and the punctuation of sentences."""

    words: Sequence[str]
    cumulative_frequencies: Sequence[int]
    space: str
    comma: str
    full_stop: str


class GeneratedPage(NamedTuple):
    """A page and its article."""

    page: Page
    article: Article


@cache
def load_vocabulary(is_english: bool) -> Vocabulary:
    """Return the vocabulary of English or of Chinese."""
    if is_english:
        counts = dict(SpellChecker(language="en").word_frequency.items())
    else:
        counts = {word: frequency for word, frequency, _ in iter_jieba_dictionary() if frequency > 0}
    words = sorted(counts, key=lambda word: (-counts[word], word))
    punctuation = (" ", ", ", ". ") if is_english else ("", ",", "。")
    return Vocabulary(words, list(accumulate(counts[word] for word in words)), *punctuation)


class ArticleGenerator:
    """Generates the text of one article. `number` is the seed."""

    def __init__(self, number: int) -> None:
        self.random = random.Random(number)
        self.is_english = self.random.random() < ENGLISH_SHARE
        self.vocabulary = load_vocabulary(self.is_english)
        self.topic_words = self.random.sample(self.vocabulary.words[200:60_000], TOPIC_WORDS)

    def draw_word(self) -> str:
        """Return a word by its frequency."""
        [word] = self.random.choices(self.vocabulary.words, cum_weights=self.vocabulary.cumulative_frequencies)
        return word

    def draw_words(self, count: int) -> list[str]:
        """Return consecutive words."""
        words = [self.draw_word()]
        while len(words) < count:
            chance = self.random.random()
            if chance < TOPIC_SHARE:
                words.append(self.random.choice(self.topic_words))
            elif chance < TOPIC_SHARE + SUCCESSOR_SHARE:
                words.append(self.draw_successor(words[-1]))
            else:
                words.append(self.draw_word())
        return words

    def draw_successor(self, word: str) -> str:
        """Return one of the usual successors of a word, which are the same in all articles."""
        successors = random.Random(zlib.crc32(f"{word}{self.random.randrange(SUCCESSORS)}".encode()))
        [successor] = successors.choices(self.vocabulary.words, cum_weights=self.vocabulary.cumulative_frequencies)
        return successor

    def draw_sentence(self) -> str:
        """Return a sentence with its full stop."""
        words = self.draw_words(self.random.randint(*SENTENCE_WORDS))
        half, space = len(words) // 2, self.vocabulary.space
        first, second = space.join(words[:half]), space.join(words[half:])
        return f"{first}{self.vocabulary.comma}{second}{self.vocabulary.full_stop}".capitalize()

    def draw_title(self) -> str:
        """Return a title or heading."""
        return self.vocabulary.space.join(self.draw_words(self.random.randint(*TITLE_WORDS)))

    def draw_blocks(self, site: str) -> list[Block]:
        """Return headings and paragraphs; some paragraphs begin with a link."""
        min_chars = self.random.randint(*(ENGLISH_CHARS if self.is_english else CHINESE_CHARS))
        blocks: list[Block] = []
        while sum(len(block.text) for block in blocks) < min_chars:
            if blocks and self.random.random() < HEADING_SHARE:
                blocks.append(Block(BlockKind.HEADING, self.draw_title(), 2))
            text = "".join(self.draw_sentence() for _ in range(self.random.randint(*PARAGRAPH_SENTENCES))).strip()
            links = ((0, 4, f"http://{site}/a/{self.random.randrange(100_000)}.html"),)
            blocks.append(Block(BlockKind.PARAGRAPH, text, links=links if self.random.random() < LINK_SHARE else ()))
        return blocks


def generate_page(number: int) -> GeneratedPage:
    """Return the article of a number and its page, with signature but without url_id."""
    generator = ArticleGenerator(number)
    site = f"site{number % SITES}.example"
    url = f"http://{site}/news/{number}.html"
    title, blocks = generator.draw_title(), generator.draw_blocks(site)
    body = "\n".join(block.text for block in blocks)
    chance = generator.random
    published = f"{2015 + chance.randrange(10)}-{1 + chance.randrange(12):02}-{1 + chance.randrange(28):02}"
    article = Article(
        url,
        title,
        body,
        published,
        "meta",
        "en" if generator.is_english else "zh",
        "blocks",
        author=f"{'author' if generator.is_english else '作者'}{chance.randrange(300)}",
        section=f"{'section' if generator.is_english else '栏目'}{chance.randrange(12)}",
        blocks=tuple(blocks),
        signature=minhash_signature(body),
        page_type="article",
    )
    html = render_html(generator, site, article).encode()
    headers = (("Content-Type", "text/html; charset=utf-8"), ("Server", "nginx"))
    digest = hashlib.sha256(html).hexdigest()
    page = Page(0, url, url, 200, "text/html; charset=utf-8", html, digest, FETCHED_AT + number, headers=headers)
    return GeneratedPage(page, article)


def render_html(generator: ArticleGenerator, site: str, article: Article) -> str:
    """Return the page of an article: navigation of its site, the article, related links and a script with data."""
    navigation = "".join(f'<li><a href="/c/{index}.html">{site} {index}</a></li>' for index in range(NAVIGATION_LINKS))
    tags = {BlockKind.HEADING: "h2", BlockKind.PARAGRAPH: "p"}
    content = "\n".join(f"<{tags[block.kind]}>{block.text}</{tags[block.kind]}>" for block in article.blocks)
    related = "".join(
        f'<li class="related-item"><a href="/news/{generator.random.randrange(1_000_000)}.html" title="">'
        f"{generator.draw_title()}</a></li>\n"
        for _ in range(RELATED_LINKS)
    )
    values = ",".join(f'"{generator.random.getrandbits(64):x}"' for _ in range(SCRIPT_VALUES))
    return (
        f'<!DOCTYPE html><html lang="{article.language}"><head><meta charset="utf-8">'
        f"<title>{article.title}</title></head><body><nav><ul>{navigation}</ul></nav><article><h1>{article.title}</h1>"
        f"<time>{article.published}</time>{content}</article><ul>{related}</ul>"
        f"<script>window.state=[{values}]</script></body></html>"
    )
