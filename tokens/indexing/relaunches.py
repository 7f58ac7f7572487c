"""Relaunched tokens: their rows had a launch in another block before a reorg, or one later on the chain.

Several logs may launch a token: one contract creates it, others make a pool for an existing token, and a contract may
repeat its event. The first log on the chain counts, whichever was read first, as long as the chain has its block.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Self

from django.db import transaction
from django.db.models.fields.json import KT
from django.utils import timezone

from tokens.chains.errors import NodeUnavailableError
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import Launch, TransactionFacts
from tokens.indexing import chain_lock
from tokens.indexing.event_rows import delete_events
from tokens.indexing.unwinding import unwind_transactions
from tokens.installation.installed_chains import LaunchChain
from tokens.models import LaunchFacts, Market, ProviderRefresh, Token, TokenDocument, TokenEvent, TokenPool
from tokens.trades import pool_log_rows
from tokens.trades.market_rows import reset_markets


class StoredLaunch(NamedTuple):
    """A stored launch's position on the chain; the names are those that `Token` and launch facts use."""

    tx_hash: str
    block_hash: str
    block_number: int
    log_index: int

    @classmethod
    def of(cls, token: Token) -> Self:
        """Return the position of a token's launch."""
        return cls(token.tx_hash, token.block_hash, token.block_number, token.log_index)

    def precedes(self, launch: Launch) -> bool:
        """Return whether it came before this launch of the same token on the chain.

        Another block at the same height, or with the same transaction, was dropped by the chain.
        """
        if self.block_hash != launch.block_hash and (
            self.tx_hash == launch.tx_hash or self.block_number == launch.block_number
        ):
            return False
        return (self.block_number, self.log_index) < (launch.block_number, launch.log_index)


def first_launches(transactions: Iterable[TransactionFacts]) -> dict[str, Launch]:
    """Return address -> the token's first launch."""
    launches = (launch for facts in transactions for launch in facts.launches)
    first_by_address = dict[str, Launch]()
    for launch in sorted(launches, key=lambda launch: (launch.block_number, launch.log_index)):
        first_by_address.setdefault(launch.token, launch)
    return first_by_address


def without_later(launches: Mapping[str, Launch], before: Iterable[Token]) -> dict[str, Launch]:
    """Return launches without those whose stored token has an earlier launch."""
    later = {
        token.contract_address
        for token in before
        if not token.unindexed and StoredLaunch.of(token).precedes(launches[token.contract_address])
    }
    return {address: launch for address, launch in launches.items() if address not in later}


def unwind_dropped_launches(facts: TransactionFacts, chain: LaunchChain) -> None:
    """Unwind earlier launches of the transaction's tokens whose block the chain has dropped.

    Used for transactions that are read by hash, since no other block is read then. One query, and one request to a node
    if a token has an earlier launch that is not final. Raises NodeUnavailableError.
    """
    launches = first_launches([facts])
    stored = Token.objects.on_chain().filter(chain_id=chain.info.chain_id, contract_address__in=launches)
    earlier = [
        token
        for token in stored.filter(confirmed=False)
        if StoredLaunch.of(token).precedes(launches[token.contract_address])
    ]
    headers = chain.read_headers({token.block_number for token in earlier}) if earlier else {}
    for token in earlier:
        if token.block_number not in headers:
            raise NodeUnavailableError(f"chain {token.chain_id}: its node lacks block {token.block_number}")
        if headers[token.block_number].hash != token.block_hash:
            with transaction.atomic():
                chain_lock.lock_exclusive(token.chain_id)
                unwind_transactions(token.chain_id, [token.tx_hash], block_hash=token.block_hash)


def clear_displaced(
    before: Sequence[Token], pools: Mapping[int, str | None], *, launches: Mapping[str, Launch], chain: ChainInfo
) -> None:
    """Delete rows that tokens have from a launch that no longer counts.

    They are trades in another pool, pools and documents from another contract's or transaction's launch, and events
    from another contract's launchpad. Arguments and transaction as in `reset_relaunched_markets`; call it before that.
    """
    # A launch that was read without its pool has no trades in another one.
    moved = [token.pk for token in before if pools.get(token.pk) not in (None, _pool(launches[token.contract_address]))]
    if moved:
        pool_log_rows.delete_tokens(chain.chain_id, moved, now=timezone.now())
    # The same transaction in another block launches the same pools, with the same document.
    others = [token for token in before if not _is_same(token, launches[token.contract_address])]
    if not others:
        return
    TokenPool.objects.filter(token__in=others).delete()
    insert_next_pools({token.pk: launches[token.contract_address].next_pool for token in others})
    graduated = Market.objects.filter(token__in=others, graduated_at__isnull=False)
    graduated.update(graduated_at=None, curve_progress=None)
    TokenDocument.objects.filter(token__in=others).delete()
    # Events from the token itself, and from contracts that the registry trusts for every token, stay.
    foreign_launches = (token for token in others if token.factory_address != launches[token.contract_address].factory)
    addresses = {token.pk: token.contract_address for token in foreign_launches}
    events = TokenEvent.objects.filter(token__in=addresses).values_list("pk", "token_id", "emitter")
    foreign = ((pk, emitter) for pk, token_id, emitter in events if emitter != addresses[token_id])
    delete_events([pk for pk, emitter in foreign if emitter.lower() not in chain.registered])


def _is_same(token: Token, launch: Launch) -> bool:
    return (token.tx_hash, token.factory_address) == (launch.tx_hash, launch.factory)


def insert_next_pools(pools: Mapping[int, str | None]) -> None:
    """Insert the pools that curves are going to graduate into, by token id."""
    TokenPool.objects.bulk_create(TokenPool(token_id=pk, pool_address=pool) for pk, pool in pools.items() if pool)


def read_launch_pools(tokens: Sequence[Token]) -> dict[int, str | None]:
    """Return token id -> its launch's pool; the token may have moved since. One query, none without tokens."""
    if not tokens:
        return {}
    of_launches = LaunchFacts.objects.filter(token__in=tokens)
    return dict(of_launches.values_list("token_id", KT("facts__pool__address")))


def reset_relaunched_markets(
    before: Sequence[Token], pools: Mapping[int, str | None], *, launches: Mapping[str, Launch]
) -> None:
    """Reset market data for tokens that are launched in another pool now.

    `before` has the tokens before their launches were written, and `pools` the pools of their former launches;
    `launches` are by contract address. Call it in the database transaction that has locked the tokens.
    """
    moved = [token.pk for token in before if pools.get(token.pk) != _pool(launches[token.contract_address])]
    if not moved:
        return
    # Before the market: a worker that stores the former pool's data has locked the row, and any later one finds none.
    # It is queued anew by the task.
    refreshes = ProviderRefresh.objects.filter(pk__in=moved)
    list(refreshes.select_for_update().order_by("pk").values_list("pk"))
    refreshes.delete()
    reset_markets(moved)


def _pool(launch: Launch) -> str | None:
    return launch.pool.address if launch.pool else None
