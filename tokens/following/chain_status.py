"""Progress and lag by followed chain, for metrics, the readiness probe and the admin site."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import F, Min, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce, Least

from tokens.installation.installed_registry import registry
from tokens.models import ChainHead, Coverage, FollowedBlock

# A chain may produce no block for this long, and its nodes may be polled no more often.
_MAX_HEAD_AGE = timedelta(seconds=30)
# This many polls for a new block may fail before the chain counts as lagging.
_ALLOWED_FAILED_POLLS = 3
_CHAIN_ID = re.compile(r"[1-9][0-9]{0,17}")


@dataclass(frozen=True, kw_only=True)
class ChainState:
    """A chain's progress at a moment. None is unknown."""

    chain_id: int
    # The newest block that a node reported, the newest final one, and the newest with stored logs.
    head: int
    final: int
    followed: int | None
    # Every followed block up to these is stored, read a second time, and verified: by another provider or a proof.
    covered: int | None
    checked: int | None
    verified: int | None
    lag_blocks: int | None
    lag_seconds: float | None
    is_halted: bool
    is_troubled: bool

    @property
    def repeated(self) -> int | None:
        """The last block if blocks above the verified ones were only read twice from one provider, else None."""
        return self.checked if (self.checked or 0) > (self.verified or 0) else None

    @property
    def is_late(self) -> bool:
        """True from a lag of FOLLOW_LAG_ALARM_SECONDS on. A chain that was never followed has no lag."""
        return self.lag_seconds is not None and self.lag_seconds >= settings.FOLLOW_LAG_ALARM_SECONDS


@dataclass(frozen=True, kw_only=True)
class ChainReadiness:
    """One chain's part in the readiness probe: whether it passed, and its JSON object in the response."""

    passed: bool
    body: dict[str, Any]


def with_progress(heads: QuerySet[ChainHead]) -> QuerySet[ChainHead]:
    """Annotate the columns that `chain_state` reads: live coverage progress, and the newest stored block's time."""
    live = Coverage.objects.filter(chain_id=OuterRef("chain_id"), last_block=None).order_by().values("chain_id")
    followed = FollowedBlock.objects.filter(chain_id=OuterRef("chain_id"), number=OuterRef("followed"))
    return heads.annotate(
        covered=Subquery(live.annotate(lowest=Min("followed_to")).values("lowest")),
        checked=Subquery(live.annotate(lowest=Min("verified_to")).values("lowest")),
        # LEAST ignores null.
        verified=Subquery(live.annotate(lowest=Min(Least("verified_to", F("repeated_from") - 1))).values("lowest")),
        written_at=Coalesce("followed_at", Subquery(followed.values("at"))),
    )


def read_chain_states(now: datetime, *, chain_id: int | None = None) -> list[ChainState]:
    """Return the states of all chains that were ever followed, or of one, sorted by chain id. One query."""
    heads = with_progress(ChainHead.objects.order_by("chain_id"))
    return [chain_state(head, now) for head in (heads if chain_id is None else heads.filter(chain_id=chain_id))]


def chain_state(head: Any, now: datetime) -> ChainState:
    """Return a chain's state from a `with_progress` row."""
    return ChainState(
        chain_id=head.chain_id,
        head=head.head,
        final=head.final,
        followed=head.followed,
        covered=head.covered,
        checked=head.checked,
        verified=head.verified,
        lag_blocks=None if head.followed is None else max(0, head.head - head.followed),
        lag_seconds=_lag_seconds(head, now),
        is_halted=bool(head.halted),
        is_troubled=bool(head.error),
    )


def chain_readiness(text: str, now: datetime) -> ChainReadiness:
    """Return the result for `GET /readyz?chain=`; it fails for a chain that is halted, late or was never followed.

    Raises ValueError for anything but the id of a registry chain.
    """
    if not _CHAIN_ID.fullmatch(text) or int(text) not in registry().chains:
        raise ValueError("must be a chain of this service")
    chain_id = int(text)
    state = next(iter(read_chain_states(now, chain_id=chain_id)), None)
    passed = state is not None and state.followed is not None and not (state.is_halted or state.is_late)
    return ChainReadiness(passed=passed, body=_readiness_body(chain_id, state))


def followed_blocks(now: datetime) -> list[dict[str, Any]]:
    """Return the readiness object of each chain that was ever followed, for a backup's manifest."""
    return [_readiness_body(state.chain_id, state) for state in read_chain_states(now)]


def _readiness_body(chain_id: int, state: ChainState | None) -> dict[str, Any]:
    """Return a chain's readiness as a JSON object. Unknown values are null."""
    lag = None if state is None else state.lag_seconds
    return {
        "chainId": chain_id,
        "head": state and state.head,
        "final": state and state.final,
        "followed": state and state.followed,
        "verified": state and state.verified,
        "lagBlocks": state and state.lag_blocks,
        "lagSeconds": None if lag is None else round(lag, 1),
        "halted": state is not None and state.is_halted,
    }


def _lag_seconds(head: Any, now: datetime) -> float | None:
    """Return the seconds since the oldest block that is not stored yet.

    If every reported block is stored but no node has responded for long, return the seconds since the last response.
    """
    if head.followed is None:
        return None
    missing = head.head - head.followed
    if missing <= 0:
        since = now if now - head.seen_at <= _max_head_age() else head.seen_at
    elif missing == 1:
        # The head itself is the first block that is not stored: the block before it may be far older.
        since = head.head_at
    else:
        since = head.written_at or head.head_at
    # Block times come from the chain's clock, which may be ahead.
    return max(0.0, (now - since).total_seconds())


def _max_head_age() -> timedelta:
    return max(_MAX_HEAD_AGE, _ALLOWED_FAILED_POLLS * timedelta(seconds=settings.FOLLOW_POLL_SECONDS))
