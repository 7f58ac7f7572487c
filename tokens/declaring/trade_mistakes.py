"""Mistakes in declared curve trades that transactions show: amounts, sides, traders, prices, and missing trades.

Amounts, sides and traders are compared with the token's own `Transfer` logs. Pure.
"""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from math import log10
from typing import NamedTuple

from tokens.chains.abi import codec
from tokens.chains.abi.codec import Log
from tokens.chains.abi.paths import find_part
from tokens.chains.addresses import ZERO_ADDRESS, checksum_address
from tokens.chains.errors import LogDecodingError
from tokens.chains.evm.generations.mined_transactions import MinedTransaction
from tokens.chains.evm.logs.pool_logs import V4_POOL_TOPICS, decode_pool_logs, pool_topics
from tokens.chains.registry.launchpads import (
    FLOWS,
    RESERVES,
    Constant,
    CurvePrice,
    CurveTrade,
    LaunchDeclaration,
    Launchpad,
)
from tokens.chains.types import Launch
from tokens.declaring.declared_sources import declared_for, own_contracts, source_of
from tokens.declaring.pool_trades import TriedLog, TriedTrade
from tokens.declaring.value_origins import start_price
from tokens.trades.trade_rows import TradeRow

_TRANSFER = codec.load_abi("token").event("Transfer")
# A trade moves the price: the largest factor between the price after a trade and its average. It is smaller for later
# trades up to _SMALL_TRADE of the supply: a curve may sell only a tenth of it.
_MOST_FACTOR, _SMALL_TRADE, _MOST_FACTOR_OF_SMALL = 10, Decimal("0.02"), 2
# And the largest factor between a launch's price and a trade in a later transaction: no curve rises as much.
_MOST_RISE = 1_000


class Transfer(NamedTuple):
    """A token transfer, in smallest units."""

    sender: str
    recipient: str
    amount: int


def read_transfers(mined: MinedTransaction, token: str) -> list[Transfer]:
    """Return the token's transfers in a transaction, without logs that are not ERC-20's."""
    transfers = []
    for log in mined.emitted(_TRANSFER, by=token):
        try:
            values = _TRANSFER.decode(log)
        except LogDecodingError:
            continue
        transfers.append(Transfer(values["from"], values["to"], values["value"]))
    return transfers


def find_trade_mistakes(mined: MinedTransaction, launch: Launch, swaps: Sequence[TriedLog]) -> Iterator[str]:
    """Yield mistakes about a transaction's declared trades with a launch's token; `swaps` are the transaction's."""
    if not launch.curve_config:
        for log, declared in _declared_trades(mined, launch):
            if _token_of(log, declared, launch) == launch.token:
                yield f'{_name(log, declared)}: the launch has no curve: declare pool = "curve", or leave the trade out'
        return
    by_index = {int(log["logIndex"], 16): (log, declared) for log, declared in _declared_trades(mined, launch)}
    transfers = read_transfers(mined, launch.token)
    supply = None if mined.hash == launch.tx_hash else launch.supply
    trades = [swap.trade for swap in swaps if swap.trade]
    for swap in swaps:
        # A transaction with a trade may have dust beside it.
        if not trades and swap.why_none and (entry := by_index.get(swap.log_index)):
            yield f"{_name(*entry)}: {swap.why_none}: {_flows(*entry)}"
    for trade in trades:
        if entry := by_index.get(trade.swap.log_index):
            text = _name(*entry)
            # Wrong amounts have a wrong average.
            mistakes = list(_of_amounts(trade, entry[1], transfers)) or [
                *_of_trader(mined, trade, *entry, transfers),
                *_of_price(trade, *entry, supply),
                *_of_quote(mined, trade, launch),
            ]
            yield from (f"{text}: {mistake}" for mistake in mistakes)


