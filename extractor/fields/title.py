"""The title of an article, as the page shows it: WD-A3 of Wang Du 2019 (METHODS 1.5), carried further.

    1 stated    what <title>, og:title, JSON-LD's headline and twitter:title say, site names cut
    2 heading   the h1 most like one of them, else the h1 by the body that shares words with them or the URL,
                else another heading like one of them; in the wording that editors gave it in the head (`edited`)
    3 line      a line above the text that is <title> or most of it; <title>, if it names more than a channel, or
                og:title, if nothing of <title> is shown; the line above the text that looks most like a title

A3 trusts <title>. Old Chinese pages give all their pages the site's name there, or nothing; then 3 finds the title.
"""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from extractor.fields.linked_data import linked_article
from extractor.fields.site_name import (
    SHORTEST,
    SITE_JOINT,
    cut_known,
    cut_site_name,
    host_of,
    is_first_part,
    is_joint,
    is_name,
    letters_of,
    site_names,
    tidy,
    title_tail,
)
from extractor.fields.title_line import LINK, TITLE_SIZE, has_meta, is_text, line_above, lines_above
from extractor.fields.title_similarity import Original
from extractor.methods.contract import Body
from extractor.page.document import Document
from extractor.page.dom import HEADINGS
from extractor.page.layout import LINK_LINE, Layout, Line, size_of
from text.scripts import HAN

LONGEST = 300  # characters of a title that are kept
SIMILAR = 0.5  # headings at least this similar to <title> are the title [D]
SAME = 0.8  # sub-headings in the body, and headings like a short <title>, must be this similar
KIN = 0.3  # an h1 by the body that shares this much of its words with <title> or the URL is the title
MAX_HEADINGS = 60  # headings looked at on one page
NEAR_TITLE = 15  # lines below the title in which a body is expected to start
CHANNEL = 6.0  # a shorter <title> may be a channel's name, in Chinese characters
HALF = 0.5  # of <title> that a line must be to be the title in it
VARIANT = 2 / 3  # of the words of a heading that og:title must share to be another wording of it
TYPED = str.maketrans("‘’“”", "''\"\"")  # the quotes of templates, and what authors type
NARROW = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}  # full-width ASCII, as East Asian keyboards type it
WIDE_SCRIPT = re.compile("[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")
WORD = re.compile(rf"[a-z0-9]{{3,}}|[{HAN}]")
SPELT = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Stated:
    """What the head calls the page, the site's names cut: <title>, og:title, JSON-LD's headline, twitter:title; ""
    for what is missing.
    """

    title: str = ""
    shared: str = ""
    headline: str = ""
    tweeted: str = ""

    def texts(self) -> list[str]:
        """Those that are there, no two alike."""
        return [text for text in dict.fromkeys((self.title, self.shared, self.headline, self.tweeted)) if text]


@dataclass(frozen=True)
class Heading:
    """A heading: its text, its lines, how like <title> it must be, and whether it stands above the body's text."""

    text: str
    lines: Sequence[Line]
    least: float
    is_above: bool


def find_title(document: Document, body: Body, suffixes: Sequence[str] = ()) -> str:
    """The title of a page, or "" where it has none.

    `suffixes` are what follows titles on many pages of the site (SiteKnowledge.suffixes).
    """
    names = site_names(document)
    head = stated_titles(document, names, suffixes)
    stated = head.texts()
    tail = title_tail(document.title, stated[0]) if stated else ""
    site = {letters_of(name) for name in (*names, tail, SITE_JOINT.split(tail)[-1])}
    heading = find_heading(document, body, stated, site)
    if not heading:
        return narrow(find_line(document, body.span, head)[:LONGEST])
    return narrow((edited(heading, head) or as_written(heading, tidy(document.title)))[:LONGEST])


def narrow(title: str) -> str:
    """A title without any East Asian character is not meant to have full-width signs: a keyboard was left in that mode.

    >>> narrow("How Does Mapping Work？")
    'How Does Mapping Work?'
    """
    return title if WIDE_SCRIPT.search(title) else title.translate(NARROW)


def stated_titles(document: Document, names: Sequence[str], suffixes: Sequence[str]) -> Stated:
    """What the head calls the page, without the site's name.

    <title> ends where another of them does, else where the site's name seems to begin.
    """
    metas = document.metas
    headline = linked_article(document.json_ld, document.url).headline
    others = [tidy(text) for text in (metas.get("og:title", ""), headline, metas.get("twitter:title", ""))]
    title = tidy(document.title)
    host = host_of(document.url)
    shared = cut_known(agreed(title, others), names, suffixes, host)
    cut = shared or cut_site_name(title, *names, suffixes=suffixes, host=host)
    tail = title[len(cut) :] if title.startswith(cut) else ""
    return Stated(cut, *(cut_known(other, [*names, tail], suffixes, host) for other in others))


