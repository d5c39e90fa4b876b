"""Builds the ranking query of each ranking profile.

The scores of the fields are summed and terms are OR-ed (docs/background/ranking.md). A profile defines the fields.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from search_ui.query.full_matches import MAX_STEMMED_PARTS, all_parts_query, find_stem_fields
from search_ui.query.query_words import QueryWords
from search_ui.query.solr_client import documents
from search_ui.query.solr_query import (
    FieldClause,
    Params,
    QueryParam,
    QueryVariant,
    SolrQuery,
    quote_phrases,
    select_params,
)
from solr_client import solr_fields
from text.solr_words import join_words
from text.titles import extract_numbers, title_lookup_keys


@dataclass(frozen=True)
class RankingProfile:
    """The weights of one ranking profile.

    The final score is the sum of all clauses, multiplied by (1 + `authority_weight` * authority of the document).

    Attributes:
        field_clauses: Fields and forms of the query that are always scored.
        title_clauses: Title fields. Skipped for documents that are part of a work, such as the articles of a law: all
            of them have the law's name as title.
        work_weight: Weight of the mean score of the best documents of the same work (`parse_work_boosts`).
        exact_title_weight: Weight of a title that contains the query as one phrase.
        synonym_weight: Weight of a body that contains a synonym of a query term.
        stem_weight: Weight of another form of a word, in languages with a field of stems.
        number_weight: Weight of a title that contains a number of the query.
        all_parts_score: Score added to a document that contains every content word.
        exact_words_score: Score added to a document that contains every word in the spelling of the query.
        exact_title_first: Whether documents whose whole title equals the query come first.
        authority_weight: Weight of the citations by other documents (`solr_fields.AUTHORITY`).
        recency_score: Score added to an article of today if the query asks for new ones.
        year_score: Score added to an article of a year in the query.
        semantic_weight: Weight of the cosine similarity (`search_ui.query.semantic.hybrid`).
    """

    field_clauses: tuple[FieldClause, ...]
    title_clauses: tuple[FieldClause, ...] = ()
    work_weight: float = 0.0
    exact_title_weight: float = 0.0
    synonym_weight: float = 0.0
    stem_weight: float = 0.0
    number_weight: float = 0.0
    all_parts_score: float = 0.0
    exact_words_score: float = 0.0
    exact_title_first: bool = False
    authority_weight: float = 0.0
    recency_score: float = 0.0
    year_score: float = 0.0
    semantic_weight: float = 0.0

    def scores(self, variant: QueryVariant) -> bool:
        """Return True if a form of the query is always scored."""
        return any(clause.variant is variant for clause in self.field_clauses)


QUOTED_RE = re.compile(r'["“]([^"“”]+)["”]')
_TITLE_WEIGHT = 0.3  # a higher weight lowers the quality where works and single pages are not distinguished
BIGRAM_CLAUSE = FieldClause(QueryVariant.TEXT, ((solr_fields.TITLE, _TITLE_WEIGHT), (solr_fields.BODY, 1.0)))
_BODY_BIGRAM_CLAUSE = FieldClause(QueryVariant.TEXT, ((solr_fields.BODY, 1.0),))

PROFILES: Mapping[str, RankingProfile] = {
    # The weights were fitted on the queries of docs/background/ranking.md, all collections together.
    "plumbline": RankingProfile(
        (
            _BODY_BIGRAM_CLAUSE,
            FieldClause(QueryVariant.TEXT, ((solr_fields.BODY_CHARS, 1.75),)),
            FieldClause(QueryVariant.BASE, ((solr_fields.BODY_BASE, 1.0),)),
            FieldClause(QueryVariant.LEXICON_TERMS, ((solr_fields.BODY_DOMAIN, 0.1),)),
        ),
        title_clauses=(
            FieldClause(QueryVariant.TEXT, ((solr_fields.TITLE, 2.0),)),
            FieldClause(QueryVariant.BASE, ((solr_fields.TITLE_BASE, 0.5),)),
        ),
        work_weight=1.0,
        exact_title_weight=0.5,
        synonym_weight=0.5,
        stem_weight=0.5,
        number_weight=4.0,
        all_parts_score=10.0,
        exact_words_score=6.0,
        exact_title_first=True,
        authority_weight=0.06,
        recency_score=30.0,
        year_score=5.0,
        semantic_weight=1.0,
    ),
    "bigram": RankingProfile((BIGRAM_CLAUSE,)),
    # The two sides of the comparison search (Wang Du 2019, WD-S3): words only.
    "domain": RankingProfile(
        (FieldClause(QueryVariant.DOMAIN, ((solr_fields.TITLE_DOMAIN, _TITLE_WEIGHT), (solr_fields.BODY_DOMAIN, 1.0))),)
    ),
    "base": RankingProfile(
        (FieldClause(QueryVariant.BASE, ((solr_fields.TITLE_BASE, _TITLE_WEIGHT), (solr_fields.BODY_BASE, 1.0))),)
    ),
}


WORK_PARTS_QUERY = f"{solr_fields.WORK_ID}:[* TO *]"
_BASE_FIELDS = f"{solr_fields.TITLE_BASE} {solr_fields.BODY_BASE}"
_TOP_SCORE = 100.0  # more than the sum of all other scores
EXACT_TITLE_PARAM = f"equal_{QueryVariant.TITLE_KEY}"
"""The parameter with the clause that matches titles equal to the query. Only queries with a title key have it."""
MAX_ALL_PARTS = 12  # no document contains all words of a longer query


def build_rank_query(words: QueryWords, profile: str) -> SolrQuery:
    """Build the query that matches and ranks by `profile`, with the authority boost if the profile has one."""
    sum_query = SolrQuery.boolean(_iter_score_clauses(PROFILES[profile], words))
    if time_scores := _build_time_scores(words, PROFILES[profile]):
        sum_query = SolrQuery.boolean(time_scores, must=[QueryParam("timeless", sum_query)])
    if not (weight := PROFILES[profile].authority_weight):
        return sum_query
    boost_function = f"'sum(1,product({weight:g},{solr_fields.AUTHORITY}))'"
    return SolrQuery("boost", (("b", boost_function), ("v", QueryParam("matched", sum_query))))


def _build_time_scores(words: QueryWords, profile: RankingProfile) -> list[QueryParam]:
    """Build the queries whose scores favour new articles, or those of the years in the query. They match everything."""
    functions = (
        [f"recip(max(0,ms(NOW/DAY,{solr_fields.PUBLISHED})),{1 / (366 * _DAY_MS):.4g},{score:g},1)"]
        if (score := profile.recency_score) and words.wants_recent
        else []
    )
    functions += [
        f"map(ms({solr_fields.PUBLISHED},{year}-01-01T00:00:00Z),0,{_year_ms(year) - 1},{profile.year_score:g},0)"
        for year in (words.years if profile.year_score else ())
    ]
    return [
        QueryParam(f"time{n}", SolrQuery("func", body=f"if(exists({solr_fields.PUBLISHED}),{function},0)"))
        for n, function in enumerate(functions)
    ]


_DAY_MS = 24 * 3600 * 1000


def _year_ms(year: int) -> int:
    """Return the length of a year in milliseconds."""
    return (date(year + 1, 1, 1) - date(year, 1, 1)).days * _DAY_MS


def _iter_score_clauses(profile: RankingProfile, words: QueryWords) -> Iterator[QueryParam]:
    """Yield the clauses whose scores are summed. A clause without weight in the profile or without words is skipped."""
    lexicon_terms = [word for word in words.domain if word not in words.base]
    texts = {
        QueryVariant.TEXT: plain_text(words),
        QueryVariant.DOMAIN: join_words(words.domain),
        QueryVariant.BASE: join_words(words.base),
        QueryVariant.LEXICON_TERMS: join_words(lexicon_terms),
    }
    for n, clause in enumerate(profile.field_clauses):
        if clause.variant is not QueryVariant.LEXICON_TERMS or lexicon_terms:
            yield QueryParam(f"clause{n}", clause.to_query(texts[clause.variant]))
    if profile.title_clauses:
        titles = [
            QueryParam(f"title{n}", clause.to_query(texts[clause.variant]))
            for n, clause in enumerate(profile.title_clauses)
        ]
        # Parts of a work repeat its title. `must_not` is an option of {!bool ...}, so its value needs quotes.
        yield QueryParam("titles", SolrQuery.boolean(titles, must_not=[f"'{WORK_PARTS_QUERY}'"]))
    if weight := profile.exact_title_weight:
        title_field = f"{solr_fields.TITLE_CHARS}^{weight:g}"
        yield QueryParam("title_phrase", SolrQuery.phrases(title_field, "quoted", [words.typed]))
    if profile.exact_title_first:
        # TITLE_KEY contains both forms of each title. An exact title matches both clauses and so comes first.
        for variant, key in zip(
            (QueryVariant.TITLE_KEY, QueryVariant.TITLE_EXACT), title_lookup_keys(words.typed), strict=False
        ):
            yield QueryParam(
                f"equal_{variant}", FieldClause(variant, ((solr_fields.TITLE_KEY, _TOP_SCORE),)).to_query(key)
            )
    if (weight := profile.all_parts_score) and 1 < len(words.content) + len(words.residual_chars) <= MAX_ALL_PARTS:
        yield QueryParam("all_parts_score", constant_score(all_parts_query(words), weight))
    if (weight := profile.exact_words_score) and 0 < len(words.base) <= MAX_ALL_PARTS:
        base_param = QueryParam(QueryVariant.BASE, texts[QueryVariant.BASE])
        exact_words = SolrQuery.simple(_BASE_FIELDS, base_param, "AND", "''")
        yield QueryParam("exact_words_score", constant_score(QueryParam("exact_words", exact_words), weight))
    if profile.number_weight and (numbers := extract_numbers(words.typed)):
        number_clause = FieldClause(QueryVariant.NUMBERS, ((solr_fields.TITLE_NUMBERS, profile.number_weight),))
        yield QueryParam("title_numbers", number_clause.to_query(" ".join(numbers)))
    has_stems = profile.stem_weight and len(words.content) <= MAX_STEMMED_PARTS
    if has_stems and (stem_fields := find_stem_fields(words.typed)):
        stems = FieldClause(QueryVariant.TEXT, tuple((name, profile.stem_weight) for name in stem_fields.split()))
        yield QueryParam("stems_match", stems.to_query(texts[QueryVariant.TEXT]))
    if (weight := profile.synonym_weight) and words.synonyms:
        synonyms = QueryParam(QueryVariant.SYNONYMS, quote_phrases(words.synonyms))
        yield QueryParam("synonym_match", SolrQuery.simple(f"{solr_fields.BODY_CHARS}^{weight:g}", synonyms))
    if profile.work_weight and words.work_boosts:
        works = QueryParam(QueryVariant.WORK_BOOSTS, " ".join(words.work_boosts))
        yield QueryParam("work_boost", SolrQuery("lucene", (("df", solr_fields.WORK_ID), ("q.op", "OR"), ("v", works))))


def constant_score(param: QueryParam, score: float) -> SolrQuery:
    """Build the query that matches as `param` does, each document with the same score.

    `{!v=$name}` means: the query in the parameter `name`. As `_query_:"..."^=10` it becomes a clause of the lucene
    parser with a constant score of 10. The single quotes delimit the value of the option `v`.
    """
    return SolrQuery("lucene", (("v", replace(param, template=f"'_query_:\"{{!v=$}}\"^={score:g}'")),))


WORK_PARTS_EXAMINED = 200  # parts that are scored to find the works that match
BEST_PARTS_PER_WORK = 10  # parts of a work whose scores are averaged
MAX_WORKS = 20
_WORK_ID_RE = re.compile("[0-9a-f]{16}")


def works_params(words: QueryWords, profile: str) -> Params:
    """Build the request for the best parts of works, for `parse_work_boosts`.

    Scores body bigrams only, with minExactCount=200, so it costs little. Returns [] if the profile has no work weight
    or the query has no text.
    """
    if not PROFILES[profile].work_weight or not words.text:
        return []
    return select_params(
        _BODY_BIGRAM_CLAUSE.to_query(plain_text(words)),
        [SolrQuery(body=WORK_PARTS_QUERY)],
        WORK_PARTS_EXAMINED,
        (solr_fields.WORK_ID, "score"),
        extra_params=[("minExactCount", str(WORK_PARTS_EXAMINED))],
    )


def parse_work_boosts(answer: Mapping[str, Any], profile: str) -> tuple[str, ...]:
    """Return the works that match best, each as id and weight, best first, for `QueryVariant.WORK_BOOSTS`.

    The weight of a work is the mean score of its ten best parts. Missing parts count as 0, so that one part that
    matches by chance adds little. `answer` is the response to `works_params`.
    """
    scores: dict[str, list[float]] = defaultdict(list)
    for doc in documents(answer):
        scores[str(doc[solr_fields.WORK_ID])].append(float(doc["score"]))
    weight_by_work = {
        work: sum(sorted(part_scores)[-BEST_PARTS_PER_WORK:]) / BEST_PARTS_PER_WORK
        for work, part_scores in scores.items()
    }
    best_works = sorted(
        (work for work in weight_by_work if _WORK_ID_RE.fullmatch(work)), key=lambda work: (-weight_by_work[work], work)
    )
    return tuple(
        f"{work}^={weight_by_work[work] * PROFILES[profile].work_weight:.4f}" for work in best_works[:MAX_WORKS]
    )


def plain_text(words: QueryWords) -> str:
    """Return the text of a query without question words and without the quotation marks of phrases."""
    return QUOTED_RE.sub(r" \1 ", words.text)
