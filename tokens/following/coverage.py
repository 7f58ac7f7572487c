"""Chain coverage: rows with the progress of reading and verifying blocks, and the functions that advance them.

Progress advances by compare-and-set, in the transaction that writes the blocks' contents. So a process killed at any
instant resumes without a gap, and two processes that read the same blocks notice each other before anything is written
twice.
"""

import hashlib
import logging
from collections.abc import Collection

from django.conf import settings
from django.db.models import BigIntegerField, Case, F, Max, Min, Q, QuerySet, Value, When
from django.utils import timezone

from config.http.errors import PermanentError
from tokens.chains.registry.chains import ChainInfo
from tokens.installation.market_sources import has_own_trades
from tokens.models import Coverage, Token

logger = logging.getLogger(__name__)

# The length of a topic0's prefix, with 0x: enough to distinguish one launchpad's events.
_TOPIC_DIGITS = 10


class ProgressConflictError(PermanentError):
    """The same progress was moved elsewhere: another process reads these blocks, or a reorg unwound some."""


def live_rows(chain_id: int) -> QuerySet[Coverage]:
    """Return a chain's live sync rows, oldest first."""
    return Coverage.objects.filter(chain_id=chain_id, last_block=None).order_by("pk")


def open_live_coverage(chain: ChainInfo, *, final: int) -> list[Coverage]:
    """Return the rows by which a chain is followed; `final` is the newest final block.

    The first row begins at FOLLOW_FROM, by default above the final block. If the registry gains contracts, another row
    reads everything again from the oldest row's first block, and replaces the older rows once it has caught up: older
    contracts may emit events about a new factory's tokens, which were untrusted before the tokens were indexed.
    Switching on trades or a launchpad has the same effect as a new contract.
    """
    watched = _watched(chain)
    _drop_unwatched(chain, watched)
    rows = _retire(live_rows(chain.chain_id))
    covered = {address for row in rows for address in row.addresses}
    if rows and covered.issuperset(watched):
        return rows
    if rows:
        first = min(row.first_block for row in rows)
    else:
        first = settings.FOLLOW_FROM.get(chain.chain_id, max(final + 1, 0))
    logger.info("chain %s is followed from block %s, contracts: %s", chain.chain_id, first, len(watched))
    return [*rows, _open(chain.chain_id, watched, first=first, last=None)]


def open_run_coverage(chain: ChainInfo, *, first: int, last: int) -> Coverage:
    """Return the row for blocks to read once; an existing row has the progress of an earlier call."""
    return _open(chain.chain_id, _watched(chain), first=first, last=last)


def open_trade_coverage(
    chain: ChainInfo, *, first: int | None, last: int | None, final: int, verified: bool
) -> Coverage | None:
    """Return the row for blocks that are read for trades only; None if there are no such blocks.

    Without a first or a last block, the newest incomplete run is continued, including its verification if `verified`.
    Otherwise a run begins at the earliest launch and ends as in `open_later_coverage`.
    """
    makers = sorted(followed_makers(chain))
    if first is None or last is None:
        bounds = {"first_block": first, "last_block": last}
        begun = Coverage.objects.filter(
            Q(**{"verified_to__lt" if verified else "followed_to__lt": F("last_block")})
            | Q(summed_to__lt=F("last_block")),
            chain_id=chain.chain_id,
            address_set=_digest(makers),
            **{name: block for name, block in bounds.items() if block is not None},
        )
        if row := begun.order_by("-pk").first():
            return row
    if first is None:
        launched = Token.objects.on_chain().filter(chain_id=chain.chain_id)
        first = launched.aggregate(first=Min("block_number"))["first"]
    if last is None:
        last = _followed_final(chain.chain_id, final)
    return None if first is None or first > last else _open(chain.chain_id, makers, first=first, last=last)


def open_later_coverage(run: Coverage, chain: ChainInfo, *, final: int) -> Coverage | None:
    """Return the row for blocks above a run that may hold untracked events about its tokens; None if there are none.

    It covers blocks up to `final`, the newest final block after the run was written, and only those that are followed:
    blocks above are still to be read or verified, after the tokens are indexed. The row has no factory, which marks
    that it reads no launches.
    """
    addresses = sorted((chain.emitters - chain.launch_contracts) | followed_makers(chain))
    first = _last(run) + 1
    begun = Coverage.objects.filter(
        chain_id=chain.chain_id, address_set=_digest(addresses), first_block=first, last_block__isnull=False
    )
    if row := begun.first():
        return row
    last = _followed_final(chain.chain_id, final)
    return _open(chain.chain_id, addresses, first=first, last=last) if first <= last else None


def covers_launches(coverage: Coverage, chain: ChainInfo) -> bool:
    """Return whether the row covers launches, and not only events about indexed tokens."""
    return not set(coverage.addresses).isdisjoint(chain.launch_contracts)


def covers_events(coverage: Coverage, chain: ChainInfo) -> bool:
    """Return whether the row covers events about tokens, and not only their trades."""
    return not pool_makers(chain).issuperset(coverage.addresses)


def covers_trades(coverage: Coverage, chain: ChainInfo) -> bool:
    """Return whether the row covers trades."""
    return not followed_makers(chain).isdisjoint(coverage.addresses)


def event_contracts(coverage: Coverage, chain: ChainInfo) -> frozenset[str]:
    """Return the contracts whose launch and event logs are requested."""
    return chain.emitters.intersection(coverage.addresses)


def pool_makers(chain: ChainInfo) -> frozenset[str]:
    """Return the contracts that create the chain's pools, in lower case: they mark rows with trades."""
    return frozenset(address.lower() for address in (chain.v4_pool_manager, chain.v3_factory) if address)


