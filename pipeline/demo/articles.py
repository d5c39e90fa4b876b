"""Generates 300 news articles of an invented oil-and-gas press from story templates; the same articles every time.

A story template (data/stories_*.toml) has titles, leads, details, quotes, background and closings. A slot in braces is

    {field}          a name from data/words.toml, the same in all of the article; {field2} is a different name
    {v:20-90}        a number from the range, the same in all of the article; {:20-90} is drawn again each time
    {day}            the article's date in words

Title number i is used with lead i modulo the number of leads, so that both report the same event. A template with a
`quota` gives exactly that number of articles; the other templates share the remaining articles.
"""

import random
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache
from importlib.resources import files
from itertools import cycle, islice
from typing import Any

SEED = 20191
ARTICLE_COUNT = 300
ENGLISH_ARTICLE_COUNT = 40
PICTURE_ARTICLE_COUNT = 30
FIRST_DAY = date(2024, 1, 3)
LAST_DAY = date(2026, 10, 29)
# Chinese text articles by site. The English articles are added to the second site, picture stories to each in turn.
ARTICLES_PER_SITE = {"cangyuan": 95, "lanwan": 50, "yuanshan": 85}
ENGLISH_SITE = "lanwan"
COMPARISON_TERM = "世界石油大会"  # query of the comparison search, Wang Du 2019, WD-S3

MIN_DAYS_BETWEEN_SITES = 4  # more than the maximum between two articles on one event (docstore/articles/stories.py)
_SLOT = re.compile(r"\{([a-z]*)(\d?)(?::([\d.]+)-([\d.]+))?\}")
_BRIEF_SHARE = 0.2  # share of short articles: a lead, one or two details, a closing sentence
_JOIN_PROBABILITY = 0.2  # probability that a detail continues the previous paragraph


@dataclass(frozen=True)
class DemoArticle:
    """One article.

    `number` counts all articles by date, from 1; `site` and `section` are keys, `story` is the template name. A file at
    the path `attachment` ("": none) is linked below the text as `attachment_title`.
    """

    site: str
    number: int
    section: str
    title: str
    date: date
    source: str
    author: str
    paragraphs: tuple[str, ...]
    has_picture: bool
    language: str
    story: str
    attachment: str = ""
    attachment_title: str = ""

    @property
    def text(self) -> str:
        """Title and paragraphs, one per line."""
        return "\n".join((self.title, *self.paragraphs))


@dataclass(frozen=True)
class StoryTemplate:
    """A story template of data/stories_*.toml; the fields are its TOML keys."""

    name: str
    section: str
    titles: Sequence[str]
    leads: Sequence[str]
    details: Sequence[str] = ()
    quotes: Sequence[str] = ()
    background: Sequence[str] = ()
    closings: Sequence[str] = ()
    quota: int = 0

    @property
    def language(self) -> str:
        """Language of the articles: "en" or "zh"."""
        return "en" if self.section == "english" else "zh"


@dataclass
class SlotFiller:
    """Fills the slots in the sentences of one article.

    `fixed_values` contains the values that must not change within it.
    """

    rng: random.Random
    words: Mapping[str, Sequence[str]]
    fixed_values: dict[str, str] = field(default_factory=dict)

    def fill(self, text: str) -> str:
        """Replace every slot in `text`, including slots inside replacements."""
        return _SLOT.sub(self._value, text)

    def _value(self, slot: re.Match[str]) -> str:
        name, ordinal, low, high = slot.groups()
        key = name + ordinal
        if key in self.fixed_values:
            return self.fixed_values[key]
        value = self._number(low, high) if low else self._word(name)
        if key:
            self.fixed_values[key] = value
        return value

    def _number(self, low: str, high: str) -> str:
        decimals = len(low.partition(".")[2])
        return f"{self.rng.uniform(float(low), float(high)):.{decimals}f}"

    def _word(self, name: str) -> str:
        unused_words = [word for word in self.words[name] if word not in self.fixed_values.values()]
        return self.fill(self.rng.choice(unused_words))


@cache
def generate_articles(seed: int = SEED) -> tuple[DemoArticle, ...]:
    """Generate all articles in order of date. Equal seeds give equal articles on every machine."""
    rng = random.Random(seed)  # noqa: S311 (no cryptography)
    words = load_toml("words.toml")
    plan = [(story, site) for story, site in _assign_stories(load_stories(), rng)]
    rng.shuffle(plan)
    used_titles: set[str] = set()
    demo_days = (LAST_DAY - FIRST_DAY).days
    random_dates = sorted(FIRST_DAY + timedelta(rng.randint(0, demo_days)) for _ in plan)
    days = _separate_templates(plan, random_dates)
    return tuple(
        _build_article(number, story, site, day, rng, words, used_titles)
        for number, ((story, site), day) in enumerate(zip(plan, days, strict=True), start=1)
    )


def load_toml(name: str) -> dict[str, Any]:
    """Parse a file of data/."""
    return tomllib.loads((files("pipeline.demo") / "data" / name).read_text("utf-8"))


