"""Receipts of transactions with v4 trades: conversions by amounts, payments by transfers, swap parts.

Conversions and payments follow from transferred amounts, and not from the log sequence that the indexer uses.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tokens.chains.abi import codec
from tokens.chains.abi.codec import Log
from tokens.chains.abi.paths import part_at
from tokens.chains.addresses import address_key
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.pool_types import chain_position, is_v4_pool
from tokens.chains.registry.chains import ChainInfo
from tokens.feeds.checking.chain_logs import ChainTrade, PoolLog, read_receipt
from tokens.feeds.feed_pairs import FeedPair
from tokens.models import PoolTrade
from tokens.trades.protocol_fees import paid_quote

_V4 = codec.load_abi("uniswap_v4")
_CONVERTED = codec.load_abi("v4_fees").event("FeesSwapped")
_MOVED, _HELD = codec.load_abi("token").event("Transfer"), _V4.event("Transfer")
_SWAPPED, _CHANGED = _V4.event("Swap"), _V4.event("ModifyLiquidity")
_NOBODY = "0x" + "0" * 40
_AMOUNTS = ("amount0", "amount1")
# Block, and the transaction's index in it.
_TxKey = tuple[int, int]


class PaidComparison(NamedTuple):
    """A sentence if a transaction's payments differ, and whether its transfers prove them."""

    difference: str | None
    is_proven: bool


def read_receipts(
    chain: Chain, logs: Iterable[PoolLog], blocks: Mapping[int, Mapping[str, Any]]
) -> dict[_TxKey, list[Log]]:
    """Return each transaction's logs if it has a swap in a v4 pool. Raises NodeUnavailableError."""
    keys = {(log.block, log.tx_index) for log in logs if log.kind == "swap" and is_v4_pool(log.pool)}
    hashes = {(block, index): blocks[block]["transactions"][index]["hash"] for block, index in sorted(keys)}
    receipts = read_receipt(chain, hashes.values())
    return {key: receipts[tx_hash] for key, tx_hash in hashes.items()}


def add_parts(
    logs: Iterable[PoolLog],
    receipts: Mapping[_TxKey, Sequence[Log]],
    *,
    chain: ChainInfo,
    pairs: Mapping[str, FeedPair],
) -> list[PoolLog]:
    """Return the logs, in which swap amounts are the totals that the pool and its hook exchanged.

    If launchpads share the hook, the declaration by the pair's launchpad counts. If a transaction has several swaps in
    a pool, a part belongs to the next swap; after the last swap, it belongs to the last.
    """
    logs = list(logs)
    swaps = defaultdict[tuple[_TxKey, str], list[PoolLog]](list)
    for log in logs:
        if log.kind == "swap":
            swaps[(log.block, log.tx_index), log.pool].append(log)
    whole: dict[tuple[int, int], dict[str, int]] = {}
    for key, receipt in receipts.items() if chain.swap_parts else ():
        for raw in receipt:
            declared = chain.swap_parts.get((raw["address"].lower(), raw["topics"][0]), ()) if raw["topics"] else ()
            for swap_part in declared:
                values = swap_part.event.decode(raw)
                pool = str(part_at(values, swap_part.pool)).lower()
                if len(declared) == 1 or (pool in pairs and pairs[pool].generation == swap_part.launchpad):
                    break
            else:
                continue
            in_pool = swaps.get((key, pool), [])
            later = [swap for swap in in_pool if swap.log_index > int(raw["logIndex"], 16)]
            for swap in (*later[:1], *in_pool[-1:])[:1]:
                sums = whole.setdefault((swap.block, swap.log_index), {name: swap.arguments[name] for name in _AMOUNTS})
                for name, path in zip(_AMOUNTS, (swap_part.amount0, swap_part.amount1), strict=True):
                    sums[name] += part_at(values, path) if path else 0
    return [log._replace(arguments={**log.arguments, **whole.get((log.block, log.log_index), {})}) for log in logs]


def mark_conversion(trade: ChainTrade, receipt: Sequence[Log]) -> ChainTrade:
    """Return the trade, marked as a conversion if its token's locker reports an exchange of the same amount."""
    return trade if _reported_quote(trade, receipt) is None else trade._replace(is_conversion=True)


