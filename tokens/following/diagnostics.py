"""Chain following checks for `manage.py doctor`: leaders, halts, lag, and blocks not read or not verified yet."""

from collections.abc import Iterator
from datetime import datetime
from functools import partial

from django.conf import settings
from django.db.models import F

from config.doctor.findings import Finding, Level
from config.postgresql.advisory_locks import is_session_lock_held
from tokens.following.chain_status import ChainState, read_chain_states
from tokens.indexing.chain_lock import ChainLockPurpose, chain_lock_key
from tokens.installation.installed_registry import chain_name
from tokens.models import Coverage

_RUNS_SHOWN = 10
# Blocks, as in the alert VerificationStuck.
_VERIFICATION_LAG = 5000


def following(now: datetime) -> Iterator[Finding]:
    """Yield each chain's leader, halt and lag, for chains with nodes."""
    states = {state.chain_id: state for state in read_chain_states(now)}
    for chain_id in sorted(settings.RPC_URLS):
        finding = partial(Finding, guide="repairing.md#runbook-following")
        name = chain_name(chain_id)
        if not is_session_lock_held(chain_lock_key(ChainLockPurpose.FOLLOWING, chain_id)):
            yield finding(
                level=Level.ERROR,
                summary=f"{name}: no process follows it.",
                action="Start manage.py follow, connected to PostgreSQL directly or pooled by session.",
            )
        if chain_id in states:
            yield _progress(name, states[chain_id])


def _progress(name: str, state: ChainState) -> Finding:
    if state.is_halted:
        return Finding(
            level=Level.ERROR,
            summary=f"{name} is halted: its nodes dropped final blocks.",
            action="Decide which branch is right: manage.py rewind.",
            guide="repairing.md#a-halted-chain",
        )
    followed = "nothing yet" if state.followed is None else f"block {state.followed:,} of {state.head:,}"
    failure = "; the last attempt failed, see the error on the chain's page" if state.is_troubled else ""
    level = Level.ERROR if state.is_late else Level.WARNING if failure else Level.OK
    return Finding(
        level=level,
        summary=f"{name}: followed {followed}, {state.lag_seconds or 0:,.0f} s behind{failure}.",
        action="" if level == Level.OK else "Read the log of manage.py follow; repair or add nodes.",
        guide="repairing.md#runbook-following",
    )


def coverage(now: datetime) -> Iterator[Finding]:
    """Yield past blocks that are not read, whose launches and events are missing, and verification far behind."""
    open_runs = Coverage.objects.filter(last_block__isnull=False, followed_to__lt=F("last_block")).order_by("-pk")
    for run in open_runs[:_RUNS_SHOWN]:
        yield Finding(
            level=Level.WARNING,
            summary=f"{chain_name(run.chain_id)}: blocks {run.followed_to + 1:,} to {run.last_block:,} are not read.",
            action=f"manage.py backfill --chain {run.chain_id} --from {run.first_block} --to {run.last_block}",
            guide="running.md#backfill",
        )
    for state in read_chain_states(now):
        if state.covered is not None and state.covered < state.final:
            yield Finding(
                level=Level.WARNING,
                summary=f"{chain_name(state.chain_id)}: history is read to block {state.covered:,} of {state.final:,}.",
                action="Nothing while the number grows; otherwise read the chain's error.",
                guide="repairing.md#runbook-following",
            )
        if state.repeated is not None:
            yield Finding(
                level=Level.WARNING,
                summary=f"{chain_name(state.chain_id)}: verified to block {state.verified or 0:,}; blocks up to"
                f" {state.repeated:,} were only read again from the same provider.",
                action=f"Add a node of another provider to RPC_URLS_{state.chain_id}: it verifies these blocks, too.",
                guide="repairing.md#runbook-following",
            )
        if state.covered is not None and (state.checked or 0) < state.covered - _VERIFICATION_LAG:
            yield Finding(
                level=Level.WARNING,
                summary=f"{chain_name(state.chain_id)}: read again to block {state.checked or 0:,}"
                f" of {state.covered:,}.",
                action="Read the chain's error: the node of the second reading may lack blocks.",
                guide="repairing.md#runbook-following",
            )
    yield Finding(level=Level.OK, summary=f"{open_runs.count():,} runs of past blocks are not complete.")