def find_start_price_mistakes(
    declared: LaunchDeclaration, launch: Launch, trades: Sequence[TriedTrade]
) -> Iterator[str]:
    """Yield the mistake in a curve's declared starting price that the earliest tried trade shows."""
    if not launch.curve_config or launch.pool is None or RESERVES[0] not in declared.fields:
        return
    tick, start = launch.pool.tick, start_price(launch)
    # A pool that the token moved to may have any price.
    of_curve = [trade for trade in trades if trade.swap.pool == launch.pool.address]
    if tick is None:
        yield "`price` of the launch has no value, or one beyond 10^38: trades have a price, and the launch has none"
    elif of_curve and start:
        earliest = min(of_curve, key=lambda trade: (trade.swap.block_number, trade.swap.log_index))
        most = _MOST_FACTOR if earliest.swap.tx_hash == launch.tx_hash else _MOST_RISE
        factor = start / earliest.average
        if not 1 / Decimal(most) <= factor <= most:
            label = f"log {earliest.swap.log_index} of {earliest.swap.tx_hash}"
            yield (
                f"`price` of the launch is {start:.6g}, {factor:.3g} times the average {earliest.average:.6g} of the"
                f" earliest tried trade ({label}): {_start_price_cause(declared, tick, factor, earliest.row)}"
            )


def _start_price_cause(declared: LaunchDeclaration, tick: int, factor: Decimal, row: TradeRow) -> str:
    match declared.fields[RESERVES[1]]:
        case (Constant(value=int(amount)),):
            return _fitting_decimals(len(str(amount)) - 1, factor)
    average = Decimal(row.amount_quote) / row.amount_token
    if _is_near(Decimal(10 ** (-tick * log10(1.0001))), average):
        return "`quote_reserve` and `token_reserve` are exchanged"
    return f"check `quote_reserve` and `token_reserve`, which are smallest units: 10^{round(log10(factor))} is too much"


def why_no_trade(mined: MinedTransaction, launch: Launch, launchpad: Launchpad) -> Iterator[str]:
    """Yield why a transaction has no trade with the launch's token."""
    if not mined.succeeded:
        yield "it was reverted"
    elif launch.pool is None:
        yield "the launch has no pool"
    elif launch.curve_config:
        yield from _why_no_curve_trade(mined, launch, launchpad)
    else:
        yield f"no swap is in pool {launch.pool.address}"
    if pools := dict.fromkeys(_other_pools(mined)):
        yield f"its swaps are in {', '.join(pools)}: of a pool that the token moved to, add the move by --trade"


def _why_no_curve_trade(mined: MinedTransaction, launch: Launch, launchpad: Launchpad) -> Iterator[str]:
    by_topic = {trade.event.topic0: trade for trade in launchpad.trades}
    own, contracts = (launch.pool and launch.pool.address) or "", launchpad.launch_contracts(mined.chain.chain_id)
    logs = [(log, by_topic[topic0]) for log in mined.logs if (topic0 := source_of(log)[1]) in by_topic]
    for log, trade in logs:
        emitter, emitters = log["address"].lower(), contracts if trade.token else {own.lower()}
        if emitter not in emitters:
            whose = "`contracts`" if trade.token else "the token's own curve (`pool_id`)"
            expected = ", ".join(map(checksum_address, sorted(emitters)))
            yield f"{_name(log, trade)} is emitted by {checksum_address(emitter)}, and counts by {whose}: {expected}"
        elif (token := _token_of(log, trade, launch)) is None:
            yield f"{_name(log, trade)} can't be decoded"
        elif token != launch.token:
            yield f"{_name(log, trade)} is about {token}"
    if not launchpad.trades:
        yield f"no [[launchpads.{launchpad.name}.trade]] is declared"
    elif not logs:
        topics = "; ".join(f"{trade.event.signature} is {topic0}" for topic0, trade in by_topic.items())
        yield f"none of its logs is a declared trade: {topics}"


