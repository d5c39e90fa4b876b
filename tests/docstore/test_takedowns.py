"""Pages that are taken down: nothing of them stays, and no way leads back but the undo."""

from dataclasses import replace

import pytest

from docstore.articles.extraction_writer import PageExtraction
from docstore.store import Store
from domain.administration import Takedown
from domain.article import Teaser, document_id
from domain.frontier import NewUrl, UrlKind
from domain.outcome import Outcome, Reason
from domain.page import Host
from domain.review import ReviewDecisionKind, TermEdit, TermQuery
from domain.term import Definition, DefinitionChoice, Term, TermStatus
from tests.builders import ARTICLE, add, keep_page, operate
from tests.conftest import logic_store_url, on_both

store_url = logic_store_url

URL = "http://a.test/1.html"
PRINT_URL = "http://a.test/1.html?print=1"
OTHER_URL = "http://a.test/2.html"
NOW = 5_000.0


def take_down(store: Store, url: str, account: str, reason: str) -> list[Takedown]:
    change = operate(store, "page_takedown", account, url=url, reason=reason)
    return change.result if change else []


def extract_pending(store: Store, **canonical_urls: str) -> list[Reason]:
    """Extract all pending pages; `canonical_urls` by last path segment without its dot."""
    extractions = []
    for page in store.articles.iter_pending():
        name = page.url.rpartition("/")[2].replace(".", "_").replace("?", "_").replace("=", "_")
        title = ARTICLE.title if page.url != OTHER_URL else "另一篇"
        article = replace(ARTICLE, title=title, canonical_url=canonical_urls.get(name, ""))
        extractions.append(PageExtraction(page, article))
    return store.articles.save(extractions)


def due_urls(store: Store) -> set[str]:
    return {row.url for row in store.frontier.admin.iter_urls() if row.due_at is not None}


def seed(url: str) -> NewUrl:
    return NewUrl(url, Host("a.test"), 0, 0, UrlKind.SEED, 0.0)


@on_both
def test_nothing_of_the_page_stays(store: Store) -> None:
    keep_page(store, URL)
    keep_page(store, OTHER_URL, b"<p>other</p>")
    extract_pending(store)
    stored, _ = store.articles.iter_all()
    add(store, ["抽油机"], by="anna")
    sentence, other_sentence = ARTICLE.body.partition("。")[0], "别的文章的句子"
    store.lexicons.replace_candidates([Term("石油", 1.0, 2, 2, contexts=(sentence, other_sentence))])
    quote = Definition("抽油机", "zh", "抽油机是一种机械。", stored.url_id, URL, "标题", "", 1.0, NOW)
    store.definitions.save([quote], [])
    taken_down = take_down(store, URL, "anna", "the owner asked for it")
    assert [takedown.url for takedown in taken_down] == [URL, "https://a.test/1.html"]
    assert [item.doc_id for item in store.articles.iter_all()] == [document_id(OTHER_URL)]
    assert store.source_pages.find_by_doc_id(document_id(URL)) is None
    assert list(store.frontier.admin.iter_archived_pages(URL)) == []
    assert store.definitions.find_candidates(["抽油机"]) == {}
    assert store.review_queue.find_page(TermQuery(None, "石油"))[1][0].contexts == (other_sentence,)
    assert URL in store.frontier.taken_down_urls(0.0)
    assert store.change_log.pending_document_count() > 0
    takedown = store.takedowns.find_document(document_id(URL))
    assert takedown is not None and (takedown.account, takedown.reason) == ("anna", "the owner asked for it")
    assert take_down(store, URL, "bert", "again") == []
    take_down(store, "https://a.test/9.html", "anna", "")
    assert store.takedowns.list_all()[0].url == "https://a.test/9.html"  # not that of the other scheme
    assert store.integrity.damaged_rows() == {}


@on_both
def test_no_way_leads_back(store: Store) -> None:
    entry = keep_page(store, URL)
    [pending] = store.articles.iter_pending()
    take_down(store, URL, "anna", "")
    store.frontier.add_urls([seed(URL), seed("https://a.test/1.html")])
    store.frontier.reschedule({URL: 0.0})
    store.frontier.admin.requeue_urls("*")
    store.frontier.admin.refetch_hosts(["a.test"])
    store.document_backfill.requeue_rejected()
    assert due_urls(store) == set() and store.frontier.url_count() == 1
    assert store.articles.save([PageExtraction(pending, ARTICLE)]) == [Reason.TAKEN_DOWN]  # extracted before
    keep_page(store, URL)  # fetched before
    assert store.articles.count() == store.articles.pending_count() == 0
    assert store.frontier.find_entries([URL])[URL].url_id == entry.url_id and due_urls(store) == set()
    assert list(store.frontier.admin.iter_archived_pages("*")) == []


@pytest.mark.parametrize("taken_down", [URL, PRINT_URL])
def test_versions_of_the_article_go_with_it(store: Store, taken_down: str) -> None:
    keep_page(store, URL)
    keep_page(store, PRINT_URL, b"<p>print</p>")
    extract_pending(store, **{"1_html_print_1": URL})
    assert store.articles.count() == 1
    take_down(store, taken_down, "anna", "")
    assert store.articles.count() == 0 and due_urls(store) == set()
    assert {URL, PRINT_URL} <= {takedown.url for takedown in store.takedowns.list_all()}


