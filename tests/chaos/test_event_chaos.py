"""`make event-chaos` in small: everything is killed once, and every event reaches every healthy receiver."""

import tempfile
from pathlib import Path

import pytest

from tests.chaos.event_chaos import Plan, ground, run

pytestmark = pytest.mark.slow

PLAN = Plan(events=300, receivers=10, kills=5, calm=20, ahead=100, ends_leases=True, timeout=60.0)


def test_every_event_reaches_every_healthy_receiver_whatever_is_killed():
    # Not in pytest's directories: a socket's path may have 107 characters at most.
    with tempfile.TemporaryDirectory() as place, ground(Path(place)) as prepared:
        outcome = run(prepared, PLAN)
    assert outcome.wrong == []
    assert all(outcome.kills.values())
    assert outcome.caught
    assert outcome.events >= PLAN.events + PLAN.calm
    assert outcome.reorged and outcome.rollbacks
