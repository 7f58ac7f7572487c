"""tokens/trades/protocol_fees.py: what traders paid and got, against their tokens' recorded transfers."""

import pytest

from tests.nodes.recordings import base, mined
from tests.tokens.chains.evm.test_pool_logs import TRADES, launch_of, moved_by, read
from tests.tokens.trades.test_trade_rows import LOCKER, POOL, WETH, pool_token, swap
from tokens.chains.evm.logs.swap_fees import FEE_TOPICS, attach_reports
from tokens.chains.pool_types import HookFee
from tokens.trades.protocol_fees import paid_quote, total_fee
from tokens.trades.quote_rates import QuoteRates
from tokens.trades.trade_rows import make_trade_rows

HOOK, QUOTE = "0x" + "Bb" * 20, 10**18


def recorded_trades(label, launched):
    """Return a recorded transaction's trades in a launch's pool."""
    launch, logs = launch_of(launched), mined(label).logs
    fees = [entry for entry in logs if entry["topics"][0] in FEE_TOPICS]
    swaps = attach_reports(read(logs), fees, chain=base()).swaps
    token = pool_token(
        address=launch.token,
        pool=launch.pool.address,
        quote=launch.pool.paired_token,
        locker=launch.locker,
        is_currency0=launch.token.lower() < launch.pool.paired_token.lower(),
        hook=launch.fees.hook,
    )
    return make_trade_rows(swaps, {launch.pool.address: token}, QuoteRates({}))


@pytest.mark.parametrize(("label", "launched"), TRADES.items())
def test_amounts_are_the_changes_of_the_recorded_traders_balances(label, launched):
    (trade,) = [row for row in recorded_trades(label, launched) if not row.is_conversion]
    moved = moved_by(mined(label).logs, mined(label).transaction["from"])
    launch = launch_of(launched)
    paid = paid_quote(trade.amount_quote, trade.protocol_fee, is_buy=trade.is_buy)
    sign = 1 if trade.is_buy else -1
    assert moved[launch.token.lower()] == sign * trade.amount_token
    assert moved[launch.pool.paired_token.lower()] == -sign * paid
    assert (trade.protocol_fee is None) is label.startswith("legacy")


def test_a_recorded_purchase_of_the_launch_costs_what_was_sent():
    (trade,) = recorded_trades("deploy-devbuy", "deploy-devbuy")
    value = int(mined("deploy-devbuy").transaction["value"], 16)
    assert paid_quote(trade.amount_quote, trade.protocol_fee, is_buy=True) == value == 10**17


def test_a_recorded_conversion_costs_what_its_locker_paid():
    (conversion,) = [
        row for row in recorded_trades("swap-sell-multi-recipients", "deploy-multi-recipients") if row.is_conversion
    ]
    paid = paid_quote(conversion.amount_quote, conversion.protocol_fee, is_buy=conversion.is_buy)
    assert paid == 3992015968063873


# Built swaps.


def fee_of(*, is_buy=True, quote=QUOTE, before=(), after=(), fee=10_000, hook=HOOK):
    """Return a swap's fee, with hooks' fees before it and after it as (hook, amount) or as amounts."""

    def hook_fees(given):
        pairs = (entry if isinstance(entry, tuple) else (HOOK, entry) for entry in given)
        return tuple(HookFee(by, WETH, amount) for by, amount in pairs)

    amounts = {"amount0": -3, "amount1": quote} if is_buy else {"amount0": 3, "amount1": -quote}
    built = swap(fee=fee, fees_before=hook_fees(before), fees_after=hook_fees(after), **amounts)
    (row,) = make_trade_rows([built], {POOL: pool_token(hook=hook)}, QuoteRates({}))
    return row.protocol_fee


@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("is_buy", [True, False])
def test_a_single_fee_is_the_swaps_whatever_its_amount(side, is_buy):
    # As where the liquidity ends before the specified amount.
    assert fee_of(is_buy=is_buy, **{side: (123,)}) == 123


def test_of_two_fees_it_is_the_one_with_the_right_amount():
    of_result = QUOTE * 2_000 // 10**6
    assert fee_of(before=(5,), after=(of_result,)) == of_result
    assert fee_of(is_buy=False, before=(5,), after=(of_result, 7)) == of_result
    # As recorded: half a WETH was specified, and the pool got the rest.
    bought = {"quote": 499_001_996_007_984_032, "after": (5,)}
    assert fee_of(before=(7, 998_003_992_015_968), **bought) == 998_003_992_015_968
    # A sale for half a WETH: the pool paid it and the fee, 2,000 of 998,000.
    fee = 5 * 10**17 * (2_000 * 10**18 // 998_000) // 10**18
    assert fee_of(is_buy=False, before=(9, fee), after=(5,), quote=5 * 10**17 + fee) == fee


def test_no_fee_is_guessed():
    assert fee_of() is None
    assert fee_of(before=(1, 2), after=(3,)) is None
    assert fee_of(before=((LOCKER, 5),)) is None
    assert fee_of(before=(5,), hook=None) is None


def test_what_a_trade_costs_is_a_fifth_more():
    assert [total_fee(fee) for fee in (1, 0, 66.6777)] == [1.2, 0, pytest.approx(80.01324)]


def test_without_a_known_fee_the_amount_is_the_pools():
    assert [paid_quote(1_000, fee, is_buy=is_buy) for fee in (None, 12) for is_buy in (True, False)] == [
        1_000, 1_000, 1_012, 988,
    ]  # fmt: skip
