"""The day of a document: off its text, by where official papers, reports and articles state it. Pure."""

from extractor.documents.content import Content


def find_day(content: Content, latest: str) -> tuple[str, str]:
    """The day (`YYYY-MM-DD`) and where it was read (`text`, `metadata`), or two empty strings."""
    return "", ""
