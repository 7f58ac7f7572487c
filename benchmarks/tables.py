"""Result tables for a terminal and for README.md, and limits that were kept or not."""

from collections.abc import Sequence


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
        self.are_kept = self.are_kept and kept
        print(f"{name}: {value:.4g} ({limit}): {'passed' if kept else 'FAILED'}", flush=True)