def followed_makers(chain: ChainInfo) -> frozenset[str]:
    """Return the contracts as `pool_makers`; none where the chain's trades are not read."""
    return pool_makers(chain) if has_own_trades(chain.chain_id) else frozenset()


def advance_followed(coverage: Coverage, *, to: int) -> None:
    """Store that every block up to `to` is read and written; call it in the transaction that writes.

    Raises ProgressConflictError. After a rollback, the row in memory has to be reloaded.
    """
    _advance(coverage, "followed_to", to, of=Coverage.objects.all())


def advance_verified(coverage: Coverage, *, to: int, repeated_from: int | None = None) -> None:
    """Store that every block up to `to` was read a second time; call it in the transaction that repairs.

    `repeated_from` is the first block among them that only the first reading's provider returned. Raises
    ProgressConflictError.
    """
    # Blocks that an operator rewound meanwhile must be read again before they count as verified.
    _advance(coverage, "verified_to", to, of=Coverage.objects.filter(followed_to__gte=to))
    if repeated_from is not None and coverage.repeated_from is None:
        Coverage.objects.filter(pk=coverage.pk).update(repeated_from=repeated_from)
        coverage.repeated_from = repeated_from


def restart_repeated(coverage: Coverage) -> None:
    """Have the blocks verified again that only one provider returned. Raises ProgressConflictError."""
    if coverage.repeated_from is not None:
        repeated = Coverage.objects.filter(repeated_from=coverage.repeated_from)
        _advance(coverage, "verified_to", coverage.repeated_from - 1, of=repeated)
        Coverage.objects.filter(pk=coverage.pk).update(repeated_from=None)
        coverage.repeated_from = None


def advance_joined(chain_id: int, *, first: int, last: int) -> None:
    """Store that the head wrote blocks `first` to `last`, for rows that cover all blocks before them.

    Call it in the transaction that writes and holds the chain's lock exclusively (`chain_lock.lock_exclusive`). Rows
    that are still behind read these blocks later: they may find tokens that the blocks are about.
    """
    joined = live_rows(chain_id).filter(followed_to__gte=first - 1, followed_to__lt=last)
    # The head's trades count at once, but history that has not been summed yet would be skipped.
    is_summed = When(summed_to__gte=F("followed_to"), then=Value(last, BigIntegerField()))
    summed = Case(is_summed, default=F("summed_to"))
    joined.update(followed_to=last, summed_to=summed, updated_at=timezone.now())


def _advance(coverage: Coverage, column: str, to: int, *, of: QuerySet[Coverage]) -> None:
    before = getattr(coverage, column)
    if not of.filter(pk=coverage.pk, **{column: before}).update(**{column: to, "updated_at": timezone.now()}):
        raise ProgressConflictError(f"{coverage}: {column} moved from {before} elsewhere")
    setattr(coverage, column, to)


def _retire(rows: QuerySet[Coverage]) -> list[Coverage]:
    """Delete rows that another row covers in full. Return the others."""
    current = list(rows)
    for row in rows:
        others = [other for other in current if other.pk != row.pk]
        if any(_contains(other, row) for other in others):
            row.delete()
            current = others
    return current


def _watched(chain: ChainInfo) -> list[str]:
    """Return the subjects that blocks are read for: contracts, pool makers, and declared events by launchpad and topic.

    The events are named because launchpads share contracts, and a launchpad may gain an event from a known contract.
    """
    declared = {
        f"{launchpad.name}:{event.topic0[:_TOPIC_DIGITS]}"
        for launchpad in chain.launchpads
        for event in (
            *(launch.event for launch in launchpad.launches if launch.contracts.get(chain.chain_id)),
            *(later.event for later in launchpad.later_events),
        )
    }
    return sorted(chain.emitters | followed_makers(chain) | declared)


def _drop_unwatched(chain: ChainInfo, watched: Collection[str]) -> None:
    """Remove subjects that are no longer read from live rows, because later blocks are read without them.

    Otherwise their launches or trades would be missing for good once they are switched on again.
    """
    for row in live_rows(chain.chain_id).exclude(addresses__contained_by=watched):
        addresses = [address for address in row.addresses if address in watched]
        without = {"address_set": _digest(addresses), "addresses": addresses}
        if live_rows(chain.chain_id).filter(first_block=row.first_block, address_set=without["address_set"]).exists():
            # The row that this one was to replace.
            row.delete()
        else:
            Coverage.objects.filter(pk=row.pk).update(**without)


def _contains(other: Coverage, row: Coverage) -> bool:
    return (
        set(other.addresses) >= set(row.addresses)
        and other.first_block <= row.first_block
        and other.followed_to >= row.followed_to
        and other.verified_to >= row.verified_to
    )


def _open(chain_id: int, addresses: Collection[str], *, first: int, last: int | None) -> Coverage:
    coverage, _ = Coverage.objects.get_or_create(
        chain_id=chain_id,
        address_set=_digest(addresses),
        first_block=first,
        last_block=last,
        defaults={
            "addresses": list(addresses),
            "followed_to": first - 1,
            "verified_to": first - 1,
            "summed_to": first - 1,
        },
    )
    return coverage


def _followed_final(chain_id: int, final: int) -> int:
    """Return the newest final block that is followed; `final` on a chain that is not followed."""
    followed = live_rows(chain_id).aggregate(to=Max("followed_to"))["to"]
    return final if followed is None else min(final, followed)


def _digest(addresses: Collection[str]) -> str:
    return hashlib.sha256(",".join(addresses).encode()).hexdigest()


def _last(run: Coverage) -> int:
    if run.last_block is None:
        raise ValueError(f"{run} has no end")
    return run.last_block
