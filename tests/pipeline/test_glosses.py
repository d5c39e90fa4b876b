"""From `页岩气 (shale gas)` in articles to a reviewed pair by which a query finds both languages."""

from docstore.store import Store
from domain.article import Article
from domain.review import ReviewDecisionKind, TermEdit
from domain.term import Term, TermStatus
from lexicon.word_lists import FORMATTERS
from pipeline.lexicon_stage.lexicon_review import LexiconReview
from search_ui.query.query_parser import parse_query
from search_ui.query.query_words import build_thesaurus, find_synonym_groups
from tests.builders import extract_all, keep_page, relate_articles

CHINESE = ("四川盆地", "我国加快开发页岩气（shale gas）。四川也在勘探页岩气 (shale gas)。", "zh")
ENGLISH = ("Wells", "Forty shale gas wells were drilled.", "en")


def write(store: Store, title: str, body: str, language: str, path: str = "") -> None:
    keep_page(store, f"http://{language}.test/{path}", title.encode())
    extract_all(store, Article(f"http://{language}.test/{path}", title, body, language=language))
    relate_articles(store)


def offered(store: Store) -> tuple[str, ...]:
    review = LexiconReview(store)
    return review.related_terms([review.store.review_queue.find_terms(["页岩气"])["页岩气"]])[0].translations


def test_a_pair_is_offered_reviewed_exported_and_searched_for(store: Store) -> None:
    store.lexicons.replace_candidates([Term("页岩气", 9.0, 5, 2)])
    write(store, *CHINESE)
    assert offered(store) == ()  # no article in English: nothing to find by it
    write(store, *ENGLISH)
    assert offered(store) == ()  # one article: it can be a remark
    write(store, "川南", "川南的页岩气（shale gas）增产。", "zh", "2")
    assert offered(store) == ("shale gas",)
    review = LexiconReview(store)
    edit = TermEdit("页岩气", TermStatus.ACCEPTED, synonyms=("shale gas",))
    review.apply(ReviewDecisionKind.SYNONYMS, [edit], "ann")
    assert offered(store) == ()  # it is said
    lexicon = review.publish("ann")
    assert "shale gas" in FORMATTERS["synonyms"](lexicon.entries)
    thesaurus = build_thesaurus(lexicon)
    chinese = find_synonym_groups(parse_query("页岩气 产量"), ("页岩气", "产量"), thesaurus)
    assert chinese == (("页岩气", "shale gas"),)
    english = find_synonym_groups(parse_query("shale gas output"), ("shale", "gas", "output"), thesaurus)
    assert english == (("shale gas", "页岩气"),)


def test_an_article_that_changes_takes_back_what_it_said(store: Store) -> None:
    store.lexicons.replace_candidates([Term("页岩气", 9.0, 5, 2)])
    write(store, *ENGLISH)
    write(store, *CHINESE)
    write(store, "四川盆地二", "没有别的说法。", "zh")
    assert offered(store) == ()
