"""Document files for tests, built byte by byte: each function returns the bytes of a file."""

import hashlib
import io
import struct
import zipfile
import zlib
from collections.abc import Collection, Mapping, Sequence
from xml.sax.saxutils import escape

PADDING = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")
W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
Line = tuple[float, float, float, str]  # left and height in points, size of letters, text
IMAGE_PAGE = b"q 595 0 0 842 0 0 cm /I Do Q"  # content of a scanned page, for `pdf_of`


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """Return a zip file; the part `mimetype` is first and uncompressed, as the formats require."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in parts.items():
            file.writestr(name, data, zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


# -- PDF


def pdf(pages: Sequence[Sequence[Line]], info: str = "", password: str | None = None) -> bytes:
    """Return a PDF of text lines in any script; `info` are its properties; `password` encrypts it (RC4)."""
    return pdf_of([text_page(page) for page in pages], info, password)


def text_page(lines: Sequence[Line]) -> bytes:
    """Return the content of a page of text lines, for `pdf_of`."""
    return b"BT " + b" ".join(map(drawn, lines)) + b" ET"


def drawn(line: Line) -> bytes:
    """Return the operators that draw a line."""
    left, height, size, text = line
    codes = text.encode("utf-16-be").hex()
    return f"/F1 {size} Tf 1 0 0 1 {left} {height} Tm <{codes}> Tj".encode()


def pdf_of(contents: Sequence[bytes], info: str = "", password: str | None = None, filters: str = "") -> bytes:
    """Return a PDF of pages with these content streams."""
    cmap = (
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def\n"
        b"1 begincodespacerange <0000> <FFFF> endcodespacerange\n"
        b"1 beginbfrange <0000> <FFFF> <0000> endbfrange endcmap end end"
    )
    font = "<</Type/Font/Subtype/Type0/BaseFont/F/Encoding/Identity-H/DescendantFonts[4 0 R]/ToUnicode 5 0 R>>"
    below = (
        "<</Type/Font/Subtype/CIDFontType2/BaseFont/F/CIDSystemInfo<</Registry(A)/Ordering(I)/Supplement 0>>/DW 600>>"
    )
    kids = " ".join(f"{8 + 2 * number} 0 R" for number in range(len(contents)))
    encryption = Encryption(password) if password is not None else None
    objects: dict[int, bytes] = {
        1: b"<</Type/Catalog/Pages 2 0 R>>",
        2: f"<</Type/Pages/Kids[{kids}]/Count {len(contents)}>>".encode(),
        3: font.encode(),
        4: below.encode(),
        5: streamed(cmap, 5, encryption),
        6: f"<<{info}>>".encode("latin-1") if encryption is None else b"<<>>",
        7: image_object(),
    }
    for number, content in enumerate(contents):
        resources = "/Resources<</Font<</F1 3 0 R>>/XObject<</I 7 0 R>>>>"
        page = f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]{resources}/Contents {9 + 2 * number} 0 R>>"
        objects[8 + 2 * number] = page.encode()
        objects[9 + 2 * number] = streamed(content, 9 + 2 * number, encryption, filters)
    return assembled(objects, encryption)


def streamed(data: bytes, number: int, encryption: "Encryption | None", filters: str = "") -> bytes:
    """Return an object with a stream."""
    data = encryption.encrypted(data, number) if encryption else data
    stated = f"/Filter{filters}" if filters else ""
    return f"<</Length {len(data)}{stated}>>stream\n".encode() + data + b"\nendstream"


def assembled(objects: Mapping[int, bytes], encryption: "Encryption | None" = None) -> bytes:
    """Return objects, cross-reference table and trailer."""
    out, places = bytearray(b"%PDF-1.5\n"), {}
    for number, body in objects.items():
        places[number] = len(out)
        out += b"%d 0 obj" % number + body + b"\nendobj\n"
    start, size = len(out), max(objects) + 1
    rows = (f"{places[n]:010d} 00000 n \n" if n in places else "0000000000 65535 f \n" for n in range(size))
    out += f"xref\n0 {size}\n{''.join(rows)}trailer<</Size {size}/Root 1 0 R/Info 6 0 R".encode()
    out += encryption.entry() if encryption else b""
    return bytes(out + f">>\nstartxref\n{start}\n%%EOF\n".encode())


class Encryption:
    """The standard security handler, revision 2: RC4 with 40 bits (PDF 32000-1, 7.6.3)."""

    def __init__(self, password: str) -> None:
        self.id = b"0123456789abcdef"
        own = (password.encode() + PADDING)[:32]
        self.owner = rc4(hashlib.md5(own).digest()[:5], own)
        self.key = hashlib.md5(own + self.owner + struct.pack("<i", -4) + self.id).digest()[:5]
        self.user = rc4(self.key, PADDING)

    def encrypted(self, data: bytes, number: int) -> bytes:
        """Encrypt the stream of an object."""
        return rc4(hashlib.md5(self.key + struct.pack("<I", number)[:3] + b"\0\0").digest()[:10], data)

    def entry(self) -> bytes:
        """Return the entry of the trailer."""
        parts = (self.owner.hex(), self.user.hex(), self.id.hex())
        return b"/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<%s>/U<%s>>>/ID[<%s><%s>]" % tuple(
            part.encode() for part in (*parts, parts[2])
        )


def rc4(key: bytes, data: bytes) -> bytes:
    """Encrypt data with RC4."""
    state, j = list(range(256)), 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out, i, j = bytearray(), 0, 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


def picture_pdf() -> bytes:
    """Return a PDF whose page is an image, as from a scanner."""
    objects = {
        1: b"<</Type/Catalog/Pages 2 0 R>>",
        2: b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        3: b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</XObject<</I 5 0 R>>>>/Contents 4 0 R>>",
        4: b"<</Length 29>>stream\nq 595 0 0 842 0 0 cm /I Do Q \nendstream",
        5: image_object(),
        6: b"<<>>",
    }
    return assembled(objects)


def form_pdf(values: Mapping[str, str], has_appearance: bool) -> bytes:
    """Return a PDF with filled form fields, and a hidden one; `has_appearance`: the program has drawn the fields."""
    fields = {12 + 2 * at: entry for at, entry in enumerate((*values.items(), ("hidden", "secret")))}
    listed = " ".join(f"{number} 0 R" for number in fields)
    resources = "<</Font<</F1 4 0 R>>>>"
    form = f"<</Fields[{listed}]/DA(/F1 12 Tf 0 g)/DR{resources}>>"
    page = f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources{resources}/Contents 5 0 R/Annots[{listed}]>>"
    objects = {
        1: f"<</Type/Catalog/Pages 2 0 R/AcroForm{form}>>".encode(),
        2: b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        3: page.encode(),
        4: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        5: streamed(b"BT /F1 12 Tf 1 0 0 1 60 700 Tm (Application of a student:) Tj ET", 5, None),
        6: b"<<>>",
    }
    for at, (number, (name, value)) in enumerate(fields.items()):
        flags, drawn = 2 if name == "hidden" else 4, f"/AP<</N {number + 1} 0 R>>" if has_appearance else ""
        widget = (
            f"/FT/Tx/T({name})/V({value})/DA(/F1 12 Tf 0 g)/Rect[200 {600 - 40 * at} 400 {620 - 40 * at}]/F {flags}"
        )
        objects[number] = f"<</Type/Annot/Subtype/Widget{widget}{drawn}>>".encode()
        content = f"/Tx BMC BT /F1 12 Tf 2 5 Td ({value}) Tj ET EMC"
        head = f"<</Type/XObject/Subtype/Form/BBox[0 0 200 20]/Resources{resources}/Length {len(content)}>>"
        objects[number + 1] = f"{head}stream\n{content}\nendstream".encode()
    return assembled(objects)


def image_object() -> bytes:
    """Return a black image of ten by ten pixels."""
    pixels = zlib.compress(bytes(100))
    head = b"<</Type/XObject/Subtype/Image/Width 10/Height 10/ColorSpace/DeviceGray/BitsPerComponent 8"
    return head + b"/Filter/FlateDecode/Length %d>>stream\n" % len(pixels) + pixels + b"\nendstream"


# -- Office


def relations(*parts: tuple[str, str, str]) -> str:
    """Return a relationships part from (id, kind, target)."""
    rows = "".join(f'<Relationship Id="{one}" Type="{OFFICE}/{kind}" Target="{to}"/>' for one, kind, to in parts)
    return f'<Relationships xmlns="{RELATIONS}">{rows}</Relationships>'


def docx(body: str, properties: str = "", more: Mapping[str, str | bytes] | None = None, head: str = "") -> bytes:
    """Return a Word file with this XML in its body; `head` is put before the root element."""
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{one}"{default}><w:name w:val="{name}"/><w:rPr><w:sz w:val="{size}"/>'
        "</w:rPr></w:style>"
        for one, name, size, default in (
            ("a", "Normal", 21, ' w:default="1"'),
            ("t", "Title", 44, ""),
            ("1", "heading 1", 32, ""),
        )
    )
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        "_rels/.rels": relations(("r1", "officeDocument", "word/document.xml")),
        "word/_rels/document.xml.rels": relations(("r1", "styles", "styles.xml"), ("r2", "footnotes", "footnotes.xml")),
        "word/styles.xml": f'<w:styles xmlns:w="{W}">{styles}</w:styles>',
        "word/document.xml": f'{head}<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>',
        "docProps/core.xml": core(properties),
    }
    return zipped(parts | dict(more or {}))


def core(properties: str) -> str:
    """Return the part with the properties."""
    return (
        '<p xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">'
        + properties
        + "</p>"
    )


def paragraph(text: str, style: str = "", extra: str = "", size: int = 0) -> str:
    """Return the XML of a Word paragraph."""
    own = f'<w:pStyle w:val="{style}"/>' if style else ""
    letters = f'<w:rPr><w:sz w:val="{size}"/></w:rPr>' if size else ""
    return f"<w:p><w:pPr>{own}{extra}</w:pPr><w:r>{letters}<w:t>{escape(text)}</w:t></w:r></w:p>"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return the XML of a Word table."""
    cells = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def pptx(slides: Sequence[tuple[str, Sequence[str]]], notes: str = "") -> bytes:
    """Return a presentation of slides with a title and paragraphs; `notes` belong to the first slide."""
    names = (
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
        f'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="{OFFICE}"'
    )
    ids = "".join(f'<p:sldId id="{256 + at}" r:id="r{at}"/>' for at in range(len(slides)))
    parts: dict[str, str | bytes] = {
        "_rels/.rels": relations(("r1", "officeDocument", "ppt/presentation.xml")),
        "ppt/presentation.xml": f"<p:presentation {names}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            *((f"r{at}", "slide", f"slides/slide{at + 1}.xml") for at in range(len(slides)))
        ),
        "docProps/core.xml": core("<dc:title>Slide 1</dc:title>"),
    }
    for at, (title, lines) in enumerate(slides):
        shapes = shape("title", [title]) + shape("body", lines) + shape("sldNum", [str(at + 1)])
        parts[f"ppt/slides/slide{at + 1}.xml"] = (
            f"<p:sld {names}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
        )
    if notes:
        parts["ppt/slides/_rels/slide1.xml.rels"] = relations(("n", "notesSlide", "../notesSlides/notesSlide1.xml"))
        parts["ppt/notesSlides/notesSlide1.xml"] = f"<p:notes {names}>{shape('body', [notes])}</p:notes>"
    return zipped(parts)


