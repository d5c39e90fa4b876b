"""Alerts in words, in one of the site's languages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from docstore.reports.alerts import Alert, AlertKey
from search_ui.messages import say_in
from search_ui.operator.alert_text import sentence

MAX_LINES = 200  # of a message; more alerts are counted


@dataclass(frozen=True)
class News:
    """What a channel has not been told: what has begun, and what is over (with the values it was told)."""

    begun: Sequence[Alert] = ()
    over: Sequence[Alert] = ()

    def __bool__(self) -> bool:
        return bool(self.begun or self.over)


def news(firing: Sequence[Alert], told: Mapping[AlertKey, Mapping[str, str | int]]) -> News:
    """What to tell a channel that was `told` of some alerts while these are `firing`. Each is told once."""
    now = {one.key for one in firing}
    over = tuple(Alert(key, values) for key, values in told.items() if key not in now)
    return News(tuple(one for one in firing if one.key not in told), over)


def subject(told: News, vertical: str, language: str) -> str:
    """One line: of the only alert, or how many there are."""
    every = [*told.begun, *told.over]
    if len(every) == 1:
        what = sentence(every[0], language)
        text = what if told.begun else say_in(language, "alerts.over", what=what)
    else:
        text = say_in(language, "alerts.many", begun=len(told.begun), over=len(told.over))
    return f"{vertical}: {' '.join(text.split())}"[:300]


def lines(told: News, language: str) -> list[str]:
    """A line an alert."""
    begun = [sentence(one, language) for one in told.begun]
    over = [say_in(language, "alerts.over", what=sentence(one, language)) for one in told.over]
    every = begun + over
    rest = [say_in(language, "alerts.more", n=len(every) - MAX_LINES)] if len(every) > MAX_LINES else []
    return every[:MAX_LINES] + rest
