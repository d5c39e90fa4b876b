"""Text of drawings in Office files: shapes, charts and diagrams (DrawingML)."""

from collections.abc import Iterator

from lxml.etree import _Element as Element

from extractor.documents.content import to_one_line
from extractor.documents.office.formulas import formula_text
from extractor.documents.zip_package import ZipPackage

DRAWING_NS = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
MATH_NS = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
CHART_NS = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
EXTENDED_CHART_NS = "{http://schemas.microsoft.com/office/drawing/2014/chartex}"
TEXT_TAGS = (f"{DRAWING_NS}p", f"{CHART_NS}v", f"{EXTENDED_CHART_NS}v", f"{EXTENDED_CHART_NS}pt")
CHART_NUMBER_TAGS = (
    *(f"{CHART_NS}{name}" for name in ("val", "xVal", "yVal", "bubbleSize")),
    f"{EXTENDED_CHART_NS}numDim",
)
DRAWING_RELATIONSHIPS = frozenset(("drawing", "chart", "chartEx", "chartUserShapes", "diagramData"))


def remove_hidden_shapes(root: Element) -> None:
    """Remove the shapes that the author has hidden."""
    for properties in list(root.iter("{*}cNvPr", "{*}docPr")):
        ancestors = list(properties.iterancestors())[
            properties.tag.endswith("cNvPr") :
        ]  # the shape, and those around it
        if properties.get("hidden") in ("1", "true") and len(ancestors) > 1:
            ancestors[1].remove(ancestors[0])


def drawing_paragraph_text(paragraph: Element) -> str:
    """Return the text of a paragraph of a shape."""
    parts = []
    for element in paragraph.iterchildren():
        if element.tag == f"{DRAWING_NS}t":
            parts.append(element.text or "")
        elif element.tag in (f"{DRAWING_NS}br", f"{DRAWING_NS}tab"):
            parts.append(" ")
        elif element.tag == f"{MATH_NS}oMath":
            parts.append(formula_text(element))
        else:
            parts.append(drawing_paragraph_text(element))
    return "".join(parts)


def drawing_texts(package: ZipPackage, part: str) -> Iterator[str]:
    """Yield the paragraphs of the drawings, charts and diagrams that belong to a part; of a chart, each text once."""
    names, seen_names = [part], {part}
    for name in names:
        for kind, target in package.relationships(name).values():
            if kind in DRAWING_RELATIONSHIPS and target not in seen_names:
                seen_names.add(target)
                names.append(target)
        root = package.parse_part(name) if name != part else None
        if root is not None:
            remove_hidden_shapes(root)
            texts = list(filter(None, map(to_one_line, iter_texts(root))))
            yield from dict.fromkeys(texts) if root.tag.endswith("}chartSpace") else texts


def iter_texts(root: Element) -> Iterator[str]:
    """Yield the paragraphs of a drawing; of a chart also the names of its series and categories, not its numbers."""
    for element in root.iter(*TEXT_TAGS):
        if element.tag == f"{DRAWING_NS}p":
            yield drawing_paragraph_text(element)
        elif next(element.iterancestors(*CHART_NUMBER_TAGS), None) is None:
            yield element.text or ""
