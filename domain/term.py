"""Terms of the domain and published versions of the lexicon."""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

LEXICON_STEPS = ("publish", "rising")
"""Steps of the lexicon stage after term mining, in order."""
SENTENCES_STEP = "relations"
"""The step after indexing, or after term mining in a run without it."""
RELATED_TERMS_STEP = "related_terms"
"""The part of this step that needs the index."""
LineError = tuple[int, str]
"""Line number of a file (0: unknown), and what is wrong there."""
AUTOMATIC_ACTOR = "(automatic)"
"""Actor of decisions and versions without a person. No account can have this name."""


class TermStatus(StrEnum):
    """Review status of a term."""

    CANDIDATE = "candidate"
    DEFERRED = "later"  # the reviewer postponed the decision
    PROVISIONAL = "provisional"  # accepted by one reviewer, waits for a second one (`lexicon.two_reviewers`)
    ACCEPTED = "accepted"
    MERGED = "merged"  # a synonym of an accepted term, and listed with that term
    REJECTED = "rejected"


class TermClass(StrEnum):
    """Class that a reviewer assigned to a term."""

    NONE = ""
    SUBJECT = "subject"  # an object or topic of the domain
    PROFESSIONAL = "professional"  # a technical term
    JUDGEMENT = "judgement"  # an evaluative term


class ConceptTermStatus(StrEnum):
    """Administrative status of a term of a concept (ISO 30042, `administrativeStatus`)."""

    PREFERRED = "preferred"
    ADMITTED = "admitted"
    DEPRECATED = "deprecated"


STATUS_ORDER = list(ConceptTermStatus)


@dataclass(frozen=True)
class ConceptTerm:
    """A term of a concept.

    Attributes:
        language: Language tag in lower case, such as "zh" or "en-gb".
        definition: Definition of the concept in this language; only the first term of a language has one.
        source: Source of the definition; of the term if there is no definition.
    """

    text: str
    language: str
    status: ConceptTermStatus = ConceptTermStatus.ADMITTED
    definition: str = ""
    source: str = ""
    note: str = ""

    @property
    def sort_key(self) -> tuple[str, int, str]:
        """Order of the terms of a concept: by language, then preferred terms first."""
        return self.language, STATUS_ORDER.index(self.status), self.text


class DefinitionSource(StrEnum):
    """State of the article that a chosen definition quotes, as of the last run."""

    CURRENT = ""  # it contains the sentence, or the definition quotes no article
    CHANGED = "changed"  # it does not contain the sentence any more
    GONE = "gone"  # the store does not have the article any more


MAX_SYNONYMS = 150
"""Synonyms or broader terms of a term, and terms of a concept in all languages."""
MIN_PUBLIC_SCORE = 0.9
"""Score from which readers see a definition that no reviewer has chosen."""
MAX_DEFINITION_CHARS = 2000
"""Length of a definition that a reviewer writes."""


@dataclass(frozen=True)
class DefinitionChoice:
    """A reviewer's choice of the definition of a term.

    Attributes:
        sentence: The definition; "" if the term shall have none.
        url_id: Id of the quoted article; 0 if the reviewer wrote the definition.
        url: URL of the article.
        title: Title of the article.
        published: Publication date of the article, or "".
    """

    sentence: str = ""
    url_id: int = 0
    url: str = ""
    title: str = ""
    published: str = ""


@dataclass(frozen=True)
class Term:
    """A candidate term of the domain with its evidence and review state.

    Attributes:
        score: Value of the scorer (C-value by default).
        frequency: Number of occurrences in the corpus.
        document_count: Number of articles that contain the term.
        pos_tags: Part-of-speech sequence, such as "n n".
        contexts: Example sentences.
        synonyms: Other words for the term, named by a reviewer.
        score_components: Parts of the score by name.
        broader_terms: Broader terms, named by a reviewer.
        dictionary_weight: Weight from an imported dictionary; 0 for automatic.
        dictionary_tag: Part of speech from an imported dictionary; "" for automatic.
        concept_id: Id of the concept of which this term and its synonyms are the terms; see `domain/concept.py`.
        source_ids: Ids of the concept in the files from which it was imported.
        concept_terms: Language, status, definition, source and note of this term and its synonyms, where known.
        definition: The reviewer's choice of a definition; None if no reviewer has chosen.
        definition_source: State of the source of `definition`.
        review_score: Sort key of the review queue, highest first. Equals `score` until a model is trained on decisions.
        version: Increases with every edit by a person; used for optimistic locking.
        first_seen: Epoch seconds, or None.
        decided_at: Epoch seconds, or None.
        decided_by: Account of the reviewer.
    """

    text: str
    score: float
    frequency: int
    document_count: int
    pos_tags: str = ""
    contexts: tuple[str, ...] = ()
    status: TermStatus = TermStatus.CANDIDATE
    synonyms: tuple[str, ...] = ()
    score_components: tuple[tuple[str, float], ...] = ()
    category: TermClass = TermClass.NONE
    broader_terms: tuple[str, ...] = ()
    dictionary_weight: int = 0
    dictionary_tag: str = ""
    concept_id: str = field(default="", compare=False)
    source_ids: tuple[str, ...] = ()
    concept_terms: tuple[ConceptTerm, ...] = ()
    definition: DefinitionChoice | None = None
    definition_source: DefinitionSource = DefinitionSource.CURRENT
    review_score: float = field(default=0.0, compare=False)
    version: int = field(default=0, compare=False)
    first_seen: float | None = field(default=None, compare=False)
    decided_at: float | None = field(default=None, compare=False)
    decided_by: str = field(default="", compare=False)

    @property
    def is_automatic(self) -> bool:
        """True if the term was accepted automatically and no reviewer has confirmed it."""
        return self.status is TermStatus.ACCEPTED and self.decided_by == AUTOMATIC_ACTOR


