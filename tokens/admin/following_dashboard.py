"""Follower dashboard panel: each chain's lag, and coverage alarms."""

from collections.abc import Iterable
from datetime import datetime

from django.conf import settings
from django.urls import reverse

from config.operators.dashboard import Figure, Panel
from tokens.following.chain_status import ChainState, read_chain_states
from tokens.installation.installed_registry import chain_name, registry
from tokens.models import CoverageAlarm
from tokens.trades.reference_check import ReferenceState, read_reference_states

_ALARMS_SHOWN = 1_000


def following(now: datetime) -> Iterable[Panel]:
    """Yield the panel for all chains that have nodes or were ever followed."""
    states = {state.chain_id: state for state in read_chain_states(now)}
    chain_ids = sorted(states.keys() | settings.RPC_URLS.keys())
    if not chain_ids:
        yield Panel(title="Following", empty_text="No node yet: set RPC_URLS_<chainId>, and run manage.py follow.")
        return
    references = read_reference_states(registry().chains.values())
    figures = (_chain(chain_id, states.get(chain_id), references.get(chain_id)) for chain_id in chain_ids)
    yield Panel(title="Following", figures=(*figures, _alarms()))


def _chain(chain_id: int, state: ChainState | None, references: ReferenceState | None) -> Figure:
    if state is None or state.followed is None:
        return Figure(label=chain_name(chain_id), value="not followed", note="does manage.py follow run for it?")
    trouble = "; the last attempt failed" if state.is_troubled else ""
    alarm = references.alarm if references else ""
    return Figure(
        label=chain_name(chain_id),
        value="halted" if state.is_halted else _lag(state),
        note=f"block {state.followed:,} of {state.head:,}, {_checked(state)}{trouble}{alarm and f'; {alarm}'}",
        page=reverse("admin:tokens_chainhead_change", args=[chain_id]),
        is_alarming=state.is_halted or state.is_late or bool(alarm),
    )


def _checked(state: ChainState) -> str:
    if state.chain_id == registry().solana.chain_id:
        return "all of it final"
    if state.repeated is not None:
        return (
            f"verified up to {state.verified or 0:,}, only read again from the same provider up to {state.repeated:,}"
        )
    return "nothing verified yet" if state.verified is None else f"verified up to {state.verified:,}"


def _lag(state: ChainState) -> str:
    blocks, seconds = state.lag_blocks or 0, state.lag_seconds or 0.0
    if blocks:
        return f"{blocks:,} block{'s' if blocks > 1 else ''}, {seconds:,.0f} s behind"
    return f"no new block for {seconds:,.0f} s" if seconds else "up to date"


def _alarms() -> Figure:
    count = CoverageAlarm.objects.filter(seen_at=None)[:_ALARMS_SHOWN].count()
    return Figure(
        label="Coverage alarms",
        value=f"{count:,}{'+' if count == _ALARMS_SHOWN else ''} unseen" if count else "none unseen",
        note="verification found wrong rows, or blocks without a proof" if count else "",
        page=f"{reverse('admin:tokens_coveragealarm_changelist')}?seen_at__isempty=1",
        is_alarming=bool(count),
    )