def edited(heading: str, head: Stated) -> str:
    """The wording that editors gave a heading in the head, or "" where the heading has none but its own.

    Either <title>, og:title and twitter:title agree on a variant of it that JSON-LD does not gainsay, or <title> is the
    heading and og:title was therefore written on purpose: the same headline, made shorter or corrected. A text that
    holds the whole heading has a channel or a date more, and is no other wording.
    """
    if head.shared in ("", heading):  # most pages
        return ""
    shown, title, shared, tweeted = map(spelling_of, (heading, head.title, head.shared, head.tweeted))
    if shown in shared:
        return ""
    if title == shown:
        return head.shared if same_words(heading, head.shared) >= VARIANT else ""
    if title != shared or shared != tweeted or shown == spelling_of(head.headline):
        return ""
    return head.title if same_words(heading, head.title) > SAME else ""


def spelling_of(text: str) -> str:
    """Its letters, however it writes "and": two texts that have them in common are worded alike."""
    return letters_of(text.replace("&", "and"))


def same_words(first: str, second: str) -> float:
    """The share of the words, in scripts that put spaces between them, that two texts have in common."""
    words, others = (frozenset(SPELT.findall(text.lower())) for text in (first, second))
    return len(words & others) / max(len(words), len(others), 1)


def agreed(title: str, others: Iterable[str]) -> str:
    """The one of the others that is <title> without what stands behind a joint, or before one; "" for none."""
    for other in others:
        if size_of(other) >= SHORTEST and len(other) < len(title):
            if title.startswith(other) and is_joint(title, len(other)):
                return other
            rest = title.removesuffix(other).rstrip()
            if len(rest) < HALF * len(title) and not rest[-1:].isalnum():
                return other
    return ""


def find_heading(document: Document, body: Body, stated: Sequence[str], site: Collection[str]) -> str:
    """The heading that is the title, or "": step 2 of this module. `site` are the letters of the site's names."""
    layout = document.layout
    largest = list(headings_before(layout, body, ("h1",)))
    first = [one for one in largest if letters_of(one.text) not in site]
    row = layout.spans[body.span].row
    by_body = [heading for heading in first if heading.is_above and row - heading.lines[0].row <= NEAR_TITLE]
    path = document.url.rpartition("//")[2].partition("/")[2]
    others = list(headings_before(layout, body, HEADINGS[1:]))
    return (
        named_before_site(largest, others, document.title)
        or most_similar(first, stated)
        or named_first([one for one in first if one.is_above], others, document.title)
        or most_kin(by_body, [*stated, path])
        or most_similar(others, stated)
        or ("" if first else named_first(others, (), document.title))
    )


def named_before_site(first: Sequence[Heading], others: Sequence[Heading], title: str) -> str:
    """The heading above the text that <title> begins with, where the h1 above it is what <title> ends with: the name
    that the site gives itself on every page. "" for another page.
    """
    parts = [letters_of(part) for part in SITE_JOINT.split(tidy(title))]
    if len(parts) < 2 or not parts[0] or not any(letters_of(one.text) == parts[-1] for one in first):
        return ""
    return next((one.text for one in others if one.is_above and letters_of(one.text) == parts[0]), "")


def named_first(headings: Sequence[Heading], others: Sequence[Heading], title: str) -> str:
    """The heading that <title> names first, the site or the book behind it, or "".

    Not where one of the `others` is what <title> names behind: its first part is the site's name then.
    """
    title = tidy(title)
    for heading in headings:
        text = next((text for text in texts_of(heading) if is_first_part(text, title)), "")
        if text and all(line.link_share <= LINK_LINE for line in heading.lines):
            behind = letters_of(title[len(text) :])
            return "" if any(letters_of(other.text) == behind for other in others) else text
    return ""


def headings_before(layout: Layout, body: Body, tags: Collection[str]) -> Iterator[Heading]:
    """The headings of some kinds in document order up to the end of the body. Those below its first sentence head
    its sections: they are its title only where they say the same.
    """
    whole, spans = layout.spans[body.span], layout.spans
    behind = bisect_left(spans, whole.end, key=lambda span: span.start)
    text = (place for place in body.lines if layout.lines[place].tag not in HEADINGS and is_text(layout.lines[place]))
    begin = next(text, whole.end)
    found = [span for span in spans[:behind] if span.facts.tag in tags and span.end > span.start]
    for span in found[:MAX_HEADINGS]:
        lines = layout.lines[span.start : span.end]
        is_above = span.start < begin
        least = SIMILAR if span.start < (begin if span.facts.tag == "h1" else whole.start) else SAME
        yield Heading(tidy(" ".join(line.text for line in lines)), lines, least, is_above)


