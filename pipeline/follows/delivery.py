"""Deliver new articles to followers.

    first seen articles ── match each due search ── messages in the outbox ── mail server or webhook

A message enters the outbox in one transaction with what it contains and how far its search was matched. A process that
is killed before continues with the same articles, one that is killed later sends the same message. If it dies after the
server accepted the message and before this was recorded, the message is sent again with the same Message-ID.
"""

import logging
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from email.message import EmailMessage
from itertools import groupby
from urllib.parse import urlsplit

from docstore.follows import FollowTable
from domain.batches import batched
from domain.follow import Delivery, Follow, FollowChannel
from domain.message import error_message, serialize_message
from domain.progress import track
from pipeline.alerts.channels import (
    DeliveryError,
    MailSender,
    RecipientError,
    RejectedRecipientError,
    create_mail,
    post_webhook,
)
from pipeline.engine import Engine
from pipeline.follows.message import build_delivery, footer_lines
from pipeline.follows.tools import can_mail, mark_seen
from pipeline.search_site.public_backend import StoreSiteBackend
from pipeline.search_site.query_vectors import StoreQueryVectors
from pipeline.search_site.search_app import create_search_client, load_session_key
from pipeline.settings import Settings
from search_ui.query.results import Hit
from search_ui.query.search_request import BadSearchRequestError
from search_ui.services.follow import (
    NewArticles,
    find_new_articles,
    follow_label,
    parse_followed_query,
)
from search_ui.services.follow_links import FollowLinks
from search_ui.services.site import SiteCaches, SiteServices
from search_ui.settings import SearchSettings
from search_ui.signed_out import SignedOutParts

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 14  # failed attempts, one a run, after which nothing more is sent to an address
MAX_FAILURES = 3  # of a host; then its other messages wait for the next run
SEND_BATCH = 100
SOLR_SECONDS = 30.0
SEARCHES_AT_ONCE, SEARCHES_AHEAD = 2, 16  # that are matched, and of which results wait to be saved


def match_due(engine: Engine) -> None:
    """Match the searches that are due with the articles that are new for them, and save the messages.

    Waits for the next run while documents wait for the index: a search would not find them. Raises PlumblineError.
    """
    table, now = engine.follows, time.time()
    if waiting_count := engine.store.change_log.pending_document_count():
        log.info("follows: %d documents are not in the index yet; the next run continues", waiting_count)
        return
    batch = mark_seen(engine)
    due = [follow for follow in table.list_all() if follow.batch < batch and follow.is_due(now)]
    services = open_services(engine)
    doc_ids_by_batch = {number: table.list_seen(number, batch) for number in {follow.batch for follow in due}}
    empty_ids: list[str] = []
    groups = [list(group) for _, group in groupby(due, key=lambda follow: (follow.query, follow.batch))]

    def match(follows: Sequence[Follow]) -> NewArticles:
        return match_search(services, follows[0], doc_ids_by_batch[follows[0].batch])

    with ThreadPoolExecutor(SEARCHES_AT_ONCE) as pool:
        for some_groups in batched(track(engine.progress.task, "follows", groups), SEARCHES_AHEAD):
            engine.touch()
            for follows, new_articles in zip(some_groups, pool.map(match, some_groups), strict=True):
                empty_ids += save_messages(engine, services.settings, follows, new_articles, batch)
    table.finish_batch(empty_ids, batch)


def match_search(services: SiteServices, follow: Follow, doc_ids: Sequence[str]) -> NewArticles:
    """Match the search of a follow with the articles `doc_ids`. Raises PlumblineError if Solr fails."""
    if not doc_ids:
        return NewArticles()
    try:
        request = parse_followed_query(follow.query, services.settings)
    except BadSearchRequestError as error:  # the settings have changed since
        log.warning("a followed search is not valid any more: %s", error)
        return NewArticles()
    return find_new_articles(services.search, request, doc_ids)


