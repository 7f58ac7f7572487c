"""Rendering of a standing's score and evidence for operators: figures, charts and tables.

docs/leaderboard.md documents what each detector's evidence holds; this module only formats numbers, lists and rows.
PostgreSQL does not keep the order of JSON keys, so the columns of rows are sorted here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.template.loader import render_to_string

from config.operators.dashboard import Chart
from leaderboard.admin.evidence_labels import FLAGS, SIGNS, label_for, split_words
from leaderboard.admin.evidence_links import Link, build_links, complete_row
from leaderboard.admin.evidence_lookup import EvidenceNames, look_up_names
from leaderboard.models import Standing
from leaderboard.wash.accusation import ACCUSED, FLAG_SHARE

# Rows shown per table; evidence lists the largest first.
MOST_ROWS = 50
# Columns that name a row's bar, and columns that give its height; in the order of display.
_NAMES = ("fid", "agent", "key", "cast", "from", "to", "at", "wallet", "side")
_HEIGHTS = ("interactions", "accounts", "uses")
# Unix times.
_TIMES = frozenset(("at", "from", "to", "registeredAt"))
# The one list of plain counts: gaps between interactions, in bins of powers of two of seconds.
_GAPS = "gaps"
# Sums of the entries that are in no list.
_OTHERS = "others"
# Measured values of a detector, and the ramps that give its strength.
_SIGNS = "signs"
_SIGN_COLUMNS = {"measured": "measured", "low": "strength 0 up to", "high": "full from", "top": "full strength"}

# Path of keys into the evidence.
EvidencePath = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Table:
    """Table of evidence: column names, rows of cells with one or more texts, and the number of rows left out.

    `is_open` shows the table expanded.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[tuple[Link, ...], ...], ...]
    left_out: int = 0
    is_open: bool = False


@dataclass(frozen=True, kw_only=True)
class Section:
    """Page section about one flag or about the score."""

    title: str
    about: str = ""
    figures: tuple[tuple[str, str], ...] = ()
    charts: tuple[Chart, ...] = ()
    tables: tuple[Table, ...] = ()


def render_evidence(standing: Standing) -> str:
    """Render the components of a standing's score and the evidence of its flags as HTML."""
    names = look_up_names(standing)
    found = [_FlagRenderer(flag, names).section(evidence) for flag, evidence in sorted(standing.evidence.items())]
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
        about="The wash confidence is 1 − the product of (1 − weight × strength) over all detectors below, and "
        f"those too weak to be stored. From {ACCUSED} on, an agent has each flag whose weight × strength is "
        f"{FLAG_SHARE} or more; a day's ranking has at least the confidence and flags of the week's. "
        "The small-number allowance is added to the total of each share, so that a handful proves little.",
        figures=figures,
        charts=charts,
    )


@dataclass(frozen=True)
class _FlagRenderer:
    """Renderer for the evidence of one flag."""

    flag: str
    names: EvidenceNames

    def section(self, found: Mapping[str, Any]) -> Section:
        plain = {name: value for name, value in found.items() if name != _SIGNS}
        lists = [(path, values) for path, values in _lists(plain) if values]
        signs = (_sign_table(found[_SIGNS]),) if found.get(_SIGNS) else ()
        return Section(
            title=self.flag,
            about=FLAGS.get(self.flag, ""),
            figures=tuple((self._path_label(path), _text(path[-1], value)) for path, value in _figures(plain)),
            charts=tuple(chart for path, values in lists if (chart := self._chart(path, values))),
            tables=(*signs, *(self._table(path, values) for path, values in lists if path[-1] != _GAPS)),
        )

    def _path_label(self, path: EvidencePath) -> str:
        return ": ".join(label_for(self.flag, name) for name in path)

    def _chart(self, path: EvidencePath, values: Sequence[Any]) -> Chart | None:
        """Return a chart of the counts in a list or its rows; None if there is nothing to compare."""
        if path[-1] == _GAPS:
            bins = [f"{2 << place:,} s" for place in range(len(values))]
            bars = tuple((f"up to {longest}", count) for longest, count in zip(bins, values, strict=True))
            return Chart(title=self._path_label(path), bars=bars, start=bins[0], end=bins[-1])
        label = next((column for column in _NAMES if _all_have(values, column)), "")
        height = next((column for column in _HEIGHTS if _all_have(values, column)), "")
        if not label or not height or len(values) < 2:
            return None
        bars = tuple((_text(label, row[label]), row[height]) for row in values)
        # The rows are not on a scale, so the axis has no ends.
        return Chart(
            title=f"{self._path_label(path)}, {label_for(self.flag, height)} of each", bars=bars, start="", end=""
        )

    def _table(self, path: EvidencePath, values: Sequence[Any]) -> Table:
        rows = [value if isinstance(value, Mapping) else {path[-1]: value} for value in values[:MOST_ROWS]]
        rows = [complete_row(row, self.names) for row in rows]
        columns = sorted(dict.fromkeys(column for row in rows for column in row), key=_column_rank)
        return Table(
            title=self._path_label(path),
            columns=tuple(label_for(self.flag, column) for column in columns),
            rows=tuple(tuple(self._cell(column, row.get(column)) for column in columns) for row in rows),
            left_out=max(len(values) - MOST_ROWS, 0),
        )

    def _cell(self, column: str, value: Any) -> tuple[Link, ...]:
        return build_links(column, value, self.names) or (Link(text=_text(column, value)),)


def _figures(found: Mapping[str, Any], path: EvidencePath = ()) -> Iterator[tuple[EvidencePath, Any]]:
    """Yield each single value at any depth, except sums of others that are all zero."""
    for name, value in sorted(found.items()):
        if name == _OTHERS and isinstance(value, Mapping) and not any(value.values()):
            continue
        if isinstance(value, Mapping):
            yield from _figures(value, (*path, name))
        elif not isinstance(value, list):
            yield (*path, name), value


def _lists(found: Mapping[str, Any], path: EvidencePath = ()) -> Iterator[tuple[EvidencePath, list[Any]]]:
    """Yield each list at any depth, except those within rows."""
    for name, value in sorted(found.items()):
        if isinstance(value, Mapping):
            yield from _lists(value, (*path, name))
        elif isinstance(value, list):
            yield (*path, name), value


def _all_have(values: Sequence[Any], column: str) -> bool:
    return all(isinstance(value, Mapping) and column in value for value in values)


def _sign_table(signs: Mapping[str, Mapping[str, Any]]) -> Table:
    rows = tuple(
        tuple(
            (Link(text=text),)
            for text in (
                split_words(name),
                *(_text(column, sign.get(column)) for column in _SIGN_COLUMNS),
                SIGNS.get(name, ""),
            )
        )
        for name, sign in sorted(signs.items())
    )
    columns = ("sign", *_SIGN_COLUMNS.values(), "formula")
    return Table(title=_SIGNS, columns=columns, rows=rows, is_open=True)


def _column_rank(column: str) -> int:
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
        return " ".join(f"{split_words(key)} {_text(key, each)}" for key, each in value.items())
    return str(value)
