"""Concurrency limits: slots, one waiting caller, and errors for the others."""

from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import ExitStack

import pytest

from config.processes.concurrency_limits import BusyError, ConcurrencyLimit

SLOTS = 2


def use(limit: ConcurrencyLimit, timeout: float | None = None) -> str:
    """Return whether a caller got a slot."""
    try:
        with limit(timeout=timeout):
            return "slot"
    except BusyError:
        return "refused"


def test_slots_are_free_again_after_their_callers():
    limit = ConcurrencyLimit(SLOTS, "calls")
    for _ in range(3):
        with limit(), limit():
            assert use(limit, 0) == "refused"
        with pytest.raises(ValueError, match="inside"), limit():
            raise ValueError("inside")


def test_one_caller_waits_for_a_slot_and_the_others_fail_at_once():
    limit = ConcurrencyLimit(SLOTS, "calls", timeout=60)
    with ThreadPoolExecutor(2) as pool, ExitStack() as held:
        for _ in range(SLOTS):
            held.enter_context(limit())
        calls = [pool.submit(use, limit) for _ in range(2)]
        done, waiting = wait(calls, return_when=FIRST_COMPLETED)
        assert [call.result() for call in done] == ["refused"]
        held.close()
        assert [call.result() for call in waiting] == ["slot"]