def save_messages(
    engine: Engine, settings: SearchSettings, follows: Sequence[Follow], new_articles: NewArticles, batch: int
) -> list[str]:
    """Save a message to each follower of a search for whom some articles are new.

    Returns the ids of the follows without a message.
    """
    follow_ids = [follow.follow_id for follow in follows]
    if not new_articles.hits:
        return follow_ids
    label = follow_label(parse_followed_query(follows[0].query, settings), settings)
    for follow in follows:
        known_keys = engine.follows.find_known(follow, [key for hit in new_articles.hits for key in article_keys(hit)])
        hits = [hit for hit in new_articles.hits if known_keys.isdisjoint(article_keys(hit))]
        if hits:
            new = NewArticles(hits, new_articles.more)
            delivery = build_delivery(follow, label, new, settings.site_url, settings.title, batch)
            engine.follows.add_delivery(delivery, batch, {key for hit in hits for key in article_keys(hit)})
            follow_ids.remove(follow.follow_id)
    return follow_ids


def article_keys(hit: Hit) -> set[str]:
    """Return the ids of an article and of its near-duplicates."""
    return {hit.doc_id, hit.cluster} - {""}


def open_services(engine: Engine) -> SiteServices:
    """Return the services of the search site for signed-out readers, with more time for Solr than a page has.

    Anyone can read a mail that is forwarded, and an account may have ended.
    """
    settings = replace(engine.settings.current().search, timeout=SOLR_SECONDS)
    parts = create_search_client(engine, settings), StoreSiteBackend(engine), StoreQueryVectors(engine)
    return SignedOutParts().limit(SiteServices(settings, *parts, SiteCaches(), time.time, load_session_key(engine)))


def send_waiting(engine: Engine) -> None:
    """Send the messages in the outbox. One that fails waits for the next run; the others are sent.

    Raises PlumblineError if the store fails or the password of the mail server cannot be read.
    """
    settings, table = engine.settings.current(), engine.follows
    links, site = FollowLinks(load_session_key(engine)), settings.search.site_url
    failed_hosts: Counter[str] = Counter()
    with MailSender(settings) as mail:
        for delivery in iter_deliveries(table):
            engine.touch()
            follow = delivery.follow
            host = follow.visible_address if follow.channel is FollowChannel.WEBHOOK else settings.alerts.smtp
            if failed_hosts[host] >= MAX_FAILURES or (follow.channel is FollowChannel.MAIL and not can_mail(settings)):
                continue
            try:
                if follow.channel is FollowChannel.MAIL:
                    mail.send(create_follow_mail(settings, delivery, links, site))
                else:
                    post_delivery(settings, delivery)
            except DeliveryError as error:
                log.warning("new articles were not sent: %s", error)
                is_last = isinstance(error, RejectedRecipientError) or delivery.attempts + 1 >= MAX_ATTEMPTS
                table.record_failure(delivery, serialize_message(error_message(error)) if is_last else "")
                failed_hosts[host] += not isinstance(error, RecipientError)
            else:
                table.record_sent(delivery.delivery_id)


def iter_deliveries(table: FollowTable) -> Iterator[Delivery]:
    """Yield the messages in the outbox, each once."""
    last_id = ""
    while deliveries := table.list_deliveries(last_id, SEND_BATCH):
        yield from deliveries
        last_id = deliveries[-1].delivery_id


def create_follow_mail(settings: Settings, delivery: Delivery, links: FollowLinks, site: str) -> EmailMessage:
    """Create the mail of a delivery, with the links that stop it (RFC 8058)."""
    follow = delivery.follow
    stop_url = site + links.list_path(follow.address, follow.follow_id)
    footer = footer_lines(follow, stop_url, site + links.list_path(follow.address))
    message = create_mail(settings, [follow.address], delivery.subject, "\n".join([delivery.text, *footer]) + "\n")
    message["Message-ID"] = f"<{delivery.delivery_id}@{urlsplit(site).hostname or 'plumbline.invalid'}>"
    message["List-Unsubscribe"] = f"<{stop_url}>"
    message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    return message


def post_delivery(settings: Settings, delivery: Delivery) -> None:
    """Send a delivery to its webhook. Raises DeliveryError."""
    body = {"text": f"{delivery.subject}\n\n{delivery.text}", "articles": delivery.articles}
    post_webhook(settings, delivery.follow.address, body, {"Idempotency-Key": delivery.delivery_id})
