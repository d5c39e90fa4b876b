"""Shared fixtures: cheap password hashes, and a sample of the hostile texts.

A hash with the product's settings takes 64 MiB and a tenth of a second.
"""

from collections.abc import Iterator

import pytest
from argon2 import PasswordHasher

from search_ui import passwords

PRODUCT_HASHER = passwords._HASHER
CHEAP_HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@pytest.fixture(scope="session", autouse=True)
def cheap_hasher() -> Iterator[None]:
    """Hash with little memory in one pass, including the dummy hash."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "_HASHER", CHEAP_HASHER)
        passwords._dummy_hash.cache_clear()
        yield
    passwords._dummy_hash.cache_clear()


@pytest.fixture
def product_hasher(cheap_hasher: None, monkeypatch: pytest.MonkeyPatch) -> PasswordHasher:
    """Use the product's hasher during this test."""
    monkeypatch.setattr(passwords, "_HASHER", PRODUCT_HASHER)
    return PRODUCT_HASHER


@pytest.fixture(
    params=[pytest.param(15, id="every 15th text"), pytest.param(1, id="all texts", marks=pytest.mark.exhaustive)]
)
def step(request: pytest.FixtureRequest) -> int:
    """The sampling step for hostile texts: a test takes every text whose index is a multiple of it."""
    return int(request.param)