def _reported_quote(trade: ChainTrade, receipt: Sequence[Log]) -> int | None:
    """Return the quote token amount that the token's locker reports to have paid, negative if it received.

    None if the locker reports no exchange with the trade's token amount.
    """
    pair = trade.pair
    for log in receipt:
        if not _is_event(log, _CONVERTED) or address_key(log["address"]) != address_key(pair.locker):
            continue
        report = _CONVERTED.decode(log)
        is_sale = address_key(report["rewardToken"]) == address_key(pair.token)
        paid, got = int(report["amountSwapped"]), int(report["amountOut"])
        is_own = address_key(report["token"]) == address_key(pair.token)
        if is_own and (trade.is_buy, trade.token) == (not is_sale, paid if is_sale else got):
            return -got if is_sale else paid
    return None


def compare_paid(
    chain: Chain,
    trades: Iterable[ChainTrade],
    receipts: Mapping[_TxKey, Sequence[Log]],
    pairs: Mapping[str, FeedPair],
) -> Iterator[PaidComparison]:
    """Yield a comparison between stored payments and transfers for each transaction and quote token.

    If transfers also pay for something else, hook fees are compared with the credits to hooks. A transaction that also
    moves something else proves nothing. First, yield a comparison for each stored conversion that paid another amount
    than its locker reports.
    """
    by_payment: dict[tuple[_TxKey, str], list[ChainTrade]] = {}
    for trade in trades:
        key = trade.log.block, trade.log.tx_index
        if key in receipts:
            by_payment.setdefault((key, trade.pair.quote), []).append(trade)
    stored = _stored_payments(chain, [trade for own in by_payment.values() for trade in own])
    yield from _compare_conversions([trade for own in by_payment.values() for trade in own], receipts, stored)
    for (key, quote), own in by_payment.items():
        positions = [_position(trade) for trade in own if not trade.is_conversion]
        if not positions or not stored.keys() >= set(positions):
            continue
        transfers = _Transfers(chain, receipts[key], own, pairs)
        if not transfers.are_of_pairs():
            yield PaidComparison(None, is_proven=False)
        elif transfers.prove(quote):
            paid, moved = sum(stored[position] for position in positions), transfers.moved(quote)
            if transfers.are_declared and abs(moved) > abs(paid):
                # A declared hook may take fees beside the pool's amounts.
                yield PaidComparison(None, is_proven=False)
                continue
            text = f"block {key[0]}, transaction {key[1]}: its trades paid {paid} of {quote}, and transfers {moved}"
            yield PaidComparison(None if paid == moved else text, is_proven=True)
        else:
            # A missing trade is named among the events.
            fees = sum(stored[_position(trade)] - trade.paid for trade in own if _position(trade) in stored)
            credited = transfers.credited(quote)
            text = f"block {key[0]}, transaction {key[1]}: fees of hooks are {fees} of {quote}, and credits {credited}"
            yield PaidComparison(None if fees == credited else text, is_proven=True)


def _compare_conversions(
    trades: Iterable[ChainTrade], receipts: Mapping[_TxKey, Sequence[Log]], stored: Mapping[int, int]
) -> Iterator[PaidComparison]:
    for trade in trades:
        paid = stored.get(_position(trade)) if trade.is_conversion else None
        reported = _reported_quote(trade, receipts[trade.log.block, trade.log.tx_index])
        # No locker reports a swap by a declared launchpad's own contract: the pool's amount counts.
        expected, source = (trade.paid, "the pool") if reported is None else (reported, "its locker")
        if paid is not None and paid != expected:
            where = f"block {trade.log.block}, log {trade.log.log_index}"
            text = f"{where}: the conversion paid {paid} of {trade.pair.quote}, and {source} reports {expected}"
            yield PaidComparison(text, is_proven=True)


