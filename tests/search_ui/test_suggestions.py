"""Suggestions without Solr: order, responses, and the vocabulary that is loaded in the background."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from domain.errors import SolrUnavailableError
from domain.term import Lexicon, LexiconEntry, Term, TermStatus
from search_ui.pages.suggestions import MAX_SUGGESTIONS, MAX_TITLE_CHARS, parse_titles, title_prefix_params
from search_ui.query.solr_query import Params
from search_ui.spelling.vocabulary import Vocabulary
from search_ui.vocabulary_cache import (
    REFRESH_SECONDS,
    RETRY_SECONDS,
    VocabularyCache,
    find_usual_spelling,
    parse_frequent_words,
)
from solr_client import solr_fields
from tests.site_fixture import MemorySite, site_app, term


@dataclass
class TitleSearch:
    """A search server that returns titles and frequent words, or fails."""

    titles: list[str] = field(default_factory=list)
    words: dict[str, int] = field(default_factory=dict)
    is_down: bool = False
    asked: list[Params] = field(default_factory=list)

    def select(self, params: Params) -> dict[str, Any]:
        self.asked.append(params)
        if self.is_down:
            raise SolrUnavailableError("down")
        words = [value for pair in self.words.items() for value in pair]
        docs = [{solr_fields.TITLE: title} for title in self.titles]
        return {"response": {"docs": docs}, "terms": {solr_fields.TITLE_BASE: words}}


@dataclass
class Works:
    """Collects the background work instead of running it."""

    waiting: list[Callable[[], None]] = field(default_factory=list)

    def __call__(self, work: Callable[[], None]) -> None:
        self.waiting.append(work)

    def do_all(self) -> None:
        while self.waiting:
            self.waiting.pop(0)()


def actions(*texts: str, version: int = 1, popular: tuple[str, ...] = ()) -> MemorySite:
    terms = [Term(text, 1.0, 9, 90 - n, status=TermStatus.ACCEPTED) for n, text in enumerate(texts)]
    return MemorySite(terms, Lexicon(version, tuple(map(LexiconEntry, texts))), popular=list(popular))


def suggested(search: TitleSearch, held: MemorySite, typed: str) -> list[dict[str, str]]:
    app = site_app(search, held)  # type: ignore[arg-type]
    app.extensions["plumbline"].caches.vocabulary = VocabularyCache(lambda work: work())
    client = app.test_client()
    client.get("/suggest?q=x")
    answer = client.get("/suggest", query_string={"q": typed, "format": "json"}).json
    assert answer is not None and answer["query"] == typed
    found: list[dict[str, str]] = answer["suggestions"]
    return found


def test_known_words_lead_but_there_is_room_for_titles() -> None:
    held = actions(*(f"页岩{n}" for n in range(20)), popular=("页岩气 产量",))
    found = suggested(TitleSearch(["页岩气开发", "页岩油", "又一页岩", "再一页岩"]), held, "页岩")
    assert [one["kind"] for one in found] == ["query", "term", "term", "term", "term", "title", "title", "title"]
    assert len(found) == MAX_SUGGESTIONS and found[0]["text"] == "页岩气 产量"


def test_what_is_typed_already_and_what_came_before_is_not_suggested_again() -> None:
    found = suggested(TitleSearch(["页岩气", "页岩 油", "页岩油"]), actions("页岩油", "页岩气"), "页岩气")
    assert [one["text"] for one in found] == ["页岩 油"]


def test_without_solr_there_are_words_and_without_words_titles() -> None:
    held, down = actions("页岩气"), TitleSearch(["页岩"])
    app = site_app(down, held)  # type: ignore[arg-type]
    app.extensions["plumbline"].caches.vocabulary = VocabularyCache(lambda work: work())
    client = app.test_client()
    assert json.loads(client.get("/suggest?q=页").text) == ["页", ["页岩气", "页岩"]]
    down.is_down = True
    assert json.loads(client.get("/suggest?q=页").text) == ["页", ["页岩气"]]
    down.is_down, app.extensions["plumbline"].caches.vocabulary = False, VocabularyCache(lambda work: None)
    assert json.loads(client.get("/suggest?q=页").text) == ["页", ["页岩"]]


@pytest.mark.parametrize("typed", ["", " ", "，", "\0", "\u200b"])
def test_for_nothing_nothing_is_asked(typed: str) -> None:
    search = TitleSearch(["页岩"])
    client = site_app(search, actions()).test_client()  # type: ignore[arg-type]
    response = client.get("/suggest", query_string={"q": typed})
    assert json.loads(response.text)[1] == [] and search.asked == []
    assert response.cache_control.private and response.mimetype == "application/x-suggestions+json"


def test_titles_are_such_as_can_be_typed() -> None:
    docs = ['他说 "好" -不', "site:a 报告", "长" * (MAX_TITLE_CHARS + 1), "", "页\u200b岩"]
    assert parse_titles({"response": {"docs": [{solr_fields.TITLE: title} for title in docs]}}) == [
        "他说 好 不",
        "site a 报告",
        "页岩",
    ]


def test_a_readers_text_is_only_ever_a_value() -> None:
    sent = dict(title_prefix_params('{!func}x" OR ${q}'))
    assert sent["typed"] == '"{!func}x  OR ${q}"' and sent["q"].endswith("v=$typed}") and "func" not in sent["q"]


def test_words_of_titles_are_chinese_and_longer_than_a_character() -> None:
    assert parse_frequent_words({"terms": {solr_fields.TITLE_BASE: ["的", 9, "开发", 8, "pdc", 7, "PDC钻头", 2]}}) == {
        "开发": 8,
        "PDC钻头": 2,
    }
    assert parse_frequent_words({}) == {}


def vocabulary_of(live: VocabularyCache, search: TitleSearch, site: MemorySite) -> Vocabulary:
    return live.get_vocabulary(search, site, site.published)


def test_a_vocabulary_is_made_in_the_background_once_for_each_version_and_now_and_then() -> None:
    works, now = Works(), [0.0]
    live, search = VocabularyCache(works, lambda: now[0]), TitleSearch(words={"开发": 5})
    for _ in range(3):
        assert vocabulary_of(live, search, actions("页岩气")).complete("页", 3) == []
    assert len(works.waiting) == 1
    works.do_all()
    made = vocabulary_of(live, search, actions("页岩气"))
    assert [word.text for word in made.complete("页", 3)] == ["页岩气"] and made.frequency("开发") == 5
    assert works.waiting == []
    assert vocabulary_of(live, search, actions("页岩油", version=2)) is made
    works.do_all()
    assert [word.text for word in vocabulary_of(live, search, actions("页岩油", version=2)).complete("页", 3)] == [
        "页岩油"
    ]
    now[0] += REFRESH_SECONDS + 1
    vocabulary_of(live, search, actions("页岩油", version=2))
    assert len(works.waiting) == 1


def test_a_vocabulary_that_could_not_be_made_is_tried_again_and_the_old_one_stays() -> None:
    works, now = Works(), [0.0]
    live, search = VocabularyCache(works, lambda: now[0]), TitleSearch(is_down=True)
    vocabulary_of(live, search, actions("页岩气"))
    works.do_all()
    for _ in range(50):  # readers at the same time, while Solr is ill
        vocabulary_of(live, search, actions("页岩气"))
    assert works.waiting == []
    now[0], search.is_down = RETRY_SECONDS + 1, False
    assert vocabulary_of(live, search, actions("页岩气")).complete("页", 3) == []
    works.do_all()
    assert vocabulary_of(live, search, actions("页岩气")).complete("页", 3) != []


def test_synonyms_are_those_of_just_this_lexicon() -> None:
    live = VocabularyCache(Works())
    one = Lexicon(1, (LexiconEntry("页岩气", synonyms=("shale gas",)),))
    assert live.get_thesaurus(one).find_synonyms("页岩气") == ("shale gas",)
    assert live.get_thesaurus(one) is live.get_thesaurus(one)
    assert live.get_thesaurus(Lexicon(2)).find_synonyms("页岩气") == ()


def test_a_term_is_displayed_in_its_most_frequent_spelling() -> None:
    found = term("Starfield oil", contexts=("Starfield Oil said", "STARFIELD OIL", "by Starfield Oil"))
    assert find_usual_spelling(found) == "Starfield Oil"
    at_start = term("Shale gas", contexts=("Shale gas explained", "more shale gas", "Deep. Shale gas output rises"))
    assert find_usual_spelling(at_start) == "shale gas"
    assert find_usual_spelling(term("Shale gas", contexts=("Shale gas explained",))) == "Shale gas"
    assert find_usual_spelling(term("页岩气", contexts=())) == "页岩气"