@dataclass(frozen=True)
class Definition:
    """A sentence of an article that defines a term.

    Attributes:
        term: The term as published.
        language: Language of the term.
        sentence: The defining sentence as it stands in the article.
        url_id: Id of the article, which may be gone; 0 if a reviewer wrote the definition.
        url: URL of the article; "" if a reviewer wrote the definition.
        title: Title of the article.
        published: Publication date of the article, or "".
        score: Probability that the sentence is a definition, 0 to 1.
        found_at: Epoch seconds.
        needs_recheck: True if the article changed and does not contain the sentence any more.
        is_source_gone: True if a reviewer chose the definition and the store does not have the article any more.
    """

    term: str
    language: str
    sentence: str
    url_id: int
    url: str
    title: str
    published: str
    score: float
    found_at: float
    needs_recheck: bool = False
    is_source_gone: bool = False


@dataclass(frozen=True)
class LexiconEntry:
    """One entry of a published lexicon, in the format of a jieba dictionary.

    `frequency` 0 lets the segmenter choose a frequency. `synonyms` expand queries; they do not affect segmentation.
    `category`, `broader_terms` and `is_automatic` are only exported; `is_automatic` is not stored with the version.
    """

    text: str
    frequency: int = 0
    pos_tag: str = "n"
    synonyms: tuple[str, ...] = ()
    category: TermClass = TermClass.NONE
    broader_terms: tuple[str, ...] = ()
    is_automatic: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Lexicon:
    """One immutable version of the lexicon. Version 0 is the empty lexicon, which always exists.

    `published_at` and `applied_at` are epoch seconds. `applied_at` is None until the whole index uses the version.
    """

    version: int = 0
    entries: tuple[LexiconEntry, ...] = ()
    published_at: float = 0.0
    applied_at: float | None = None
    note: str = ""
    published_by: str = field(default="", compare=False)  # account name, or AUTOMATIC_ACTOR

    def changed_terms_since(self, previous: "Lexicon") -> list[str]:
        """Return the terms that were added, removed or got another frequency.

        Documents with these terms need new segmentation. Synonyms are ignored, because they do not affect documents.
        """
        old_entries = {(entry.text, entry.frequency) for entry in previous.entries}
        new_entries = {(entry.text, entry.frequency) for entry in self.entries}
        return sorted({text for text, _ in old_entries ^ new_entries})


def join_terms(terms: Iterable[str], separator: str) -> str:
    """Return terms as one text for `split_terms`. A term that contains the separator is in double quotes."""
    special = {separator.strip(), '"'}
    quoted_terms = ('"' + term.replace('"', '""') + '"' if special & set(term) else term for term in terms)
    return separator.join(quoted_terms)


def split_terms(text: str, separator: str) -> tuple[str, ...]:
    """Return the distinct terms of a text that a person or `join_terms` wrote."""
    cells = next(csv.reader([" ".join(text.split())], delimiter=separator, skipinitialspace=True), [])
    return tuple(dict.fromkeys(filter(None, map(str.strip, cells))))


WordsBeforeAndAfter = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class VersionCheck:
    """The check of a lexicon version by jieba, before it is published.

    Attributes:
        sentence_count: Number of known sentences that contain a changed term.
        changed_count: Number of these that the version segments differently.
        words_by_term: The words before and after of a sentence in which each changed term becomes a word or is one no
            more; of the term itself if there is none.
        error_by_term: Why a new or changed term makes the segmentation worse, by its text.
    """

    sentence_count: int = 0
    changed_count: int = 0
    words_by_term: Mapping[str, WordsBeforeAndAfter] = field(default_factory=dict)
    error_by_term: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PublishedTermStates:
    """The entries of a published version that differ from the others, by their text.

    `hidden_texts` are not shown to readers: no person has accepted them and they are not nearly certain, or they are
    not accepted any more. They improve segmentation and search. `new` entries are not in an older version; the first
    version has no new ones.
    """

    hidden_texts: frozenset[str] = frozenset()
    new: frozenset[str] = frozenset()
