"""A search from what was asked to what a page shows: which questions Solr is asked for it.

counting ─────────────────────────────┐        beside the others
works ── hits ──┬── shown, marked ────┴── page
neighbours ─┘   └── about: copies, and who holds enough

Where the query can be understood, the hits are those of words and meaning together (search_ui/query/semantic).
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

from flask import current_app

from docstore.errors import SolrError
from search_ui.actions import ReviewActions
from search_ui.live_vocabulary import current_vocabulary, live_vocabulary
from search_ui.pages.answering import answered_by
from search_ui.pages.article import (
    MAX_SIMILAR,
    NAMED,
    ArticlePage,
    Details,
    article_params,
    copies_params,
    details,
    explain_params,
    explanation,
    neighbours,
    series_params,
)
from search_ui.query.clauses import QueryVariant
from search_ui.query.content_words import content_words
from search_ui.query.cursors import FIRST, CursorPlace, Cursors
from search_ui.query.explanation import with_meaning
from search_ui.query.min_should_match import parts_of
from search_ui.query.parse import as_plain
from search_ui.query.ranking import PROFILES, works_in, works_params
from search_ui.query.request import SearchRequest, Sort, last_numbered, last_page
from search_ui.query.results import (
    Answers,
    SearchPage,
    deduped,
    digests_in,
    ids_of,
    pictures_in,
    search_page,
    series_in,
    total_of,
    with_matched,
    with_pages,
)
from search_ui.query.semantic.meaning import (
    Candidates,
    Meaning,
    QueryVector,
    fused,
    listed_most,
    may_find,
    neighbours_params,
    words_shown,
)
from search_ui.query.semantic.similar import alike_params, fused_similar, near_alone, nearest_params
from search_ui.query.solr_client import Answer, Search, select_beside
from search_ui.query.solr_params import (
    SHOWN_OF_HITS,
    SPARE,
    about_params,
    bodies_params,
    count_params,
    hits_params,
    mark_params,
    shown_params,
    titled_params,
    words_of,
)
from search_ui.query.texts import has_word
from search_ui.query.thesaurus import Thesaurus, synonym_groups
from search_ui.settings import SearchSettings
from search_ui.site import current_site
from search_ui.spelling.did_you_mean import FEW, DidYouMean, DidYouMeanKind, offers_for
from text.segment import Segmenter

Words = Mapping[QueryVariant, tuple[str, ...]]


@dataclass(frozen=True)
class Answered:
    """What a reader is shown. `asked` is the search that `found` answers and that `words` are of, another than what was
    typed if it was `replaced`; `offers` are other searches.
    """

    asked: SearchRequest
    words: Words
    found: SearchPage
    offers: tuple[DidYouMean, ...] = ()
    replaced: bool = False


@dataclass(frozen=True)
class Searcher:
    """What a search needs. `page_of` raises what `Search.select` and `Cursors.opened` raise."""

    search: Search
    actions: ReviewActions
    settings: SearchSettings
    cursors: Cursors
    thesaurus: Thesaurus
    meaning: Meaning

    @cached_property
    def _segmenters(self) -> Sequence[Segmenter]:
        return self.actions.segmenters()

    def words(self, asked: SearchRequest) -> Words:
        """The query cut as the documents were: by the indexed lexicon, and by the base dictionary where that ranks.

        Right after a publish some documents are cut by an older version: what is a word only now, is looked for in
        them character by character.
        """
        text = asked.query.text
        segmenter, *older_segmenters = self._segmenters
        cut = segmenter.cut(text)
        newest = tuple(filter(has_word, cut))
        others = [words_of(text, one) for one in older_segmenters]
        older = tuple(word for cut in others for word in cut)
        synonyms = synonym_groups(asked.query, newest, self.thesaurus)
        fresh = tuple(word for word in newest if others and word not in older)
        content, left_over = content_words(text, cut)
        words = {
            QueryVariant.DOMAIN: newest,
            QueryVariant.CONTENT: content,
            QueryVariant.LEFT_OVER: left_over,
            QueryVariant.OLDER: older,
            QueryVariant.FRESH: fresh,
            QueryVariant.SYNONYMS: synonyms,
        }
        if any(clause.form is QueryVariant.BASE for clause in PROFILES[asked.profile].clauses):
            words[QueryVariant.BASE] = words_of(text, self.actions.base_segmenter())
        return words

    def as_meant(self, asked: SearchRequest) -> SearchRequest:
        """Who types the title of an article means that title, also where it has signs that are syntax (`C++ -入门`)."""
        if not asked.query.conditions:
            return asked
        titled = self.search.select(titled_params(asked.text))
        return replace(asked, text=as_plain(asked.text)) if titled["response"]["numFound"] else asked

    def answered(self, typed: SearchRequest) -> Answered:
        """What a reader is shown for what was typed: its result page, or, where nothing holds enough of it, that of
        another spelling that all of is held.

        Raises as `page_of` does.
        """
        words = self.words(typed)
        found = self.page_of(typed, words)
        offers = self.offers(typed, found)
        meant = next((offer for offer in offers if offer.kind is DidYouMeanKind.SPELLED and offer.whole), None)
        if found.total or meant is None:
            return Answered(typed, words, found, tuple(offers))
        others = tuple(offer for offer in offers if offer.kind is DidYouMeanKind.SPELLED and offer is not meant)
        words = self.words(meant.asked)
        return Answered(meant.asked, words, self.page_of(meant.asked, words), others, replaced=True)

    def page_of(self, asked: SearchRequest, words: Words) -> SearchPage:
        """The result page that was asked for; an empty one, without asking Solr, if there is nothing to look for.

        Where nothing holds enough of the query, only what holds one of its words is shown.
        """
        if not asked.is_anything():
            return SearchPage()
        place = self.cursors.opened(asked) if asked.cursor else CursorPlace(asked.page, "")
        here = replace(asked, page=place.page)
        counting = select_beside(self.search, count_params(here, words))
        near = self._near(here, words)
        words = self._with_works(asked, words)
        both = self._both(here, words, near)
        hits = self._hits(here, words, place.mark, both)
        counted = counting.result()
        if is_related := asked.sort is Sort.RELEVANCE and bool(parts_of(words)) and not total_of(counted):
            both = self._both(here, words, near, is_related)
            hits = self._hits(here, words, place.mark, both, is_related)
        answers = self._answers(here, words, hits, counted, both)
        found = search_page(answers, here, self.settings, words[QueryVariant.DOMAIN])
        quoted = answered_by(self.search, here.query.text, words, both, found.hits) if both and here.page == 1 else ()
        cursor = self._next(here, words, found.matched, hits, is_related, both)
        return replace(found, quotes=quoted, cursor=cursor)

    def _similar(self, article: Details) -> Answer:
        """What is like an article, by its words and by its meaning."""
        vector = self.meaning.of_article(article.digest)
        group = (article.cluster, article.series)
        near = select_beside(self.search, nearest_params(vector, *group, NAMED)) if vector else None
        answers = [self.search.select(alike_params(article.doc_id, *group, NAMED))]
        with suppress(SolrError):  # of a collection without the field
            answers += [near_alone(near.result(), vector)] if near and vector else []
        return fused_similar(answers, MAX_SIMILAR)

    def _near(self, here: SearchRequest, words: Words) -> "_Near | None":
        """What is nearest in meaning, being asked for; None where meaning has no say."""
        vector = self.meaning.vector_of(here.query.text) if may_find(here) else None
        if vector is None:
            return None
        params = neighbours_params(here, words, vector, (*SHOWN_OF_HITS, "score"))
        return _Near(vector, select_beside(self.search, params))

    def _both(
        self, here: SearchRequest, words: Words, near: "_Near | None", is_related: bool = False
    ) -> Candidates | None:
        """The list of words and meaning; None, which is words alone, where the nearest are not to be had."""
        if near is None:
            return None
        try:
            neighbours = near.answer.result()
        except SolrError:  # a collection without the field, or too late
            return None
        most, first = listed_most(self.settings), replace(here, page=1)
        shown = words_shown(here, SHOWN_OF_HITS)
        found = None
        if not is_related:
            found = deduped(self.search.select(hits_params(first, words, most, spare=SPARE, shown=shown)), most)
        if found is None:
            found = self.search.select(hits_params(first, words, most, shown=shown, related=is_related))
        matched = int(found["response"]["numFound"])
        return fused(found, neighbours, near.vector, PROFILES[here.profile].meaning, most, matched)

    def _answers(
        self, here: SearchRequest, words: Words, hits: Answer, counted: Answer, both: Candidates | None
    ) -> Answers:
        """All that is said about the hits, which alone are looked into."""
        ids, clusters = ids_of(hits)
        if not ids:
            return Answers(hits, counted)
        pictures = pictures_in(hits) if self.settings.pictures else []
        clusters = [] if here.cluster else clusters
        about = select_beside(self.search, about_params(here, words, ids, clusters, series_in(hits), pictures))
        shown = self.search.select(shown_params(here, words, ids))
        alone = both.alone_among(ids) if both else []
        looked_into = list(dict.fromkeys([*with_pages(shown), *alone]))
        bodies = self.search.select(bodies_params(looked_into)) if looked_into else {}
        passages = self._passages(both, alone, bodies)
        return Answers(hits, counted, shown, about.result(), bodies, passages)

    def _passages(self, both: Candidates | None, ids: Sequence[str], bodies: Answer) -> Mapping[str, tuple[int, int]]:
        """The best passages of the documents `ids`, which meaning alone has found: id -> characters of the body."""
        if both is None or not ids:
            return {}
        digests = {doc_id: digest for doc_id, digest in digests_in(bodies).items() if doc_id in ids}
        best = self.meaning.best_passages(both.vector, digests.values())
        return {doc_id: best.get(digest, (0, 0)) for doc_id, digest in digests.items()}

    def _hits(
        self, here: SearchRequest, words: Words, mark: str, both: Candidates | None, is_related: bool = False
    ) -> Answer:
        """The hits of a page, near-duplicates once: of the list of words and meaning, and behind it, with a mark, what
        words alone find."""
        size = self.settings.page_size
        if both is not None and not mark:
            return both.page(here.page, size)
        if is_related:
            return self.search.select(hits_params(here, words, size, mark, related=True, without=_listed(both)))
        if here.page == 1 and not here.cluster:
            answer = deduped(self.search.select(hits_params(here, words, size, spare=SPARE)), size)
            if answer is not None:
                return answer
        answer = self.search.select(hits_params(here, words, size, mark, without=_listed(both)))
        return answer if both is None else with_matched(answer, both.matched)

    def _with_works(self, asked: SearchRequest, words: Words) -> Words:
        """`words` and the works whose parts answer the query; without those where nothing is ranked by them."""
        params = works_params(asked.query.text, asked.profile) if asked.sort is Sort.RELEVANCE else []
        return {**words, QueryVariant.WORKS: works_in(self.search.select(params), asked.profile)} if params else words

    def offers(self, asked: SearchRequest, found: SearchPage) -> list[DidYouMean]:
        """What else would find more, where next to nothing was found; none if Solr does not say."""
        if not asked.text or found.page > 1 or found.total > FEW:
            return []
        base = self.actions.base_segmenter()
        try:
            return offers_for(self.search, asked, current_vocabulary(), self.words, base, found.total)
        except SolrError:
            return []

    def _next(
        self,
        here: SearchRequest,
        words: Words,
        matched: int,
        answer: Answer,
        is_related: bool,
        both: Candidates | None,
    ) -> str:
        """The cursor of the page after this one; "" if there is none, or if it has a number."""
        end = here.page * self.settings.page_size
        if here.page < last_numbered(self.settings) or here.page >= last_page(self.settings) or end >= matched:
            return ""
        if not here.cursor and both is not None:
            mark = FIRST  # the list ends here: what comes behind it has an order of its own
        elif not here.cursor:
            mark = str(self.search.select(mark_params(here, words, end, is_related))["nextCursorMark"])
        else:
            mark = str(answer["nextCursorMark"])
        return self.cursors.sealed(here, CursorPlace(here.page + 1, mark))

    def article(self, doc_id: str, asked: SearchRequest) -> ArticlePage | None:
        """One article and its neighbours; with a query also why that finds it. None if there is no such article."""
        words = self._with_works(asked, self.words(asked))
        found = details(self.search.select(article_params(doc_id, asked, words)), self.settings)
        if found is None:
            return None
        similar = self._similar(found)
        series = self.search.select(series_params(found.cluster, found.series)) if found.series else {}
        copies = self.search.select(copies_params(doc_id, found.cluster))
        why = self.search.select(explain_params(doc_id, asked, words)) if asked.query.text else None
        near = self._near(asked, words) if asked.query.text else None
        both = self._both(replace(asked, page=1), words, near)
        share = both.share_of(doc_id) if both else 0.0
        return ArticlePage(
            found,
            similar=neighbours(similar, self.settings),
            series=neighbours(series, self.settings),
            copies=neighbours(copies, self.settings),
            why=with_meaning(explanation(why, doc_id), share) if why is not None else None,
        )


@dataclass(frozen=True)
class _Near:
    """What a query means, and Solr's answer to it, which may not be there yet."""

    vector: QueryVector
    answer: "Future[Answer]"


def _listed(both: Candidates | None) -> Sequence[str]:
    """The clusters that earlier pages have shown."""
    return both.clusters if both else ()


def finder() -> Searcher:
    """What this request's site searches with."""
    site, secret = current_site(), current_app.secret_key
    key = secret if isinstance(secret, bytes) else str(secret).encode()
    thesaurus = live_vocabulary().thesaurus(site.actions.lexicon())
    return Searcher(site.search, site.actions, site.settings, Cursors(key, site.settings), thesaurus, site.meaning)
