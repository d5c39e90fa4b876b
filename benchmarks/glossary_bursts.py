"""The set `bursts` of `make bench-glossary`: bursts of terms in dated news, in DIR/bursts.

    found_in_2_days     share of the events reported at the latest two days after their first day
    held_out_in_2_days  the same for the events that played no part in choosing thresholds (half of them, by checksum)
    false_a_week        reports of steady words, and of words of an event at another time
    other_a_week        reports that name nothing in the annotation, which is incomplete

Terms are runs of one to three words that form a noun phrase by their tags. `baseline` reports runs of three or four
characters whose count of a day has G² > 20 against all days before and is at least 10, at their first such day.
"""

import hashlib
import json
import lzma
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.results import OURS, SHARED, Figure
from domain.errors import PlumblineError
from lexicon.bursts import LEAD_CHARS, find_bursts, log_likelihood_ratio
from text.segment import Segmenter, base_segmenter

MAX_WORDS, MAX_CHARS = 3, 12
BASELINE_LENGTHS, BASELINE_COUNT, BASELINE_WEIGHT = (3, 4), 10, 20.0
EXCLUDED_TAGS = "utrpcdyozxqk"  # first letters of jieba's tags: particles, times, pronouns, function words
NUMBER_OR_DATE_RE = re.compile(
    r"[\d年月日时分秒点.〇一二三四五六七八九十百千万亿两第零]+|.*(?:[年月日时]|星期.?|周[一二三四五六日末]|月份|电|讯)|[^A-Za-z]*\d[^A-Za-z]*"
)
SCORE_RE = re.compile(r"in time ([\d.]+).*false a week ([\d.]+).*other a week ([\d.]+)")


class DatedArticle(NamedTuple):
    """An article of the set: `date` is YYYY-MM-DD."""

    date: str
    text: str


class Report(NamedTuple):
    """A reported term and the date on which it is reported."""

    term: str
    date: str


def burst_figures(data: Path, step: int) -> Iterator[Figure]:
    """Yield the rows of the set `bursts`.

    Args:
        data: A folder of the form of ../shared/data.
        step: Read each `step`-th article.
    """
    articles = read_articles(data / "bursts")[::step]
    for system, reports in ((OURS, report_bursts(articles)), ("baseline", report_baseline(articles))):
        found, false_a_week, other_a_week = score_reports(data, reports, is_held_out_only=False)
        yield Figure("bursts", system, "found_in_2_days", found)
        yield Figure("bursts", system, "held_out_in_2_days", score_reports(data, reports, is_held_out_only=True)[0])
        yield Figure("bursts", system, "false_a_week", false_a_week)
        yield Figure("bursts", system, "other_a_week", other_a_week)


def read_articles(folder: Path) -> list[DatedArticle]:
    """Return the articles of a folder, oldest first. Raises PlumblineError if the folder has none."""
    path = folder / "docs.jsonl.xz"
    if not path.exists():
        raise PlumblineError(f"no {path.name} in {folder}: give DATA=DIR, a folder of the form of ../shared/data")
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return sorted((DatedArticle(row["date"], f"{row['title']}\n{row['text']}") for row in rows), key=lambda row: row[0])


def report_bursts(articles: Sequence[DatedArticle]) -> list[Report]:
    """Return the reports of `lexicon.bursts`."""
    dates = sorted({article.date for article in articles})
    segmenter = base_segmenter()
    articles_by_term: defaultdict[str, list[int]] = defaultdict(list)
    for index, article in enumerate(articles):
        for term in set(iter_spans(article.text[:LEAD_CHARS], segmenter)):
            articles_by_term[term].append(index)
    phrases: Mapping[str, Sequence[int]] = {
        term: indices
        for term, indices in articles_by_term.items()
        if len(indices) > 1 and is_noun_phrase(term, segmenter)
    }
    bursts = find_bursts(phrases, [dates.index(article.date) for article in articles])
    return [Report(burst.term, dates[burst.day]) for burst in bursts]


