"""`make event-chaos` in small: everything is killed once, and every event reaches every healthy receiver."""

import tempfile
from pathlib import Path

import pytest

from tests.chaos.event_chaos import Plan, run
from tests.processes.own_environment import database_url
from tests.processes.template_database import template

pytestmark = pytest.mark.slow

PLAN = Plan(events=300, receivers=10, kills=5, calm=20, ahead=100, ends_leases=True, timeout=60.0)


def test_every_event_reaches_every_healthy_receiver_whatever_is_killed():
    # Not in pytest's directories: a socket's path may have 107 characters at most.
    with tempfile.TemporaryDirectory() as directory:
        result = run(Path(directory), PLAN, source=database_url(template()))
    assert result.wrong == []
    assert set(result.faults.values()) == {1}
    assert result.figures["publishers killed in their transaction"]
    assert result.figures["events"] >= PLAN.events + PLAN.calm
    assert result.figures["token.reorged"] and result.figures["rolled back"]
