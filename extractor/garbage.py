"""Python's cycle collector rests while a page is read.

Reading a page makes some hundred thousand small objects and no cycle (tests/extractor/test_garbage.py): counting
references frees them all. To look through them again and again for cycles took some five per cent of the CPU time.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def gc_paused() -> Iterator[None]:
    """No search for cycles inside, if there was any before; safe for threads: who has stopped it starts it again.

    It is the whole process that does without; cycles that other threads make meanwhile are found afterwards.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
