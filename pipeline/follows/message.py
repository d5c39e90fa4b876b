"""The texts of messages to followers, in their language. Pure."""

import hashlib
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from domain.follow import Delivery, Follow
from search_ui.i18n import translate_code_to, translate_to
from search_ui.query.results import Hit, plain_text
from search_ui.services.follow import NewArticles

MAX_SUBJECT_CHARS = 200


def build_delivery(follow: Follow, label: str, new: NewArticles, site: str, name: str, batch: int) -> Delivery:
    """Build the message about new articles.

    Args:
        follow: The follow.
        label: The name of its search.
        new: The articles; at least one.
        site: URL of the search site without the last slash.
        name: Name of the vertical.
        batch: The last batch of articles that was matched. With the one before it identifies the message.
    """
    language, count = follow.language, len(new.hits) + new.more
    subject = translate_to(
        language,
        "{name}: 1 new article for {search}",
        "{name}: {n} new articles for {search}",
        name=name,
        n=count,
        search=label,
    )
    search_url = f"{site}/search?{follow.query}&{urlencode({'sort': 'date'})}"
    lines = [" ".join(subject.split()), ""]
    for number, hit in enumerate(new.hits, 1):
        lines += _article_lines(number, hit, language)
    if new.more:
        lines += [translate_to(language, "and {n} more", n=new.more), ""]
    lines.append(translate_to(language, "All results, newest first: {url}", url=search_url))
    identity = f"{follow.follow_id} {follow.batch} {batch}"
    return Delivery(
        hashlib.sha256(identity.encode()).hexdigest()[:32],
        follow,
        lines[0][:MAX_SUBJECT_CHARS],
        "\n".join(lines) + "\n",
        [_article_json(hit) for hit in new.hits],
    )


def _article_lines(number: int, hit: Hit, language: str) -> list[str]:
    title = hit.plain_title or translate_to(language, "(untitled)")
    source = " · ".join(filter(None, [hit.site_name, hit.published]))
    passage = " ".join(plain_text(hit.snippet).split())
    return [*filter(None, [f"{number}. {title}", f"   {source}", passage and f"   {passage}", f"   {hit.url}"]), ""]


def _article_json(hit: Hit) -> Mapping[str, str]:
    passage = " ".join(plain_text(hit.snippet).split())
    texts = {"title": hit.plain_title, "site": hit.site_name, "published": hit.published, "passage": passage}
    return {"id": hit.doc_id, "url": hit.url, **texts}


def footer_lines(follow: Follow, stop_url: str, list_url: str) -> Sequence[str]:
    """Return why a follower gets a mail, and how to stop it."""
    interval = translate_code_to(follow.language, "interval", follow.interval)
    return [
        "--",
        translate_to(
            follow.language, "You get this mail because you follow this search ({interval}).", interval=interval
        ),
        translate_to(follow.language, "Stop this: {url}", url=stop_url),
        translate_to(follow.language, "All searches that you follow: {url}", url=list_url),
    ]
