"""Caches the vocabulary of the site. It is reloaded in the background after a new lexicon version, and periodically."""

import logging
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from domain.errors import PlumblineError
from domain.review import Order, TermQuery
from domain.term import Lexicon, Term, TermStatus
from search_ui.interfaces import SiteBackend
from search_ui.query.query_words import Thesaurus, build_thesaurus
from search_ui.query.solr_client import SolrBackend, match_count
from search_ui.query.solr_query import MATCH_ALL, Params, select_params
from search_ui.spelling.vocabulary import Vocabulary
from solr_client import solr_fields
from text.pinyin import has_han
from text.segment import is_in_dictionary

_log = logging.getLogger(__name__)

REFRESH_SECONDS = 3600.0  # queries and titles change slowly
RETRY_SECONDS = 30.0  # after a failure
MAX_TERMS = 50_000
MAX_QUERIES = 5_000
MAX_TITLE_WORDS = 20_000
MAX_BODY_WORDS = 100_000  # about 25 MB
MAX_ALPHABETIC_WORDS = 50_000
MAX_AUTHORS = 20_000


def start_daemon_thread(work: Callable[[], object]) -> None:
    """Run `work` in a daemon thread."""
    threading.Thread(target=work, name="vocabulary", daemon=True).start()


class VocabularyCache:
    """Holds the latest vocabulary; an old or empty one until a new one is loaded. Thread-safe.

    Args:
        start: Runs a function in the background.
        clock: Returns seconds.
    """

    def __init__(
        self,
        start: Callable[[Callable[[], None]], None] = start_daemon_thread,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._run_in_background = start
        self._clock = clock
        self._current = Vocabulary()
        self._lexicon_version: int | None = None
        self._expires_at = 0.0
        self._loading_lock = threading.Lock()
        self._thesaurus_for: tuple[Lexicon | None, Thesaurus] = (None, Thesaurus())

    def get_vocabulary(self, solr: SolrBackend, lexicon_backend: SiteBackend, lexicon: Lexicon) -> Vocabulary:
        """Return the cached vocabulary.

        Starts a background reload for another version of the lexicon, after `REFRESH_SECONDS`, and `RETRY_SECONDS`
        after a failure.
        """
        is_stale = lexicon.version != self._lexicon_version or self._clock() > self._expires_at
        if is_stale and self._loading_lock.acquire(blocking=False):
            try:
                self._run_in_background(lambda: self._reload(solr, lexicon_backend, lexicon))
            except BaseException:
                self._loading_lock.release()
                raise
        return self._current

    def get_thesaurus(self, lexicon: Lexicon) -> Thesaurus:
        """Return the synonyms of exactly this lexicon: queries must not use those of another version."""
        cached_lexicon, thesaurus = self._thesaurus_for
        if cached_lexicon is not lexicon:
            thesaurus = build_thesaurus(lexicon)
            self._thesaurus_for = (lexicon, thesaurus)
        return thesaurus

    def _reload(self, solr: SolrBackend, lexicon_backend: SiteBackend, lexicon: Lexicon) -> None:
        seconds = RETRY_SECONDS
        try:
            self._current = load_vocabulary(solr, lexicon_backend, lexicon)
            seconds = REFRESH_SECONDS
        except PlumblineError as error:
            _log.warning("vocabulary for suggestions was not reloaded: %s", error)
        finally:
            self._lexicon_version, self._expires_at = lexicon.version, self._clock() + seconds
            self._loading_lock.release()


def load_vocabulary(solr: SolrBackend, lexicon_backend: SiteBackend, lexicon: Lexicon) -> Vocabulary:
    """Load the vocabulary.

    It consists of queries of the search log, published terms with synonyms, and the words of the documents. Raises what
    `SolrBackend.select` raises.
    """
    terms: dict[str, int] = {}
    accepted_terms = lexicon_backend.find_page(TermQuery(TermStatus.ACCEPTED, order=Order.SCORE, limit=MAX_TERMS))[1]
    documents = {term.text: term.document_count for term in accepted_terms}
    spellings = {term.text: find_usual_spelling(term) for term in accepted_terms}
    for entry in lexicon.entries[:MAX_TERMS]:
        for word in (entry.text, *entry.synonyms):
            terms[word] = max(terms.get(word, 0), documents.get(entry.text, 0))
    return build_vocabulary(solr, lexicon_backend.popular_queries(MAX_QUERIES), terms, spellings)


def find_usual_spelling(term: Term) -> str:
    """Return the most frequent spelling of a term in its contexts, which can differ in upper and lower case.

    At the beginning of a sentence every word has a capital, so that spelling counts only if there is no other.
    """
    pattern = re.compile(re.escape(term.text), re.IGNORECASE)
    matches = [match for context in term.contexts for match in pattern.finditer(context)]
    inside = [match[0] for match in matches if not _SENTENCE_START_RE.search(match.string, 0, match.start())]
    spellings = Counter(inside or [match[0] for match in matches])
    return max(spellings, key=lambda spelling: (spellings[spelling], spelling == term.text), default=term.text)


_SENTENCE_START_RE = re.compile(r"(?:^|[.!?:]\s)[\W_]*\Z")


def build_vocabulary(
    solr: SolrBackend,
    queries: Sequence[str] = (),
    terms: Mapping[str, int] | None = None,
    spellings: Mapping[str, str] | None = None,
) -> Vocabulary:
    """Add the most frequent words of the documents and the names of their authors to queries and terms.

    The words are Chinese words of titles, alphabetic words, and dictionary words of bodies. Raises what
    `SolrBackend.select` raises.
    """
    title_response = solr.select(frequent_words_params(solr_fields.TITLE_BASE, MAX_TITLE_WORDS, HAN_RANGE))
    body_response = solr.select(frequent_words_params(solr_fields.BODY_BASE, MAX_BODY_WORDS, HAN_RANGE))
    alphabetic_response = solr.select(frequent_words_params(solr_fields.SPELLING, MAX_ALPHABETIC_WORDS))
    authors = parse_frequent_words(solr.select(frequent_words_params(solr_fields.AUTHOR, MAX_AUTHORS)), is_wanted=bool)
    return Vocabulary(
        queries,
        terms,
        parse_frequent_words(alphabetic_response, bool) | parse_frequent_words(title_response),
        parse_frequent_words(body_response, is_in_dictionary),
        spellings,
        names={name for author in authors for name in _NAME_RE.findall(author)},
        document_count=match_count(title_response),
    )


HAN_RANGE = ("\u3400", "\ua000")  # the first word, and the first after the last
_NAME_RE = re.compile(r"\w+")


def frequent_words_params(field: str, limit: int, bounds: tuple[str, str] = ("", "")) -> Params:
    """Build the request for the most frequent words of a field. `bounds` are as in `HAN_RANGE`; "" is no bound."""
    options = {"fl": field, "limit": limit, "lower": bounds[0], "upper": bounds[1]}
    terms_params = [(f"terms.{name}", str(value)) for name, value in options.items() if value]
    return select_params(MATCH_ALL, extra_params=[("terms", "true"), *terms_params])


def parse_frequent_words(answer: Mapping[str, object], is_wanted: Callable[[str], bool] = has_han) -> dict[str, int]:
    """Return the wanted words of at least two characters in a response, with their document counts."""
    flat_values = [
        item
        for field_values in cast(Mapping[str, list[object]], answer.get("terms", {})).values()
        for item in field_values
    ]
    pairs = zip(flat_values[::2], flat_values[1::2], strict=True)
    return {str(word): cast(int, count) for word, count in pairs if len(str(word)) > 1 and is_wanted(str(word))}
