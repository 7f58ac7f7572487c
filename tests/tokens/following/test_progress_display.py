"""Tests of tokens/following/progress_display.py: a bar on a terminal, lines in the log elsewhere."""

import logging
from io import StringIO

from tokens.following.progress_display import ProgressDisplay


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def progress(output: StringIO) -> ProgressDisplay:
    """Return the progress over 200 blocks, half of which were done before."""
    return ProgressDisplay(chain_id=1, part="launches", first=1, last=200, done_before=100, output=output)


def test_a_terminal_has_a_bar_with_blocks_and_launches():
    terminal = Terminal()
    shown = progress(terminal)
    shown.record(150, launches=7, transactions=9)
    shown.record(200, launches=1, transactions=1)
    shown.finish()
    last = terminal.getvalue().split("\r")[-1]
    assert "launches: 100%" in last and "200/200" in last and "8 launches" in last


def test_elsewhere_a_line_has_the_sums_of_what_was_reported(caplog):
    shown = progress(StringIO())
    with caplog.at_level(logging.INFO):
        shown.record(150, launches=7, transactions=9)
        shown.record(175, launches=1, transactions=1)
        shown.finish()
    (line,) = [record.message for record in caplog.records]
    assert line.startswith("chain=1 part=launches blocks=1-200 done_to=175 percent=87.5 launches=8 ")
    assert " transactions=10 " in line


def test_a_stop_before_the_first_block_is_reported_too(caplog):
    with caplog.at_level(logging.INFO):
        progress(StringIO()).finish()
    assert "done_to=100 percent=50.0 launches=0" in caplog.text and "seconds_left=unknown" in caplog.text
