"""`make deploy-chaos` in small: everything is killed once, and every request becomes exactly one token."""

import tempfile
from pathlib import Path

import pytest

from tests.chaos.deploy_chaos import Plan, ground, run

pytestmark = pytest.mark.slow

# More is lost than in the long form, so that a few requests are enough.
PLAN = Plan(orders=24, workers=2, kills=6, lost=0.1, late_seconds=3.0)


def test_every_order_becomes_one_token_whatever_is_killed():
    # Not in pytest's directories: a socket's path may have 107 characters at most.
    with tempfile.TemporaryDirectory() as place, ground(Path(place), block_time=0.5) as prepared:
        outcome = run(prepared, PLAN)
    assert outcome.wrong == []
    assert outcome.launched == PLAN.orders
    assert all(outcome.kills.values())
    assert sum(map(len, outcome.answers.orders.values())) > PLAN.orders
