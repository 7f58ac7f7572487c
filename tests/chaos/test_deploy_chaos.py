"""`make deploy-chaos` in small: everything is killed once, and every request becomes exactly one token."""

import tempfile
from pathlib import Path

import pytest

from tests.chaos.deploy_chaos import Plan, run
from tests.processes.own_environment import database_url
from tests.processes.template_database import template

pytestmark = pytest.mark.slow

# More is lost than in the long form, and replaced sooner, so that a few requests are enough.
PLAN = Plan(orders=24, workers=2, kills=6, clients=6, lost=0.1, late_seconds=3.0, stuck_seconds=3.0, timeout=120.0)


def test_every_order_becomes_one_token_whatever_is_killed():
    # Not in pytest's directories: a socket's path may have 107 characters at most.
    with tempfile.TemporaryDirectory() as directory:
        result = run(Path(directory), PLAN, source=database_url(template()))
    assert result.wrong == []
    assert result.figures["tokens"] == PLAN.orders < result.figures["answers"]
    assert set(result.faults.values()) == {1}
