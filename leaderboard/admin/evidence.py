"""What a score was made of and what flags were raised by, as an operator sees it: figures, charts and tables.

Detectors say in docs/leaderboard.md what their evidence holds; here is only told how numbers, lists and rows look.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.template.loader import render_to_string

from config.operators.dashboard import Chart
from leaderboard.models import Standing

# Of more rows the first are shown; evidence has the largest first.
MOST_ROWS = 50


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of evidence under the names of their columns; `left_out` is how many more there are."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left_out: int = 0


@dataclass(frozen=True, kw_only=True)
class Section:
    """What one flag was raised by, or what one score was made of."""

    title: str
    figures: tuple[tuple[str, str], ...] = ()
    charts: tuple[Chart, ...] = ()
    tables: tuple[Table, ...] = field(default=())


def show(standing: Standing) -> str:
    """The parts of a standing's score and the evidence of its flags, as HTML."""
    sections = [_components(standing), *(_section(flag, found) for flag, found in standing.evidence.items())]
    return render_to_string("leaderboard/evidence.html", {"sections": sections})


def _components(standing: Standing) -> Section:
    bars = tuple((name, round(100 * value)) for name, value in sorted(standing.components.items()))
    charts = (Chart(title="Components in percent", bars=bars, start=bars[0][0], end=bars[-1][0]),) if bars else ()
    figures = (
        ("composite", f"{standing.composite:.2f} of 100"),
        ("wash confidence", f"{standing.wash_confidence:.3f}"),
        ("flags", ", ".join(standing.wash_flags) or "none"),
        *((name, f"{value:.3f}") for name, value in sorted(standing.components.items())),
    )
    return Section(title="Score", figures=figures, charts=charts)


def _section(title: str, found: Mapping[str, Any]) -> Section:
    return Section(
        title=title,
        figures=tuple(_figures(found)),
        charts=tuple(_charts(found)),
        tables=tuple(_tables(found)),
    )


def _figures(found: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Everything that is a single value, however deep."""
    for name, value in found.items():
        label = f"{prefix}{name.replace('_', ' ')}"
        if isinstance(value, Mapping):
            yield from _figures(value, f"{label}: ")
        elif not isinstance(value, list):
            yield label, _text(value)


def _charts(found: Mapping[str, Any]) -> Iterator[Chart]:
    """Lists of numbers, and rows by their first count."""
    for name, value in found.items():
        bars = _bars(value) if isinstance(value, list) else ()
        if len(bars) > 1:
            yield Chart(title=name.replace("_", " "), bars=bars, start=bars[0][0], end=bars[-1][0])


def _bars(values: Sequence[Any]) -> tuple[tuple[str, int], ...]:
    if all(_is_count(value) for value in values):
        return tuple((str(place), value) for place, value in enumerate(values))
    if not all(isinstance(value, Mapping) for value in values):
        return ()
    # The first column names the row.
    counted = [[value for value in list(row.values())[1:] if _is_count(value)] for row in values]
    if not all(counted):
        return ()
    return tuple((_text(next(iter(row.values()))), counts[0]) for row, counts in zip(values, counted, strict=True))


def _tables(found: Mapping[str, Any]) -> Iterator[Table]:
    for name, value in found.items():
        if not isinstance(value, list) or not value or all(_is_count(each) for each in value):
            continue
        rows = [row if isinstance(row, Mapping) else {name: row} for row in value[:MOST_ROWS]]
        columns = tuple(dict.fromkeys(column for row in rows for column in row))
        yield Table(
            title=name.replace("_", " "),
            columns=tuple(column.replace("_", " ") for column in columns),
            rows=tuple(tuple(_text(row.get(column, "")) for column in columns) for row in rows),
            left_out=max(len(value) - MOST_ROWS, 0),
        )


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.4g}"
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{name.replace('_', ' ')} {_text(each)}" for name, each in value.items())
    return str(value)
