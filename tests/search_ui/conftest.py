"""For all tests of the site: cheap password hashes and samples of the hostile texts.

A hash of the product costs 64 MiB and a tenth of a second.
"""

from collections.abc import Iterator

import pytest
from argon2 import PasswordHasher

from search_ui import passwords

PRODUCT_HASHER = passwords._HASHER
CHEAP_HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@pytest.fixture(scope="session", autouse=True)
def cheap_hasher() -> Iterator[None]:
    """Hash with little memory in one pass, also the password of no account."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "_HASHER", CHEAP_HASHER)
        passwords._dummy_hash.cache_clear()
        yield
    passwords._dummy_hash.cache_clear()


@pytest.fixture
def product_hasher(cheap_hasher: None, monkeypatch: pytest.MonkeyPatch) -> PasswordHasher:
    """The hasher of the product, in use during this test."""
    monkeypatch.setattr(passwords, "_HASHER", PRODUCT_HASHER)
    return PRODUCT_HASHER


@pytest.fixture(
    params=[pytest.param(5, id="every fifth text"), pytest.param(1, id="all texts", marks=pytest.mark.exhaustive)]
)
def step(request: pytest.FixtureRequest) -> int:
    """Which of the hostile texts a test takes: each whose index is a multiple of this."""
    return int(request.param)
