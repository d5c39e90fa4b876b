"""What the next lexicon version would do, before it is published.

Documents are not cut by it yet. So a search as it will be asks for a word that only the next version has as a run of
characters, with the weight that makes it count what one word in so many documents counts: the sum of the idf of its
characters, which Solr takes for a run (BM25), is brought down to the idf of the word.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from docstore import fields
from docstore.model import Lexicon
from search_ui.pages.searcher import Searcher, Words, finder
from search_ui.query.clauses import Clause, Parameter, QueryVariant, select_params
from search_ui.query.ranking import PROFILES, term_weight
from search_ui.query.request import SearchRequest
from search_ui.query.solr_client import Search
from search_ui.query.solr_params import hits_params, words_of
from search_ui.query.texts import searchable, shown
from search_ui.query.thesaurus import synonym_groups, thesaurus_of
from search_ui.review.actions import VersionChange, VersionProposal
from text.segment import RjiebaSegmenter, Segmenter

SHOWN = 10  # results on each side
DEPTH = 100  # results among which the places of the other side are looked up
MAX_FRESH = 8  # words of a query that only the next version has


@dataclass(frozen=True)
class SentenceCut:
    """A change of the lexicon, and a sentence that shows it, cut before and after."""

    change: VersionChange
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True)
class PreviewHit:
    """A result with its place now and in the next version, from 1; None if that is not among the first hundred."""

    doc_id: str
    title: str
    now: int | None
    then: int | None


@dataclass(frozen=True)
class PreviewResults:
    """The first ten results as they are (`now`) and as they would be (`then`), and the words of the query each time."""

    words_now: tuple[str, ...]
    words_then: tuple[str, ...]
    now: tuple[PreviewHit, ...]
    then: tuple[PreviewHit, ...]


def sentence_cuts(proposal: VersionProposal, base: Segmenter, most: int) -> list[SentenceCut]:
    """The first `most` changes with their sentences; a word of which no sentence is known stands for itself."""
    old = _segmenter(proposal.published, base)
    return [
        SentenceCut(change, tuple(map(shown, old.cut(text))), tuple(map(shown, proposal.segmenter.cut(text))))
        for change, text in ((change, sentence or change.text) for change, sentence in proposal.changes[:most])
    ]


def _segmenter(lexicon: Lexicon, base: Segmenter) -> Segmenter:
    if not lexicon.entries:
        return base
    return RjiebaSegmenter((entry.text, entry.frequency, entry.tag) for entry in lexicon.entries)


def ranked_changes(proposal: VersionProposal, query: str) -> PreviewResults | None:
    """The search for `query` now and then. None if there is nothing in it to look for.

    Raises what `Search.select` raises.
    """
    find = finder()
    text = searchable(query, find.settings.longest_query)
    if not text:
        return None
    asked = SearchRequest(typed=query, text=text, profile=find.settings.profile)
    now = find.words(asked)
    then = words_then(asked, now, proposal)
    found = (_found(find, asked, now, []), _found(find, asked, then, fresh_words(now, then)))
    places = [{doc_id: n for n, (doc_id, _) in enumerate(side, start=1)} for side in found]
    sides = [
        tuple(PreviewHit(doc_id, title, places[0].get(doc_id), places[1].get(doc_id)) for doc_id, title in side[:SHOWN])
        for side in found
    ]
    return PreviewResults(now[QueryVariant.DOMAIN], then[QueryVariant.DOMAIN], *sides)


def words_then(asked: SearchRequest, now: Words, proposal: VersionProposal) -> Words:
    """The query as the next version cuts it, with its synonyms."""
    cut = words_of(asked.query.text, proposal.segmenter)
    synonyms = synonym_groups(asked.query, cut, thesaurus_of(proposal.lexicon))
    return {
        **now,
        QueryVariant.DOMAIN: cut,
        QueryVariant.OLDER: (),
        QueryVariant.FRESH: (),
        QueryVariant.SYNONYMS: synonyms,
    }


def fresh_words(now: Words, then: Words) -> list[str]:
    """The words of the query that documents are not cut into yet: the base dictionary and this version have others."""
    known = {*now[QueryVariant.DOMAIN], *now.get(QueryVariant.OLDER, ()), *now.get(QueryVariant.BASE, ())}
    return [word for word in dict.fromkeys(then[QueryVariant.DOMAIN]) if word not in known][:MAX_FRESH]


def _found(find: Searcher, asked: SearchRequest, words: Words, fresh: Sequence[str]) -> list[tuple[str, str]]:
    """Ids and titles of the results, best first."""
    summands = fresh_summands(asked.profile, fresh, find.search)
    params = hits_params(asked, words, DEPTH, shown=(fields.ID, fields.TITLE), summands=summands)
    docs = find.search.select(params).get("response", {}).get("docs", ())
    return [(str(doc[fields.ID]), shown(str(doc.get(fields.TITLE, "")))) for doc in docs]


def fresh_summands(profile: str, fresh: Sequence[str], search: Search) -> list[Parameter]:
    """What is added to the score for words that no document is cut into yet; [] where the profile has no words."""
    weight = term_weight(PROFILES[profile])
    weighted = [(word, f"{fields.BODY_CHARS}^{weight * idf_ratio(search, word):.4f}") for word in fresh if weight]
    runs = (Clause.phrases(body, f"fresh{n}_text", [word]) for n, (word, body) in enumerate(weighted))
    return [Parameter(f"fresh{n}", run) for n, run in enumerate(runs)]


def idf_ratio(search: Search, word: str) -> float:
    """The idf of a word by the documents that hold it as a run, over the sum of that of its characters; at most 1."""
    characters = {f"char{n}": char for n, char in enumerate(word.lower()) if not char.isspace()}
    fl = ["documents:numdocs()", *(f"{name}_df:docfreq({fields.BODY_CHARS},${name})" for name in characters)]
    run = Clause.phrases(fields.BODY_CHARS, "quoted", [word])
    found = search.select(select_params(run, rows=1, fl=fl, more=characters.items())).get("response", {})
    docs: Sequence[Mapping[str, float]] = found.get("docs", ())
    if not docs:
        return 1.0
    documents = float(docs[0].get("documents", 0))
    whole = sum(idf(documents, float(docs[0].get(f"{name}_df", 0)) or documents) for name in characters)
    return min(1.0, idf(documents, float(found["numFound"])) / whole) if whole else 1.0


def idf(documents: float, holding: float) -> float:
    """Inverse document frequency as BM25 has it (Lucene's BM25Similarity)."""
    return math.log(1 + (documents - holding + 0.5) / (holding + 0.5))
