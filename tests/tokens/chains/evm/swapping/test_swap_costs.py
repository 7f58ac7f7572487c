"""tokens/chains/evm/swapping/swap_costs.py: fees and price impact, also beside logs that any contract may write."""

from decimal import Decimal
from typing import Any

import pytest
from eth_abi.abi import encode
from eth_utils.crypto import keccak

from tokens.chains.evm.swapping.routes import DYNAMIC_FEE, SwapPool, SwapRoute, describe_pool, find_route
from tokens.chains.evm.swapping.swap_costs import SwapFee, read_costs
from tokens.chains.evm.swapping.swap_quotes import SwapQuote

TOKEN, WETH = "0x" + "11" * 20, "0x" + "22" * 20
MANAGER, HOOK, STRANGER = "0x" + "33" * 20, "0x" + "44" * 20, "0x" + "55" * 20
ZERO = "0x" + "00" * 20
POOL_ID = (
    "0x"
    + keccak(encode(["address", "address", "uint24", "int24", "address"], [TOKEN, WETH, DYNAMIC_FEE, 200, HOOK])).hex()
)
# One WETH is 1,000,000 tokens.
ROOT = 2**96 // 1_000
QUOTE = SwapQuote(amount_in=10_020, amount_out=9_000_000, most_in=10_020, least_out=1)


def route(*, is_purchase: bool = True) -> SwapRoute:
    pool = describe_pool(POOL_ID, token=TOKEN, paired=WETH, tick_spacing=200, hook=HOOK, wrapped_native=WETH)
    return find_route(pool, token=TOKEN, is_purchase=is_purchase, is_native=True, wrapped_native=WETH)


def topic(signature: str) -> str:
    return "0x" + keccak(signature.encode()).hex()


def swap_log(
    *,
    emitter: str = MANAGER,
    pool: str = POOL_ID,
    amounts: tuple[int, int] = (9_000_000, -10_000),
    root: int = ROOT,
    fee: int = 100_000,
) -> dict[str, Any]:
    data = encode(["int128", "int128", "uint160", "uint128", "int24", "uint24"], [*amounts, root, 1, 0, fee])
    event = topic("Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)")
    return {"address": emitter, "topics": [event, pool, "0x" + "00" * 32], "data": "0x" + data.hex()}


def sniper_log(*, emitter: str = HOOK, fee: int = 100_000) -> dict[str, Any]:
    data = encode(["bytes32", "uint24"], [bytes.fromhex(POOL_ID[2:]), fee])
    return {"address": emitter, "topics": [topic("MevModuleSetFee(bytes32,uint24)")], "data": "0x" + data.hex()}


def test_what_the_pool_does_not_receive_is_the_hooks() -> None:
    costs = read_costs(route(), QUOTE, [swap_log()], manager=MANAGER, sqrt_price=ROOT, fee=0)

    assert costs is not None
    assert costs.fees == (
        SwapFee(kind="lp", currency=ZERO, amount=1_000, rate=100_000),
        SwapFee(kind="hook", currency=ZERO, amount=20, rate=None),
    )
    # 9,000 would give 9,000,000,000 smallest units at the price before.
    assert costs.price_impact == Decimal("0.999000")


def test_a_sale_pays_the_hook_out_of_its_proceeds() -> None:
    quote = SwapQuote(amount_in=10_000_000, amount_out=8, most_in=10_000_000, least_out=1)
    log = swap_log(amounts=(-10_000_000, 9), fee=0)

    costs = read_costs(route(is_purchase=False), quote, [log], manager=MANAGER, sqrt_price=ROOT, fee=0)

    assert costs is not None
    assert [(fee.kind, fee.currency, fee.amount) for fee in costs.fees] == [("lp", TOKEN, 0), ("hook", ZERO, 1)]
    assert costs.price_impact == Decimal("0.100000")


@pytest.mark.parametrize(
    ("emitter", "fee", "kind"), [(HOOK, 100_000, "sniper"), (STRANGER, 100_000, "lp"), (HOOK, 99_999, "lp")]
)
def test_only_the_pools_hook_sets_a_sniper_fee(emitter: str, fee: int, kind: str) -> None:
    logs = [sniper_log(emitter=emitter, fee=fee), swap_log()]

    costs = read_costs(route(), QUOTE, logs, manager=MANAGER, sqrt_price=ROOT, fee=0)

    assert costs is not None and costs.fees[0].kind == kind


def test_logs_of_other_contracts_and_pools_and_malformed_ones_count_for_nothing() -> None:
    malformed = swap_log() | {"data": "0x12"}
    bare = {"address": MANAGER, "topics": [], "data": "0x"}
    short = swap_log() | {"topics": swap_log()["topics"][:1]}
    others = [swap_log(emitter=STRANGER), swap_log(pool="0x" + "66" * 32), malformed, bare, short]

    assert read_costs(route(), QUOTE, others, manager=MANAGER, sqrt_price=ROOT, fee=0) is None
    costs = read_costs(route(), QUOTE, [*others, swap_log(), *others], manager=MANAGER, sqrt_price=ROOT, fee=0)
    assert costs == read_costs(route(), QUOTE, [swap_log()], manager=MANAGER, sqrt_price=ROOT, fee=0)


@pytest.mark.parametrize(("root", "fee"), [(0, 0), (1, 1_000_000), (2**160 - 1, 2**24 - 1), (1, 0)])
def test_an_impossible_price_or_fee_gives_an_impact_between_none_and_all(root: int, fee: int) -> None:
    for is_purchase, amounts in ((True, (9_000_000, -10_000)), (False, (-10_000, 9_000_000))):
        log = swap_log(amounts=amounts, fee=fee)
        costs = read_costs(route(is_purchase=is_purchase), QUOTE, [log], manager=MANAGER, sqrt_price=root, fee=0)
        assert costs is not None and 0 <= costs.price_impact <= 1


def test_the_price_before_is_that_of_the_pools_former_swap_in_the_call() -> None:
    first = swap_log(root=ROOT // 10)
    pair = [read_costs(route(), QUOTE, logs, manager=MANAGER, sqrt_price=price, fee=0)
            for logs, price in (([first, swap_log()], ROOT), ([swap_log()], ROOT // 10))]  # fmt: skip

    assert pair[0] == pair[1] != read_costs(route(), QUOTE, [swap_log()], manager=MANAGER, sqrt_price=ROOT, fee=0)


def test_a_v3_pools_own_event_counts() -> None:
    pool = SwapPool(pool="0x" + "77" * 20, currencies=(TOKEN, WETH))
    route = find_route(pool, token=TOKEN, is_purchase=True, is_native=False, wrapped_native=WETH)
    data = encode(["int256", "int256", "uint160", "uint128", "int24"], [-9_000_000, 10_020, ROOT, 1, 0])
    event = topic("Swap(address,address,int256,int256,uint160,uint128,int24)")
    log = {"address": pool.pool, "topics": [event, "0x" + "00" * 32, "0x" + "00" * 32], "data": "0x" + data.hex()}

    costs = read_costs(route, QUOTE, [log], manager=MANAGER, sqrt_price=ROOT, fee=10_000)

    assert costs is not None
    assert costs.fees == (SwapFee(kind="lp", currency=WETH, amount=101, rate=10_000),)
    assert read_costs(route, QUOTE, [log | {"address": STRANGER}], manager=MANAGER, sqrt_price=ROOT, fee=0) is None
