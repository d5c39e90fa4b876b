"""Errors of the store when the system refuses to let its files grow."""

import errno
import os

import pytest

from docstore.database import translate_errors
from domain.errors import StoreError, StoreFullError


@pytest.mark.parametrize(
    ("number", "kind", "part"),
    [
        (errno.ENOSPC, StoreFullError, "The disk that holds the store is full: free some space"),
        (errno.EDQUOT, StoreFullError, "quota"),
        (errno.EFBIG, StoreFullError, "may not grow (File too large)"),
        (errno.EROFS, StoreError, "its folder is writable"),
    ],
    ids=["full", "quota", "limit", "read-only"],
)
def test_errors_of_files_say_what_to_do(number: int, kind: type[StoreError], part: str) -> None:
    with pytest.raises(StoreError) as caught, translate_errors():
        raise OSError(number, os.strerror(number))
    assert type(caught.value) is kind
    assert part in str(caught.value)
