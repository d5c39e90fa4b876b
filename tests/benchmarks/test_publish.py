"""The articles that publishing is measured on."""

import random
from pathlib import Path

from benchmarks.publish import PARTS, TERM, fill, made_of
from docstore.store import Store

TEXTS = ["油气勘探取得突破。钻井提速明显，成本下降。", "页岩气产量增长。管道投产后供气稳定。"] * 3


def test_just_so_many_articles_hold_the_term() -> None:
    made = list(made_of(TEXTS, 40, 4, random.Random(1)))
    assert len(made) == 40 and sum(TERM in body for _, body in made) == 4
    assert sum(TERM not in body and all(part in body for part in PARTS) for _, body in made) == 4
    assert len({title for title, _ in made}) == 40
    assert all(200 <= len(body) <= 1100 for _, body in made)
    assert made == list(made_of(TEXTS, 40, 4, random.Random(1)))


def test_the_store_takes_them_for_extracted_articles(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    with Store(url, tmp_path / "warc") as store:
        fill(url, made_of(TEXTS, 30, 3, random.Random(1)))
        assert store.change_log.enqueue_all() == 30
        bodies = [stored.article.body for stored in store.articles.iter_all()]
    assert sum(TERM in body for body in bodies) == 3
