"""Tokens whose rows had another launch: in another block before a reorg, or by a contract that came later.

Several contracts may launch a token: one creates it, and others make a pool of a token that exists. The first launch on
the chain counts, whichever was read first. A contract launches a token once, so that its launch in another place is the
same one in another block.
"""

from collections.abc import Iterable, Mapping, Sequence

from django.db.models.fields.json import KT
from django.utils import timezone

from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import Launch, TransactionFacts
from tokens.indexing.event_rows import delete_events
from tokens.models import LaunchFacts, ProviderRefresh, Token, TokenDocument, TokenEvent, TokenPool
from tokens.trades import pool_log_rows
from tokens.trades.market_rows import reset_markets


def is_preceded(launch: Launch, *, factory: str, block_number: int, log_index: int) -> bool:
    """Return whether a launch of the same token by another contract came first on the chain."""
    return factory != launch.factory and (block_number, log_index) < (launch.block_number, launch.log_index)


def first_launches(transactions: Iterable[TransactionFacts]) -> dict[str, Launch]:
    """Return address -> the token's first launch.

    No contract launches the same token twice. If a node reports so, the later launch counts.
    """
    found = dict[str, Launch]()
    launches = (launch for facts in transactions for launch in facts.launches)
    for launch in sorted(launches, key=lambda launch: (launch.block_number, launch.log_index)):
        before = found.get(launch.token)
        if before is None or before.factory == launch.factory:
            found[launch.token] = launch
    return found


def without_later(launches: Mapping[str, Launch], before: Iterable[Token]) -> dict[str, Launch]:
    """Return the launches of which the stored tokens have no earlier one by another contract."""
    later = {
        token.contract_address
        for token in before
        if not token.unindexed
        and is_preceded(
            launches[token.contract_address],
            factory=token.factory_address,
            block_number=token.block_number,
            log_index=token.log_index,
        )
    }
    return {address: launch for address, launch in launches.items() if address not in later}


def clear_displaced(
    before: Sequence[Token], pools: Mapping[int, str | None], *, launches: Mapping[str, Launch], chain: ChainInfo
) -> None:
    """Delete what was stored of tokens as another contract's: trades, pools, documents, and its launchpad's events.

    Arguments and transaction as of `reset_relaunched_markets`; call it before that.
    """
    displaced = [token for token in before if token.factory_address != launches[token.contract_address].factory]
    if not displaced:
        return
    moved = [token.pk for token in displaced if pools.get(token.pk) != _pool(launches[token.contract_address])]
    pool_log_rows.delete_tokens(chain.chain_id, moved, now=timezone.now())
    TokenPool.objects.filter(token__in=displaced).delete()
    TokenDocument.objects.filter(token__in=displaced).delete()
    # Events of the token itself, and of contracts that the registry trusts for every token, stay.
    kept = {token.pk: token.contract_address for token in displaced}
    events = TokenEvent.objects.filter(token__in=displaced).values_list("pk", "token_id", "emitter")
    foreign = [pk for pk, of, emitter in events if emitter != kept[of] and emitter.lower() not in chain.registered]
    delete_events(foreign)


def read_launch_pools(tokens: Sequence[Token]) -> dict[int, str | None]:
    """Return token id -> the pool of the token's launch, which may have moved since. One query, none without tokens."""
    if not tokens:
        return {}
    of_launches = LaunchFacts.objects.filter(token__in=tokens)
    return dict(of_launches.values_list("token_id", KT("facts__pool__address")))


def reset_relaunched_markets(
    before: Sequence[Token], pools: Mapping[int, str | None], *, launches: Mapping[str, Launch]
) -> None:
    """Reset the market data of tokens that are launched in another pool now.

    `before` are the tokens before their launches were written, and `pools` those of their launches then; `launches` are
    by contract address. Call it in the database transaction that has locked the tokens.
    """
    moved = [token.pk for token in before if pools.get(token.pk) != _pool(launches[token.contract_address])]
    if not moved:
        return
    # Before the market: a worker that stores data of the former pool has locked the row, and any later one finds none.
    # It is queued anew by the task.
    refreshes = ProviderRefresh.objects.filter(pk__in=moved)
    list(refreshes.select_for_update().order_by("pk").values_list("pk"))
    refreshes.delete()
    reset_markets(moved)


def _pool(launch: Launch) -> str | None:
    return launch.pool.address if launch.pool else None
