"""Small document files built in code: PDF, Word, and files that are damaged on purpose."""

import io
import zipfile
import zlib
from collections.abc import Sequence
from xml.sax.saxutils import escape

_LINE = 14  # points


def pdf(pages: Sequence[Sequence[str]], title: str = "") -> bytes:
    """Return a PDF with one page for each list of lines; the first line of the first page is large."""
    objects: list[bytes] = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    kids = []
    for number, lines in enumerate(pages):
        content = b"\n".join(
            f"BT /F1 {24 if number == n == 0 else 11} Tf 60 {740 - n * 2 * _LINE} Td ({_pdf_text(line)}) Tj ET".encode()
            for n, line in enumerate(lines)
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> "
            b"/Contents %d 0 R >>" % len(objects)
        )
        kids.append(len(objects))
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), b" ".join(b"%d 0 R" % kid for kid in kids))
    objects.append(f"<< /Title ({_pdf_text(title)}) >>".encode())
    return _pdf_file(objects)


def _pdf_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def _pdf_file(objects: Sequence[bytes]) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, one in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d /Root 1 0 R /Info %d 0 R >>\n" % (len(objects) + 1, len(objects))
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % start)


def docx(title: str, paragraphs: Sequence[str]) -> bytes:
    """Return a Word document: a title with its style, then paragraphs."""
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    head = f'<w:p><w:pPr><w:pStyle w:val="Title"/></w:pPr><w:r><w:t>{escape(title)}</w:t></w:r></w:p>'
    body = "".join(f"<w:p><w:r><w:t>{escape(text)}</w:t></w:r></w:p>" for text in paragraphs)
    parts = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" '
        'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
        "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/'
        'officeDocument" Target="word/document.xml"/></Relationships>',
        "word/document.xml": f"<w:document {space}><w:body>{head}{body}</w:body></w:document>",
    }
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in parts.items():
            file.writestr(name, '<?xml version="1.0" encoding="UTF-8"?>' + text)
    return written.getvalue()


def pdf_bomb(megabytes: int) -> bytes:
    """Return a small PDF with one page whose content expands to `megabytes` MB."""
    packer, piece = zlib.compressobj(9), b"0 0 m 1 1 l S " * 74_898
    content = b"".join((*(packer.compress(piece) for _ in range(megabytes)), packer.flush()))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count 1 /Kids [4 0 R] >>",
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(content), content),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << >> /Contents 3 0 R >>",
        b"<< >>",
    ]
    return _pdf_file(objects)