def _of_amounts(trade: TriedTrade, declared: CurveTrade, transfers: Sequence[Transfer]) -> Iterator[str]:
    """Yield why no token transfer matches the trade."""
    row, swap = trade.row, trade.swap
    # With `is_buy`, a sale has the same keys as a purchase.
    is_sale = not row.is_buy and not declared.is_buy
    token_key, quote_key = ("token_in", "quote_out") if is_sale else ("token_out", "quote_in")
    moved = _closest(transfers, row.amount_token)
    if not transfers:
        yield f"the token's amount is {row.amount_token}, and the token has no transfer: is the trade another token's?"
        return
    if not any(each.amount == row.amount_token for each in moved):
        quote_moved = _closest(transfers, row.amount_quote)
        is_exchanged = any(each.amount == row.amount_quote for each in quote_moved) or (quote_moved and not moved)
        if is_exchanged or not moved:
            amounts = ", ".join(str(transfer.amount) for transfer in transfers)
            cause = (
                f"`{token_key}` and `{quote_key}` are exchanged" if is_exchanged else f"is `{token_key}` another one?"
            )
            yield f"the token's amount is {row.amount_token}, and its transfers have {amounts}: {cause}"
            return
    from_curve = any(each.sender == swap.sender or each.recipient == swap.trader for each in moved)
    to_curve = any(each.recipient == swap.sender or each.sender == swap.trader for each in moved)
    if from_curve != to_curve and from_curve != row.is_buy:
        side, way = ("purchase", "from trader to curve") if row.is_buy else ("sale", "from curve to trader")
        cause = "`is_buy` is true for sales" if declared.is_buy else "the keys are those of the other side"
        yield f"it is declared a {side}, and the token moves {way}: {cause}"


def _of_trader(
    mined: MinedTransaction, trade: TriedTrade, log: Log, declared: CurveTrade, transfers: Sequence[Transfer]
) -> Iterator[str]:
    """Yield why the declared trader is not the best account that a declaration can name.

    A router forwards what it receives, or the token may bypass it: without a better account it counts as the trader.
    """
    row, trader = trade.row, trade.swap.trader
    accounts = {each.recipient if row.is_buy else each.sender for each in _closest(transfers, row.amount_token)}
    # A list: array arguments can't be hashed.
    traders = sorted(accounts - {trade.swap.sender})
    is_router = {trader} <= {each.sender for each in transfers} & {each.recipient for each in transfers}
    if declared.trader is None or trader in traders or is_router:
        return
    way, role = ("to it", "recipient") if row.is_buy else ("from it", "sender")
    causes = [f"as `{name}` is" for name, value in declared.event.decode(log).items() if value in traders]
    if mined.call.sender in traders:
        # The default.
        causes.append("the transaction's sender: leave out `trader`")
    if causes:
        yield (
            f"`trader` is {trader}, and the token has no transfer {way} of the amount {row.amount_token}: the {role} is"
            f" {', '.join(traders)}, {causes[0]}"
        )


def _of_quote(mined: MinedTransaction, trade: TriedTrade, launch: Launch) -> Iterator[str]:
    """Yield why another token or coin than the declared quote token pays the trade.

    Only transfers to and from the curve count: a router may exchange another token for the same amount.
    """
    row, curve, quote = trade.row, trade.swap.sender, launch.pool and launch.pool.paired_token
    amounts = {row.amount_quote, row.amount_quote + (row.protocol_fee or 0) * (1 if row.is_buy else -1)}
    paying = [
        address
        for address in dict.fromkeys(checksum_address(log["address"]) for log in mined.logs)
        if address != launch.token
        for each in read_transfers(mined, address)
        if each.amount in amounts and curve == (each.recipient if row.is_buy else each.sender)
    ]
    # A curve may unwrap what it receives, and wrap what it pays.
    coins = {ZERO_ADDRESS, mined.chain.wrapped_native}
    if not quote or quote in paying or (quote in coins and coins & {*paying}):
        return
    names = ", ".join(dict.fromkeys(paying))
    if not paying and quote not in coins and row.is_buy and mined.call.value in amounts:
        names = 'the chain\'s coin: `quote` is "native"'
    if names:
        yield f"`quote` is {quote}, and the amount {row.amount_quote} moves in {names}"


