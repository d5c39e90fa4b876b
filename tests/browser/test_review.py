"""Review of lexicon and topics in a real browser: by keyboard, in both languages, with and without scripts."""

import re
from collections.abc import Iterator
from itertools import islice

import pytest
from playwright.sync_api import Locator, Page, expect

from domain.focused_decision import FocusedDecision
from domain.review import ReviewDecisionKind, TermEdit, TermQuery
from domain.term import Definition, Term, TermClass, TermStatus
from domain.term_relation import RelationKind, RelationProposal, TermRelation
from domain.topic import Topic, TopicSeed, TopicState, TopicTerm, TopicTermClass
from focused.topic.topic_file_store import TopicFileStore
from tests.browser_fixture import ACCOUNT, Vertical, Visit, faults, follow, odd_addresses, sign_in, wait_for
from tests.builders import add, decide, operate, propose

pytestmark = [pytest.mark.browser, pytest.mark.solr, pytest.mark.slow]

LANGUAGES = {"zh": "zh-CN", "en": "en-GB"}
PAGES = ("", "/term?text={term}", "/history", "/versions", "/preview", "/relations", "/definitions", "/report")
CONGRESS = "世界石油大会"
SAID = {"zh": ("采纳", "已采纳 1 项", "已采纳 2 项"), "en": ("Accept", "1 item accepted", "2 items accepted")}
HOSTILE = "<img src=x onerror=alert(1)>\"&'"
MANY = 102  # decisions: more than the 100 whose speed the product measures


@pytest.fixture(autouse=True)
def clean(vertical: Vertical) -> Iterator[None]:
    """Each test undoes its actions on terms."""
    store = vertical.engine.store
    before = store.review_history.last_decision_id()
    yield
    for act in store.review_history.list_decisions(limit=1000)[1]:
        if act.act_id > before and not act.undone and act.kind is not ReviewDecisionKind.UNDO:
            store.review_history.undo("test", act.act_id)


def term_of(vertical: Vertical, text: str) -> Term:
    return vertical.engine.store.review_queue.find_terms([text])[text]


def read_at_once(page: Page) -> Page:
    """Let a decision be followed by the next one without the time in which a person reads the term."""
    page.evaluate("document.getElementById('terms').dataset.unread = '0'")
    return page


def statuses(vertical: Vertical, texts: list[str]) -> list[TermStatus]:
    return [term_of(vertical, text).status for text in texts]


@pytest.mark.parametrize("language", ["zh", pytest.param("en", marks=pytest.mark.exhaustive)])
@pytest.mark.always
def test_every_task_is_done_with_keys(visit: Visit, vertical: Vertical, language: str) -> None:
    page = read_at_once(sign_in(visit(locale=LANGUAGES[language])))
    expect(page.locator("html")).to_have_attribute("lang", re.compile(f"^{language}"))
    terms = page.locator(".term")
    names: list[str] = terms.locator("h2 bdi").all_inner_texts()[:8]
    for n, (key, status) in enumerate({"a": "accepted", "r": "rejected", "l": "later"}.items()):
        expect(terms.nth(n)).to_be_focused()
        page.keyboard.press(key)
        expect(terms.nth(n)).to_have_attribute("data-status", status)
    expect(terms.nth(3)).to_be_focused()
    page.keyboard.type("m")  # the fourth becomes a synonym of the first
    expect(terms.nth(3).locator("[data-what=merge] [name=value]")).to_be_focused()
    page.keyboard.type(names[0])
    page.keyboard.press("Enter")
    expect(terms.nth(3)).to_have_attribute("data-status", "merged")
    expect(terms.nth(0).locator("[data-said=synonyms] dd")).to_have_text(names[3])
    page.keyboard.press("j")
    expect(terms.nth(4)).to_be_focused()
    page.keyboard.press("e")
    expect(terms.nth(4).locator("[data-what=rename] [name=value]")).to_be_focused()
    page.keyboard.type(f"{names[4]}另名词")
    page.keyboard.press("Enter")
    expect(terms.nth(4)).to_have_attribute("data-status", "rejected")
    page.keyboard.press("j")
    expect(terms.nth(5)).to_be_focused()
    page.keyboard.type("2b")
    expect(terms.nth(5)).to_have_attribute("data-category", "professional")
    page.keyboard.type(names[0])
    page.keyboard.press("Enter")
    expect(terms.nth(5).locator("[data-said=broader] dd")).to_have_text(names[0])
    page.keyboard.press("Escape")
    wanted = ["accepted", "rejected", "later", "merged", "rejected", "candidate"]
    assert statuses(vertical, names[:6]) == [TermStatus(status) for status in wanted]
    assert term_of(vertical, f"{names[4]}另名词").status is TermStatus.ACCEPTED
    assert term_of(vertical, names[5]).category is TermClass.PROFESSIONAL
    expect(terms.nth(5)).to_be_focused()
    page.keyboard.type("uuuuuuu")
    expect(terms.nth(0)).to_have_attribute("data-status", "candidate")
    assert statuses(vertical, names[:6]) == [TermStatus.CANDIDATE] * 6
    assert term_of(vertical, names[0]).synonyms == () and term_of(vertical, names[5]).broader_terms == ()
    expect(terms.nth(0)).to_be_focused()
    page.keyboard.type("o")
    expect(page.locator("h1 bdi")).to_have_text(names[0])


