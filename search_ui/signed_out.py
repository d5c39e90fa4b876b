"""What readers find who are not signed in: no article of `SearchSettings.signed_in_sites`.

    SignedOutSolr       adds a filter to every request to Solr, and to the parts of requests that ignore filters
    SignedOutBackend    leaves out what the store has from such articles: terms, definitions, saved copies, takedowns

A term exists for these readers only if an article that they find has it. Other lexicon entries are cut into the words
of the base dictionary, so neither counts nor the words of a query show that the lexicon has them.
"""

import json
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from domain.administration import Takedown
from domain.concept import Concept
from domain.errors import SolrError
from domain.review import TermQuery
from domain.rising_term import RisingTerm
from domain.term import Definition, Lexicon, Term
from search_ui.interfaces import AppliedLexicon, OriginalDocument, OriginalError, OriginalStore, SiteBackend
from search_ui.query.filters import FINDABLE_PARAM
from search_ui.query.solr_client import SolrBackend, SolrResponse, buckets
from search_ui.query.solr_query import (
    MATCH_ALL,
    MATCH_ALL_PARAM,
    Params,
    QueryParam,
    SolrQuery,
    select_params,
    terms_facet,
)
from search_ui.services.site import SiteCaches, SiteServices
from search_ui.settings import SignedInSites
from solr_client import solr_fields
from text.folding import word_key
from text.segment import Segmenter, base_segmenter

FOUND_SECONDS = 60.0  # for which the terms of the articles are remembered
WHOLE_INDEX_PARAMS = frozenset({"whole_index"})  # sets of documents that no filter narrows


class SignedOutSolr:
    """A search server without the articles of some sites.

    Args:
        solr: The search server.
        sites: The sites.
    """

    def __init__(self, solr: SolrBackend, sites: SignedInSites) -> None:
        of_hosts = SolrQuery.terms(solr_fields.SITE, "signed_in_hosts", sorted(sites.hosts))
        of_domains = SolrQuery.terms(solr_fields.HOST_SUFFIXES, "signed_in_domains", sorted(sites.domains))
        if sites.public_hosts:
            public = SolrQuery.terms(solr_fields.SITE, "public_hosts", sorted(sites.public_hosts))
            of_domains = SolrQuery.boolean(
                must=[QueryParam("in_signed_in_domains", of_domains)], must_not=[QueryParam("of_public_hosts", public)]
            )
        left_out = [QueryParam("of_signed_in_hosts", of_hosts)] if sites.hosts else []
        left_out += [QueryParam("of_signed_in_domains", of_domains)] if sites.domains else []
        visible = SolrQuery.boolean(must=[MATCH_ALL_PARAM], must_not=left_out)
        self._solr, self._visible = solr, visible.to_syntax()
        self._params = [("fq", self._visible), (FINDABLE_PARAM, self._visible), *visible.to_params()]

    def select(self, params: Params) -> SolrResponse:
        """Send a select request. See `SolrBackend.select`."""
        if ("terms", "true") in params:
            return self._count_words(dict(params))
        return self._solr.select([*((name, self._narrow(name, value)) for name, value in params), *self._params])

    def _narrow(self, name: str, value: str) -> str:
        """Return the value of a parameter in which sets of documents that ignore filters are narrowed."""
        if name == "json.facet":
            return json.dumps(self._narrow_domains(json.loads(value)))
        return self._visible if name in WHOLE_INDEX_PARAMS else value

    def _narrow_domains(self, facets: Any) -> Any:
        """Return facets whose own domains are narrowed, on every level."""
        if not isinstance(facets, dict):
            return facets
        all_facets = {name: self._narrow_domains(value) for name, value in facets.items()}
        if "query" in (domain := all_facets.get("domain", {})):
            all_facets["domain"] = {**domain, "query": [domain["query"], self._visible]}
        return all_facets

    def _count_words(self, params: Mapping[str, str]) -> SolrResponse:
        """Answer a request of Solr's terms component, which counts all documents, by a facet, which obeys filters."""
        name, lower, upper = params["terms.fl"], params.get("terms.lower"), params.get("terms.upper")
        facet_params = {"field": name, "limit": params["terms.limit"], "mincount": "1", "method": "enum"}
        # Counted from the postings: a cached set of documents for each word would fill the memory.
        facet_params |= {"enum.cache.minDf": str(2**31 - 1)}
        if lower and upper:
            facet_params["matches"] = f"[{lower}-{chr(ord(upper) - 1)}].*"
        request = [("facet", "true"), *((f"facet.{option}", value) for option, value in facet_params.items())]
        response = self.select(select_params(MATCH_ALL, extra_params=request))
        return {**response, "terms": response.get("facet_counts", {}).get("facet_fields", {})}


