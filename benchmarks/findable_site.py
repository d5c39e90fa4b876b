"""The pages of `make bench-findable`: our own sentences in 35 languages, with rare strings between them.

findable_texts.tsv   titles, sentences and notes; a note takes a rare string
findable_rare.tsv    rare strings by class
findable_pairs.tsv   two spellings of one string, for two pages
"""

import html
import random
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple

from benchmarks.findable_forms import to_native_digits, to_nfd
from benchmarks.gold_web import GoldPage
from domain.errors import PlumblineError

FOLDER = Path(__file__).parent
SITE, PAIRS_SITE, CASES_SITE = "findable.test", "pairs.test", "cases.test"
SENTENCES_PER_PAGE = 3
TITLE_STRING_STEP = 3  # every third title ends with a rare string
FIXED_USES, PATTERN_USES, MAX_OF_LANGUAGE = 2, 9, 20
FIRST_DAY = date(2024, 1, 1)


class Query(NamedTuple):
    """A query, the page it must find, and further URL parameters.

    category: row in the table. rival_url: another page, with another spelling, that must not rank before it.
    """

    category: str
    language: str
    text: str
    url: str
    params: tuple[tuple[str, str], ...] = ()
    rival_url: str = ""

    @property
    def host(self) -> str:
        """The host of the page."""
        return self.url.split("/")[2]


class RareString(NamedTuple):
    """A string in a page: its class, the string, and other queries that must find it."""

    category: str
    text: str
    queries: tuple[str, ...] = ()


@dataclass(frozen=True)
class FindablePage:
    """A page of a site, its language tag, and the rare strings in its title and paragraphs."""

    url: str
    language: str
    title: str
    paragraphs: tuple[str, ...]
    rare_strings: tuple[RareString, ...] = ()
    published: date = FIRST_DAY

    def to_html(self) -> str:
        """Return the page as HTML."""
        title, day = html.escape(self.title), self.published.isoformat()
        body = "".join(f"<p>{html.escape(paragraph)}</p>" for paragraph in self.paragraphs)
        return (
            f'<!DOCTYPE html><html lang="{self.language}"><head><meta charset="utf-8"><title>{title}</title></head>'
            f'<body><article><h1>{title}</h1><time datetime="{day}">{day}</time>{body}</article></body></html>'
        )


@dataclass
class Texts:
    """Titles, sentences and notes of a language. `words`: the words that the file separates, if it separates any."""

    titles: list[str] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    words: set[str] = field(default_factory=set)

    @property
    def has_spaces(self) -> bool:
        """True if there are spaces between words."""
        return " " in self.sentences[0]

    @property
    def joiner(self) -> str:
        """What stands between two sentences."""
        return "" if self.sentences[0].endswith("。") else " "


def load_rows(name: str) -> Iterator[list[str]]:
    """Yield the columns of each row of a file in this folder, with `\\uXXXX` replaced by its character."""
    for line in (FOLDER / name).read_text("utf-8").splitlines():
        if line and not line.startswith("# "):
            yield re.sub(r"\\u([0-9a-f]{4})", lambda match: chr(int(match[1], 16)), line).split("\t")


def load_texts(languages: Collection[str] = ()) -> dict[str, Texts]:
    """Load the texts by language tag. Raises PlumblineError for an unknown language."""
    texts: dict[str, Texts] = {}
    for language, kind, text in load_rows("findable_texts.tsv"):
        if not languages or language in languages:
            loaded = texts.setdefault(language, Texts())
            getattr(loaded, f"{kind}s").append(text.replace("|", ""))
            loaded.words |= {word for word in re.split(r"[|\s]+", text) if "|" in text and is_searchable(word)}
    if unknown := set(languages) - texts.keys():
        raise PlumblineError(f"no texts in {', '.join(sorted(unknown))}")
    return texts


def is_searchable(word: str) -> bool:
    """True for a word that someone would search: not a single letter or digit, but also a single Chinese character."""
    return any(map(str.isalnum, word)) and (len(word) > 1 or "\u4e00" <= word < "\ua000")


def load_rare_strings() -> Iterator[tuple[str, RareString]]:
    """Yield the rare strings as they are in the file, each with its languages (`*`: all)."""
    for category, languages, text, *queries in load_rows("findable_rare.tsv"):
        if category == "nfd":
            text, queries = to_nfd(text, ""), [text]
        yield languages, RareString(category, text, tuple(queries))


