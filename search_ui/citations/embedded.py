"""References inside pages, for Zotero and other reference managers: `citation_*` meta tags (Highwire) and COinS."""

from urllib.parse import quote, urlencode

from search_ui.citations.reference import AuthorName, Reference, ReferenceKind

_CONTAINER_TAGS = {
    ReferenceKind.WEB_PAGE: "DC.source",
    ReferenceKind.NEWSPAPER: "DC.source",
    ReferenceKind.REPORT: "citation_technical_report_institution",
    ReferenceKind.STANDARD: "citation_publisher",
}


def to_meta_tags(reference: Reference) -> list[tuple[str, str]]:
    """Return names and contents of meta tags. Highwire has no tag for the kind; Dublin Core states it."""
    pairs = [
        ("citation_title", reference.title),
        *(("citation_author", author.inverted_name) for author in reference.authors),
        ("citation_publication_date", reference.published.replace("-", "/")),
        (_CONTAINER_TAGS[reference.kind], reference.container),
        ("citation_language", reference.language),
        ("citation_public_url", reference.url),
        ("DC.type", reference.kind),
    ]
    return [(name, content) for name, content in pairs if content]


def to_coins(reference: Reference) -> str:
    """Return the ContextObject of a reference (OpenURL 1.0, Dublin Core), the `title` of a `<span class="Z3988">`."""
    pairs = [
        ("ctx_ver", "Z39.88-2004"),
        ("rft_val_fmt", "info:ofi/fmt:kev:mtx:dc"),
        ("rft.type", reference.kind),
        ("rft.title", reference.title),
        *((_author_key(author), author.inverted_name) for author in reference.authors),
        ("rft.source" if _CONTAINER_TAGS[reference.kind] == "DC.source" else "rft.publisher", reference.container),
        ("rft.date", reference.published),
        ("rft.language", reference.language),
        ("rft.identifier", reference.url),
    ]
    return urlencode([(name, value) for name, value in pairs if value], quote_via=quote)


def _author_key(author: AuthorName) -> str:
    """Return the key of an author. Zotero would divide an organization of several words that is no corporate author."""
    return "rft.au" if author.given_name or " " not in author.family_name else "rft.aucorp"
