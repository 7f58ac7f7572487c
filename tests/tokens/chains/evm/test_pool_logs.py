"""tokens/chains/evm/logs/pool_logs.py: pool logs, against another decoder and token transfers."""

import pytest
from eth_utils.address import to_checksum_address

from tests.nodes.contract_events import V3_BURN, V3_MINT, V3_SWAP, V4_LIQUIDITY, V4_SWAP
from tests.nodes.launch_builder import STRANGER
from tests.nodes.log_encoding import emit, log_json, topic
from tests.nodes.recordings import EVENT_TRANSACTIONS, RECORDED_LAUNCHES, base, decoded, mined, recorded_chain
from tokens.chains.evm.logs.pool_logs import POOL_TOPICS, PoolLogs, decode_pool_logs
from tokens.chains.pool_types import LOG_INDEX_LIMIT, LiquidityChange, Swap
from tokens.chains.rpc.quantities import MalformedResponseError

MANAGER = str(base().v4_pool_manager).lower()
TRANSFERRED = topic("Transfer(address,address,uint256)")
# From ERC-6909, through which the hook receives its protocol fee inside the PoolManager: caller, from, to, id, amount.
CLAIM_MOVED = topic("Transfer(address,address,address,uint256,uint256)")

# Swap -> its token's launch, for each generation with swaps.
TRADES = {label: launch for label, launch in EVENT_TRANSACTIONS.items() if label.startswith("swap-")} | {
    f"legacy-{generation}-swap": f"legacy-{generation}-deploy" for generation in ("v0", "v2", "v31")
}
# Transactions with a swap: trades, and launches whose buyer pays in the same transaction.
SWAPPING = (*TRADES, "deploy-devbuy", "legacy-v0-deploy", "legacy-v2-deploy", "legacy-v31-deploy")
POOL = "0x" + "5e" * 32
V3_POOL = "0x" + "7a" * 20
OWNER = "0x" + "11" * 20
ROUTER = "0x6fF5693b99212Da76ad316178A184AB56D299b43"
BLOCK = {
    "blockNumber": "0x10",
    "blockHash": "0x" + "b1" * 32,
    "transactionHash": "0x" + "71" * 32,
    "transactionIndex": "0x0",
    "logIndex": "0x3",
}
TIME = 1_760_000_000


def read(logs, *, senders=None, any_v3=False):
    """Decode the pools' logs."""
    times = {BLOCK["blockHash"]: TIME} | {block["hash"]: int(block["timestamp"], 16) for block in blocks()}
    own = [log for log in logs if log["topics"][0] in POOL_TOPICS]
    return decode_pool_logs(own, chain=base(), times=times, senders=senders or {}, any_v3=any_v3)


def blocks():
    return recorded_chain()["blocks"]


def log(by, declaration, *arguments):
    """Return a log of BLOCK."""
    return BLOCK | log_json(emit(by, declaration, *arguments))


def v4_swap(amount0=-5, amount1=7, price=2**96):
    return log(MANAGER, V4_SWAP, bytes.fromhex(POOL[2:]), ROUTER, amount0, amount1, price, 1, 2, 3)


def v3_swap(amount0=5, amount1=-7, price=2**96):
    return log(V3_POOL, V3_SWAP, ROUTER, STRANGER, amount0, amount1, price, 1, 2)


def modified(liquidity, *, lower=-200, upper=400):
    return log(MANAGER, V4_LIQUIDITY, bytes.fromhex(POOL[2:]), ROUTER, lower, upper, liquidity, b"")


def minted(liquidity, *, lower=-200, upper=400):
    return log(V3_POOL, V3_MINT, ROUTER, OWNER, lower, upper, liquidity, 8, 9)


def burned(liquidity):
    return log(V3_POOL, V3_BURN, OWNER, -200, 400, liquidity, 8, 9)


def address_in(word):
    return "0x" + word[-40:]


def moved_by(logs, holder):
    """Return token -> smallest units that the holder received by ERC-20 transfers, less what it paid."""
    sums = {}
    for entry in logs:
        if entry["topics"][0] == TRANSFERRED and len(entry["topics"]) == 3:
            payer, payee = map(address_in, entry["topics"][1:])
            change = int(entry["data"], 16) * ((payee == holder) - (payer == holder))
            sums[entry["address"]] = sums.get(entry["address"], 0) + change
    return {token: amount for token, amount in sums.items() if amount}


