"""What a lexicon version changes in the known sentences of the collection."""

from collections.abc import Mapping
from dataclasses import dataclass, field

WordsBeforeAndAfter = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class VersionCheck:
    """The check of a lexicon version by jieba, before it is published.

    Attributes:
        sentence_count: Number of known sentences that contain a changed term.
        changed_count: Number of these that the version segments differently.
        words_by_term: The words of a text with each changed term, before and after: a sentence, or the term itself.
        error_by_term: Why a new or changed term must not be published, by its text.
    """

    sentence_count: int = 0
    changed_count: int = 0
    words_by_term: Mapping[str, WordsBeforeAndAfter] = field(default_factory=dict)
    error_by_term: Mapping[str, str] = field(default_factory=dict)
