"""Spider traps: an endless site costs at most a hundred pages, and all real pages are fetched."""

import random
from pathlib import Path
from typing import Any

from tests.crawler.test_traps import Answer, H, crawl, real_page, trap_links, trap_text
from tests.faults.hostile import rows
from tests.faults.tally import Tally

OWN: tuple[dict[str, Any], ...] = (
    {"text": "/diary/{y}/{m}/week", "why": "endless calendar", "links_per_page": 3},
    {"text": "/x/{n}/y/{n}", "why": "random text with random links", "links_per_page": 10},
    {"text": "/same;sid={rand}", "why": "same body under session ids", "links_per_page": 5},
)


def trap_faults(data: Path | None) -> Tally:
    """Crawl each trap and count the fetched pages."""
    tally = Tally("traps")
    for row in [*rows(data, "traps"), *OWN]:
        with tally.trying(row["text"]):
            chance = random.Random(1)

            def serve(path: str, row: dict[str, Any] = row, chance: random.Random = chance) -> Answer:
                if path.startswith("/real/"):
                    return real_page(int(path[6:-5]))
                if path == "/":
                    return "home", ["/real/1.html", *trap_links(row, chance)]
                return trap_text(row, path), ["/", *trap_links(row, chance)]

            fetched = crawl(serve, H + "/")
            real = {path for path in fetched if path.startswith("/real/")}
            tally.lost += 200 - len(real)
            assert len(real) == 200, f"{len(real)} of 200 real pages"
            assert len(fetched) - len(real) - 1 <= 100, f"{len(fetched) - len(real) - 1} pages of the trap"
    return tally