@pytest.mark.parametrize("language", ["en", pytest.param("zh", marks=pytest.mark.exhaustive)])
def test_every_task_is_done_without_scripts(visit: Visit, vertical: Vertical, language: str) -> None:
    page = sign_in(visit(locale=LANGUAGES[language], java_script_enabled=False))
    names: list[str] = page.locator(".term h2 bdi").all_inner_texts()[:6]

    def row(name: str) -> Locator:
        page.goto(f"/admin/lexicon?status=all&text={name}")
        return page.locator(f'.term[data-term="{name}"]')

    for name, button in zip(names, ("accept", "reject", "later"), strict=False):
        follow(row(name).locator(f"button.{button}"), "Enter")
        expect(page.locator("p.note[role=status]")).to_contain_text(name)
    fields = {"merge": names[0], "broader": names[0], "synonyms": "另一个名字", "rename": f"{names[3]}另名词"}
    for what, value in fields.items():
        one = row(names[4] if what == "merge" else names[3])
        one.locator(".more summary").press("Enter")
        field = one.locator(f"[data-what={what}] [name=value]")
        field.fill(value)
        follow(field, "Enter")
        expect(page.locator("p.note[role=status]")).to_have_count(1)
    one = row(names[5])
    one.locator(".more summary").press("Enter")
    follow(one.locator(".classes [value=subject]"), "Enter")
    wanted = ["accepted", "rejected", "later", "rejected", "merged", "candidate"]
    assert statuses(vertical, names) == [TermStatus(status) for status in wanted]
    assert term_of(vertical, f"{names[3]}另名词").synonyms == ("另一个名字",)
    assert term_of(vertical, names[5]).category is TermClass.SUBJECT
    for _ in range(8):
        page.goto("/admin/lexicon")
        follow(page.locator("#undo-last button"), "Enter")
        if page.locator("#confirm-undo").count():  # an action on two terms
            follow(page.locator("#confirm-undo button"), "Enter")
        expect(page.locator("p.note[role=status]")).to_have_count(1)
    assert statuses(vertical, names) == [TermStatus.CANDIDATE] * 6
    page.goto("/admin/lexicon/history")
    follow(page.locator("#acts form button").first, "Enter")  # that too can be taken back
    assert term_of(vertical, names[0]).status is TermStatus.ACCEPTED