def claimed_by_hook(logs):
    """Return token -> smallest units that the PoolManager credits in these logs."""
    return {
        "0x" + entry["topics"][3][-40:]: int(entry["data"][66:130], 16)
        for entry in logs
        if entry["topics"][0] == CLAIM_MOVED and int(entry["topics"][1], 16) == 0
    }


def launch_of(label):
    (launch,) = mined(label).decode()
    return launch


def currencies(launch):
    """Return both currencies' addresses, in lower case."""
    return sorted((launch.token.lower(), launch.pool.paired_token.lower()))


def all_swaps():
    """Yield each recorded swap with its transaction's logs."""
    for receipt in recorded_chain()["receipts"].values():
        for swap in read(receipt["logs"]).swaps:
            yield swap, receipt["logs"]


# Recorded swaps.


@pytest.mark.parametrize("label", SWAPPING)
def test_a_recorded_swap_has_the_fields_of_another_decoder(label):
    transaction = mined(label)
    expected = []
    for entry in decoded(label)["decodedLogs"]:
        if entry["event"] != "Swap":
            continue
        args, is_v4 = entry["args"], entry["contract"] == "POOL_MANAGER"
        sign = -1 if is_v4 else 1
        expected.append(
            Swap(
                pool=args["id"] if is_v4 else to_checksum_address(entry["address"]),
                block_number=int(transaction.block["number"], 16),
                block_time=int(transaction.block["timestamp"], 16),
                tx_hash=transaction.hash,
                log_index=entry["logIndex"],
                amount0=sign * int(args["amount0"]),
                amount1=sign * int(args["amount1"]),
                sqrt_price=int(args["sqrtPriceX96"]),
                sender=args["sender"],
                trader=to_checksum_address(transaction.transaction["from"]),
                tx_index=int(transaction.transaction["transactionIndex"], 16),
                fee=int(args["fee"]) if is_v4 else None,
            )
        )
    assert expected
    senders = {transaction.hash: transaction.transaction["from"]}
    assert read(transaction.logs, senders=senders).swaps == expected


def test_every_recorded_swap_is_compared():
    swaps = {swap.tx_hash for swap, _ in all_swaps()}
    assert swaps == {mined(label).hash for label in SWAPPING}
    assert len(list(all_swaps())) == 22


def test_amounts_in_v3_are_what_the_pool_received_and_paid():
    compared = 0
    for swap, logs in all_swaps():
        pool = swap.pool.lower()
        if len(pool) == 66:
            continue
        # The pool is paid before it emits the swap, and after it emitted what came before.
        earlier = [place for place, entry in enumerate(logs) if entry["address"] == pool and place < own(logs, swap)]
        moved = moved_by(logs[max(earlier, default=-1) + 1 : own(logs, swap)], pool)
        assert list(map(moved.get, sorted(moved))) == [swap.amount0, swap.amount1]
        compared += 1
    assert compared == 6


def own(logs, swap):
    """Return a swap's index among its transaction's logs."""
    return [int(entry["logIndex"], 16) for entry in logs].index(swap.log_index)


def test_amounts_in_v4_are_what_the_swapper_paid_and_received_before_the_hooks_fee():
    launches = {launch_of(label).pool.address: launch_of(label) for label in RECORDED_LAUNCHES}
    with_fee = 0
    for swap, logs in all_swaps():
        if len(swap.pool) != 66:
            continue
        place = own(logs, swap)
        # The router settles both currencies right after the swap; the hook's fee is credited before or after it.
        settled = [entry for entry in logs[place:] if entry["topics"][0] == TRANSFERRED][:2]
        fees = claimed_by_hook([logs[place - 1], logs[place + 1]])
        moved = moved_by(settled, MANAGER)
        found = dict(zip(currencies(launches[swap.pool]), (swap.amount0, swap.amount1), strict=True))
        assert {token: moved[token] - fees.get(token, 0) for token in moved} == found
        # The fee is in the quote: the token's amount is exact, the quote's excludes the fee.
        assert set(fees) == {launches[swap.pool].pool.paired_token.lower()}
        with_fee += 1
    assert with_fee == 16


