"""Benchmark harness: quantities from the command line, tables, limits, and results as JSON."""

import argparse
import json
import os
import platform
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
# Set by `python -m benchmarks`: its quantities differ from those of the stored results, and small ones judge nothing.
_GUARD_RUN = os.environ.get("BENCHMARKS_GUARD_RUN", "")


def parse_quantities(description: str | None, **defaults: Any) -> argparse.Namespace:
    """Return the command's options by their defaults: False is a flag, a list takes several words."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in defaults.items():
        flag = f"--{name.replace('_', '-')}"
        if default is False:
            parser.add_argument(flag, action="store_true")
        elif isinstance(default, list):
            parser.add_argument(flag, nargs="+", default=default)
        else:
            parser.add_argument(flag, type=type(default), default=default)
    return parser.parse_args()


def keep(name: str, result: dict[str, Any]) -> None:
    """Write `results/<name>.json`, with a machine description."""
    if _GUARD_RUN:
        return
    machine = {
        "day": time.strftime("%Y-%m-%d", time.gmtime()),
        "processors": os.cpu_count(),
        "machine": platform.machine(),
        "python": platform.python_version(),
    }
    (RESULTS / f"{name}.json").write_text(f"{render_json({'on': machine, **result})}\n", encoding="utf-8")


def render_json(value: Any, indent: str = "") -> str:
    """Return JSON in which an object or a list without others in it is one line."""
    items = list(value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ())
    if not any(isinstance(item, dict | list | tuple) for item in items):
        return json.dumps(value)
    titles = [f"{json.dumps(str(key))}: " for key in value] if isinstance(value, dict) else [""] * len(items)
    lines = [f"{indent}  {title}{render_json(item, f'{indent}  ')}" for title, item in zip(titles, items, strict=True)]
    begin, end = "{}" if isinstance(value, dict) else "[]"
    return "\n".join([begin, ",\n".join(lines), f"{indent}{end}"])


def print_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table in Markdown, aligned: the first column to the left, figures to the right."""
    texts = [list(map(str, row)) for row in (head, *rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    texts.insert(1, ["-" * widths[0], *(f"{'-' * (width - 1)}:" for width in widths[1:])])
    for row in texts:
        cells = [row[0].ljust(widths[0]), *(text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True))]
        print(f"| {' | '.join(cells)} |", flush=True)


class Limits:
    """Limits that a benchmark checks; prints each as it is checked, and keeps whether all were kept."""

    def __init__(self) -> None:
        self.are_kept = True

    def at_least(self, name: str, value: float, limit: float, unit: str = "x") -> None:
        """Check that the value is not smaller."""
        self._check(name, value, f"at least {limit:g} {unit}", kept=value >= limit)

    def at_most(self, name: str, value: float, limit: float, unit: str = "x") -> None:
        """Check that the value is not larger."""
        self._check(name, value, f"at most {limit:g} {unit}", kept=value <= limit)

    def _check(self, name: str, value: float, limit: str, *, kept: bool) -> None:
        self.are_kept = self.are_kept and (kept or _GUARD_RUN == "small")
        print(f"{name}: {value:.4g} ({limit}): {'passed' if kept else 'FAILED'}", flush=True)
