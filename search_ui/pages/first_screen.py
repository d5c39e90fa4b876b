"""What the home page shows of the vertical: its terms, its sections, its newest articles. Pure."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from docstore import fields
from search_ui.query.clauses import EVERYTHING, Clause, Parameter, Params, select_params
from search_ui.query.results import Facet, Hit, facets_of, hits_without_marks, own_of_a_site, values_in
from search_ui.query.solr_client import Answer
from search_ui.query.solr_params import EXACT, MAX_SITES, OF_SITE
from search_ui.query.texts import shown
from search_ui.settings import SearchSettings
from text.folding import word_key
from text.segment import Segmenter, cut_finely, is_in_dictionary
from text.titles import title_key

TERMS = 12
MAX_SECTIONS = 12
NEWEST = 6
LOOKED_AT = 80  # terms of which those are chosen

# The hundred most frequent surnames; of names that a segmenter does not know as such, the beginning.
_SURNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘蒋蔡余杜叶程苏魏"
    "吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤"
)
_PEOPLE = re.compile("人员|人士|工程师|专家|职工|员工|记者|作者|编辑|领导|同志")
_PERSON, _ADJECTIVE = "nr", "a"  # what jieba's tags begin with


def front_params() -> Params:
    """What asks for the terms that most documents hold, and for sections."""
    once = {"facet": {"n": f"unique({fields.CLUSTER})"}}
    facets = {
        "terms": {"type": "terms", "field": fields.DOMAIN_TERMS, "limit": LOOKED_AT, **EXACT, **once},
        "sections": {
            "type": "terms", "field": fields.SECTION, "limit": 2 * MAX_SECTIONS, **EXACT,
            "facet": {"n": f"unique({fields.CLUSTER})", **OF_SITE},
        },
        "sections_of_sites": {"type": "terms", "field": fields.SITE, "limit": MAX_SITES, **EXACT},
    }  # fmt: skip
    return select_params(EVERYTHING, facets=facets)


def newest_params(terms: Sequence[str]) -> Params:
    """What asks for the newest articles, near-duplicates once, and how many titles begin with each of `terms`.

    A day that is still to come is a mistake.
    """
    order = f"{fields.PUBLISHED} desc,{fields.ID} asc"
    shown = (fields.ID, fields.URL, fields.SITE, fields.TITLE, fields.PUBLISHED_TEXT, fields.PICTURE, fields.CLUSTER)
    keys = [Parameter(f"term{n}", title_key(term)) for n, term in enumerate(terms)]
    starts = {key.name: Clause("prefix", (("f", fields.TITLE_KEY), ("v", key))) for key in keys}
    all_of = {"query": EVERYTHING.syntax()}
    facets = {name: {"type": "query", "q": clause.syntax(), "domain": all_of} for name, clause in starts.items()}
    more = [pair for key in keys for pair in key.params()]
    published = Clause(rest=f"{fields.PUBLISHED}:[* TO NOW+1DAY]")
    return select_params(published, [Clause.one_of_each_cluster(order)], NEWEST, shown, order, facets, more)


def sections_of(answer: Answer) -> tuple[Facet, ...]:
    """The sections of the vertical, most articles first; () where there is no choice."""
    own = own_of_a_site(answer, "sections")
    found = [pair for pair in values_in(answer, "sections") if pair[0] not in own][:MAX_SECTIONS]
    return facets_of([(value, shown(value), count) for value, count in found]) if len(found) > 1 else ()


def newest_of(answer: Answer, settings: SearchSettings) -> tuple[Hit, ...]:
    """Read Solr's answer to `newest_params`. A picture that two of them have is the site's."""
    hits = hits_without_marks(answer, settings)
    pictures = Counter(hit.picture for hit in hits)
    return tuple(hit if pictures[hit.picture] == 1 else replace(hit, picture="") for hit in hits)


def front_terms(answer: Answer, names: Collection[str], base: Segmenter) -> dict[str, int]:
    """Terms of the domain with the documents that hold them, most first: no names of persons, sections and sites.

    `names` are those of the sites; `base` is the base dictionary's segmenter.
    """
    sections = (section for section, _ in values_in(answer, "sections"))
    called = {word_key(name) for name in (*names, *sections)}
    terms = values_in(answer, "terms")
    kept = [(term, n) for term, n in terms if word_key(term) not in called and is_domain_term(term, base)]
    return dict(kept[: 2 * TERMS])


def without_rubrics(terms: Mapping[str, int], newest: Answer) -> tuple[str, ...]:
    """The first of the terms, but for those with which most titles of their articles begin (`图片新闻：…`): they name a
    column and not a thing. `newest` is the answer to `newest_params`.
    """
    begin = [int(newest.get("facets", {}).get(f"term{n}", {}).get("count", 0)) for n in range(len(terms))]
    pairs = zip(terms.items(), begin, strict=True)
    return tuple(shown(term) for (term, documents), titles in pairs if 2 * titles <= documents)[:TERMS]


def is_domain_term(term: str, base: Segmenter) -> bool:
    """Is it a thing of the domain: no person, and nothing that only says how something is (`周期长`)?"""
    if _PEOPLE.search(term):
        return False
    tagged = base.tag(term)
    if _is_name(term, tagged):
        return False
    return not _is_quality(term, base)


def _is_quality(term: str, base: Segmenter) -> bool:
    """Does it end in an adjective? 周期长 does, which the dictionary has as a word; 埋深 is a depth."""
    is_split = len(term) > 2 and is_in_dictionary(term[:-1])
    last = term[-1] if is_split else cut_finely(term)[-1]
    return len(term) - len(last) != 1 and base.tag(last)[-1][1].startswith(_ADJECTIVE)


def _is_name(term: str, tagged: Sequence[tuple[str, str]]) -> bool:
    """A name that no dictionary has, as a segmenter tags it, or a surname and what goes with it.

    What is in the dictionary is none, though many a mineral is tagged so there (石英).
    """
    if is_in_dictionary(term):
        return False
    named = [tag.startswith(_PERSON) for _, tag in tagged]
    is_surname_alone = len(tagged) == 2 and len(tagged[0][0]) == 1
    return all(named) or (len(term) <= 3 and term[0] in _SURNAMES and (any(named) or is_surname_alone))
