"""Builds the ranking query of each ranking profile.

The scores of the fields are summed and terms are OR-ed (docs/background/ranking.md). A profile defines the fields.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from search_ui.query.full_matches import (
    MAX_STEMMED_PARTS,
    all_parts,
    all_parts_query,
    content_parts,
    find_stem_fields,
)
from search_ui.query.solr_client import documents
from search_ui.query.solr_query import (
    FieldClause,
    Params,
    QueryParam,
    QueryTexts,
    QueryVariant,
    QueryWords,
    SolrQuery,
    quote_phrases,
    select_params,
)
from search_ui.query.thesaurus import list_synonyms
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
    semantic_weight: float = 0.0


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


def build_rank_query(text: str, words: QueryWords, profile: str) -> SolrQuery:
    """Build the query that matches and ranks by `profile`, with the authority boost if the profile has one."""
    sum_query = SolrQuery.boolean(_iter_score_clauses(PROFILES[profile], text, words))
    if not (weight := PROFILES[profile].authority_weight):
        return sum_query
    boost_function = f"'sum(1,product({weight:g},{solr_fields.AUTHORITY}))'"
    return SolrQuery("boost", (("b", boost_function), ("v", QueryParam("matched", sum_query))))


def _iter_score_clauses(profile: RankingProfile, text: str, words: QueryWords) -> Iterator[QueryParam]:
    """Yield the clauses whose scores are summed. A clause without weight in the profile or without words is skipped.

    Args:
        profile: the weights.
        text: the query as typed, without operators.
        words: the words of the query, in each form that the caller provides.
    """
    texts = build_query_texts(text, words)
    active_clauses = [
        clause
        for clause in profile.field_clauses
        if clause.variant is not QueryVariant.LEXICON_TERMS or _lexicon_only_words(words)
    ]
    yield from _numbered_params("clause", active_clauses, texts)
    if profile.title_clauses:
        titles = _numbered_params("title", profile.title_clauses, texts)
        # Parts of a work repeat its title. `must_not` is an option of {!bool ...}, so its value needs quotes.
        yield QueryParam("titles", SolrQuery.boolean(titles, must_not=[f"'{WORK_PARTS_QUERY}'"]))
    if weight := profile.exact_title_weight:
        yield QueryParam("title_phrase", SolrQuery.phrases(f"{solr_fields.TITLE_CHARS}^{weight:g}", "quoted", [text]))
    if profile.exact_title_first and title_lookup_keys(text):
        # TITLE_KEY contains both forms of each title. An exact title matches both clauses and so comes first.
        for variant in (QueryVariant.TITLE_KEY, QueryVariant.TITLE_EXACT):
            yield QueryParam(
                f"equal_{variant}", FieldClause(variant, ((solr_fields.TITLE_KEY, _TOP_SCORE),)).to_query(texts)
            )
    if (weight := profile.all_parts_score) and 1 < len(all_parts(words)) <= MAX_ALL_PARTS:
        yield QueryParam("all_parts_score", _constant_score(all_parts_query(words), weight))
    if (weight := profile.exact_words_score) and 0 < len(words.get(QueryVariant.BASE, ())) <= MAX_ALL_PARTS:
        exact_words = SolrQuery.simple(_BASE_FIELDS, texts[QueryVariant.BASE], "AND", "''")
        yield QueryParam("exact_words_score", _constant_score(QueryParam("exact_words", exact_words), weight))
    if profile.number_weight and extract_numbers(text):
        number_clause = FieldClause(QueryVariant.NUMBERS, ((solr_fields.TITLE_NUMBERS, profile.number_weight),))
        yield QueryParam("title_numbers", number_clause.to_query(texts))
    has_stems = profile.stem_weight and len(content_parts(words)) <= MAX_STEMMED_PARTS
    if has_stems and (stem_fields := find_stem_fields(text)):
        weighted_fields = " ".join(f"{name}^{profile.stem_weight:g}" for name in stem_fields.split())
        yield QueryParam("stems_match", SolrQuery.simple(weighted_fields, texts[QueryVariant.TEXT], "OR", "''"))
    if (weight := profile.synonym_weight) and list_synonyms(words.get(QueryVariant.SYNONYMS, ())):
        yield QueryParam(
            "synonym_match", SolrQuery.simple(f"{solr_fields.BODY_CHARS}^{weight:g}", texts[QueryVariant.SYNONYMS])
        )
    if profile.work_weight and words.get(QueryVariant.WORK_BOOSTS):
        options = (("df", solr_fields.WORK_ID), ("q.op", "OR"), ("v", texts[QueryVariant.WORK_BOOSTS]))
        yield QueryParam("work_boost", SolrQuery("lucene", options))


def _constant_score(param: QueryParam, score: float) -> SolrQuery:
    """Build the query that matches as `param` does, each document with the same score.

    `{!v=$name}` means: the query in the parameter `name`. As `_query_:"..."^=10` it becomes a clause of the lucene
    parser with a constant score of 10. The single quotes delimit the value of the option `v`.
    """
    return SolrQuery("lucene", (("v", replace(param, template=f"'_query_:\"{{!v=$}}\"^={score:g}'")),))


def _numbered_params(name: str, clauses: Sequence[FieldClause], texts: QueryTexts) -> list[QueryParam]:
    return [QueryParam(f"{name}{n}", clause.to_query(texts)) for n, clause in enumerate(clauses)]


WORK_PARTS_EXAMINED = 200  # parts that are scored to find the works that match
BEST_PARTS_PER_WORK = 10  # parts of a work whose scores are averaged
MAX_WORKS = 20
_WORK_ID_RE = re.compile("[0-9a-f]{16}")


def works_params(text: str, profile: str) -> Params:
    """Build the request for the best parts of works, for `parse_work_boosts`.

    Scores body bigrams only, with minExactCount=200, so it costs little. Returns [] if the profile has no work weight
    or the query has no text.
    """
    if not PROFILES[profile].work_weight or not text:
        return []
    bigram_query = _BODY_BIGRAM_CLAUSE.to_query(
        {_BODY_BIGRAM_CLAUSE.variant: QueryParam(_BODY_BIGRAM_CLAUSE.variant, _strip_quotes(text))}
    )
    parts = SolrQuery(body=WORK_PARTS_QUERY)
    return select_params(
        bigram_query,
        [parts],
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


def build_query_texts(text: str, words: QueryWords) -> QueryTexts:
    """Build the text of each form of a query."""
    texts = {
        QueryVariant.TEXT: _strip_quotes(" ".join(words.get(QueryVariant.TEXT, (text,)))),
        QueryVariant.NUMBERS: " ".join(extract_numbers(text)),
        **dict(zip((QueryVariant.TITLE_KEY, QueryVariant.TITLE_EXACT), title_lookup_keys(text), strict=False)),
        QueryVariant.DOMAIN: join_words(words.get(QueryVariant.DOMAIN, ())),
        QueryVariant.BASE: join_words(words.get(QueryVariant.BASE, ())),
        QueryVariant.LEXICON_TERMS: join_words(_lexicon_only_words(words)),
        QueryVariant.SYNONYMS: quote_phrases(list_synonyms(words.get(QueryVariant.SYNONYMS, ()))),
        QueryVariant.WORK_BOOSTS: " ".join(words.get(QueryVariant.WORK_BOOSTS, ())),
    }
    return {variant: QueryParam(variant, variant_text) for variant, variant_text in texts.items()}


def _lexicon_only_words(words: QueryWords) -> list[str]:
    """Return the words of the query by the lexicon that are not words of it by the base dictionary."""
    base_words = frozenset(words.get(QueryVariant.BASE, ()))
    return [word for word in words.get(QueryVariant.DOMAIN, ()) if word not in base_words]


def _strip_quotes(text: str) -> str:
    """Return `text` without the quotation marks of phrases."""
    return QUOTED_RE.sub(r" \1 ", text)