class _Transfers:
    """A transaction's transfers into the PoolManager and out of it, without lockers."""

    def __init__(
        self, chain: Chain, receipt: Sequence[Log], trades: Sequence[ChainTrade], pairs: Mapping[str, FeedPair]
    ) -> None:
        self._manager = address_key(str(chain.info.v4_pool_manager))
        self.are_declared = all(trade.pair.generation in chain.info.declared for trade in trades)
        self._receipt, self._trades, self._pairs = receipt, trades, pairs
        self._lockers = {address_key(trade.pair.locker) for trade in trades}

    def prove(self, quote: str) -> bool:
        """Return whether a quote token's transfers only pay the trades, given that all logs belong to pairs."""
        # A router may pay its caller's conversion.
        converters = {address_key(trade.log.arguments["sender"]) for trade in self._trades if trade.is_conversion}
        return address_key(quote) != _NOBODY and converters <= self._lockers

    def are_of_pairs(self) -> bool:
        """Return whether the PoolManager moved nothing for other pools or for liquidity."""
        return all(self._is_plain(log) for log in self._receipt if address_key(log["address"]) == self._manager)

    def credited(self, quote: str) -> int:
        """Return the quote token amount that the PoolManager credited to hooks."""
        total = 0
        for log in self._receipt:
            if _is_event(log, _HELD) and address_key(log["address"]) == self._manager:
                held = _HELD.decode(log)
                total += held["amount"] * (held["sender"] == _NOBODY and held["id"] == int(quote, 16))
        return total

    def moved(self, quote: str) -> int:
        """Return the amount that the PoolManager received less its payments, without lockers and fees held before."""
        total, is_in, is_out = 0, *self._sides()
        for log in self._receipt:
            if _is_event(log, _MOVED) and address_key(log["address"]) == address_key(quote):
                moved = _MOVED.decode(log)
                payer, payee = address_key(moved["from"]), address_key(moved["to"])
                if not {payer, payee} & self._lockers:
                    total += moved["value"] * (is_in * (payee == self._manager) - is_out * (payer == self._manager))
            elif _is_event(log, _HELD) and address_key(log["address"]) == self._manager:
                held = _HELD.decode(log)
                # A hook withdraws fees that were credited to it before.
                total += held["amount"] * (held["receiver"] == _NOBODY and held["id"] == int(quote, 16))
        return total

    def _sides(self) -> tuple[bool, bool]:
        """Return whether the PoolManager's receipts count, and whether its payments count.

        A declared launchpad's hook pays its fees on a trade's other side, to any account.
        """
        buys = {trade.is_buy for trade in self._trades if not trade.is_conversion}
        return (True in buys, False in buys) if self.are_declared else (True, True)

    def _is_plain(self, log: Log) -> bool:
        """Return whether a PoolManager log is about a pair's swap, a pair's launch, or a hook's balance."""
        if _is_event(log, _SWAPPED):
            return log["topics"][1] in self._pairs
        if _is_event(log, _CHANGED):
            pair = self._pairs.get(log["topics"][1])
            is_launch = pair is not None and pair.tx_hash == log["transactionHash"]
            return is_launch or not _CHANGED.decode(log)["liquidityDelta"]
        if _is_event(log, _HELD):
            held = _HELD.decode(log)
            return {held["sender"], held["receiver"]} == {held["caller"], _NOBODY}
        return True


def _stored_payments(chain: Chain, trades: Sequence[ChainTrade]) -> dict[int, int]:
    """Return position -> quote token amount that the stored trade paid, negative if it received. One query."""
    rows = PoolTrade.objects.filter(
        token_id__in={trade.pair.token_id for trade in trades},
        position__in=[_position(trade) for trade in trades],
        token__chain_id=chain.info.chain_id,
    ).values_list("position", "is_buy", "amount_quote", "protocol_fee")
    return {
        position: (1 if is_buy else -1) * paid_quote(int(amount), None if fee is None else int(fee), is_buy=is_buy)
        for position, is_buy, amount, fee in rows
    }


def _position(trade: ChainTrade) -> int:
    return chain_position(trade.log.block, trade.log.log_index)


def _is_event(log: Log, event: codec.AbiEvent) -> bool:
    """Return whether a log is this event: an ERC-721 transfer has one topic more than an ERC-20 transfer."""
    return bool(log["topics"]) and log["topics"][0] == event.topic0 and len(log["topics"]) == _TOPICS[event.topic0]


_TOPICS = {_CONVERTED.topic0: 4, _MOVED.topic0: 3, _HELD.topic0: 4, _SWAPPED.topic0: 3, _CHANGED.topic0: 3}
