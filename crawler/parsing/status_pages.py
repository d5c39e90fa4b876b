"""Recognize pages with status 200 that are about the request: "not found", a challenge, maintenance, a login.

Words alone decide nothing. Such a page is short and has no article markup. A "not found" page has a heading that says
so and nothing else. The others also have few links. A login page may say nothing: its form has a password field.
`crawler/dedup/shared_responses.py` finds those without such words.
"""

import re
from collections import defaultdict
from itertools import islice
from pathlib import Path

from lxml import etree

from crawler.dedup.content_fingerprint import ContentFingerprint
from domain.message import Message
from domain.outcome import Outcome, Reason

_MAX_BARE_TEXT_BYTES = 1_700  # without white space
_MAX_GENERAL_TEXT_CHARS = 400  # for phrases that are not those of one program
_MAX_LINKS = 10
_MAX_LINKS_BESIDE_LOGIN = 20
_MAX_TEXT_BESIDE_LOGIN_BYTES = 600  # without white space
_MAX_TEXT_OF_LOGIN_PAGE_BYTES = 200  # the same, of a page without other evidence
_BOXES = ("header", "nav", "aside", "footer", "dialog")  # a login form in them is a small part of an ordinary page
_ARTICLE_MARKUP = re.compile(
    rb"<article[\s>]|articleBody|[\"']og:type[\"'][^>]{0,40}article|\"@type\"\s{0,9}:\s{0,9}\"\w{0,20}(?:Article|Posting)"
)
_SEGMENT_ENDS = re.compile(r" [-–—|:·»]+ |[|_·»\n]")
_WORDS = re.compile(r"[a-z0-9']+|[\u4e00-\u9fff]+")


def _load_phrases() -> dict[tuple[str, str], re.Pattern[str]]:
    phrases = defaultdict(list)
    for line in Path(__file__).with_name("status_phrases.tsv").read_text("utf-8").splitlines():
        tier, kind, phrase = line.split("\t")
        phrases[tier, kind].append(phrase)
    return {key: re.compile("|".join(parts), re.IGNORECASE) for key, parts in phrases.items()}


_PHRASES = _load_phrases()
_NOT_FOUND_KEY, _NOT_FOUND_WORDS = _PHRASES.pop(("heading", "key")), _PHRASES.pop(("heading", "words"))
_OUTCOMES = {
    "cookies": Outcome(Reason.BLOCKED, Message("the site demands cookies")),
    "login": Outcome(Reason.NEEDS_LOGIN),
    "challenge": Outcome(Reason.BLOCKED, Message("the site challenges the crawler")),
    "maintenance": Outcome(Reason.BLOCKED, Message("the site reports maintenance or an error")),
}
COOKIES_OUTCOME, LOGIN_OUTCOME = _OUTCOMES["cookies"], _OUTCOMES["login"]
OVERLOAD_OUTCOMES = _OUTCOMES["challenge"], _OUTCOMES["maintenance"]  # the site wants fewer requests
_SOFT_404_OUTCOME = Outcome(Reason.GONE, Message("“Not found” page with HTTP status 200"))
LOGIN_URL = re.compile(r"[/.?&](?:log-?in|sign-?in|passport|sso|oauth2?|cas|denglu|auth(?:enticate)?)\b", re.IGNORECASE)


def is_bare_page(fingerprint: ContentFingerprint, body: bytes) -> bool:
    """True if a page has little text outside links and no article markup."""
    is_short = sum(size for _, size in fingerprint.sentence_hashes) <= _MAX_BARE_TEXT_BYTES
    return is_short and _ARTICLE_MARKUP.search(body) is None


def find_status_outcome(root: etree._Element, link_count: int) -> Outcome | None:
    """Return the outcome of a bare page that is no content, by its text, title, first headings and login form."""
    if any(
        is_not_found_heading("".join(map(str, element.itertext()))) for element in islice(root.iter("title", "h1"), 3)
    ):
        return _SOFT_404_OUTCOME
    text = " ".join(" ".join(map(str, root.itertext())).split())
    tiers = ("signature", "general") if len(text) <= _MAX_GENERAL_TEXT_CHARS else ("signature",)
    phrases = _PHRASES.items() if link_count <= _MAX_LINKS else ()
    for (tier, kind), phrase in phrases:
        if tier in tiers and phrase.search(text):
            return _OUTCOMES[kind]
    return LOGIN_OUTCOME if has_login_form(root, link_count, _MAX_TEXT_OF_LOGIN_PAGE_BYTES) else None


def has_login_form(root: etree._Element, link_count: int, max_bytes: int = _MAX_TEXT_BESIDE_LOGIN_BYTES) -> bool:
    """True if a page is mostly a form with a password field: few links, and little text beside the form.

    A form in the header, the menu or the margin of a page is a small part of it.
    """
    fields = [field for field in root.iter("input") if str(field.get("type")).strip().lower() == "password"]
    if link_count > _MAX_LINKS_BESIDE_LOGIN or all(any(True for _ in field.iterancestors(*_BOXES)) for field in fields):
        return False
    forms = {form for field in fields for form in islice(field.iterancestors("form"), 1)}
    body_bytes, *form_bytes = (
        len("".join("".join(map(str, part.itertext())).split()).encode("utf-8", "replace"))
        for part in (next(root.iter("body"), root), *forms)
    )
    return body_bytes - sum(form_bytes) <= max_bytes


def is_not_found_heading(heading: str) -> bool:
    """True if a part of the heading, such as that before the name of the site, says "not found" and nothing else."""
    return any(
        _NOT_FOUND_KEY.search(segment) and all(map(_NOT_FOUND_WORDS.fullmatch, _WORDS.findall(segment)))
        for segment in _SEGMENT_ENDS.split(heading.lower().replace("’", "'")[:300])
    )