def load_stories() -> tuple[StoryTemplate, ...]:
    """Load all story templates of data/stories_*.toml, in order of file name."""
    folder = files("pipeline.demo") / "data"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.startswith("stories_"))
    return tuple(StoryTemplate(**frame) for name in names for frame in load_toml(name)["story"])


def _assign_stories(stories: Sequence[StoryTemplate], rng: random.Random) -> Iterator[tuple[StoryTemplate, str]]:
    """Yield (story, site) pairs in arbitrary order."""
    english = [story for story in stories if story.language == "en"]
    pictures = [story for story in stories if story.section == "picture"]
    fixed = [story for story in stories for _ in range(story.quota)]
    regular = [s for s in stories if not (s.language == "en" or s.section == "picture" or s.quota)]
    yield from ((story, ENGLISH_SITE) for story in islice(cycle(english), ENGLISH_ARTICLE_COUNT))
    yield from zip(islice(cycle(pictures), PICTURE_ARTICLE_COUNT), cycle(ARTICLES_PER_SITE), strict=False)
    remaining_stories = fixed + list(
        islice(cycle(regular), ARTICLE_COUNT - ENGLISH_ARTICLE_COUNT - PICTURE_ARTICLE_COUNT - len(fixed))
    )
    sites = [site for site, share in ARTICLES_PER_SITE.items() for _ in range(share)]
    rng.shuffle(sites)
    yield from zip(remaining_stories, sites, strict=True)


def _separate_templates(plan: Sequence[tuple[StoryTemplate, str]], days: Sequence[date]) -> list[date]:
    """Return the dates with some of them moved forward, in the same order.

    Two sites then never have articles of one template within MIN_DAYS_BETWEEN_SITES, because their shared sentences
    would look like reports of one event.
    """
    moved_days: list[date] = []
    last_day_by_story: dict[str, dict[str, date]] = {}
    for (story, site), day in zip(plan, days, strict=True):
        last_days = [last_day for key, last_day in last_day_by_story.get(story.name, {}).items() if key != site]
        earliest = max((last_day + timedelta(MIN_DAYS_BETWEEN_SITES) for last_day in last_days), default=day)
        moved_days.append(max(day, earliest, *moved_days[-1:]))
        last_day_by_story.setdefault(story.name, {})[site] = moved_days[-1]
    return moved_days


def _build_article(
    number: int,
    story: StoryTemplate,
    site: str,
    day: date,
    rng: random.Random,
    words: Mapping[str, Mapping[str, Sequence[str]]],
    used_titles: set[str],
) -> DemoArticle:
    day_text = f"{day.day} {day:%B}" if story.language == "en" else f"{day.month}月{day.day}日"
    slots = SlotFiller(rng, words[story.language], {"day": day_text})
    author, source = slots.fill("{journalist}"), slots.fill("{source}")
    title_index = _pick_unused_title(story, slots, used_titles)
    title = slots.fill(story.titles[title_index])
    paragraphs = tuple(_build_paragraphs(story, slots, title_index))
    picture = story.section == "picture"
    return DemoArticle(
        site, number, story.section, title, day, source, author, paragraphs, picture, story.language, story.name
    )


def _pick_unused_title(story: StoryTemplate, slots: SlotFiller, used_titles: set[str]) -> int:
    """Choose a title whose filled text no earlier article uses, and fix its words. Returns the index of the title."""
    fixed_before = dict(slots.fixed_values)
    while True:
        title_index = slots.rng.randrange(len(story.titles))
        title = slots.fill(story.titles[title_index])
        if title not in used_titles:
            used_titles.add(title)
            return title_index
        slots.fixed_values = dict(fixed_before)


def _build_paragraphs(story: StoryTemplate, slots: SlotFiller, title_index: int) -> Iterator[str]:
    rng = slots.rng
    yield slots.fill(story.leads[title_index % len(story.leads)])
    if not story.details:
        return
    brief = not story.quota and rng.random() < _BRIEF_SHARE
    # Now and then a paragraph has two sentences or more.
    gap = " " if story.language == "en" else ""
    paragraph = ""
    for sentence in [slots.fill(detail) for detail in _sample_details(story, brief, rng)]:
        if paragraph and rng.random() >= _JOIN_PROBABILITY:
            yield paragraph
            paragraph = ""
        paragraph = f"{paragraph}{gap}{sentence}" if paragraph else sentence
    yield paragraph
    if not brief:
        yield from (slots.fill(rng.choice(part)) for part in (story.quotes, story.background) if part)
    yield slots.fill(rng.choice(story.closings))


def _sample_details(story: StoryTemplate, brief: bool, rng: random.Random) -> list[str]:
    """Sample details in their order; details that contain COMPARISON_TERM are always included."""
    count = len(story.details)
    sample_size = rng.randint(1, 2) if brief else rng.randint(min(4, count), count)
    sampled_indexes = set(rng.sample(range(count), sample_size))
    return [text for i, text in enumerate(story.details) if i in sampled_indexes or COMPARISON_TERM in text]
