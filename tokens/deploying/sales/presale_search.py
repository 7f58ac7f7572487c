"""Presale search by state, owner and token admin, among the contract's newest SEARCHED.

The contract has no such lists, so that all presales are read, by two cached scans. Ended presales stay unchanged, and
are read once an hour. The others are read once a minute; their states follow from the time when the request came.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass

from config.processes.concurrency_limits import node_slot
from config.redis.single_flight import CacheTimes, fetch_shared
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.rpc.client import query_deadline
from tokens.chains.types import Presale, PresaleTermsOnChain

_ENDED_STATES = ("failed", "launched")
STATES = ("active", "successful", *_ENDED_STATES)
_LAUNCHED, _SUCCESSFUL = 5, (2, 3)

# Presales that a scan reads at most, RPC_BATCH_SIZE at once.
SEARCHED = 1_000
# All requests in one scan.
_SECONDS = 15.0
_ENDED_TIMES = CacheTimes(fresh=3_600.0, ttl=86_400.0, wait_timeout=_SECONDS, lock_ttl=30.0)
_OTHER_TIMES = CacheTimes(fresh=60.0, ttl=3_600.0, wait_timeout=_SECONDS, lock_ttl=30.0)
# A failure that follows from the time is final only after this delay: a block with an earlier time may come late.
_SETTLING_SECONDS = 900

# Id, status, raised and lower goal in wei, end, launch deadline, owner, admin. Wei exceed JSON's numbers.
Row = tuple[int, int, str, str, int, int | None, str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class PresaleFilter:
    """Search conditions, which all hold: one of STATES, and EIP-55 addresses; None for any."""

    state: str | None = None
    owner: str | None = None
    admin: str | None = None

    @property
    def is_empty(self) -> bool:
        """Return whether all presales match."""
        return self == PresaleFilter()

    def matches(self, *, state: str, owner: str, admin: str) -> bool:
        """Return whether a presale with these values is searched for."""
        pairs = (self.state, state), (self.owner, owner), (self.admin, admin)
        return all(condition in (None, value) for condition, value in pairs)


def presale_state(sale: Presale, *, unix_time: int) -> str:
    """Return the state at a time in Unix seconds: the contract records a sale's end only on its next call."""
    if sale.status == _LAUNCHED:
        return "launched"
    if sale.failure(unix_time=unix_time):
        return "failed"
    return "successful" if sale.status in _SUCCESSFUL or unix_time >= sale.ends_at else "active"


def searched_ids(total: int) -> range:
    """Return the ids that a search covers if the contract has this many presales, from the oldest on."""
    return range(max(1, total - SEARCHED + 1), total + 1)


def search_presales(chain: Chain, *, contract: str, total: int, only: PresaleFilter) -> list[int]:
    """Return the ids of the presales that match, from the oldest on; facts may be a minute old.

    At most SEARCHED reads a minute and SEARCHED an hour per contract, if every presale is unfinished. Raises
    NodeUnavailableError, and as `fetch_shared`.
    """
    ids = searched_ids(total)
    name = f"{chain.info.chain_id}:{contract}"

    def scan(numbers: Iterable[int]) -> list[PresaleTermsOnChain]:
        with node_slot(), query_deadline(_SECONDS):
            return chain.read_presales(list(numbers), contract=contract)

    def scan_ended() -> list[Row]:
        before = int(time.time()) - _SETTLING_SECONDS
        return [_row(sale) for sale in scan(ids) if presale_state(sale.sale, unix_time=before) in _ENDED_STATES]

    ended: list[Row] = fetch_shared(f"presales-ended:1:{name}", scan_ended, times=_ENDED_TIMES).value
    ended_ids = {row[0] for row in ended}

    def scan_others() -> list[Row]:
        return [_row(sale) for sale in scan(number for number in ids if number not in ended_ids)]

    others: list[Row] = fetch_shared(f"presales-other:1:{name}", scan_others, times=_OTHER_TIMES).value
    now = int(time.time())
    # A presale may be in both: the other scan may be older.
    rows = {row[0]: row for row in (*others, *ended) if row[0] in ids}
    return sorted(number for number, row in rows.items() if _is_wanted(row, only, unix_time=now))


def _row(terms: PresaleTermsOnChain) -> Row:
    sale = terms.sale
    amounts = str(sale.raised), str(sale.min_goal)
    return sale.presale_id, sale.status, *amounts, sale.ends_at, sale.launches_until, terms.owner, terms.admin


def _is_wanted(row: Row, only: PresaleFilter, *, unix_time: int) -> bool:
    presale_id, status, raised, min_goal, ends_at, launches_until, owner, admin = row
    sale = Presale(
        presale_id=presale_id,
        status=status,
        salt="",
        raised=int(raised),
        min_goal=int(min_goal),
        ends_at=ends_at,
        launches_until=launches_until,
    )
    return only.matches(state=presale_state(sale, unix_time=unix_time), owner=owner, admin=admin)
