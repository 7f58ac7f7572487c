"""Tests of config/processes/progress.py: a bar on a terminal, lines in the log elsewhere."""

import logging
from io import StringIO

from config.processes.progress import Progress


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def half_done(output: StringIO) -> Progress:
    """Return the progress over the blocks 1 to 200; half were done before."""
    labels, counts = {"chain": 1, "file": "a b"}, {"launches": 50}
    return Progress(
        part="events since", unit="blocks", end=200, position=100, labels=labels, counts=counts, output=output
    )


def test_a_terminal_has_a_bar_with_the_first_count():
    terminal = Terminal()
    shown = half_done(terminal)
    shown.advance(150, {"launches": 57, "transactions": 9})
    shown.advance(200, {"launches": 58, "transactions": 10})
    shown.finish()
    last = terminal.getvalue().split("\r")[-1]
    assert "events since: 100%" in last and "200/200" in last and "58 launches" in last and " blocks/s" in last


def test_elsewhere_a_line_has_the_totals(caplog):
    shown = half_done(StringIO())
    with caplog.at_level(logging.INFO):
        shown.advance(150, {"launches": 57})
        shown.advance(175, {"launches": 58, "transactions": 10})
        shown.finish()
    (line,) = [record.message for record in caplog.records]
    assert line.startswith(
        "part=events-since chain=1 file=a-b done_to=175 percent=87.5 launches=58 transactions=10 launches_per_second="
    )


def test_rates_count_from_the_start_of_this_run(caplog):
    shown = half_done(StringIO())
    with caplog.at_level(logging.INFO):
        shown.advance(100, {"launches": 50})
        shown.finish()
    assert " launches_per_second=0 blocks_per_second=0 " in caplog.text and "seconds_left=unknown" in caplog.text


def test_a_stop_at_the_start_and_a_complete_run_are_reported_too(caplog):
    with caplog.at_level(logging.INFO):
        half_done(StringIO()).finish()
        for end in (0, 9):
            Progress(part="events", unit="bytes", end=end, position=end, output=StringIO()).finish()
    stopped, *complete = [record.message for record in caplog.records]
    assert "done_to=100 percent=50.0 launches=50" in stopped and stopped.endswith("seconds_left=unknown")
    for end, line in zip((0, 9), complete, strict=True):
        assert f"done_to={end} percent=100.0" in line and line.endswith("seconds_left=0")
