"""Terms that a run publishes without a reviewer: marks, guard, revert, and what reviewers decide meanwhile."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from docstore.articles.extraction_writer import PageExtraction
from domain.article import Article
from domain.review import TermQuery
from domain.term import AUTOMATIC_ACTOR, TermStatus
from lexicon.settings import LexiconSettings
from pipeline import stages
from pipeline.alerts.inputs import collect_inputs
from pipeline.alerts.rules import evaluate_rules
from pipeline.demo.featured import load_articles
from pipeline.engine import Engine
from pipeline.lexicon_stage import lexicon_update
from pipeline.lexicon_stage.lexicon_review import LexiconReview
from pipeline.lexicon_stage.lexicon_update import publish_confident_terms
from pipeline.progress import NullProgress
from pipeline.settings import Settings
from tests.builders import keep_page, make_candidate
from text.folding import word_key

CANDIDATES = [make_candidate("页岩气"), make_candidate("水平井压裂"), make_candidate("作业", 0.5)]
CONFIDENT = {"页岩气", "水平井压裂"}


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(Settings(tmp_path), NullProgress()) as opened:
        store = opened.store
        for n in range(30):
            article = Article(
                f"http://a.test/{n}", f"第{n}号页岩气井投产", f"第{n}号页岩气井投产，水平井压裂完成。", language="zh"
            )
            keep_page(store, article.url, article.url.encode())
            store.articles.save([PageExtraction(page, article) for page in store.articles.iter_pending()])
        store.lexicons.replace_candidates(CANDIDATES, store.articles.text_version())
        yield opened


def status(engine: Engine, text: str) -> TermStatus:
    return engine.store.review_queue.find_terms([text])[text].status


def published(engine: Engine) -> set[str]:
    return {entry.text for entry in engine.store.lexicons.load_latest().entries}


def test_confident_candidates_are_published_and_marked(engine: Engine) -> None:
    assert publish_confident_terms(engine) == ("2 words accepted automatically, published as version 1",)
    [(version, count)], review = engine.store.lexicons.list_versions(), LexiconReview(engine.store)
    assert (version.published_by, count, published(engine)) == (AUTOMATIC_ACTOR, 2, CONFIDENT)
    marked, terms = review.store.review_queue.find_page(TermQuery(status=None, is_automatic=True))
    assert marked == 2 and {term.text for term in terms} == CONFIDENT and all(term.is_automatic for term in terms)
    [decision] = review.store.review_history.list_decisions("", "", 0, 9)[1]
    assert decision.by == AUTOMATIC_ACTOR and len(decision.changes) == 2
    assert review.store.review_queue.recent_acceptance() == (0, 0)  # a person has decided nothing
    assert "页岩气,,n,,,,automatic" in review.export("csv")
    assert publish_confident_terms(engine) == ()


def test_a_later_run_accepts_no_fragment_of_an_accepted_term(engine: Engine) -> None:
    publish_confident_terms(engine)
    fragment = make_candidate("水平井", frequency=32)
    engine.store.lexicons.replace_candidates([*CANDIDATES, fragment])
    assert publish_confident_terms(engine) == () and status(engine, fragment.text) is TermStatus.CANDIDATE


def test_a_reviewer_confirms_or_rejects(engine: Engine) -> None:
    publish_confident_terms(engine)
    review = LexiconReview(engine.store)
    review.decide(["页岩气"], TermStatus.ACCEPTED, "li")
    review.decide(["水平井压裂"], TermStatus.REJECTED, "li")
    assert review.store.review_queue.find_page(TermQuery(status=None, is_automatic=True))[0] == 0
    engine.store.lexicons.replace_candidates(CANDIDATES)
    assert publish_confident_terms(engine) == () and status(engine, "水平井压裂") is TermStatus.REJECTED
    assert review.publish("li").entries[0].text == "页岩气"


def test_a_reverted_version_does_not_return(engine: Engine) -> None:
    publish_confident_terms(engine)
    LexiconReview(engine.store).revert(0, "li")
    engine.store.lexicons.replace_candidates(CANDIDATES)
    assert publish_confident_terms(engine) == () and published(engine) == set()


def test_unpublished_decisions_stay_unpublished(engine: Engine) -> None:
    review = LexiconReview(engine.store)
    review.decide(["作业"], TermStatus.ACCEPTED, "li")
    publish_confident_terms(engine)
    assert published(engine) == CONFIDENT and review.store.review_queue.unpublished_change_counts() == (1, 0, 0)


def test_a_run_that_was_killed_between_accepting_and_publishing_is_completed(engine: Engine) -> None:
    LexiconReview(engine.store).decide(["页岩气"], TermStatus.ACCEPTED, AUTOMATIC_ACTOR)
    assert published(engine) == set()
    publish_confident_terms(engine)
    assert published(engine) == CONFIDENT


def test_a_decision_of_a_reviewer_at_the_same_time_wins(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    compare = lexicon_update.compare_on_known_items

    def compare_while_a_reviewer_decides(*arguments: object) -> object:
        LexiconReview(engine.store).decide(["页岩气"], TermStatus.REJECTED, "li")
        return compare(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(lexicon_update, "compare_on_known_items", compare_while_a_reviewer_decides)
    report = stages.update_lexicon(engine)
    assert report.notes[0].startswith("No automatic lexicon version") and published(engine) == set()
    monkeypatch.setattr(lexicon_update, "compare_on_known_items", compare)
    stages.update_lexicon(engine)
    assert published(engine) == {"水平井压裂"} and status(engine, "页岩气") is TermStatus.REJECTED


def test_a_harmful_version_is_not_published_and_raises_an_alert(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Hiding:
        """A segmenter that finds no word."""

        def cut(self, text: str) -> list[str]:
            return []

    create = lexicon_update.create_domain_segmenter
    monkeypatch.setattr(
        lexicon_update, "create_domain_segmenter", lambda lexicon: Hiding() if lexicon.entries else create(lexicon)
    )
    [note] = publish_confident_terms(engine)
    assert "harder to find" in note and published(engine) == set() and status(engine, "页岩气") is TermStatus.CANDIDATE
    [alert] = evaluate_rules(collect_inputs(engine))
    assert alert.key.kind == "lexicon_blocked" and alert.message_values["all"] == 30
    monkeypatch.setattr(lexicon_update, "create_domain_segmenter", create)
    publish_confident_terms(engine)
    assert published(engine) == CONFIDENT and evaluate_rules(collect_inputs(engine)) == []


def save_articles(engine: Engine, texts: Sequence[tuple[str, str]]) -> None:
    for title, body in texts:
        url = f"http://b.test/{title}"
        keep_page(engine.store, url, url.encode())
        article = Article(url, title, body, language="zh")
        engine.store.articles.save([PageExtraction(page, article) for page in engine.store.articles.iter_pending()])


def test_a_second_run_accepts_only_what_new_articles_bring(tmp_path: Path) -> None:
    texts = [(article.title, "\n".join(article.paragraphs)) for article in load_articles()]
    settings = Settings(tmp_path, lexicon=LexiconSettings(depth=10))
    with Engine(settings, NullProgress()) as engine:
        save_articles(engine, texts[:-30])
        stages.update_lexicon(engine)
        first = published(engine)
        assert len(first) > 10  # more than the review lists
        stages.mine_candidates(engine)
        assert publish_confident_terms(engine) == () and published(engine) == first
        save_articles(engine, texts[-30:])
        stages.update_lexicon(engine)
        new_text = word_key("".join(body for _, body in texts[-30:]))
        new_terms = published(engine) - first
        assert new_terms and all(word_key(term) in new_text for term in new_terms)


def test_a_term_that_cuts_a_published_term_apart_is_left_out_with_its_reason(engine: Engine) -> None:
    publish_confident_terms(engine)
    cutting = replace(make_candidate("气井投产"), contexts=("第1号页岩气井投产",))
    harmless = make_candidate("钻井平台")
    engine.store.lexicons.replace_candidates([*CANDIDATES, cutting, harmless])
    left_out, accepted = publish_confident_terms(engine)
    assert left_out.startswith("1 term not accepted automatically: “气井投产”: it cuts longer words such as 页岩气")
    assert accepted.startswith("1 word accepted automatically") and published(engine) == {*CONFIDENT, harmless.text}
    assert status(engine, cutting.text) is TermStatus.CANDIDATE


@pytest.mark.parametrize("chosen", [LexiconSettings(auto_publish="off"), LexiconSettings(scorer="c_value")])
def test_it_can_be_switched_off(engine: Engine, chosen: LexiconSettings) -> None:
    engine.settings = replace(engine.settings, lexicon=chosen)
    assert publish_confident_terms(engine) == () and published(engine) == set()