def _closest(transfers: Sequence[Transfer], amount: int) -> list[Transfer]:
    """Return the transfers with the amount; without one, those within a factor 2, as after a token's own tax."""
    equal = [transfer for transfer in transfers if transfer.amount == amount]
    return equal or [transfer for transfer in transfers if _is_near(transfer.amount, amount)]


def _is_near(one: Decimal | int, other: Decimal | int) -> bool:
    return one <= 2 * other and other <= 2 * one


def _of_price(trade: TriedTrade, log: Log, declared: CurveTrade, supply: int | None) -> Iterator[str]:
    price, average, row = trade.row.price, trade.average, trade.row
    is_small = supply and row.amount_token <= supply * _SMALL_TRADE
    factor, most = price / average, _MOST_FACTOR_OF_SMALL if is_small else _MOST_FACTOR
    if declared.price and not 1 / Decimal(most) <= factor <= most:
        causes = _price_causes(declared.price, declared.event.decode(log), trade)
        yield f"`price` is {price:.6g}, {factor:.3g} times the trade's average {average:.6g}: {causes}"


def _fitting_decimals(decimals: int, factor: Decimal) -> str:
    shift = round(log10(factor))
    return f"decimals = {decimals + shift} would fit" if shift else "check `decimals`"


def _price_causes(price: CurvePrice, values: Mapping[str, object], trade: TriedTrade) -> str:
    amounts = "are the amounts those of quote and token, in this sequence?"
    if price.token is None:
        return f"{_fitting_decimals(price.decimals, trade.row.price / trade.average)}; {amounts}"
    quote, token = (find_part(values, path) for path in (price.quote, price.token))
    # In smallest units.
    average = Decimal(trade.row.amount_quote) / trade.row.amount_token
    if _is_near(Decimal(token) / quote, average):
        return "`quote_reserve` and `token_reserve` are exchanged"
    return f"check `quote_reserve` and `token_reserve`; {amounts}"


def _declared_trades(mined: MinedTransaction, launch: Launch) -> Iterator[tuple[Log, CurveTrade]]:
    own = own_contracts([launch])
    for log in mined.logs:
        for trade in declared_for(log, mined.chain.curve_trades, own=own) or ():
            if trade.launchpad == launch.generation:
                yield log, trade


def _flows(log: Log, trade: CurveTrade) -> str:
    """Return the declared amounts with their values, in words."""
    values = trade.event.decode(log)
    paths = {key: getattr(trade, key) for key in FLOWS}
    return ", ".join(f"`{key}` is {find_part(values, path)}" for key, path in paths.items() if path)


def _token_of(log: Log, trade: CurveTrade, launch: Launch) -> str | None:
    """Return the token that a trade is about; None if it can't be decoded, or another curve emits it."""
    try:
        values = trade.event.decode(log)
    except LogDecodingError:
        return None
    if trade.token:
        return str(find_part(values, trade.token))
    own = launch.pool and launch.pool.address
    return launch.token if own and log["address"].lower() == own.lower() else None


def _name(log: Log, trade: CurveTrade) -> str:
    return f"log {int(log['logIndex'], 16)}, {trade.event.signature.partition('(')[0]}"


def _other_pools(mined: MinedTransaction) -> Iterator[str]:
    """Yield the Uniswap pools in which the transaction swaps."""
    manager = (mined.chain.v4_pool_manager or "").lower()
    topics = pool_topics(mined.chain) - {topic0 for _, topic0 in mined.chain.curve_trades}
    logs = []
    for log in mined.logs:
        emitter, topic0 = source_of(log)
        if topic0 in topics and (emitter == manager or topic0 not in V4_POOL_TOPICS):
            logs.append(log)
    for swap in decode_pool_logs(logs, chain=mined.chain, times={}, senders={}, any_v3=True).swaps:
        yield swap.pool