def most_similar(headings: Sequence[Heading], stated: Sequence[str]) -> str:
    """The heading most similar to what is stated, or "" where none is similar enough; the first of equals.

    Of a heading that holds more than its text (a rubric, a badge, a date) only that part, where it is stated.
    """
    letters = {letters_of(text) for text in stated} - {""}
    for heading in headings:
        for text in texts_of(heading):
            if letters_of(text) in letters:
                return text
    best, chosen = 0.0, ""
    originals = [Original(text) for text in stated]
    for heading in headings:
        for text, original in zip(stated, originals, strict=True):
            least = heading.least if size_of(text) >= CHANNEL else max(SAME, heading.least)
            likeness = original.likeness(heading.text, least)
            if likeness >= least and likeness > best:
                best, chosen = likeness, text_of(heading)
    return chosen


def texts_of(heading: Heading) -> Iterator[str]:
    """The heading's text, then its parts: lines, and a line without its first or last piece."""
    yield heading.text
    if len(heading.lines) > 1:
        yield from (tidy(line.text) for line in heading.lines)
    elif len(parts := heading.lines[0].parts) > 1:
        yield tidy("".join(parts[1:]))
        yield tidy("".join(parts[:-1]))


def text_of(heading: Heading) -> str:
    """A heading without its lines of date and author."""
    kept = [line.text for line in heading.lines if not has_meta(line)] if len(heading.lines) > 1 else []
    return tidy(" ".join(kept)) if kept else heading.text


def as_written(shown: str, stated: str) -> str:
    """A heading as <title> (`stated`) writes it, where the template has changed nothing but its quotes or its case."""
    typed = shown.translate(TYPED)
    place = stated.lower().find(typed.lower()) if len(stated.lower()) == len(stated) else -1
    written = stated[place : place + len(typed)] if place >= 0 else shown
    is_changed = written == typed or shown.islower() or (shown.isupper() and not written.isupper())
    return written if is_changed else shown


def most_kin(headings: Sequence[Heading], stated: Sequence[str]) -> str:
    """The heading that shares most words with one of the stated, or "" where none shares KIN of them."""
    known = [words for words in (frozenset(WORD.findall(text.lower())) for text in stated) if words]
    best, chosen = 0.0, ""
    for heading in headings:
        words = frozenset(WORD.findall(heading.text.lower()))
        share = (
            max((len(words & other) / min(len(words), len(other)) for other in known), default=0.0) if words else 0.0
        )
        if share >= KIN and share > best and size_of(heading.text) >= SHORTEST:
            best, chosen = share, text_of(heading)
    return chosen


def find_line(document: Document, body: int, head: Stated) -> str:
    """The title of a page that shows it in no heading: step 3 of this module."""
    layout, stated = document.layout, head.texts()
    title = named_by_url(stated[0], document) if stated else ""
    shown = next((line for line in lines_above(layout, body) if is_most_of(line, title)), None)
    if shown is not None:
        return tidy(shown.text)
    is_named = is_in_path(title, document.url)
    if size_of(title) >= CHANNEL or is_named or (title and title == head.headline):
        is_alone = len(stated) == 1
        if is_shown(title, layout.lines, SIMILAR if is_alone else SAME):
            return title
        if not is_alone:
            return head.shared or title  # rather what people share than what search engines are told
        if is_named:
            return title
    return line_above(layout, body) or title or line_above(layout, body, LINK - 1)  # rather a link than none


def named_by_url(title: str, document: Document) -> str:
    """The first part of a <title>, however short, that the last step of the URL spells, the site's name behind it; else
    the whole <title>.
    """
    joint = SITE_JOINT.search(title)
    path = unquote(document.url).partition("//")[2].partition("/")[2].partition("?")[0]
    step = path.rstrip("/").rpartition("/")[2]
    if joint is None or letters_of(title[: joint.start()]) not in (letters_of(step), letters_of(step.split(".")[0])):
        return title
    known = {letters_of(name) for name in site_names(document)}
    return title[: joint.start()] if is_name(title[joint.end() :], known, host_of(document.url)) else title


def is_in_path(title: str, url: str) -> bool:
    """The last step of the page's URL holds half the words of its <title>, or the URL most of them and several: it is
    this page's title, no channel's or site's.
    """
    words, path = frozenset(SPELT.findall(title.lower())), unquote(url).lower().partition("//")[2].partition("/")[2]
    in_path = words.intersection(SPELT.findall(path))
    in_last = words.intersection(SPELT.findall(path.partition("?")[0].rstrip("/").rpartition("/")[2]))
    return len(in_last) >= HALF * len(words) > 0 or (len(in_path) > 1 and len(in_path) > HALF * len(words))


def is_most_of(line: Line, title: str) -> bool:
    """The line is <title>, or half of it and more, and no link."""
    if line.link_share > LINK_LINE or line.size < max(SHORTEST, HALF * size_of(title)):
        return False
    return tidy(line.text) in title


def is_shown(title: str, lines: Sequence[Line], least: float) -> bool:
    """The page shows its <title>, or a line at least so much like it, somewhere in its text outside links."""
    words, original = title.lower(), Original(title)
    return any(
        line.size <= 2 * TITLE_SIZE[1]
        and line.link_share <= LINK_LINE
        and (words in line.text.lower() or original.likeness(line.text, least) >= least)
        for line in lines
    )
