"""The difference of two lexicon versions, for reviewers."""

from domain.term import Lexicon, LexiconEntry
from lexicon.publishing import diff_lexicons
from search_ui.review.lexicon_tools import VersionChange


def version_changes(before: Lexicon, after: Lexicon) -> list[VersionChange]:
    """Return the entries that `after` adds, removes or changes, in order of the text."""
    lexicon_diff = diff_lexicons(before, after)
    changes = [
        *(VersionChange(entry.text, "", format_entry(entry)) for entry in lexicon_diff.added),
        *(VersionChange(entry.text, format_entry(entry), "") for entry in lexicon_diff.removed),
        *(VersionChange(old.text, format_entry(old), format_entry(new)) for old, new in lexicon_diff.changed),
    ]
    return sorted(changes, key=lambda change: change.text)


def format_entry(entry: LexiconEntry) -> str:
    """Format an entry in one line: `页岩气 77 n = shale gas < 天然气 (subject)`."""
    parts = [entry.text, *([str(entry.frequency)] if entry.frequency else []), entry.pos_tag]
    parts += ["=", " | ".join(entry.synonyms)] if entry.synonyms else []
    parts += ["<", " | ".join(entry.broader_terms)] if entry.broader_terms else []
    return " ".join([*parts, *([f"({entry.category})"] if entry.category else [])])