def make_pages(texts: Mapping[str, Texts], pages_per_language: int) -> list[FindablePage]:
    """Return the pages of the site: one for each title, the same in every run."""
    rng = random.Random(SITE)
    catalogue = list(load_rare_strings())
    supply: list[RareString] = []
    for languages, rare in catalogue:
        if languages == "*":
            supply += [rare] * (PATTERN_USES if "%d" in rare.text else FIXED_USES)
    rng.shuffle(supply)
    pages: list[FindablePage] = []
    for language, part in texts.items():
        own = [rare for languages, rare in catalogue if language in languages.split(",")]
        own = rng.sample(own, min(len(own), MAX_OF_LANGUAGE))
        sentences = list[str]()
        for number, title in enumerate(part.titles[:pages_per_language]):
            if len(sentences) < SENTENCES_PER_PAGE:
                rest = [sentence for sentence in part.sentences if sentence not in sentences]
                sentences += rng.sample(rest, len(rest))
            chosen, sentences = sentences[:SENTENCES_PER_PAGE], sentences[SENTENCES_PER_PAGE:]
            is_titled = number % TITLE_STRING_STEP == 1
            rare_strings = []
            for _ in range(len(part.notes) + is_titled):
                rare = own.pop() if own and rng.random() < 0.7 else supply.pop() if supply else own.pop()
                rare_strings.append(with_digits(rare, language, rng))
            pages.append(
                FindablePage(
                    f"http://{SITE}/{language}/{number}.html",
                    language,
                    f"{title} ({rare_strings[-1].text})" if is_titled else title,
                    tuple(paragraphs_of(chosen, part, [rare.text for rare in rare_strings])),
                    tuple(rare_strings),
                    FIRST_DAY + timedelta(days=len(pages)),
                )
            )
    return pages


def paragraphs_of(sentences: Sequence[str], part: Texts, strings: Sequence[str]) -> Iterator[str]:
    """Yield one paragraph for each sentence, with a note that contains a rare string."""
    for number, sentence in enumerate(sentences):
        note = part.notes[number % len(part.notes)].replace("{}", strings[number]) if number < len(strings) else ""
        yield part.joiner.join(filter(None, (sentence, note)))


def with_digits(rare: RareString, language: str, rng: random.Random) -> RareString:
    """Replace each %d by a digit, in native digits where the class is that."""
    text = re.sub("%d", lambda _: str(rng.randint(1, 9)), rare.text)
    return rare._replace(text=to_native_digits(text, language) if rare.category == "digits" else text)


def make_pair_pages(texts: Mapping[str, Texts]) -> list[tuple[FindablePage, FindablePage]]:
    """Return two pages for each pair of spellings: other texts, and one of the spellings in each."""
    pairs = []
    for number, (*spellings, language) in enumerate(load_rows("findable_pairs.tsv")):
        if language in texts:
            part, rng = texts[language], random.Random(f"{PAIRS_SITE} {number}")
            sentences = rng.sample(part.sentences, 2 * (SENTENCES_PER_PAGE + 1))
            first, second = (
                FindablePage(
                    f"http://{PAIRS_SITE}/{number}-{index}.html",
                    language,
                    sentences[index].rstrip(".。។။"),
                    tuple(paragraphs_of(sentences[2 + index :: 2], part, [spelling])),
                    (RareString("pair", spelling),),
                )
                for index, spelling in enumerate(spellings)
            )
            pairs.append((first, second))
    return pairs


def load_cases(folder: Path) -> tuple[list[GoldPage], list[Query]]:
    """Load the saved pages of `folder` and the rows of its `queries.tsv`; nothing if there is no such file."""
    if not (folder / "queries.tsv").is_file():
        return [], []
    rows = [line.split("\t") for line in (folder / "queries.tsv").read_text("utf-8").splitlines()[1:]]
    queries = [Query(category, "", text, f"http://{CASES_SITE}/{page}") for category, text, page in rows]
    pages = [
        GoldPage(CASES_SITE, file.stem, f"http://{CASES_SITE}/{file.name}", file.read_bytes(), "utf-8", "", "")
        for file in sorted(folder.glob("*.html"))
    ]
    return pages, queries


def to_gold_page(page: FindablePage) -> GoldPage:
    """Return the page as `GoldWeb` serves it."""
    return GoldPage(page.language, page.url, page.url, page.to_html().encode(), "utf-8", page.title, "")
