"""What a score was made of and what flags were raised by, as an operator sees it: figures, charts and tables.

Detectors say in docs/leaderboard.md what their evidence holds; here is only told how numbers, lists and rows look.
PostgreSQL keeps no order of keys, so that the columns of rows are put in order here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.template.loader import render_to_string

from config.operators.dashboard import Chart
from leaderboard.admin.evidence_labels import FLAGS, SIGNS, spaced, words
from leaderboard.admin.evidence_links import Link, complete, links
from leaderboard.admin.evidence_lookup import Names, look_up
from leaderboard.models import Standing
from leaderboard.wash.detectors import ACCUSED, FLAG_SHARE

# Of more rows the first are shown; evidence has the largest first.
MOST_ROWS = 50
# What a row is about, by which its bar is named, and what makes the bar's height; in the order of columns.
_NAMES = ("fid", "agent", "key", "cast", "from", "to", "at", "wallet", "side")
_HEIGHTS = ("interactions", "accounts", "uses")
# Unix times.
_TIMES = frozenset(("at", "from", "to", "registeredAt"))
# The list of bare numbers that are counts: gaps between interactions, in bins of powers of two of seconds.
_GAPS = "gaps"
# The sums of what is in no list.
_OTHERS = "others"
# What a detector measured, and how its strength follows from that.
_SIGNS = "signs"
_SIGN_COLUMNS = {"measured": "measured", "low": "strength begins at", "high": "is full at", "top": "and is then"}

# In plain words, a path into the evidence.
Path = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of evidence under the names of their columns, each cell some texts; `left_out` is how many more there are.

    `is_open` says that they are seen at once, not when somebody asks for them.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[tuple[Link, ...], ...], ...]
    left_out: int = 0
    is_open: bool = False


@dataclass(frozen=True, kw_only=True)
class Section:
    """What one flag was raised by, or what one score was made of, and what that means."""

    title: str
    about: str = ""
    figures: tuple[tuple[str, str], ...] = ()
    charts: tuple[Chart, ...] = ()
    tables: tuple[Table, ...] = ()


def show(standing: Standing) -> str:
    """The parts of a standing's score and the evidence of its flags, as HTML."""
    names = look_up(standing)
    found = [_Shown(flag, names).section(evidence) for flag, evidence in sorted(standing.evidence.items())]
    return render_to_string("leaderboard/evidence.html", {"sections": [_components(standing), *found]})


def _components(standing: Standing) -> Section:
    bars = tuple((name, round(100 * value)) for name, value in sorted(standing.components.items()))
    charts = (Chart(title="Components in percent", bars=bars, start=bars[0][0], end=bars[-1][0]),) if bars else ()
    figures = (
        ("composite", f"{standing.composite:.2f} of 100"),
        ("wash confidence", f"{standing.wash_confidence:.3f}"),
        *((name, f"{value:.3f}") for name, value in sorted(standing.components.items())),
    )
    return Section(
        title=f"Score; flags: {', '.join(standing.wash_flags) or 'none'}",
        about="The wash confidence is 1 − the product of (1 − weight × strength) over all that is below, and of what "
        f"was too weak to be kept. From {ACCUSED} on, an agent has each flag whose weight × strength is {FLAG_SHARE} "
        "or more; in a day's ranking it has at least what the week's has. "
        "The small-number allowance is added to what a share is taken of, so that a handful proves little.",
        figures=figures,
        charts=charts,
    )


