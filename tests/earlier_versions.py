"""Files of earlier versions: archives, every Solr configset, and documents as the earlier versions wrote them."""

import tarfile
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

from indexer.solr_index import SCHEMA_FILE
from solr_client import solr_fields

ARCHIVE_DIR = Path(__file__).parent / "previous_version"
TEXT_BY_FORM = {solr_fields.TITLE_CHARS: solr_fields.TITLE, solr_fields.BODY_CHARS: solr_fields.BODY}


def extract_archive(name: str, folder: Path) -> None:
    """Write the files of an archive of `tests/previous_version` to `folder`."""
    with tarfile.open(ARCHIVE_DIR / name) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.2 has no filters
        archive.extractall(folder)


def extract_configsets(folder: Path) -> list[Path]:
    """Write the configsets to `folder`; return their folders, the oldest first."""
    extract_archive("configsets.tar.xz", folder)
    return sorted(path for path in folder.iterdir() if path.is_dir())


def to_earlier_document(document: Mapping[str, object], configset: Path) -> dict[str, object]:
    """Return `document` with the fields of an earlier configset, and in the form of that version."""
    schema = ElementTree.parse(configset / SCHEMA_FILE).getroot()
    fields = {field.attrib["name"]: field.attrib for field in schema.iter("field")}
    copied_names = {field.attrib["dest"] for field in schema.iter("copyField")}
    texts = {form: document[text] for form, text in TEXT_BY_FORM.items() if form not in copied_names}
    return {
        name: value[0] if isinstance(value, list) and fields[name].get("multiValued") != "true" else value
        for name, value in {**document, **texts}.items()
        if name in fields
    }
