"""Dashboard panel of the read replica."""

from collections.abc import Iterable
from datetime import datetime

from config.operators.dashboard import Figure, Panel
from config.postgresql.replica import has_replica, measure_replica

_NOTES = {
    "ok": "serves public reads",
    "lagging": "the primary serves its reads",
    "failed": "the primary serves its reads",
}


def read_replica(now: datetime) -> Iterable[Panel]:
    """Yield the panel of the replica, if there is one."""
    if not has_replica():
        return
    state = measure_replica()
    lag = "no response" if state.lag_seconds is None else f"{state.lag_seconds:,.1f} s behind"
    figure = Figure(label="Read replica", value=lag, note=_NOTES[state.status], is_alarming=state.status != "ok")
    yield Panel(title="Read replica", figures=(figure,))