@pytest.mark.parametrize(("label", "launched"), TRADES.items())
def test_buys_and_sells_are_distinct_by_the_tokens_amount(label, launched):
    launch, transaction = launch_of(launched), mined(label)
    swap = read(transaction.logs).swaps[-1]
    assert swap.pool == launch.pool.address
    of_token = (swap.amount0, swap.amount1)[currencies(launch).index(launch.token.lower())]
    trader = transaction.transaction["from"]
    # What the trader received is what the pool paid.
    assert moved_by(transaction.logs, trader)[launch.token.lower()] == -of_token
    assert (of_token > 0) is ("-sell-" in label)


# Recorded liquidity.


@pytest.mark.parametrize("label", RECORDED_LAUNCHES)
def test_liquidity_of_a_launch_is_that_of_its_positions(label):
    launch, transaction = launch_of(label), mined(label)
    changes = [change for change in read(transaction.logs).liquidity_changes if change.pool == launch.pool.address]
    is_token0 = currencies(launch)[0] == launch.token.lower()
    ranges = [(change.tick_lower, change.tick_upper) for change in changes]
    if not is_token0:
        ranges = [(-upper, -lower) for lower, upper in ranges]
    assert ranges == [(position.tick_lower, position.tick_upper) for position in launch.positions]
    # Each range lies above the price, so that it holds tokens only, by Uniswap's formula.
    amounts = [
        change.liquidity * (1.0001 ** (-lower / 2) - 1.0001 ** (-upper / 2))
        for change, (lower, upper) in zip(changes, ranges, strict=True)
    ]
    pool = MANAGER if len(launch.pool.address) == 66 else launch.pool.address.lower()
    place = max(index for index, entry in enumerate(transaction.logs) if entry["topics"][0] in LIQUIDITY_TOPICS)
    # v3's pool emits the change after the tokens arrived, the PoolManager before.
    paid = moved_by(transaction.logs[: place + (3 if pool == MANAGER else 1)], pool)[launch.token.lower()]
    assert sum(amounts) == pytest.approx(paid, rel=1e-9)
    assert amounts == pytest.approx([paid * position.bps / 10_000 for position in launch.positions], rel=1e-9)


LIQUIDITY_TOPICS = {topic(V4_LIQUIDITY), topic(V3_MINT)}


def test_a_collection_of_fees_changes_no_liquidity():
    logs = mined("swap-buy-plain").logs
    assert topic(V4_LIQUIDITY) in {entry["topics"][0] for entry in logs}
    assert read(logs).liquidity_changes == []


# Built logs.


def test_liquidity_is_added_and_removed():
    found = read([modified(9), modified(-4), minted(6), burned(5), burned(0)]).liquidity_changes
    place = {"block_number": 16, "block_time": TIME, "tx_hash": BLOCK["transactionHash"], "log_index": 3, "tx_index": 0}
    ticks = {"tick_lower": -200, "tick_upper": 400}
    v3_pool = to_checksum_address(V3_POOL)
    assert found == [
        LiquidityChange(pool=POOL, liquidity=9, **place, **ticks),
        LiquidityChange(pool=POOL, liquidity=-4, **place, **ticks),
        LiquidityChange(pool=v3_pool, liquidity=6, **place, **ticks, amount0=8, amount1=9),
        LiquidityChange(pool=v3_pool, liquidity=-5, **place, **ticks, amount0=8, amount1=9),
    ]


@pytest.mark.parametrize(
    ("built", "amounts"),
    [
        (v4_swap(-(2**127), 2**127 - 1), (2**127, 1 - 2**127)),
        (v4_swap(0, 0), (0, 0)),
        (v3_swap(2**255 - 1, -(2**255)), (2**255 - 1, -(2**255))),
    ],
)
def test_extreme_amounts_are_exact(built, amounts):
    (swap,) = read([built]).swaps
    assert (swap.amount0, swap.amount1) == amounts


def test_prices_fill_their_type():
    assert [swap.sqrt_price for swap in read([v4_swap(price=2**160 - 1), v3_swap(price=1)]).swaps] == [2**160 - 1, 1]


def test_the_trader_is_unknown_without_the_transactions():
    (swap,) = read([v4_swap()]).swaps
    assert (swap.trader, swap.sender) == (None, ROUTER)