def test_a_later_version_joins_the_takedown(store: Store) -> None:
    keep_page(store, URL)
    extract_pending(store)
    take_down(store, URL, "anna", "why")
    keep_page(store, PRINT_URL, b"<p>print</p>")
    assert extract_pending(store, **{"1_html_print_1": "https://a.test/1.html"}) == [Reason.TAKEN_DOWN]
    assert store.articles.count() == 0 and due_urls(store) == set()
    joined = store.takedowns.find(PRINT_URL)
    assert joined is not None and (joined.account, joined.reason) == ("anna", "why")


def test_a_list_that_shows_the_text_is_no_version(store: Store) -> None:
    keep_page(store, URL)
    keep_page(store, "http://a.test/", b"<p>list</p>")
    article_page, list_page = store.articles.iter_pending()
    store.articles.save([PageExtraction(article_page, ARTICLE), PageExtraction(list_page, Outcome(Reason.LIST_PAGE))])
    take_down(store, URL, "anna", "")
    assert "http://a.test/" in due_urls(store)


def test_a_list_with_the_whole_text_never_becomes_an_article(store: Store) -> None:
    list_url, teaser = "http://a.test/", Teaser(URL, ARTICLE.title, (ARTICLE.body,))
    keep_page(store, URL)
    keep_page(store, list_url, b"<p>list</p>")
    article_page, list_page = store.articles.iter_pending()
    extractions = [PageExtraction(article_page, ARTICLE), PageExtraction(list_page, ARTICLE, teaser=teaser)]
    assert store.articles.save(extractions) == [Reason.EXTRACTED, Reason.LIST_PAGE]
    take_down(store, URL, "anna", "")
    store.articles.resolve_removed_pages()
    assert store.articles.count() == store.articles.pending_count() == 0
    keep_page(store, list_url, b"<p>changed list</p>")
    [changed_list] = store.articles.iter_pending()
    assert store.articles.save([PageExtraction(changed_list, ARTICLE, teaser=teaser)]) == [Reason.LIST_PAGE]
    assert store.articles.count() == 0 and list_url in due_urls(store)


@on_both
def test_the_undo_makes_all_pages_due(store: Store) -> None:
    keep_page(store, URL)
    keep_page(store, PRINT_URL, b"<p>print</p>")
    extract_pending(store, **{"1_html_print_1": URL})
    [first, *_] = take_down(store, URL, "anna", "")
    restored = operate(store, "page_restore", "bert", url=PRINT_URL)
    assert restored is not None and {URL, PRINT_URL} <= set(restored.after["urls"]) and store.takedowns.list_all() == []
    assert due_urls(store) == {URL, PRINT_URL}
    undone, taken_down = store.operations.find()
    assert (taken_down.operation_id, taken_down.undone_by) == (first.operation_id, undone.operation_id)
    assert (undone.name, undone.account, undone.subject) == ("page_restore", "bert", PRINT_URL)
    assert operate(store, "page_restore", "bert", url=URL) is None and store.integrity.damaged_rows() == {}


@on_both
def test_a_page_of_two_takedowns_stays_until_both_are_undone(store: Store) -> None:
    for url in (URL, PRINT_URL, OTHER_URL):
        keep_page(store, url, url.encode())
    for account, url, reason in (("anna", URL, "first"), ("bert", OTHER_URL, "second")):
        operate(store, "page_takedown", account, url=url, reason=reason, urls=[PRINT_URL])
    assert PRINT_URL not in operate(store, "page_restore", url=URL).after["urls"]
    assert due_urls(store) == {URL}
    kept = store.takedowns.find(PRINT_URL)
    assert kept is not None and (kept.account, kept.reason) == ("bert", "second")
    assert PRINT_URL in operate(store, "page_restore", url=PRINT_URL).after["urls"]
    assert due_urls(store) == {URL, PRINT_URL, OTHER_URL}
    assert store.takedowns.list_all() == [] and store.integrity.damaged_rows() == {}


def test_an_unknown_page_is_never_added(store: Store) -> None:
    assert [item.url for item in take_down(store, URL, "anna", "")] == [URL, "https://a.test/1.html"]
    assert store.frontier.add_urls([seed(URL)]) == 0
    operate(store, "page_restore", "anna", url=URL)
    assert store.frontier.add_urls([seed(URL)]) == 1


def test_a_chosen_definition_of_the_page_is_deleted(store: Store) -> None:
    keep_page(store, URL)
    extract_pending(store)
    [stored] = store.articles.iter_all()
    for term, url_id in (("抽油机", stored.url_id), ("钻井", 0)):
        choice = DefinitionChoice("它是一种机械。", url_id, URL if url_id else "")
        edit = TermEdit(term, TermStatus.ACCEPTED, create_if_missing=True, definition=choice)
        store.review_history.apply(ReviewDecisionKind.ADD, [edit], "anna")
    take_down(store, URL, "anna", "")
    definitions = {term.text: term.definition for term in store.lexicons.accepted_terms()}
    assert definitions["抽油机"] is None and definitions["钻井"] is not None
    assert store.integrity.damaged_rows() == {}


def test_an_unknown_canonical_page_is_excluded_too(store: Store) -> None:
    keep_page(store, PRINT_URL)
    extract_pending(store, **{"1_html_print_1": URL})
    take_down(store, PRINT_URL, "anna", "")
    assert store.frontier.add_urls([seed(URL)]) == 0