def iter_spans(text: str, segmenter: Segmenter) -> Iterator[str]:
    """Yield the runs of at most MAX_WORDS words without punctuation."""
    words = list(segmenter.cut(text))
    for start in range(len(words)):
        for end in range(start + 1, min(len(words), start + MAX_WORDS) + 1):
            if not words[end - 1].isalnum():
                break
            if 2 <= len(span := "".join(words[start:end])) <= MAX_CHARS:
                yield span


def is_noun_phrase(span: str, segmenter: Segmenter) -> bool:
    """True if the tags of the words are those of a name or a noun phrase and it is no number and no date."""
    tags = [tag for _, tag in segmenter.tag(span)]
    if NUMBER_OR_DATE_RE.fullmatch(span) or any(tag[0] in EXCLUDED_TAGS for tag in tags):
        return False
    is_noun = tags[-1][0] in "njlis" or tags[-1] in ("vn", "an", "eng")
    if len(tags) == 1:
        return is_noun
    return (is_noun or tags[-1] == "v") and (tags[0] == "vn" or tags[0][0] not in "vdf")


def report_baseline(articles: Sequence[DatedArticle]) -> list[Report]:
    """Return the reports of the baseline."""
    earlier: Counter[str] = Counter()
    earlier_total, reported = 0, set[str]()
    reports: list[Report] = []
    for date, group in groupby(articles, key=lambda article: article.date):
        texts = [article.text for article in group]
        total, counts = len(texts), Counter(span for text in texts for span in character_spans(text))
        spans = [span for span, count in counts.items() if count >= BASELINE_COUNT and span not in reported]
        if earlier_total and spans:
            count, earlier_count = (np.array([table[span] for span in spans], float) for table in (counts, earlier))
            weights = log_likelihood_ratio(count, total, earlier_count, earlier_total)
            is_risen = (weights > BASELINE_WEIGHT) & (count / total > earlier_count / earlier_total)
            reports += [Report(span, date) for span, risen in zip(spans, is_risen, strict=True) if risen]
            reported |= {report.term for report in reports}
        earlier.update(counts)
        earlier_total += total
    return reports


def character_spans(text: str) -> set[str]:
    """Return the runs of Chinese characters of a text with the lengths of the baseline."""
    return {
        run[start : start + length]
        for run in re.findall("[\u4e00-\u9fff]+", text)
        for length in BASELINE_LENGTHS
        for start in range(len(run) - length + 1)
    }


def score_reports(data: Path, reports: Sequence[Report], is_held_out_only: bool) -> tuple[float, float, float]:
    """Return (share of events found in time, false reports a week, other reports a week) by score_bursts.py.

    Raises:
        PlumblineError: The scorer is missing or its output has another form.
    """
    scorers = [folder / "tools" / "score_bursts.py" for folder in (data.parent, SHARED.parent)]
    scorer = next((path for path in scorers if path.exists()), None)
    if scorer is None:
        raise PlumblineError(f"no score_bursts.py beside {data}, and none in {SHARED.parent}: the figures need it")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name in ("events", "steady", "days"):
            lines = (data / "bursts" / f"{name}.jsonl").read_text("utf-8").splitlines()
            if name == "events" and is_held_out_only:
                lines = [line for line in lines if is_held_out(json.loads(line)["id"])]
            (folder / f"{name}.jsonl").write_text("\n".join(lines), "utf-8")
        predictions = [json.dumps({"term": report.term, "day": report.date}) for report in reports]
        (folder / "predictions.jsonl").write_text("\n".join(predictions), "utf-8")
        command = [sys.executable, str(scorer), str(folder), "--pred", str(folder / "predictions.jsonl")]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if (match := SCORE_RE.search(output)) is None:
        raise PlumblineError(f"{scorer} printed no scores: {output[:200]!r}")
    found, false_a_week, other_a_week = map(float, match.groups())
    return found, false_a_week, other_a_week


def is_held_out(event_id: str) -> bool:
    """True for the events that played no part in choosing the thresholds."""
    return int(hashlib.md5(event_id.encode(), usedforsecurity=False).hexdigest(), 16) % 2 == 1