@dataclass(frozen=True)
class _Shown:
    """How a flag's evidence is shown."""

    flag: str
    names: Names

    def section(self, found: Mapping[str, Any]) -> Section:
        plain = {name: value for name, value in found.items() if name != _SIGNS}
        lists = [(path, values) for path, values in _lists(plain) if values]
        signs = (_sign_table(found[_SIGNS]),) if found.get(_SIGNS) else ()
        return Section(
            title=self.flag,
            about=FLAGS.get(self.flag, ""),
            figures=tuple((self._words(path), _text(path[-1], value)) for path, value in _figures(plain)),
            charts=tuple(chart for path, values in lists if (chart := self._chart(path, values))),
            tables=(*signs, *(self._table(path, values) for path, values in lists if path[-1] != _GAPS)),
        )

    def _words(self, path: Path) -> str:
        return ": ".join(words(self.flag, name) for name in path)

    def _chart(self, path: Path, values: Sequence[Any]) -> Chart | None:
        """The counts of a list, or of its rows; None where there is nothing to compare."""
        if path[-1] == _GAPS:
            bins = [f"{2 << place:,} s" for place in range(len(values))]
            bars = tuple((f"up to {longest}", count) for longest, count in zip(bins, values, strict=True))
            return Chart(title=self._words(path), bars=bars, start=bins[0], end=bins[-1])
        label = next((column for column in _NAMES if _have(values, column)), "")
        height = next((column for column in _HEIGHTS if _have(values, column)), "")
        if not label or not height or len(values) < 2:
            return None
        bars = tuple((_text(label, row[label]), row[height]) for row in values)
        # Their order is no scale that has two ends.
        return Chart(title=f"{self._words(path)}, {words(self.flag, height)} of each", bars=bars, start="", end="")

    def _table(self, path: Path, values: Sequence[Any]) -> Table:
        rows = [value if isinstance(value, Mapping) else {path[-1]: value} for value in values[:MOST_ROWS]]
        rows = [complete(row, self.names) for row in rows]
        columns = sorted(dict.fromkeys(column for row in rows for column in row), key=_place)
        return Table(
            title=self._words(path),
            columns=tuple(words(self.flag, column) for column in columns),
            rows=tuple(tuple(self._cell(column, row.get(column)) for column in columns) for row in rows),
            left_out=max(len(values) - MOST_ROWS, 0),
        )

    def _cell(self, column: str, value: Any) -> tuple[Link, ...]:
        return links(column, value, self.names) or (Link(text=_text(column, value)),)


def _figures(found: Mapping[str, Any], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Everything that is a single value, however deep, but for the sums of others where there are none."""
    for name, value in sorted(found.items()):
        if name == _OTHERS and isinstance(value, Mapping) and not any(value.values()):
            continue
        if isinstance(value, Mapping):
            yield from _figures(value, (*path, name))
        elif not isinstance(value, list):
            yield (*path, name), value


def _lists(found: Mapping[str, Any], path: Path = ()) -> Iterator[tuple[Path, list[Any]]]:
    """Everything that is a list, however deep, but those within rows."""
    for name, value in sorted(found.items()):
        if isinstance(value, Mapping):
            yield from _lists(value, (*path, name))
        elif isinstance(value, list):
            yield (*path, name), value


def _have(values: Sequence[Any], column: str) -> bool:
    return all(isinstance(value, Mapping) and column in value for value in values)


def _sign_table(signs: Mapping[str, Mapping[str, Any]]) -> Table:
    rows = tuple(
        tuple(
            (Link(text=text),)
            for text in (
                spaced(name),
                *(_text(column, sign.get(column)) for column in _SIGN_COLUMNS),
                SIGNS.get(name, ""),
            )
        )
        for name, sign in sorted(signs.items())
    )
    columns = ("sign", *_SIGN_COLUMNS.values(), "how it is worked out")
    return Table(title=_SIGNS, columns=columns, rows=rows, is_open=True)


def _place(column: str) -> int:
    known = (*_NAMES, *_HEIGHTS)
    return known.index(column) if column in known else len(known)


def _text(name: str, value: Any) -> str:
    if value is None:
        return "unknown"
    if name in _TIMES and isinstance(value, int):
        return f"{datetime.fromtimestamp(value, UTC):%Y-%m-%d %H:%M:%S}"
    if isinstance(value, float):
        return f"{value:,.4g}"
    if isinstance(value, list):
        return ", ".join(_text(name, each) for each in value)
    if isinstance(value, Mapping):
        return " ".join(f"{spaced(key)} {_text(key, each)}" for key, each in value.items())
    return str(value)
