"""The site's vocabulary, made anew in the background when the lexicon has a new version, and every now and then."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import cast

from flask import current_app

from docstore import fields
from docstore.errors import PlumblineError
from docstore.model import Lexicon, TermStatus
from search_ui.actions import ReviewActions
from search_ui.query.clauses import EVERYTHING, Params, select_params
from search_ui.query.solr_client import Search
from search_ui.query.thesaurus import Thesaurus, thesaurus_of
from search_ui.site import Site, current_site
from search_ui.spelling.vocabulary import Vocabulary
from text.pinyin import has_han
from text.segment import is_in_dictionary

_log = logging.getLogger(__name__)

KEY = "plumbline vocabulary"
RENEWED_AFTER = 3600.0  # seconds: what readers search for and titles hold changes slowly
MAX_TERMS = 50_000
MAX_QUERIES = 5_000
MAX_TITLE_WORDS = 20_000
MAX_BODY_WORDS = 100_000  # some 25 MB
RAREST_TITLE_WORD = 2  # titles


def in_background(work: Callable[[], None]) -> None:
    """Do `work` beside the requests."""
    threading.Thread(target=work, name="vocabulary", daemon=True).start()


class LiveVocabulary:
    """The newest vocabulary there is; an old or an empty one until a new one is made. Threads may share it.

    `start` runs what makes a new one; `clock` counts seconds.
    """

    def __init__(
        self, start: Callable[[Callable[[], None]], None] = in_background, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._start = start
        self._clock = clock
        self._made = Vocabulary()
        self._version: int | None = None
        self._made_at = 0.0
        self._is_making = threading.Lock()
        self._synonyms: tuple[Lexicon | None, Thesaurus] = (None, Thesaurus())

    def vocabulary(self, search: Search, actions: ReviewActions) -> Vocabulary:
        """The vocabulary; asks for a new one if this one is of another lexicon version, or of long ago."""
        version = actions.lexicon().version
        is_old = version != self._version or self._clock() - self._made_at > RENEWED_AFTER
        if is_old and self._is_making.acquire(blocking=False):
            try:
                self._start(lambda: self._renew(search, actions, version))
            except BaseException:
                self._is_making.release()
                raise
        return self._made

    def thesaurus(self, lexicon: Lexicon) -> Thesaurus:
        """The synonyms of just this lexicon: queries are searched with them, so they are never those of another."""
        known, thesaurus = self._synonyms
        if known is not lexicon:
            thesaurus = thesaurus_of(lexicon)
            self._synonyms = (lexicon, thesaurus)
        return thesaurus

    def _renew(self, search: Search, actions: ReviewActions, version: int) -> None:
        try:
            self._made = load(search, actions)
            self._version = version
        except PlumblineError as error:
            _log.warning("no new vocabulary for suggestions: %s", error)
        finally:
            self._made_at = self._clock()
            self._is_making.release()


def live_vocabulary() -> LiveVocabulary:
    """This site's, made when it is first asked for."""
    return cast(LiveVocabulary, current_app.extensions.setdefault(KEY, LiveVocabulary()))


def current_vocabulary() -> Vocabulary:
    """The newest vocabulary of the site that answers this request."""
    site: Site = current_site()
    return live_vocabulary().vocabulary(site.search, site.actions)


def load(search: Search, actions: ReviewActions) -> Vocabulary:
    """Queries of the search log, the published terms and their synonyms, frequent words of titles, and those words of
    the base dictionary that the articles use.

    Raises what `Search.select` raises.
    """
    in_titles = words_in(search.select(words_params(fields.TITLE_BASE, MAX_TITLE_WORDS, RAREST_TITLE_WORD)))
    in_bodies = words_in(search.select(words_params(fields.BODY_BASE, MAX_BODY_WORDS, 1)))
    known = {word: count for word, count in in_bodies.items() if is_in_dictionary(word)}
    terms: dict[str, int] = {}
    documents = {term.text: term.documents for term in actions.terms(TermStatus.ACCEPTED, "", 0, MAX_TERMS)[1]}
    for entry in actions.lexicon().entries[:MAX_TERMS]:
        for word in (entry.text, *entry.synonyms):
            terms[word] = max(terms.get(word, 0), documents.get(entry.text, 0))
    return Vocabulary(actions.popular_queries(MAX_QUERIES), terms, in_titles, known)


def words_params(name: str, most: int, rarest: int) -> Params:
    """What asks Solr for the most frequent Chinese words of a field, those that `rarest` documents or more hold."""
    asked = {
        "fl": name, "limit": str(most), "mincount": str(rarest), "lower": "\u3400", "upper": "\ua000",
    }  # fmt: skip
    return select_params(EVERYTHING, more=[("terms", "true"), *((f"terms.{n}", v) for n, v in asked.items())])


def words_in(answer: Mapping[str, object]) -> dict[str, int]:
    """The words of at least two characters in Solr's answer, with the number of documents that hold them."""
    found = [one for of_field in cast(Mapping[str, list[object]], answer.get("terms", {})).values() for one in of_field]
    pairs = zip(found[::2], found[1::2], strict=True)
    return {str(word): cast(int, count) for word, count in pairs if len(str(word)) > 1 and has_han(str(word))}
