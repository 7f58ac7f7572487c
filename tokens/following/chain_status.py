"""How far each chain is followed, and how far behind: for the metrics, the probe and the operators' site."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Min, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from tokens.installation.installed_chains import registry
from tokens.models import ChainHead, Coverage, FollowedBlock

# A chain may have no new block for as long as that, and its nodes may be asked no more often.
_SEEN_LATELY = timedelta(seconds=30)
# Several looks for a new block may fail before somebody need know.
_LOOKS = 3


@dataclass(frozen=True, kw_only=True)
class ChainState:
    """One chain's following at a moment. What is None is not known yet."""

    chain_id: int
    # The newest block that a node told of, the newest final one, and the newest whose logs are written.
    head: int
    final: int
    followed: int | None
    # Every block of what is being followed is written, and was checked again, up to here.
    covered: int | None
    verified: int | None
    lag_blocks: int | None
    lag_seconds: float | None
    is_halted: bool
    is_troubled: bool

    @property
    def is_late(self) -> bool:
        """Whether its lag wants an operator; a chain that was never followed has none yet."""
        return self.lag_seconds is not None and self.lag_seconds >= settings.FOLLOW_LAG_ALARM_SECONDS


def with_progress(heads: QuerySet[ChainHead]) -> QuerySet[ChainHead]:
    """Adds what `state_of` reads: the progress of the chain's live coverage, and the time up to which is written."""
    live = Coverage.objects.filter(chain_id=OuterRef("chain_id"), last_block=None).order_by().values("chain_id")
    followed = FollowedBlock.objects.filter(chain_id=OuterRef("chain_id"), number=OuterRef("followed"))
    return heads.annotate(
        covered=Subquery(live.annotate(lowest=Min("followed_to")).values("lowest")),
        verified=Subquery(live.annotate(lowest=Min("verified_to")).values("lowest")),
        written_at=Coalesce("followed_at", Subquery(followed.values("at"))),
    )


def read_states(now: datetime, *, chain_id: int | None = None) -> list[ChainState]:
    """The chains that were ever followed, or the one of them, by one query; in the order of their ids."""
    heads = with_progress(ChainHead.objects.order_by("chain_id"))
    return [state_of(head, now) for head in (heads if chain_id is None else heads.filter(chain_id=chain_id))]


def state_of(head: Any, now: datetime) -> ChainState:
    """The state that a row of `with_progress` tells."""
    return ChainState(
        chain_id=head.chain_id,
        head=head.head,
        final=head.final,
        followed=head.followed,
        covered=head.covered,
        verified=head.verified,
        lag_blocks=None if head.followed is None else max(0, head.head - head.followed),
        lag_seconds=_lag_seconds(head, now),
        is_halted=bool(head.halted),
        is_troubled=bool(head.trouble),
    )


def chain_name(chain_id: int) -> str:
    """What the registry calls the chain; its id where the registry has lost it."""
    chain = registry().chains.get(chain_id)
    return chain.name if chain else f"Chain {chain_id}"


def _lag_seconds(head: Any, now: datetime) -> float | None:
    """For how long there has been something that is not written, as far as one can know.

    Where all is written that nodes told of, and no node has told anything for long, it counts from then.
    """
    if head.followed is None:
        return None
    missing = head.head - head.followed
    if missing <= 0:
        since = now if now - head.seen_at <= _patience() else head.seen_at
    elif missing == 1:
        # The head itself is the first that is not written: the block before it may be far older.
        since = head.head_at
    else:
        since = head.written_at or head.head_at
    # Block times are the chain's, whose clock may be ahead.
    return max(0.0, (now - since).total_seconds())


def _patience() -> timedelta:
    return max(_SEEN_LATELY, _LOOKS * timedelta(seconds=settings.FOLLOW_POLL_SECONDS))
