"""Recognize pages with status 200 that are about the request: "not found", a challenge, maintenance, a login.

Words alone decide nothing. Such a page is short and has no article markup. A "not found" page has a heading that says
so and nothing else. The others also have few links. `crawler/dedup/shared_responses.py` finds those without such words.
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
    """Return GONE or BLOCKED for a bare page that is no content, by its text, its title and its first headings."""
    if any(
        is_not_found_heading("".join(map(str, element.itertext()))) for element in islice(root.iter("title", "h1"), 3)
    ):
        return _SOFT_404_OUTCOME
    text = " ".join(" ".join(map(str, root.itertext())).split())
    tiers = ("signature", "general") if len(text) <= _MAX_GENERAL_TEXT_CHARS else ("signature",)
    phrases = _PHRASES.items() if link_count <= _MAX_LINKS else ()
    return next((_OUTCOMES[kind] for (tier, kind), phrase in phrases if tier in tiers and phrase.search(text)), None)


def is_not_found_heading(heading: str) -> bool:
    """True if a part of the heading, such as that before the name of the site, says "not found" and nothing else."""
    return any(
        _NOT_FOUND_KEY.search(segment) and all(map(_NOT_FOUND_WORDS.fullmatch, _WORDS.findall(segment)))
        for segment in _SEGMENT_ENDS.split(heading.lower().replace("’", "'")[:300])
    )
