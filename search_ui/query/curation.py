"""Applies the rules of editors to a search.

Rules are found by the query in memory. They become parts of the Solr requests, so that counts, pages, export, feeds and
API obey them: hidden articles are filtered out, raised and lowered ones have another score, and pinned ones match and
rank above all others. Sorted by date, only hidden articles differ.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from domain.curation import CurationAction, CurationRule
from domain.errors import PlumblineError
from search_ui.query.query_words import Thesaurus
from search_ui.query.ranking import constant_score
from search_ui.query.search_request import SearchRequest
from search_ui.query.solr_query import QueryParam, SolrQuery
from solr_client import solr_fields
from text.folding import query_key

SCORE_FACTORS: Mapping[CurationAction, float] = {CurationAction.RAISE: 3.0, CurationAction.LOWER: 0.2}
PIN_SCORE = 8192.0  # more than all other scores together; a multiple of `FULL_MATCH_SCORE`


@dataclass(frozen=True)
class Curation:
    """The rules that apply to one search, by article; pinned articles in the order of their rules."""

    rule_by_id: Mapping[str, CurationRule] = field(default_factory=dict)

    def ids(self, *actions: CurationAction) -> tuple[str, ...]:
        """Return the ids of the articles whose rules have one of these actions."""
        return tuple(doc_id for doc_id, rule in self.rule_by_id.items() if rule.action in actions)

    def score_factor(self, doc_id: str) -> float:
        """Return by what the score of an article is multiplied."""
        rule = self.rule_by_id.get(doc_id)
        return SCORE_FACTORS.get(rule.action, 1.0) if rule else 1.0

    def without(self, doc_id: str) -> "Curation":
        """Return the rules of the other articles."""
        return Curation({other_id: rule for other_id, rule in self.rule_by_id.items() if other_id != doc_id})

    def with_rule(self, rule: CurationRule) -> "Curation":
        """Return the rules with another one for its article."""
        return Curation({**self.rule_by_id, rule.doc_id: rule})

    def articles_clause(self, name: str, *actions: CurationAction) -> QueryParam:
        """Build the query `name` that matches the articles of these actions."""
        return QueryParam(name, SolrQuery.terms(solr_fields.ID, f"{name}_ids", self.ids(*actions), separator=","))

    def rank(self, ranking: SolrQuery) -> SolrQuery:
        """Return a ranking query with other scores for raised, lowered and pinned articles."""
        for action, factor in SCORE_FACTORS.items():
            if self.ids(action):
                articles = self.articles_clause(f"{action}_articles", action)
                function = replace(articles, template=f"'if(exists(query($)),{factor:g},1)'")
                ranking = SolrQuery("boost", (("b", function), ("v", QueryParam(f"before_{action}", ranking))))
        pinned_ids = self.ids(CurationAction.PIN)
        pins = [
            QueryParam(
                f"pin{n}",
                constant_score(
                    QueryParam(f"pinned{n}", SolrQuery.term(solr_fields.ID, f"pin{n}_id", doc_id)),
                    PIN_SCORE * (len(pinned_ids) - n),
                ),
            )
            for n, doc_id in enumerate(pinned_ids)
        ]
        return SolrQuery.boolean([*pins, QueryParam("not_pinned", ranking)]) if pins else ranking


NO_CURATION = Curation()


class CurationRules:
    """All rules of a site, by query."""

    def __init__(self, rules: Sequence[CurationRule] = ()) -> None:
        self._rules_by_key: dict[str, list[CurationRule]] = defaultdict(list)
        for rule in rules:
            self._rules_by_key[rule.query_key].append(rule)

    def find(self, query: str, thesaurus: Thesaurus) -> list[CurationRule]:
        """Return the rules of a query, those of its synonyms last, expired ones included."""
        key = query_key(query)
        rules = [*self._rules_by_key.get(key, ())]
        for synonym in thesaurus.find_synonyms(key):
            rules += [rule for rule in self._rules_by_key.get(query_key(synonym), ()) if rule.with_synonyms]
        return rules

    def curate(self, request: SearchRequest, thesaurus: Thesaurus, now: float) -> Curation:
        """Return the rules that apply to a search at a time in epoch seconds.

        A rule of the query itself precedes those of synonyms about the same article.
        """
        rule_by_id: dict[str, CurationRule] = {}
        for rule in self.find(request.raw_query, thesaurus):
            if not rule.has_expired(now) and (request.is_ranked or rule.action is CurationAction.HIDE):
                rule_by_id.setdefault(rule.doc_id, rule)
        in_order = sorted(rule_by_id.values(), key=lambda rule: (rule.created_at, rule.rule_id))
        return Curation({rule.doc_id: rule for rule in in_order}) if in_order else NO_CURATION


class CurationCache:
    """Holds the rules of a site between requests. Thread-safe."""

    def __init__(self) -> None:
        self._cached: tuple[object, CurationRules] = (None, CurationRules())

    def get_rules(
        self, load_revision: Callable[[], object], load_rules: Callable[[], Sequence[CurationRule]]
    ) -> CurationRules:
        """Return the rules, loaded again if their revision has changed; those of before if the store fails."""
        with suppress(PlumblineError):
            revision = load_revision()
            if self._cached[0] != revision:
                self._cached = (revision, CurationRules(load_rules()))
        return self._cached[1]
