"""How far the blocks of a chain are read and checked: rows of progress, and the only ways in which they move.

Progress moves by compare-and-set, in the transaction that writes what the blocks held. So a process that is killed at
any instant resumes without a gap, and two that read the same blocks notice each other before anything is doubled.
"""

import hashlib
import logging
from collections.abc import Collection

from django.conf import settings
from django.db.models import Max, QuerySet
from django.utils import timezone

from config.http.json_client import Permanent
from tokens.chains.registry.chains import ChainInfo
from tokens.models import Coverage

logger = logging.getLogger(__name__)


class Overtaken(Permanent):
    """Somebody else moved the same progress: another process reads these blocks, or the chain dropped some of them."""


def live_rows(chain_id: int) -> QuerySet[Coverage]:
    """The rows that follow the chain for ever, the oldest first."""
    return Coverage.objects.filter(chain_id=chain_id, last_block=None).order_by("pk")


def open_live(chain: ChainInfo, *, final: int) -> list[Coverage]:
    """The rows by which a chain is followed from now on; `final` is the newest block that is final.

    The first one begins where FOLLOW_FROM says, and else behind the block that is final. When the registry has gained
    contracts, a further row reads everything once more from where the oldest one began, and replaces the older ones
    when it is as far: a new factory's tokens may have events of contracts that were there before, which nobody
    believed while the tokens were not known.
    """
    rows = _retire(live_rows(chain.chain_id))
    watched = sorted(chain.emitters)
    covered = {address for row in rows for address in row.addresses}
    if rows and covered.issuperset(watched):
        return rows
    if rows:
        first = min(row.first_block for row in rows)
    else:
        first = settings.FOLLOW_FROM.get(chain.chain_id, max(final + 1, 0))
    logger.info("chain %s is followed from block %s, contracts: %s", chain.chain_id, first, len(watched))
    return [*rows, _open(chain.chain_id, watched, first=first, last=None)]


def open_run(chain: ChainInfo, *, first: int, last: int) -> Coverage:
    """The row of a run of blocks that are to be read once; where it was begun before, the row that tells how far."""
    return _open(chain.chain_id, sorted(chain.emitters), first=first, last=last)


def open_later(run: Coverage, chain: ChainInfo, *, final: int) -> Coverage | None:
    """The row of the blocks behind a run in which events of its tokens may have been passed over, None without any.

    Only those up to `final`, the newest final block, asked for after the run was written, and of these only those that
    are followed: what comes behind is still to be read or still to be checked, with the tokens known. The row has no
    factory, by which it is known that launches there are not wanted.
    """
    factories = {address.lower() for address in chain.addresses("factory")}
    addresses = sorted(chain.emitters - factories)
    first = _last(run) + 1
    begun = Coverage.objects.filter(
        chain_id=chain.chain_id, address_set=_digest(addresses), first_block=first, last_block__isnull=False
    )
    if row := begun.first():
        return row
    followed = live_rows(chain.chain_id).aggregate(to=Max("followed_to"))["to"]
    last = final if followed is None else min(final, followed)
    return _open(chain.chain_id, addresses, first=first, last=last) if first <= last else None


def wants_launches(coverage: Coverage, chain: ChainInfo) -> bool:
    """Whether the row is one of launches, and not only of what happened to tokens that are known."""
    return not set(coverage.addresses).isdisjoint(chain.factories)


def advance(coverage: Coverage, *, to: int) -> None:
    """Note that every block up to `to` is read and written; to be called in the transaction that writes.

    Raises Overtaken. After a transaction that was rolled back, the row in memory is to be read again.
    """
    _move(coverage, "followed_to", to, of=Coverage.objects.all())


def advance_verified(coverage: Coverage, *, to: int) -> None:
    """Note that every block up to `to` was checked; to be called in the transaction that repairs. Raises Overtaken."""
    # What an operator took back meanwhile is to be read anew before it counts as checked.
    _move(coverage, "verified_to", to, of=Coverage.objects.filter(followed_to__gte=to))


def advance_joined(chain_id: int, *, first: int, last: int) -> None:
    """Note that the head wrote the blocks from `first` to `last`, for rows that had read all blocks before them.

    To be called in the transaction that writes, which owns the chain (`tokens.indexing.chain_lock.own`). A row that is still
    on its way reads them by itself, later: it may find tokens that they are about.
    """
    joined = live_rows(chain_id).filter(followed_to__gte=first - 1, followed_to__lt=last)
    joined.update(followed_to=last, updated_at=timezone.now())


def _move(coverage: Coverage, column: str, to: int, *, of: QuerySet[Coverage]) -> None:
    now = getattr(coverage, column)
    moved = of.filter(pk=coverage.pk, **{column: now}).update(**{column: to, "updated_at": timezone.now()})
    if not moved:
        raise Overtaken(f"{coverage}: somebody else moved its {column} from {now}")
    setattr(coverage, column, to)


def _retire(rows: QuerySet[Coverage]) -> list[Coverage]:
    """The rows without those of which another one has read, and checked, all that they have."""
    kept = list(rows)
    for row in rows:
        others = [other for other in kept if other.pk != row.pk]
        if any(_contains(other, row) for other in others):
            row.delete()
            kept = others
    return kept


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
        defaults={"addresses": list(addresses), "followed_to": first - 1, "verified_to": first - 1},
    )
    return coverage


def _digest(addresses: Collection[str]) -> str:
    return hashlib.sha256(",".join(addresses).encode()).hexdigest()


def _last(run: Coverage) -> int:
    if run.last_block is None:
        raise ValueError(f"{run} has no end")
    return run.last_block