@pytest.mark.exhaustive
def test_many_are_decided_without_turning_pages(visit: Visit, vertical: Vertical) -> None:
    store = vertical.engine.store
    if store.review_queue.find_page(TermQuery())[0] < MANY + 20:
        words = [Term(f"钻探词{n:03}号", 0.3, 5, 3) for n in range(300)]
        store.lexicons.replace_candidates(words, store.articles.text_version())
    page = read_at_once(sign_in(visit()))
    before = store.review_history.last_decision_id()
    keys = "".join("ar"[n % 3 == 0] for n in range(MANY))
    for n, key in enumerate(keys):
        expect(page.locator(".term").nth(n)).to_be_focused()
        page.keyboard.press(key)
    expect(page.locator(".term[data-status=accepted], .term[data-status=rejected]")).to_have_count(MANY)
    acts = [act for act in store.review_history.list_decisions(limit=400)[1] if act.act_id > before]
    assert [act.by for act in acts] == [ACCOUNT] * MANY  # none lost
    texts = [change.text for act in reversed(acts) for change in act.changes]
    assert len(set(texts)) == len(texts) == MANY  # none doubled
    wanted = [TermStatus.ACCEPTED if key == "a" else TermStatus.REJECTED for key in keys]
    assert statuses(vertical, texts) == wanted
    assert page.locator(".term h2 bdi").all_inner_texts()[:MANY] == texts
    assert store.review_queue.recent_acceptance()[1] == 100


def test_a_second_press_does_not_decide_a_term_that_nobody_has_read(visit: Visit, vertical: Vertical) -> None:
    page = sign_in(visit())
    rows = page.locator(".term")
    names = rows.locator("h2 bdi").all_inner_texts()[:6]
    decisions = {
        1: lambda: page.keyboard.press("l"),
        2: lambda: rows.nth(1).locator("button.later").click(),
        4: lambda: page.locator(".bulk-selected-later").click(),
    }
    page.evaluate("document.querySelector('#bulk-selected [value=later]').classList.add('bulk-selected-later')")
    for next_row, decide_first in decisions.items():
        if next_row == 4:
            page.keyboard.type("xjx")
            expect(page.locator(".pick:checked")).to_have_count(2)
        decide_first()
        expect(rows.nth(next_row)).to_be_focused()
        page.keyboard.type("lx1")
        page.wait_for_timeout(400)
        expect(rows.nth(next_row)).to_have_attribute("data-category", "")
        assert statuses(vertical, names[: next_row + 1]) == [TermStatus.DEFERRED] * next_row + [TermStatus.CANDIDATE]
    expect(page.locator(".pick:checked")).to_have_count(0)
    assert rows.nth(0).bounding_box()["height"] < 32  # type: ignore[index]  # a decided row is one thin line
    page.evaluate("window.requestAnimationFrame = () => 0")  # the next row is not painted
    page.keyboard.press("l")  # having read it
    expect(rows.nth(5)).to_be_focused()
    page.wait_for_timeout(400)
    page.keyboard.press("l")
    page.keyboard.press("u")
    expect(rows.nth(4)).to_have_attribute("data-status", "candidate")
    assert statuses(vertical, names[4:]) == [TermStatus.CANDIDATE] * 2


def test_all_candidates_of_a_kind_are_rejected_with_one_key(visit: Visit, vertical: Vertical) -> None:
    page = sign_in(visit())
    expect(page.locator("form.same-kind")).to_have_count(0)  # names are at the end
    page.goto("/admin/lexicon?page=999")
    row = page.locator(".term", has=page.locator("form.same-kind")).last
    row.focus()
    kind = row.locator("[name=kind]").get_attribute("value")
    of_kind = page.locator(".term", has=page.locator(f"form.same-kind [value={kind}]"))
    count = of_kind.count()
    page.keyboard.press("g")
    expect(page.locator(".term[data-status=rejected]")).to_have_count(count)
    names: list[str] = of_kind.locator("h2 bdi").all_inner_texts()
    page.keyboard.press("u")
    expect(page.locator(".term[data-status=rejected]")).to_have_count(0)
    assert statuses(vertical, names) == [TermStatus.CANDIDATE] * count


def test_single_keys_that_are_turned_off_decide_nothing(visit: Visit, vertical: Vertical) -> None:
    page = read_at_once(sign_in(visit()))
    text: str = page.locator(".term h2 bdi").first.inner_text()
    earlier_count = vertical.engine.store.review_history.list_decisions(text)[0]
    page.evaluate("localStorage.setItem('plumbline-keys', 'off')")
    for key in "arlup":
        page.keyboard.press(key)
    page.evaluate("localStorage.removeItem('plumbline-keys')")
    page.keyboard.press("l")
    expect(page.locator(".term").first).to_have_attribute("data-status", "later")
    assert "/admin/lexicon/preview" not in page.url
    assert vertical.engine.store.review_history.list_decisions(text)[0] == earlier_count + 1


