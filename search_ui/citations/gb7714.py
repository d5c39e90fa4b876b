"""References as text in the style of GB/T 7714—2015, in the order of citation."""

from collections.abc import Iterable

from search_ui.citations.reference import AuthorName, Reference, ReferenceKind, is_chinese

MAX_NAMED_AUTHORS = 3  # the others are 等, et al.
_MARK_BY_KIND = {
    ReferenceKind.WEB_PAGE: "EB/OL",
    ReferenceKind.NEWSPAPER: "N/OL",
    ReferenceKind.REPORT: "R/OL",
    ReferenceKind.STANDARD: "S/OL",
}


def format_gb7714_list(references: Iterable[Reference]) -> str:
    """Return a numbered list of references, one on a line."""
    return "".join(f"[{number}] {format_gb7714(each)}\n" for number, each in enumerate(references, start=1))


def format_gb7714(reference: Reference) -> str:
    """Return one reference without a number. Authors and dates that are not known are left out."""
    access_date = f"[{reference.access_date}]"
    if reference.kind is ReferenceKind.NEWSPAPER:
        origin = f"{reference.container}, {reference.published}{access_date}"
    else:
        origin = f"({reference.published}){access_date}" if reference.published else access_date
    title = f"{reference.title.rstrip('.。 ')}[{_MARK_BY_KIND[reference.kind]}]"
    return ". ".join(part for part in (_join_authors(reference.authors), title, origin, reference.url) if part) + "."


def _join_authors(authors: tuple[AuthorName, ...]) -> str:
    names = [_to_gb7714_name(author) for author in authors[:MAX_NAMED_AUTHORS]]
    if len(authors) > MAX_NAMED_AUTHORS:
        names.append("等" if is_chinese(names[0]) else "et al")
    return ", ".join(names).rstrip(".")


def _to_gb7714_name(author: AuthorName) -> str:
    initials = " ".join(part[0].upper() for part in author.given_name.replace("-", " ").replace(".", " ").split())
    return f"{author.family_name.upper()} {initials}" if initials else author.family_name