@dataclass(frozen=True)
class FoundTerms:
    """The entries of the lexicon that the articles have, with the number of articles, and the rising terms among them.

    `expires_at` is in seconds of a monotonic clock.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    rising_terms: Sequence[RisingTerm] = ()
    expires_at: float = 0.0


class LeftOutTerms:
    """A segmenter that cuts the terms that are left out into the words of the base dictionary.

    Args:
        segmenter: The segmenter with all terms.
        terms: The terms that are left out.
    """

    def __init__(self, segmenter: Segmenter, terms: Collection[str]) -> None:
        self._segmenter, self._keys = segmenter, frozenset(map(word_key, terms))

    def cut(self, text: str) -> list[str]:
        """See `Segmenter.cut`."""
        return [word for word, _ in self.tag(text)]

    def tag(self, text: str) -> list[tuple[str, str]]:
        """See `Segmenter.tag`."""
        return [
            piece
            for word, tag in self._segmenter.tag(text)
            for piece in (base_segmenter().tag(word) if word_key(word) in self._keys else [(word, tag)])
        ]


@dataclass(frozen=True)
class FoundLexicon:
    """The lexicon with the terms of a `version` that are in `counts`, and those that are left out."""

    version: Lexicon
    counts: Mapping[str, int]
    applied: AppliedLexicon
    left_out: Collection[str]


class SignedOutBackend:
    """A site backend for readers who do not find the articles of some sites. Thread-safe: a race does work twice.

    Args:
        backend: The backend for all other readers.
        solr: The search server for these readers.
        sites: The sites.
    """

    def __init__(self, backend: SiteBackend, solr: SignedOutSolr, sites: SignedInSites) -> None:
        self._backend, self._solr, self._sites = backend, solr, sites
        self._terms = FoundTerms()
        self._found_lexicon: FoundLexicon | None = None
        # What is reached only by a term of the lexicon or an article of `solr`, and what says nothing about articles.
        self.document_id, self.run_history, self.follows = backend.document_id, backend.run_history, backend.follows
        self.curation_revision, self.curation_rules = backend.curation_revision, backend.curation_rules
        self.last_decision_id, self.definitions_revision = backend.last_decision_id, backend.definitions_revision
        self.published_term_states, self.first_version = backend.published_term_states, backend.first_version
        self.find_by_concept, self.list_related = backend.find_by_concept, backend.list_related
        self.may_have_thumbnail, self.thumbnail = backend.may_have_thumbnail, backend.thumbnail
        self.count_pending_documents, self.popular_queries = backend.count_pending_documents, backend.popular_queries

    def _load_terms(self) -> FoundTerms:
        """Return the terms of the articles; those of before while Solr fails."""
        if time.monotonic() > self._terms.expires_at:
            with suppress(SolrError):
                self._terms = self._count_terms()
        return self._terms

    def _count_terms(self) -> FoundTerms:
        facets: dict[str, object] = {"terms": terms_facet(solr_fields.DOMAIN_TERMS, -1)}
        all_rising, params = self._backend.rising_terms(), list[tuple[str, str]]()
        for n, term in enumerate(all_rising):
            has_term = QueryParam(f"has_rising{n}", SolrQuery.term(solr_fields.DOMAIN_TERMS, f"rising{n}", term.text))
            since = QueryParam(f"since{n}", SolrQuery(body=f"{solr_fields.PUBLISHED}:[{term.since}T00:00:00Z TO *]"))
            query = SolrQuery.boolean(must=[has_term, since])
            facets[f"rising{n}"] = {"type": "query", "q": query.to_syntax()}
            params += query.to_params()
        response = self._solr.select(select_params(MATCH_ALL, facets=facets, extra_params=params))
        rising_counts = [
            response.get("facets", {}).get(f"rising{n}", {}).get("count", 0) for n in range(len(all_rising))
        ]
        return FoundTerms(
            {str(bucket["val"]): int(bucket["count"]) for bucket in buckets(response, "terms")},
            # A run counts public articles. Those of a site that is not public any more may be among them.
            [term for term, count in zip(all_rising, rising_counts, strict=True) if count >= term.count],
            time.monotonic() + FOUND_SECONDS,
        )

    def _load_lexicon(self) -> FoundLexicon:
        version, segmenter = self._backend.applied_lexicon()
        counts, current = self._load_terms().counts, self._found_lexicon
        if current and current.version is version and current.counts is counts:
            return current
        if current is None or current.version is not version or current.counts.keys() != counts.keys():
            left_out = {entry.text for entry in version.entries} - counts.keys()
            entries = tuple(
                replace(
                    entry,
                    synonyms=tuple(text for text in entry.synonyms if text not in left_out),
                    broader_terms=tuple(text for text in entry.broader_terms if text not in left_out),
                )
                for entry in version.entries
                if entry.text not in left_out
            )
            segmenter = LeftOutTerms(segmenter, left_out) if left_out else segmenter
            applied = AppliedLexicon(replace(version, entries=entries), segmenter)
            current = FoundLexicon(version, counts, applied, left_out)
        self._found_lexicon = current = replace(current, counts=counts)
        return current

    def applied_lexicon(self) -> AppliedLexicon:
        """Return the version of the documents and its segmenter, with the terms that the articles have."""
        return self._load_lexicon().applied

    def find_concept(self, text: str) -> Concept | None:
        """Return the concept of a term, with the terms that the articles have."""
        concept, left_out = self._backend.find_concept(text), self._load_lexicon().left_out
        return concept and replace(concept, terms=tuple(term for term in concept.terms if term.text not in left_out))

    def find_page(self, term_query: TermQuery) -> tuple[int, list[Term]]:
        """Return a page of terms with the number of articles of each, without those that no article has."""
        counts = self._load_terms().counts
        terms = [term for term in self._backend.find_page(term_query)[1] if term.text in counts]
        return len(terms), [replace(term, document_count=counts[term.text]) for term in terms]

    def public_definitions(self, texts: Collection[str]) -> Mapping[str, Sequence[Definition]]:
        """Return the definitions of each term from articles that these readers find."""
        definitions = self._backend.public_definitions(texts)
        return {text: [each for each in definitions[text] if not self._sites.covers_url(each.url)] for text in texts}

    def defined_terms(self) -> dict[str, int]:
        """Return the terms with such a definition, with the number of articles that these readers find."""
        counts = self._load_terms().counts
        definitions = self.public_definitions([text for text in self._backend.defined_terms() if text in counts])
        return {text: counts[text] for text, texts in definitions.items() if texts}

    def rising_terms(self) -> Sequence[RisingTerm]:
        """Return the rising terms that the articles have."""
        return self._load_terms().rising_terms

    def find_takedown(self, doc_id: str) -> Takedown | None:
        """Return the takedown of an article that these readers would find without it, or None."""
        takedown = self._backend.find_takedown(doc_id)
        return None if takedown is None or self._sites.covers_url(takedown.url) else takedown

    @property
    def originals(self) -> OriginalStore:
        """The saved pages and files of the articles."""
        store = self._backend.originals

        def find(doc_id: str) -> OriginalDocument | None:
            document = store.find(doc_id)
            is_left_out = document and (self._sites.covers(document.host) or self._sites.covers_url(document.url))
            return None if is_left_out else document

        def require(doc_id: str) -> str:
            if find(doc_id) is None:
                raise OriginalError("not_found")
            return doc_id

        return OriginalStore(
            find,
            store.find_ids,  # of articles that the reader has found
            lambda doc_id: store.sanitized_html(require(doc_id)),
            lambda doc_id: store.file_bytes(require(doc_id)),
        )


class SignedOutParts:
    """What a process keeps for signed-out readers between requests. Thread-safe: a race makes the parts twice."""

    def __init__(self) -> None:
        self._parts: tuple[SignedInSites, SolrBackend, SiteBackend, SiteCaches] | None = None

    def limit(self, services: SiteServices) -> SiteServices:
        """Return the services for signed-out readers: the same if everyone finds all articles."""
        sites = services.settings.signed_in_sites
        if not sites:
            return services
        if self._parts is None or self._parts[0] != sites:
            solr = SignedOutSolr(services.solr, sites)
            self._parts = sites, solr, SignedOutBackend(services.backend, solr, sites), SiteCaches()
        _, limited_solr, backend, caches = self._parts
        return replace(services, solr=limited_solr, backend=backend, caches=caches, is_limited=True)
