"""Charts of the figures at the end of runs, and the forecast of a full disk. No I/O."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import StatisticsError, correlation, linear_regression

from domain.run import RunFigures
from search_ui.admin.run_charts import format_month_day
from search_ui.charts import Chart, ChartPoint, bar_chart

SECONDS_PER_DAY = 86_400.0
MAX_POINTS = 60  # in a chart
FORECAST_DAYS = 28  # the forecast uses the runs of this time
MIN_FORECAST_POINTS = 5
MIN_FORECAST_SPAN_DAYS = 7.0
MAX_SIZE_RATIO = 1.01  # file systems that allocate metadata on demand (btrfs, ZFS) change their size a little
MIN_CORRELATION = 0.8  # between time and used space; below it, the growth is not linear
MAX_DAYS_AHEAD = 365
MEGABYTE, GIGABYTE = 10**6, 10**9
MIN_GIGABYTES = 10  # smaller sizes are shown in MB


@dataclass(frozen=True)
class FigureChart:
    """A chart of one figure. `name` is the key of its texts, `unit` is GB, MB or ""."""

    name: str
    unit: str
    chart: Chart


def days_until_disk_full(figures: Sequence[RunFigures], now: float) -> int | None:
    """Return the days until the disk is full if it grows as in the last FORECAST_DAYS days.

    Returns None if there are too few runs, the growth is not steady, the size of the disk has changed, or the disk
    lasts longer than MAX_DAYS_AHEAD days.
    """
    recent = [row for row in figures if now - row.recorded_at <= FORECAST_DAYS * SECONDS_PER_DAY]
    sizes = [row.disk_total_bytes for row in recent]
    if len(recent) < MIN_FORECAST_POINTS or max(sizes) > MAX_SIZE_RATIO * min(sizes):
        return None
    days = [(row.recorded_at - now) / SECONDS_PER_DAY for row in recent]
    used = [float(row.disk_used_bytes) for row in recent]
    if max(days) - min(days) < MIN_FORECAST_SPAN_DAYS:
        return None
    try:
        if correlation(days, used) < MIN_CORRELATION:
            return None
    except StatisticsError:  # the used space is constant
        return None
    growth_per_day = linear_regression(days, used).slope
    days_left = (recent[-1].disk_total_bytes - recent[-1].disk_used_bytes) / growth_per_day + days[-1]
    return max(0, int(days_left)) if days_left <= MAX_DAYS_AHEAD else None


def figure_charts(figures: Sequence[RunFigures]) -> list[FigureChart]:
    """Return the charts of the last MAX_POINTS runs. A figure that no run has recorded has no chart."""
    recent = figures[-MAX_POINTS:]
    return [
        *_size_chart("disk", [(row.recorded_at, row.disk_used_bytes) for row in recent]),
        *_size_chart("memory", [(row.recorded_at, row.memory_peak_bytes) for row in recent]),
        FigureChart(
            "queue", "", bar_chart([ChartPoint(format_month_day(row.recorded_at), row.due_count) for row in recent])
        ),
        *_size_chart("index", [(row.recorded_at, row.index_bytes) for row in recent]),
    ]


def _size_chart(name: str, sizes: Sequence[tuple[float, int | None]]) -> list[FigureChart]:
    points = [(recorded_at, size) for recorded_at, size in sizes if size is not None]
    if not points:
        return []
    is_large = max(size for _, size in points) >= MIN_GIGABYTES * GIGABYTE
    unit_bytes, unit = (GIGABYTE, "GB") if is_large else (MEGABYTE, "MB")
    chart = bar_chart([ChartPoint(format_month_day(at), round(size / unit_bytes)) for at, size in points])
    return [FigureChart(name, unit, chart)]