def test_two_reviewers_see_each_other_s_decisions(visit: Visit, vertical: Vertical) -> None:
    page = sign_in(visit(409))
    first = page.locator(".term").first
    name = first.locator("h2 bdi").inner_text()
    vertical.engine.store.review_history.apply(ReviewDecisionKind.DECIDE, [TermEdit(name, TermStatus.DEFERRED)], "bert")
    page.keyboard.press("a")
    expect(page.locator("#trouble")).to_contain_text("已由 bert 修改")
    expect(first).to_have_attribute("data-status", "later")
    assert term_of(vertical, name).status is TermStatus.DEFERRED
    page.keyboard.type("a")  # having seen it
    expect(first).to_have_attribute("data-status", "accepted")
    expect(page.locator("#trouble")).to_be_hidden()


def test_the_preview_says_what_the_search_will_be(visit: Visit, vertical: Vertical) -> None:
    store = vertical.engine.store
    if CONGRESS not in store.review_queue.find_terms([CONGRESS]):
        propose(store, CONGRESS)
    decide(store, [CONGRESS], TermStatus.ACCEPTED)
    page = sign_in(visit())
    page.goto(f"/admin/lexicon/preview?q={CONGRESS}")
    cuts = page.locator("#cuts li", has_text=CONGRESS).first.locator(".cut")
    assert CONGRESS not in cuts.nth(0).locator(".word").all_inner_texts()
    assert CONGRESS in cuts.nth(1).locator(".word").all_inner_texts()
    now, then = (page.locator("#results section").nth(n).locator("ol a") for n in (0, 1))
    assert addresses(now) == results(visit(), CONGRESS)
    promised = addresses(then)
    assert len(promised) == 10
    page.locator("#note").fill("世界石油大会")
    follow(page.locator("#note"), "Enter")
    expect(page.locator("p.note[role=status]")).to_contain_text("已发布")
    wait_for(page, "/healthz", "answer => answer.index_lag === 0")
    wait_for(page, f"/compare?format=json&q={CONGRESS}", "answer => answer.sides[1].first_rank === 1")
    found = results(visit(), CONGRESS)
    assert found and promised[: len(found)] == found
    page.goto("/admin/lexicon/versions")
    expect(page.locator("#diff .plus").first).to_contain_text("+")
    expect(page.locator("#versions tbody tr").first).to_contain_text("世界石油大会")


@pytest.mark.parametrize(("language", "scripts"), [("zh", True), ("en", False)], ids=["zh-js", "en-no-js"])
def test_a_list_is_brought_in(visit: Visit, vertical: Vertical, language: str, scripts: bool) -> None:
    page = sign_in(visit(422, locale=LANGUAGES[language], java_script_enabled=scripts))
    page.goto("/admin/lexicon/versions")
    word = f"深水{language}防喷器{'一' if scripts else '二'}"
    for lines, is_good in ((f"{word}\n{'长' * 101}\n", False), (f"{word}\n", True)):
        page.set_input_files("#list", {"name": "words.txt", "mimeType": "text/plain", "buffer": lines.encode()})
        follow(page.locator("#bring-in button:not([name])"), "Enter")
        if is_good:
            expect(page.locator("p.note[role=status]")).to_contain_text("1")
        else:
            expect(page.locator("#faults tbody th")).to_have_text("2")
            assert not scripts or faults(page) == []  # axe is a script
            page.go_back()
    page.goto(f"/admin/lexicon?status=accepted&text={word}")
    expect(page.locator(".term h2 bdi").first).to_have_text(word)


def addresses(links: Locator) -> list[str]:
    """Return the articles that the links of the preview lead to."""
    found: list[str] = links.evaluate_all("all => all.map(a => a.pathname)")
    return found


