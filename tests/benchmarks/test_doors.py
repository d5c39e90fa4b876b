"""The benchmark finds the secrets that it looks for."""

import gzip
from base64 import b64encode
from pathlib import Path
from urllib.parse import quote_plus

from benchmarks.doors import WRONG_SECRET, count_secrets
from benchmarks.members_site import SECRET, USER


def test_secrets_are_found_in_all_their_forms(tmp_path: Path) -> None:
    basic = b64encode(f"{USER}:{SECRET}".encode())
    contents = [SECRET.encode(), quote_plus(SECRET).encode(), basic, WRONG_SECRET.encode(), b"nothing"]
    files = [tmp_path / f"{n}.log" for n in range(len(contents))]
    for file, content in zip(files, contents, strict=True):
        file.write_bytes(b"before " + content + b" after")
    packed = tmp_path / "a.warc.gz"
    packed.write_bytes(gzip.compress(b"header") + gzip.compress(SECRET.encode()))
    assert count_secrets([*files, packed]) == 5
