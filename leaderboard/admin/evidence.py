"""What a score was made of and what flags were raised by, as an operator sees it: figures, charts and tables.

Detectors say in docs/leaderboard.md what their evidence holds; here is only told how numbers, lists and rows look.
PostgreSQL keeps no order of keys, so that the columns of rows are put in order here.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.template.loader import render_to_string
from django.urls import reverse

from config.operators.dashboard import Chart
from leaderboard.models import Standing

# Of more rows the first are shown; evidence has the largest first.
MOST_ROWS = 50
# What a row is about, by which its bar is named, and what makes the bar's height; in the order of columns.
_NAMES = ("fid", "agent", "key", "cast", "from", "to", "at", "wallet", "side")
_HEIGHTS = ("interactions", "accounts", "uses")
# Unix times.
_TIMES = frozenset(("at", "from", "to", "registeredAt"))
# Row ids of agents.
_AGENTS = frozenset(("agent", "agents"))
# The list of bare numbers that are counts: gaps between interactions, in bins of powers of two of seconds.
_GAPS = "gaps"
# The sums of what is in no list.
_OTHERS = "others"
# What a detector measured, and how its strength follows from that.
_SIGNS = "signs"
_SIGN_COLUMNS = {"measured": "measured", "low": "strength begins at", "high": "is full at", "top": "and is then"}


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A text of a table, and the page that it leads to."""

    text: str
    page: str = ""


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of evidence under the names of their columns; `left_out` is how many more there are.

    `is_open` says that they are seen at once, not when somebody asks for them.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    left_out: int = 0
    is_open: bool = False


@dataclass(frozen=True, kw_only=True)
class Section:
    """What one flag was raised by, or what one score was made of."""

    title: str
    figures: tuple[tuple[str, str], ...] = ()
    charts: tuple[Chart, ...] = ()
    tables: tuple[Table, ...] = ()


def show(standing: Standing) -> str:
    """The parts of a standing's score and the evidence of its flags, as HTML."""
    sections = [_components(standing), *(_section(flag, found) for flag, found in sorted(standing.evidence.items()))]
    return render_to_string("leaderboard/evidence.html", {"sections": sections})


def _components(standing: Standing) -> Section:
    bars = tuple((name, round(100 * value)) for name, value in sorted(standing.components.items()))
    charts = (Chart(title="Components in percent", bars=bars, start=bars[0][0], end=bars[-1][0]),) if bars else ()
    figures = (
        ("composite", f"{standing.composite:.2f} of 100"),
        ("wash confidence", f"{standing.wash_confidence:.3f}"),
        *((name, f"{value:.3f}") for name, value in sorted(standing.components.items())),
    )
    title = f"Score; flags: {', '.join(standing.wash_flags) or 'none'}"
    return Section(title=title, figures=figures, charts=charts)


def _section(title: str, found: Mapping[str, Any]) -> Section:
    plain = {name: value for name, value in found.items() if name != _SIGNS}
    lists = [(name, values) for name, values in _lists(plain) if values]
    signs = (_sign_table(found[_SIGNS]),) if found.get(_SIGNS) else ()
    return Section(
        title=title,
        figures=tuple(_figures(plain)),
        charts=tuple(chart for name, values in lists if (chart := _chart(name, values))),
        tables=(*signs, *(_table(name, values) for name, values in lists if name != _GAPS)),
    )


def _figures(found: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Everything that is a single value, however deep, but for the sums of others where there are none."""
    for name, value in sorted(found.items()):
        if name == _OTHERS and isinstance(value, Mapping) and not any(value.values()):
            continue
        if isinstance(value, Mapping):
            yield from _figures(value, f"{prefix}{_words(name)}: ")
        elif not isinstance(value, list):
            yield f"{prefix}{_words(name)}", _cell(name, value).text


def _lists(found: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, list[Any]]]:
    """Everything that is a list, however deep, but those within rows; named with what it is in."""
    for name, value in sorted(found.items()):
        if isinstance(value, Mapping):
            yield from _lists(value, f"{prefix}{name}: ")
        elif isinstance(value, list):
            yield f"{prefix}{name}", value


def _chart(name: str, values: Sequence[Any]) -> Chart | None:
    """The counts of a list, or of its rows; None where there is nothing to compare."""
    if name == _GAPS:
        bins = [f"{2 << place:,} s" for place in range(len(values))]
        bars = tuple((f"up to {longest}", count) for longest, count in zip(bins, values, strict=True))
        return Chart(title="gaps between interactions", bars=bars, start=bins[0], end=bins[-1])
    label = next((column for column in _NAMES if _have(values, column)), "")
    height = next((column for column in _HEIGHTS if _have(values, column)), "")
    if not label or not height or len(values) < 2:
        return None
    bars = tuple((_cell(label, row[label]).text, row[height]) for row in values)
    # Their order is no scale that has two ends.
    return Chart(title=f"{_words(name)}, {height} of each", bars=bars, start="", end="")


def _have(values: Sequence[Any], column: str) -> bool:
    return all(isinstance(value, Mapping) and column in value for value in values)


def _sign_table(signs: Mapping[str, Mapping[str, Any]]) -> Table:
    rows = tuple(
        (Cell(text=_words(name)), *(_cell(column, sign.get(column)) for column in _SIGN_COLUMNS))
        for name, sign in sorted(signs.items())
    )
    return Table(title=_SIGNS, columns=("sign", *_SIGN_COLUMNS.values()), rows=rows, is_open=True)


def _table(name: str, values: Sequence[Any]) -> Table:
    own = name.rpartition(": ")[2]
    rows = [value if isinstance(value, Mapping) else {own: value} for value in values[:MOST_ROWS]]
    columns = sorted(dict.fromkeys(column for row in rows for column in row), key=_place)
    return Table(
        title=_words(name),
        columns=tuple(map(_words, columns)),
        rows=tuple(tuple(_cell(column, row.get(column)) for column in columns) for row in rows),
        left_out=max(len(values) - MOST_ROWS, 0),
    )


def _place(column: str) -> int:
    known = (*_NAMES, *_HEIGHTS)
    return known.index(column) if column in known else len(known)


def _words(name: str) -> str:
    """`typicalDelaySeconds` -> typical delay seconds; names of flags and signs as well."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.replace("_", " ")).lower()


def _cell(name: str, value: Any) -> Cell:
    if value is None:
        return Cell(text="unknown")
    if name in _TIMES and isinstance(value, int):
        return Cell(text=f"{datetime.fromtimestamp(value, UTC):%Y-%m-%d %H:%M:%S}")
    if name in _AGENTS and isinstance(value, int):
        return Cell(text=str(value), page=reverse("admin:leaderboard_agent_change", args=[value]))
    return Cell(text=_text(value))


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.4g}"
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, Mapping):
        return " ".join(f"{_words(name)} {_text(each)}" for name, each in value.items())
    return str(value)