def test_a_block_without_a_time_has_none():
    (swap,) = decode_pool_logs([v4_swap()], chain=base(), times={}, senders={}, any_v3=False).swaps
    assert swap.block_time == 0
    assert PoolLogs(swaps=[swap]).with_times({16: 5}).swaps == [swap._replace(block_time=5)]
    assert PoolLogs(swaps=[swap]).with_times({17: 5}).swaps == [swap]


def word(place, value):
    """Return a change to one data word, or to a topic by a negative index: -1 is topic 1."""

    def change(built):
        if place < 0:
            topics = list(built["topics"])
            topics[-place] = value
            return built | {"topics": topics}
        at = 2 + 64 * place
        return built | {"data": built["data"][:at] + value[2:] + built["data"][at + 64 :]}

    return change


ONES, HIGH = "0x" + "ff" * 32, "0x" + "01" + "00" * 31
MALFORMED = {
    "a word less": (v4_swap(), lambda built: built | {"data": built["data"][:-64]}),
    "a byte more": (v4_swap(), lambda built: built | {"data": built["data"] + "00"}),
    "no sender": (v4_swap(), lambda built: built | {"topics": built["topics"][:-1]}),
    "a topic more": (v4_swap(), lambda built: built | {"topics": [*built["topics"], ONES]}),
    "a sender of 32 bytes": (v4_swap(), word(-2, ONES)),
    "an amount beyond 128 bits": (v4_swap(), word(0, HIGH)),
    "a negative amount beyond 128 bits": (v4_swap(), word(1, "0x80" + "00" * 31)),
    "a price beyond 160 bits": (v4_swap(), word(2, HIGH)),
    "a fee beyond 24 bits": (v4_swap(), word(5, "0x" + f"{2**24:064x}")),
    "a v3 swap with a word more": (v3_swap(), lambda built: built | {"data": built["data"] + "00" * 32}),
    "a v3 swap with a sender of 32 bytes": (v3_swap(), word(-1, ONES)),
    "a v3 swap with a price beyond 160 bits": (v3_swap(), word(2, HIGH)),
    "a tick beyond all prices": (modified(5), word(1, "0x" + f"{887_273:064x}")),
    "a range that is empty": (modified(5), word(0, "0x" + f"{400:064x}")),
    "liquidity beyond 128 bits": (modified(5), word(2, "0x" + f"{2**128:064x}")),
    "a change with a word less": (modified(5), lambda built: built | {"data": built["data"][:-64]}),
    "a mint with a burn's data": (minted(5), lambda built: built | {"data": built["data"][:-64]}),
    "a mint with liquidity beyond 128 bits": (minted(5), word(1, "0x" + f"{2**128:064x}")),
    "a burn with a tick of 32 bytes": (burned(5), word(-2, HIGH)),
}


@pytest.mark.parametrize(("built", "change"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_log_of_a_pool_is_an_error_of_the_node(built, change):
    assert read([built]) != PoolLogs()
    with pytest.raises(MalformedResponseError):
        read([change(built)])


def test_a_log_without_a_position_is_left_out_with_an_error(caplog):
    beyond = [entry | {"logIndex": hex(LOG_INDEX_LIMIT)} for entry in (v4_swap(), modified(5), v3_swap())]
    last = v4_swap() | {"logIndex": hex(LOG_INDEX_LIMIT - 1)}
    assert read([v3_swap(), last, *beyond]) == read([v3_swap(), last])
    messages = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert len(messages) == len(beyond)
    assert all("chain 8453: log 1048576 of block 16 is left out" in message for message in messages)


@pytest.mark.parametrize("sender", [None, "0x12", [], 5])
def test_a_malformed_sender_is_an_error_of_the_node(sender):
    with pytest.raises(MalformedResponseError):
        read([v4_swap()], senders={BLOCK["transactionHash"]: sender})


@pytest.mark.parametrize(("built", "change"), MALFORMED.values(), ids=MALFORMED)
def test_any_contract_may_emit_what_looks_like_a_log_of_v3(built, change):
    logs = [v3_swap(), change(built), v3_swap()]
    if built["address"] == MANAGER:
        with pytest.raises(MalformedResponseError):
            read(logs, any_v3=True)
    else:
        assert read(logs, any_v3=True) == read([v3_swap(), v3_swap()])
