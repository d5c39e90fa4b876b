"""The title of a document: the largest first lines of its beginning, or what its author called the title. Pure."""

from extractor.documents.content import Content


def choose_title(content: Content) -> str:
    """The title, or "" where the document shows none that can be told."""
    return ""


def find_author(content: Content) -> str:
    """Who wrote it."""
    return ""
