"""From `页岩气 (shale gas)` in articles to a reviewed pair by which a query finds both languages."""

from docstore.model import Article, Term, TermStatus
from docstore.store import Store
from docstore.terms.history import ActKind, TermEdit
from indexer.relations import relate
from lexicon.interchange import WRITERS
from pipeline.search_site.review_service import StoreReview
from search_ui.query.parse import parse
from search_ui.query.thesaurus import synonym_groups, synonyms_in, thesaurus_of
from tests.docstore.test_store import extract_all, keep_page
from text.segment import base_segmenter

CHINESE = ("四川盆地", "我国加快开发页岩气（shale gas）。四川也在勘探页岩气 (shale gas)。", "zh")
ENGLISH = ("Wells", "Forty shale gas wells were drilled.", "en")


def write(store: Store, title: str, body: str, language: str) -> None:
    keep_page(store, f"http://{language}.test/", title.encode())
    extract_all(store, Article(f"http://{language}.test/", title, body, language=language))
    relate(store, base_segmenter())


def offered(store: Store) -> tuple[str, ...]:
    review = StoreReview(store)
    return review.surroundings([review.named(["页岩气"])["页岩气"]])[0].translations


def test_a_pair_is_offered_reviewed_exported_and_searched_for(store: Store) -> None:
    store.lexicon.replace_candidates([Term("页岩气", 9.0, 5, 2)])
    write(store, *CHINESE)
    assert offered(store) == ()  # no article in English: nothing to find by it
    write(store, *ENGLISH)
    assert offered(store) == ("shale gas",)
    review = StoreReview(store)
    edit = TermEdit("页岩气", TermStatus.ACCEPTED, synonyms=("shale gas",))
    review.do(ActKind.SYNONYMS, [edit], "ann")
    assert offered(store) == ()  # it is said
    lexicon = review.publish("ann")
    assert "shale gas" in WRITERS["synonyms"](lexicon.entries)
    thesaurus = thesaurus_of(lexicon)
    assert synonyms_in(synonym_groups(parse("页岩气 产量"), ("页岩气", "产量"), thesaurus)) == ("shale gas",)
    assert synonyms_in(synonym_groups(parse("shale gas output"), ("shale", "gas", "output"), thesaurus)) == ("页岩气",)


def test_an_article_that_changes_takes_back_what_it_said(store: Store) -> None:
    store.lexicon.replace_candidates([Term("页岩气", 9.0, 5, 2)])
    write(store, *ENGLISH)
    write(store, *CHINESE)
    write(store, "四川盆地二", "没有别的说法。", "zh")
    assert offered(store) == ()