def shape(kind: str, lines: Sequence[str]) -> str:
    """Return the XML of a shape on a slide."""
    text = "".join(f"<a:p><a:r><a:t>{escape(line)}</a:t></a:r></a:p>" for line in lines)
    return f'<p:sp><p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr><p:txBody>{text}</p:txBody></p:sp>'


def xlsx(sheets: Mapping[str, str]) -> bytes:
    """Return a workbook of sheets with the XML of their rows."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    listed = "".join(f'<sheet name="{name}" sheetId="{at}" r:id="r{at}"/>' for at, name in enumerate(sheets, 1))
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    types = "".join(
        f'<Override PartName="/xl/worksheets/sheet{at}.xml" ContentType="{kind}.worksheet+xml"/>'
        for at in range(1, len(sheets) + 1)
    )
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>{types}</Types>',
        "_rels/.rels": relations(("r1", "officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{OFFICE}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relations(
            *((f"r{at}", "worksheet", f"worksheets/sheet{at}.xml") for at in range(1, len(sheets) + 1))
        ),
    }
    for at, rows in enumerate(sheets.values(), 1):
        parts[f"xl/worksheets/sheet{at}.xml"] = f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>'
    return zipped(parts)


def sheet_rows(rows: Sequence[Sequence[str | float]]) -> str:
    """Return the XML of the rows of a sheet."""
    out = []
    for number, row in enumerate(rows, 1):
        cells = "".join(sheet_cell(f"{chr(65 + at)}{number}", value) for at, value in enumerate(row) if value != "")
        out.append(f'<row r="{number}">{cells}</row>')
    return "".join(out)


def sheet_cell(place: str, value: str | float) -> str:
    """Return the XML of one cell."""
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return f'<c r="{place}"><v>{value}</v></c>'


def xlsb(cells: Sequence[tuple[int, int, float]]) -> bytes:
    """Return a binary workbook of one sheet with cells of row, column and number, sorted by row."""
    name, relation = (text.encode("utf-16-le") for text in ("data", "rId1"))
    sheet = struct.pack("<III", 0, 1, len(relation) // 2) + relation + struct.pack("<I", len(name) // 2) + name
    workbook = b"".join(binary_record(kind, data) for kind, data in ((143, b""), (156, sheet), (144, b""), (132, b"")))
    last_row, last_column = max(row for row, _, _ in cells), max(column for _, column, _ in cells)
    records = [
        binary_record(148, struct.pack("<IIII", 0, last_row, 0, last_column)),
        binary_record(145, b""),
    ]
    for at, (row, column, value) in enumerate(cells):
        if at == 0 or cells[at - 1][0] != row:
            records.append(binary_record(0, struct.pack("<I13x", row)))
        records.append(binary_record(5, struct.pack("<IId", column, 0, value)))
    return zipped(
        {
            "xl/workbook.bin": workbook,
            "xl/_rels/workbook.bin.rels": relations(("rId1", "worksheet", "worksheets/sheet1.bin")),
            "xl/worksheets/sheet1.bin": b"".join(records) + binary_record(146, b""),
        }
    )


def binary_record(kind: int, data: bytes) -> bytes:
    """Return a record of a binary workbook: kind and size in seven bits a byte, and its content."""
    return (bytes([kind]) if kind < 128 else bytes([kind & 127 | 128, kind >> 7])) + bytes([len(data)]) + data


# -- OpenDocument, EPUB, OFD


def opendocument(
    kind: str, body: str, manifest: str = "", styles: str = "", more: Mapping[str, str | bytes] | None = None
) -> bytes:
    """Return an ODF file: `kind` is text, presentation or spreadsheet, `body` the XML of its content."""
    names = " ".join(
        f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for short, name in (
            ("office", "office"), ("text", "text"), ("table", "table"), ("draw", "drawing"),
            ("presentation", "presentation"), ("meta", "meta"), ("style", "style"), ("chart", "chart"),
        )
    )  # fmt: skip
    names += ' xmlns:xlink="http://www.w3.org/1999/xlink"'
    within = (
        f"<office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body>"
    )
    content = f"<office:document-content {names}>{within}</office:document-content>"
    spaces = 'xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"'
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": content,
            "META-INF/manifest.xml": f"<manifest:manifest {spaces}>{manifest}</manifest:manifest>",
        }
        | {name: data.replace("NAMES", names) if isinstance(data, str) else data for name, data in (more or {}).items()}
    )


def epub(title: str, chapters: Sequence[str], date: str = "") -> bytes:
    """Return a book of XHTML chapters."""
    items = "".join(f'<item id="c{at}" href="c{at}.xhtml"/>' for at in range(len(chapters)))
    spine = "".join(f'<itemref idref="c{at}"/>' for at in range(len(chapters)))
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
        f"<dc:title>{escape(title)}</dc:title><dc:creator>鲁迅</dc:creator><dc:date>{date}</dc:date></metadata>"
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfile full-path="O/p.opf"/></container>'
    )
    pages = {f"O/c{at}.xhtml": chapter for at, chapter in enumerate(chapters)}
    return zipped({"mimetype": "application/epub+zip", "META-INF/container.xml": container, "O/p.opf": package} | pages)


def ofd(lines: Sequence[tuple[float, float, str]]) -> bytes:
    """Return an OFD file of one page: lines as (top in mm, size in mm, text)."""
    return ofd_of([ofd_text(lines)])


def ofd_text(lines: Sequence[tuple[float, float, str]]) -> str:
    """Return the objects of a page of an OFD file with these lines."""
    return "".join(
        f'<ofd:TextObject ID="{at}" Boundary="30 {top} 150 {size}" Size="{size}">'
        f"<ofd:TextCode>{escape(text)}</ofd:TextCode></ofd:TextObject>"
        for at, (top, size, text) in enumerate(lines)
    )


def ofd_image(number: int, boundary: str = "0 0 210 297") -> str:
    """Return an object of a page of an OFD file: the image of this number of `ofd_of`, from 0."""
    return f'<ofd:ImageObject ID="{900 + number}" ResourceID="{100 + number}" Boundary="{boundary}"/>'


def ofd_of(pages: Sequence[str], images: Sequence[bytes] = ()) -> bytes:
    """Return an OFD file of pages with these objects, and its images."""
    space = 'xmlns:ofd="http://www.ofdspec.org/2016"'
    box = "<ofd:PageArea><ofd:PhysicalBox>0 0 210 297</ofd:PhysicalBox></ofd:PageArea>"
    listed = "".join(f"<ofd:Page ID='{at}' BaseLoc='Pages/Page_{at}/Content.xml'/>" for at in range(len(pages)))
    main = "<ofd:DocBody><ofd:DocRoot>Doc_0/Document.xml</ofd:DocRoot></ofd:DocBody>"
    media = "".join(
        f'<ofd:MultiMedia ID="{100 + at}" Type="Image"><ofd:MediaFile>{at}.png</ofd:MediaFile></ofd:MultiMedia>'
        for at in range(len(images))
    )
    resources = f"<ofd:Res {space} BaseLoc='Res'><ofd:MultiMedias>{media}</ofd:MultiMedias></ofd:Res>"
    common = f"<ofd:CommonData>{box}<ofd:DocumentRes>DocumentRes.xml</ofd:DocumentRes></ofd:CommonData>"
    parts: dict[str, str | bytes] = {
        "OFD.xml": f"<ofd:OFD {space}>{main}</ofd:OFD>",
        "Doc_0/Document.xml": f"<ofd:Document {space}>{common}<ofd:Pages>{listed}</ofd:Pages></ofd:Document>",
        "Doc_0/DocumentRes.xml": resources,
    }
    for at, objects in enumerate(pages):
        layer = f"<ofd:Content><ofd:Layer>{objects}</ofd:Layer></ofd:Content>"
        parts[f"Doc_0/Pages/Page_{at}/Content.xml"] = f"<ofd:Page {space}>{layer}</ofd:Page>"
    for at, image in enumerate(images):
        parts[f"Doc_0/Res/{at}.png"] = image
    return zipped(parts)


# -- compound files


def compound(streams: Mapping[str, bytes]) -> bytes:
    """Return an OLE file [MS-CFB] with these streams, each at least 4,096 bytes long."""
    chains, sectors = [], bytearray()
    for data in streams.values():
        data = data.ljust(4096, b"\0")
        first = len(sectors) // 512
        sectors += data + bytes(-len(data) % 512)
        chains.append((first, len(sectors) // 512, len(data)))
    names = ["Root Entry", *streams]
    directory_at = len(sectors) // 512
    for at, name in enumerate(names):
        encoded = name.encode("utf-16-le")
        first, size = (0xFFFFFFFE, 0) if at == 0 else (chains[at - 1][0], chains[at - 1][2])
        right = at + 1 if 0 < at < len(streams) else 0xFFFFFFFF
        entry = encoded.ljust(64, b"\0") + struct.pack("<HBB", len(encoded) + 2, 5 if at == 0 else 2, 1)
        entry += struct.pack("<III", 0xFFFFFFFF, right, 1 if at == 0 else 0xFFFFFFFF) + bytes(36)
        sectors += entry + struct.pack("<IQ", first, size)
    sectors += bytes(-len(sectors) % 512)
    count = len(sectors) // 512
    chains.append((directory_at, count, 0))
    table = [0xFFFFFFFF] * (128 * -(-(count + 4) // 128))
    for first, end, _ in chains:
        for sector in range(first, end):
            table[sector] = sector + 1 if sector + 1 < end else 0xFFFFFFFE
    blocks = len(table) // 128
    for at in range(blocks):
        table[count + at] = 0xFFFFFFFD
    head = bytes.fromhex("D0CF11E0A1B11AE1") + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    head += struct.pack("<IIIIIIIII", 0, blocks, directory_at, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0)
    places = [count + at for at in range(blocks)] + [0xFFFFFFFF] * (109 - blocks)
    return head + struct.pack("<109I", *places) + bytes(sectors) + struct.pack(f"<{len(table)}I", *table)


def doc(
    text: str,
    flags: int = 0,
    styles: Sequence[int] = (),
    counts: Sequence[int] = (),
    hidden: tuple[int, int] | None = None,
) -> bytes:
    """Return a Word 97 file with paragraphs that end with CR, in two text pieces: single bytes and UTF-16.

    `styles` are the built-in style numbers (62: title, 1: heading 1) of the first paragraphs, in the piece of single
    bytes. `counts` are the lengths of the parts of the text (document, footnotes, headers ...); by default
    there is one part. `hidden` are start and end of hidden characters in the piece of single bytes.
    """
    cut = next((at for at, char in enumerate(text) if ord(char) > 126), len(text))
    head = bytearray(1024)
    struct.pack_into("<HH", head, 0, 0xA5EC, 0x00C1)
    struct.pack_into("<H", head, 0x0A, flags | 0x0200)
    counts = counts or (len(text),)
    struct.pack_into(f"<{len(counts)}i", head, 0x4C, *counts)
    narrow, wide = text[:cut].encode("cp1252"), text[cut:].encode("utf-16-le")
    places = struct.pack("<3I", 0, cut, len(text))
    pieces = struct.pack("<HIH", 0, (1024 * 2) | 0x40000000, 0) + struct.pack("<HIH", 0, 1024 + len(narrow), 0)
    table = b"\x02" + struct.pack("<I", len(places + pieces)) + places + pieces
    struct.pack_into("<II", head, 0x01A2, 0, len(table))
    main = bytes(head) + narrow + wide
    main += bytes(-len(main) % 512)
    if styles:
        sheet = struct.pack("<HHH", 4, len(styles), 2) + b"".join(struct.pack("<HH", 2, style) for style in styles)
        struct.pack_into("<II", head, 0xA2, len(table), len(sheet))
        table += sheet
        struct.pack_into("<II", head, 0x0102, len(table), 12)
        table += struct.pack("<III", 1024, 1024 + len(narrow), len(main) // 512)
        main = bytes(head) + main[1024:] + paragraph_formats(text, len(styles))
    if hidden is not None:
        fib = bytearray(main)
        struct.pack_into("<II", fib, 0xFA, len(table), 12)
        table += struct.pack("<III", 1024, 1024 + len(narrow), len(main) // 512)
        page = bytearray(512)
        struct.pack_into("<4I", page, 0, 1024, 1024 + hidden[0], 1024 + hidden[1], 1024 + len(narrow))
        page[17], page[511] = 100, 3
        page[200:204] = b"\x03\x3c\x08\x01"
        main = bytes(fib + page)
    return compound({"WordDocument": main, "1Table": table})


def xls(
    sheets: Sequence[tuple[str, Sequence[tuple[int, int, float, int]], Collection[int], Collection[int]]],
    formats: Sequence[str],
    hidden_sheets: Collection[int] = (),
) -> bytes:
    """Return an Excel 97 file: sheets of name, cells (row, column, number, format), hidden rows and hidden columns."""
    styles = [excel_record(0x41E, struct.pack("<HHB", 164 + at, len(code), 1) + code.encode("utf-16-le"))
              for at, code in enumerate(formats)]  # fmt: skip
    styles += [excel_record(0xE0, struct.pack("<HH16x", 0, 164 + at if code else 0)) for at, code in enumerate(formats)]
    heads = [(name.encode("utf-16-le"), at in hidden_sheets) for at, (name, *_) in enumerate(sheets)]
    start = len(excel_record(0x809, bytes(16))) + len(b"".join(styles)) + sum(12 + len(name) for name, _ in heads) + 4
    bodies = []
    for _, cells, rows, columns in sheets:
        data = excel_record(0x809, struct.pack("<HHHHII", 0x600, 0x10, 0, 0, 0, 0))
        data += b"".join(excel_record(0x7D, struct.pack("<HHHHHH", at, at, 9, 0, 1, 0)) for at in columns)
        data += b"".join(excel_record(0x208, struct.pack("<HHHHHHHH", at, 0, 9, 9, 0, 0, 0x20, 0)) for at in rows)
        data += b"".join(excel_record(0x203, struct.pack("<HHHd", row, column, style, value))
                         for row, column, value, style in cells)  # fmt: skip
        bodies.append(data + excel_record(0x0A, b""))
    listed = b""
    for at, (name, is_hidden) in enumerate(heads):
        position = start + sum(map(len, bodies[:at]))
        listed += excel_record(0x85, struct.pack("<IBBBB", position, is_hidden, 0, len(name) // 2, 1) + name)
    head = excel_record(0x809, struct.pack("<HHHHII", 0x600, 0x05, 0, 0, 0, 0)) + b"".join(styles) + listed
    return compound({"Workbook": head + excel_record(0x0A, b"") + b"".join(bodies)})


def excel_record(kind: int, data: bytes) -> bytes:
    """Return a record of an Excel file."""
    return struct.pack("<HH", kind, len(data)) + data


def paragraph_formats(text: str, count: int) -> bytes:
    """Return a formatted disk page: the first paragraphs have the styles 0, 1 ..., the others none."""
    starts = [0]
    for line in text.split("\r")[:count]:
        starts.append(starts[-1] + len(line) + 1)
    starts.append(len(text))
    page = bytearray(512)
    struct.pack_into(f"<{count + 2}I", page, 0, *(1024 + start for start in starts))
    for number in range(count):
        at = 400 + 4 * number
        page[4 * (count + 2) + 13 * number] = at // 2
        struct.pack_into("<BH", page, at, 2, number)
    page[511] = count + 1
    return bytes(page)


def ppt(slides: Sequence[tuple[str, str]], token: int = 0xE391C05F, hidden: Collection[int] = ()) -> bytes:
    """Return a PowerPoint 97 file of slides with a title and a text, both in its outline; some are not shown."""
    stream = bytearray()
    places = {}
    for at in range(len(slides)):
        places[at + 2] = len(stream)
        drawn = b"".join(record(3998, struct.pack("<I", index)) for index in (0, 1))
        drawn += record(1017, struct.pack("<iIBBHI", 0, 0, 0, 0, 4 if at in hidden else 0, 0))
        stream += record(1006, drawn, holds=True)
    listed = b""
    for at, texts in enumerate(slides):
        listed += record(1011, struct.pack("<IIiII", at + 2, 0, 2, 256 + at, 0))
        for kind, text in enumerate(texts):
            listed += record(3999, struct.pack("<I", kind)) + record(4000, text.encode("utf-16-le"))
    places[1] = len(stream)
    stream += record(1000, record(4080, listed, holds=True), holds=True)
    directory = len(stream)
    offsets = [places[number] for number in sorted(places)]
    stream += record(6002, struct.pack(f"<{1 + len(offsets)}I", 1 | len(offsets) << 20, *offsets))
    edit = len(stream)
    stream += record(4085, struct.pack("<IIIIIII", 0, 0, 0, directory, 1, 9, 0))
    user = record(4086, struct.pack("<IIIHHBBH", 20, token, edit, 0, 0, 3, 0, 0))
    return compound({"Current User": user, "PowerPoint Document": bytes(stream)})


def record(kind: int, data: bytes, holds: bool = False) -> bytes:
    """Return a PowerPoint record."""
    return struct.pack("<HHI", 0xF if holds else 0, kind, len(data)) + data
