"""Completes a layout: lays out the elements that were skipped and merges them with the rest."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from extractor.page.layout import InlineElement, Layout, Line, Picture, Span
from extractor.page.layout_builder import build_skipped_element


def complete_layout(layout: Layout) -> Layout | None:
    """Lay out the skipped elements of a layout and merge them with the rest.

    Returns:
        A new layout, equal to one built with `complete`. None if the elements around a skipped one depend on its
        content, so that the page must be laid out again.
    """
    if not layout.can_complete:
        return None
    pieces = []
    for skipped_element in layout.skipped_elements:
        piece = build_skipped_element(layout, skipped_element)
        if piece is None:
            return None
        pieces.append(piece)
    return merge_layouts(layout, pieces)


def merge_layouts(layout: Layout, pieces: Sequence[Layout]) -> Layout:
    """Insert the layouts of all skipped elements of a layout. The first span of a piece is that of its element."""
    complete = Layout()
    # The k-th shift is that of the part of the page after k skipped elements.
    line_shifts = [0, *accumulate(len(piece.lines) for piece in pieces)]
    span_indices, end_parts = renumber_spans(layout, pieces), count_skipped_to_end(layout)
    line_start = picture_start = inline_start = span_start = 0
    for part, element in enumerate((*layout.skipped_elements, None)):
        line_shift = line_shifts[part]
        run_count = layout.skipped.line_count if element is None else element.line_count
        for line in layout.lines[line_start : None if element is None else element.line_index]:
            complete.lines.append(copy_line(line, span_indices[line.span_index], len(complete.lines)))
        for span_index in range(span_start, len(layout.spans) if element is None else element.span_index + 1):
            span = layout.spans[span_index]
            complete.spans.append(
                Span(
                    span.tag_info,
                    span.start_line + line_shift,
                    span_indices[span.parent_index],
                    span.element_index,
                    span.start_line_number - run_count + line_shift,
                    0.0,
                    span.end_line + line_shifts[end_parts[span_index]],
                )
            )
        for picture in layout.pictures[picture_start : None if element is None else element.picture_count]:
            complete.pictures.append(
                Picture(picture.attribute_text, picture.line_index + line_shift, span_indices[picture.span_index])
            )
        for inline in layout.inline_elements[inline_start : None if element is None else element.inline_count]:
            complete.inline_elements.append(InlineElement(inline.tag_info, inline.line_index + line_shift, inline.text))
        if element is not None:
            line_start, picture_start, inline_start = element.line_index, element.picture_count, element.inline_count
            span_start = element.span_index + 1
            insert_piece(complete, pieces[part])
    return complete


def renumber_spans(layout: Layout, pieces: Sequence[Layout]) -> list[int]:
    """Return the indices of the spans in the complete layout, by old index; the last item, at index -1, is -1."""
    span_count = len(layout.spans)
    added_spans = [0] * span_count
    for element, piece in zip(layout.skipped_elements, pieces, strict=True):
        if element.span_index + 1 < span_count:
            added_spans[element.span_index + 1] = len(piece.spans) - 1
    return [*(index + added for index, added in enumerate(accumulate(added_spans))), -1]


def count_skipped_to_end(layout: Layout) -> list[int]:
    """Return for each span the number of skipped elements before its end."""
    spans = layout.spans
    last_descendants = list(range(len(spans)))
    for span_index in range(len(spans) - 1, 0, -1):
        parent = spans[span_index].parent_index
        if parent >= 0 and last_descendants[span_index] > last_descendants[parent]:
            last_descendants[parent] = last_descendants[span_index]
    skipped_spans = [element.span_index for element in layout.skipped_elements]
    return [bisect_right(skipped_spans, last_descendant) for last_descendant in last_descendants]


def copy_line(line: Line, span_index: int, line_number: int) -> Line:
    """Return a copy of a line with another span and line number."""
    return Line(
        line.text,
        line.size,
        line.link_size,
        line.strong_size,
        span_index,
        line.tag,
        line.text_pieces,
        line.links,
        line_number,
        line.cells,
        False,
        line._punctuation_count,
    )


def insert_piece(complete: Layout, piece: Layout) -> None:
    """Append the layout of a skipped element, whose span is the last one of `complete`."""
    line_shift, span_shift = len(complete.lines), len(complete.spans) - 1
    for line in piece.lines:
        line.span_index += span_shift
        line.line_number += line_shift
    for span in piece.spans[1:]:
        span.start_line += line_shift
        span.end_line += line_shift
        span.start_line_number += line_shift
        span.parent_index += span_shift
    for picture in piece.pictures:
        picture.line_index += line_shift
        picture.span_index += span_shift
    for inline_element in piece.inline_elements:
        inline_element.line_index += line_shift
    complete.lines += piece.lines
    complete.spans += piece.spans[1:]
    complete.pictures += piece.pictures
    complete.inline_elements += piece.inline_elements