def results(page: Page, query: str) -> list[str]:
    """Return the articles of a results page."""
    page.goto(f"/search?q={query}")
    found: list[str] = page.locator("#hits a[href^='/article/']").evaluate_all(
        "all => [...new Set(all.map(a => a.pathname))]"
    )
    return found


def save_candidates(vertical: Vertical) -> Term:
    """Save three candidates for the definition of a term; the last is markup. Returns the term."""
    store = vertical.engine.store
    [found] = store.review_queue.find_page(TermQuery(limit=1))[1]
    articles = list(islice(store.articles.iter_all(), 3))
    store.definitions.save(
        [
            Definition(
                found.text, "zh", sentence, one.url_id, one.article.url, one.article.title, "2024-05-01", 0.9, 1.0
            )
            for one, sentence in zip(articles, ("第一句。", "第二句。", HOSTILE), strict=True)
        ],
        (),
    )
    return found


@pytest.mark.parametrize(("width", "language"), [pytest.param(360, "en", marks=pytest.mark.exhaustive), (1280, "zh")])
def test_a_definition_is_chosen_with_one_key(visit: Visit, vertical: Vertical, width: int, language: str) -> None:
    name = save_candidates(vertical).text
    page = sign_in(visit(locale=LANGUAGES[language], viewport={"width": width, "height": 740}))
    page.goto(f"/admin/lexicon/term?text={name}")
    candidates = page.locator("#definition-choice .definitions > li")
    expect(candidates.locator("blockquote")).to_have_text(["第一句。", "第二句。", HOSTILE])
    expect(candidates.locator("time")).to_have_count(3)
    assert (candidates.locator("a.kept").first.get_attribute("href") or "").startswith("/article/")

    def press(key: str) -> tuple[str, ...]:
        with page.expect_navigation():
            page.keyboard.press(key)
        choice = term_of(vertical, name).definition
        return () if choice is None else (choice.sentence,)

    assert press("2") == ("第二句。",)
    expect(candidates.nth(1)).to_have_class("chosen")
    assert press("3") == (HOSTILE,)
    assert press("0") == ("",)
    expect(page.locator("#definition-choice .chosen")).to_have_count(0)
    assert press("u") == (HOSTILE,)
    assert faults(page) == [] and page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    own = page.locator("#own-definition")
    own.fill("气" * 2001)
    page.locator(".own-definition button").click()
    assert "2,001" in own.evaluate("field => field.validationMessage.replace('2001', '2,001')")
    own.fill("1 <i>自己的</i>定义")
    follow(page.locator(".own-definition button"))
    expect(page.locator("#own-definition")).to_have_value("1 <i>自己的</i>定义")
    expect(page.locator("#acts tbody tr").first).to_contain_text("<i>自己的</i>")
    assert faults(page) == []


def test_relations_are_decided_with_one_key(visit: Visit, vertical: Vertical) -> None:
    store, names = vertical.engine.store, ["关系甲词", "关系乙词", "关系丙词"]
    add(store, names)
    evidence = f"{names[0]}、{names[1]}等{names[2]}，{HOSTILE}"
    relations = [TermRelation(RelationKind.BROADER, name, names[2], "and_other", 1.0, evidence) for name in names[:2]]
    proposals = [RelationProposal(relation, 1, f"{vertical.url}/x", HOSTILE, 0.0) for relation in relations]
    store.relations.save(proposals, [], *store.relations.search_state())
    page = sign_in(visit(locale="en-GB", viewport={"width": 360, "height": 740}))
    page.goto("/admin/lexicon/relations")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    rows = page.locator("#relations > li")
    total = int(page.locator("#total").inner_text())
    expect(rows.nth(0)).to_be_focused()
    expect(rows.nth(0).locator("blockquote")).to_have_text(evidence)
    for key, broader, count in (("a", (names[2],), total - 1), ("u", (), total), ("r", (), total - 1)):
        press_when_read(page, key)
        expect(page.locator("#total")).to_have_text(str(count))
        assert term_of(vertical, min(names[:2])).broader_terms == broader
    expect(page.locator("#rejected li")).to_have_count(1)
    assert faults(page) == []
    press_when_read(page, "u")
    expect(page.locator("#total")).to_have_text(str(total))


def save_uncertain_definitions(vertical: Vertical) -> list[Term]:
    """Save two uncertain candidates for each of four terms, and a certain one for a fifth. Returns the four."""
    store, names = vertical.engine.store, [f"定义{letter}词" for letter in "甲乙丙丁戊"]
    add(store, names)
    url_ids = [one.url_id for one in islice(store.articles.iter_all(), 2)]
    store.definitions.save(
        [
            Definition(name, "zh", f"{name}是{url_id}。", url_id, vertical.url, HOSTILE, "2024-05-01", score, 1.0)
            for name, score in zip(names, (0.8, 0.8, 0.8, 0.8, 0.95), strict=True)
            for url_id in url_ids
        ],
        (),
    )
    return [term_of(vertical, name) for name in names[:4]]


def chosen_sentences(vertical: Vertical, terms: list[Term]) -> list[str | None]:
    definitions = (term_of(vertical, term.text).definition for term in terms)
    return [definition.sentence if definition else None for definition in definitions]


def press_when_read(page: Page, key: str) -> None:
    expect(page.locator("[data-position][data-ready]")).to_have_count(1)
    with page.expect_navigation():
        page.keyboard.press(key)


@pytest.mark.parametrize(("width", "language"), [(360, "zh"), pytest.param(1280, "en", marks=pytest.mark.exhaustive)])
def test_definitions_are_chosen_with_one_key_each(visit: Visit, vertical: Vertical, width: int, language: str) -> None:
    terms = save_uncertain_definitions(vertical)
    page = sign_in(visit(locale=LANGUAGES[language], viewport={"width": width, "height": 740}))
    page.goto("/admin/lexicon/definitions")
    rows = page.locator(".term")
    names = rows.locator("h2 bdi").all_inner_texts()
    assert set(names) >= {term.text for term in terms} and "定义戊词" not in names
    terms = [term_of(vertical, name) for name in names[:4]]
    sentences = [rows.nth(n).locator("blockquote").all_inner_texts() for n in range(4)]
    assert faults(page) == [] and page.evaluate("document.documentElement.scrollWidth") <= width
    press_when_read(page, "2")
    expect(rows.locator("h2 bdi").first).to_have_text(names[1])
    page.keyboard.press("j")  # skips it
    expect(rows.nth(1)).to_be_focused()
    press_when_read(page, "0")
    expect(rows.nth(1)).to_be_focused()
    press_when_read(page, "1")
    assert chosen_sentences(vertical, terms) == [sentences[0][1], None, "", sentences[3][0]]
    press_when_read(page, "u")
    assert chosen_sentences(vertical, terms) == [sentences[0][1], None, "", None]
    page.keyboard.press("j")
    press_when_read(page, "o")
    expect(page.locator("h1 bdi")).to_have_text(names[3])
    page.add_init_script("window.setTimeout = () => 0")  # the time that it takes to read a row does not pass
    page.goto("/admin/lexicon/definitions")
    page.keyboard.press("1")
    page.keyboard.press("j")
    expect(rows.nth(1)).to_be_focused()
    assert chosen_sentences(vertical, terms) == [sentences[0][1], None, "", None]


def test_definitions_are_chosen_without_scripts(visit: Visit, vertical: Vertical) -> None:
    save_uncertain_definitions(vertical)
    page = sign_in(visit(locale="zh-CN", java_script_enabled=False))
    page.goto("/admin/lexicon/definitions")
    rows = page.locator(".term")
    terms = [term_of(vertical, name) for name in rows.locator("h2 bdi").all_inner_texts()[:3]]
    sentence = rows.nth(1).locator("blockquote").first.inner_text()
    follow(rows.nth(0).locator("[data-key='0']"), "Enter")
    follow(rows.nth(0).locator("[data-key='1']"), "Enter")
    assert chosen_sentences(vertical, terms) == ["", sentence, None]
    follow(page.locator("[data-key=u]"), "Enter")
    assert chosen_sentences(vertical, terms) == ["", None, None]


# English is the wider.
@pytest.mark.parametrize(("width", "language"), [(360, "en"), pytest.param(1280, "zh", marks=pytest.mark.exhaustive)])
def test_axe_finds_nothing_to_say(visit: Visit, vertical: Vertical, language: str, width: int) -> None:
    page = read_at_once(sign_in(visit(locale=LANGUAGES[language], viewport={"width": width, "height": 740})))
    name = page.locator(".term h2 bdi").first.inner_text()
    page.keyboard.press("a")
    expect(page.locator(".term").nth(1)).to_be_focused()
    page.keyboard.type("1l")
    expect(page.locator(".term").nth(1)).to_have_attribute("data-status", "later")
    for address in PAGES:
        page.goto(f"/admin/lexicon{address.format(term=name)}")
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        assert page.locator("h1").count() == 1 and odd_addresses(page) == []
        assert faults(page) == [], address
        if width == 360:
            assert page.evaluate("document.documentElement.scrollWidth") <= 360, address


# -- topics


def topic(name: str) -> Topic:
    return Topic(
        name,
        words=(name,),
        terms=(
            TopicTerm("水平井", state=TopicState.CONFIRMED, score=1.0),
            TopicTerm("压裂", origin="index", score=0.7, evidence="10 pages found by 水平井"),
            TopicTerm("钻井", origin="crawl", score=0.4),
            TopicTerm(HOSTILE, origin="index", score=0.2, evidence=HOSTILE),
        ),
        seeds=(TopicSeed("http://news.test/a", origin="index", score=0.5, evidence=HOSTILE),),
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_terms_and_seeds_of_a_topic_are_judged(visit: Visit, vertical: Vertical, language: str) -> None:
    files = TopicFileStore(vertical.engine.settings.data_dir)
    name = f"页岩气 {language}"
    files.create(topic(name))
    confirm, one, two = SAID[language]
    colon = "：" if language == "zh" else ": "
    plain = sign_in(visit(locale=LANGUAGES[language], java_script_enabled=False))
    plain.goto("/admin/topics/")
    row = plain.locator("#topics tbody tr").filter(has_text=name)
    expect(row.locator("td").first).to_have_text("4")
    follow(row.get_by_role("link"))
    expect(plain.locator("#terms tbody tr")).to_have_count(3)
    follow(plain.get_by_role("button", name=f"{confirm}{colon}压裂"), "Enter")
    expect(plain.locator("p.note[role=status]")).to_contain_text(one)
    assert files.read(name).confirmed_terms(TopicTermClass.PROFESSIONAL) == ("水平井", "压裂")

    plain.get_by_role("checkbox", name="钻井").check()
    plain.get_by_role("checkbox", name="http://news.test/a").check()
    plain.locator("#bulk select").select_option("subject")
    follow(plain.locator("#bulk").get_by_role("button", name=confirm))
    expect(plain.locator("p.note[role=status]")).to_contain_text(two)
    after = files.read(name)
    assert after.confirmed_terms(TopicTermClass.SUBJECT) == ("钻井",)
    assert after.seeds[0].state is TopicState.CONFIRMED
    follow(plain.locator("#bulk").get_by_role("button", name=confirm))  # nothing is ticked
    assert files.read(name) == after


@pytest.mark.parametrize(("language", "width"), [pytest.param("zh", 1280, marks=pytest.mark.exhaustive), ("en", 360)])
def test_pages_of_topics_are_accessible(visit: Visit, vertical: Vertical, language: str, width: int) -> None:
    name = f"页岩油 {language}"
    TopicFileStore(vertical.engine.settings.data_dir).create(topic(name))
    page = sign_in(visit(locale=LANGUAGES[language], viewport={"width": width, "height": 900}))
    for address in ("/admin/topics/", f"/admin/topics/{name}?state=all"):
        page.goto(address)
        assert faults(page) == []
        assert odd_addresses(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (address, width)


def test_a_damaged_file_and_an_unknown_topic_are_said(visit: Visit, vertical: Vertical) -> None:
    files = TopicFileStore(vertical.engine.settings.data_dir)
    files.create(topic("damaged"))
    files.path_for("damaged").write_text("{}")
    page = sign_in(visit(404))
    page.goto("/admin/topics/")
    expect(page.locator("#topics tbody tr").filter(has_text="damaged")).to_contain_text("version is missing")
    page.goto("/admin/topics/never")
    expect(page.locator("h1")).to_be_visible()
    files.path_for("damaged").unlink()


def test_the_sites_page_shows_the_harvest(visit: Visit, vertical: Vertical) -> None:
    page = sign_in(visit())
    page.goto("/admin/sites")
    expect(page.locator("#site-health")).not_to_contain_text("主题命中率")  # nothing was judged
    table = vertical.engine.store.focused_decisions
    first, second = table.undecided_pages(2)
    judged = [FocusedDecision(n, "fused", "页岩气", 0.5, n == 0, b"") for n in range(2)]
    table.save(list(zip((first.url_id, second.url_id), judged, strict=True)))
    page.reload()
    expect(page.locator("#site-health")).to_contain_text("主题命中率")
    rows = page.locator("#site-health tbody tr")
    said = [text for text in rows.all_inner_texts() if "多特征融合" in text]
    same_host = first.host == second.host
    assert [("50%" in text, "(1 / 2)" in text) for text in said] == [(True, True)] if same_host else len(said) == 2


@pytest.mark.parametrize(("width", "language"), [(1280, "zh"), pytest.param(390, "en", marks=pytest.mark.exhaustive)])
def test_several_rows_are_decided_with_one_key(visit: Visit, vertical: Vertical, width: int, language: str) -> None:
    page = sign_in(visit(locale=LANGUAGES[language], viewport={"width": width, "height": 900}))
    rows = page.locator(".term")
    names: list[str] = rows.locator("h2 bdi").all_inner_texts()[:4]
    left = int(re.sub(r"\D", "", page.locator("[data-count=candidate]").inner_text()))
    expect(rows.nth(0).locator(".detail")).to_be_visible()
    expect(rows.nth(0).locator(".usage-place")).to_have_attribute("data-loaded", "1")
    expect(page.locator(".detail:visible")).to_have_count(1)
    assert faults(page) == [] and page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.keyboard.type("xjjx")
    expect(rows.nth(2).locator(".detail")).to_be_visible()
    expect(page.locator(".pick:checked")).to_have_count(2)
    page.keyboard.type("r")
    for n, status in enumerate(("rejected", "candidate", "rejected", "candidate")):
        expect(rows.nth(n)).to_have_attribute("data-status", status)
    expect(rows.nth(3)).to_be_focused()
    expect(page.locator(".pick:checked")).to_have_count(0)
    expect(page.locator("#progress")).to_contain_text(f"{left - 2:,}")
    assert [term_of(vertical, name).status for name in names[:3:2]] == [TermStatus.REJECTED] * 2
    page.keyboard.type("u")
    expect(rows.nth(0)).to_have_attribute("data-status", "candidate")
    assert statuses(vertical, names) == [TermStatus.CANDIDATE] * 4
    page.keyboard.type("c")
    page.keyboard.type("是否术语？")
    rows.nth(0).locator(".comments > form button").click()
    expect(rows.nth(0).locator(".comments li p")).to_have_text("是否术语？")
    expect(rows.nth(0).locator(".comment-count")).to_contain_text("1")
    assert faults(page) == [] and page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    rows.nth(1).locator(".pick").check()
    page.locator(".bulk [name=reviewer]").select_option(ACCOUNT)
    page.locator(".bulk .assign").click()
    expect(rows.locator(".assigned")).to_have_count(1)
    page.locator("#assigned-to-me").click()
    expect(rows.locator("h2 bdi")).to_have_text([names[1]])
    [comment] = vertical.engine.store.term_comments.find(names)[names[0]]
    operate(vertical.engine.store, "term_comment_remove", ACCOUNT, comment_id=comment.comment_id)
    operate(vertical.engine.store, "term_assign", ACCOUNT, reviewers=dict.fromkeys(names, ""))
