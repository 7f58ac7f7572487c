"""Swaps and liquidity changes in block runs: pool selections, calls, and faulty nodes."""

from dataclasses import replace
from functools import partial

import pytest
from eth_utils.address import to_checksum_address

from development.devchain.anvil import CHAIN_ID
from development.standins.loopback import RefusedError
from tests.nodes.devchain_launches import Launchpad
from tests.nodes.launch_builder import STRANGER
from tests.nodes.recorded_node import Node, serve_recorded_chain
from tests.nodes.recordings import base, mined, recorded_chain
from tests.tokens.chains.evm.test_blooms import header
from tests.tokens.chains.evm.test_log_reading import FAULTY_LOGS, HEAD, OTHER, all_headers, alter, chain, change_logs
from tokens.chains.errors import BlockNotCanonicalError, NodeUnavailableError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.evm.logs.pool_logs import POOL_TOPICS, V3_POOL_TOPICS, V4_POOL_TOPICS
from tokens.chains.evm.logs.swap_fees import HOOK_FEE_TOPIC, MINTED
from tokens.chains.pool_types import EVERY_POOL, PoolSelection, Swap, select_pools
from tokens.chains.registry.chains import load_registry
from tokens.chains.rpc.client import RpcClient

MANAGER = str(base().v4_pool_manager).lower()
NO_POOL = select_pools([])
# From the PoolManager, hooks' fees are requested, too.
V4_REQUESTED, REQUESTED = sorted(V4_POOL_TOPICS | {HOOK_FEE_TOPIC}), sorted(POOL_TOPICS | {HOOK_FEE_TOPIC})
V3_POOL = "0xd761dc9405bd290e93917ef024f14f7bd9abe7ff"
(PLAIN,) = (launch.pool.address for launch in mined("deploy-plain").decode())
(TOKEN1,) = (launch.pool.address for launch in mined("deploy-token1").decode())
BUY, SELL = mined("swap-buy-plain"), mined("swap-sell-plain")
BOUGHT_IN, SOLD_IN = int(BUY.block["number"], 16), int(SELL.block["number"], 16)
LAUNCHED_IN = int(mined("deploy-plain").block["number"], 16)
# A range with swaps in several v4 pools, and a swap in each generation, without a launch.
V4_SWAPS, EVERY_SWAP = (BOUGHT_IN, 130), (BOUGHT_IN, 199)


@pytest.fixture(scope="module")
def everything():
    """Return all facts, by one range."""
    with serve_recorded_chain() as regular_node:
        return chain(regular_node).read_range(0, HEAD, pools=EVERY_POOL)


def traded(facts):
    """Return swaps or liquidity changes as a range returns them: without traders."""
    return [fact._replace(trader=None) for fact in facts]


def within(swaps, first, last):
    return [swap for swap in swaps if first <= swap.block_number <= last]


def sender_of(swap: Swap):
    transactions = recorded_chain()["blocks"][swap.block_number]["transactions"]
    (sender,) = (entry["from"] for entry in transactions if entry["hash"] == swap.tx_hash)
    return to_checksum_address(sender)


def log_queries(node: Node):
    return [call["params"][0] for call in node.calls if call["method"] == "eth_getLogs"]


def pool_queries(node: Node):
    """Return the requests for pool logs."""
    return [query for query in log_queries(node) if not POOL_TOPICS.isdisjoint(query["topics"][0])]


def of_pools(change):
    """Return a change to pool logs only."""

    def change_all(logs):
        own = [log for log in logs if log["topics"][0] in POOL_TOPICS]
        return [log for log in logs if log not in own] + change(own)

    return change_all


# Every reading method.


def test_there_is_something_of_each_kind(everything):
    assert len(everything.swaps) == 22
    assert {len(swap.pool) for swap in everything.swaps} == {42, 66}
    assert {len(change.pool) for change in everything.liquidity_changes} == {42, 66}
    for facts in (everything.swaps, everything.liquidity_changes):
        places = [(fact.block_number, fact.log_index) for fact in facts]
        assert places == sorted(places)


def test_without_a_selection_no_pool_is_read(node):
    reading = chain(node)
    for facts in (
        reading.read_range(0, HEAD),
        reading.read_blocks(all_headers(reading)[-40:]),
        reading.read_receipts(all_headers(reading)),
    ):
        assert (facts.swaps, facts.liquidity_changes) == ((), ())
    assert pool_queries(node) == []


def test_transactions_are_the_same_with_and_without_pools(node, everything):
    assert everything.transactions == chain(node).read_range(0, HEAD).transactions


@pytest.mark.parametrize("pools", [EVERY_POOL, NO_POOL], ids=["every pool", "launched pools"])
@pytest.mark.parametrize("blocks", [1, 7, 100, 2000])
def test_ranges_of_any_length_return_the_same(node, everything, blocks, pools):
    assert chain(node, blocks=blocks, longest=blocks).read_range(0, HEAD, pools=pools) == everything


@pytest.mark.parametrize("pools", [EVERY_POOL, NO_POOL], ids=["every pool", "launched pools"])
def test_each_method_returns_the_same(node, everything, pools):
    reading = chain(node)
    headers = all_headers(reading)
    assert reading.read_blocks(headers, pools=pools) == everything
    receipts = reading.read_receipts(headers, pools=pools)
    assert traded(receipts.swaps) == list(everything.swaps)
    assert traded(receipts.liquidity_changes) == list(everything.liquidity_changes)
    assert replace(receipts, swaps=(), liquidity_changes=()) == replace(everything, swaps=(), liquidity_changes=())
    del node.answers["eth_getBlockReceipts"]
    assert reading.read_receipts(headers, pools=pools) == receipts
    found = [reading.read_blocks([header], pools=EVERY_POOL) for header in headers]
    assert [swap for part in found for swap in part.swaps] == list(receipts.swaps)
    changes = [change for part in found for change in part.liquidity_changes]
    assert changes == list(receipts.liquidity_changes)


def test_the_trader_is_the_sender_of_the_transaction(node):
    reading = chain(node)
    headers = all_headers(reading)[BOUGHT_IN : BOUGHT_IN + 20]
    for facts in (reading.read_blocks(headers, pools=EVERY_POOL), reading.read_receipts(headers, pools=EVERY_POOL)):
        assert len(facts.swaps) >= 4
        assert [swap.trader for swap in facts.swaps] == list(map(sender_of, facts.swaps))
        assert all(swap.trader != swap.sender for swap in facts.swaps)


def test_blocks_left_out_have_no_swaps(node, everything):
    found = chain(node).read_range(0, HEAD, pools=EVERY_POOL, without={BOUGHT_IN})
    assert found.swaps == tuple(swap for swap in everything.swaps if swap.block_number != BOUGHT_IN)
    assert len(found.swaps) < len(everything.swaps)


# Selections.


def test_few_v4_pools_are_filtered_by_the_node(node, everything):
    first, last = V4_SWAPS
    pools = select_pools([PLAIN, TOKEN1])
    found = chain(node).read_range(first, last, pools=pools)
    assert {swap.pool for swap in found.swaps} == {PLAIN, TOKEN1}
    expected = [
        swap for swap in everything.swaps if first <= swap.block_number <= last and swap.pool in (PLAIN, TOKEN1)
    ]
    assert list(found.swaps) == expected
    (query,) = pool_queries(node)
    assert query["address"] == [MANAGER]
    assert query["topics"] == [V4_REQUESTED, sorted([MINTED, PLAIN, TOKEN1])]


def test_all_v4_pools_are_filtered_by_the_manager(node):
    found = chain(node).read_range(*V4_SWAPS, pools=PoolSelection(v3_pools=frozenset(), v4_pools=None))
    assert len({swap.pool for swap in found.swaps}) > 2
    (query,) = pool_queries(node)
    assert (query["address"], query["topics"]) == ([MANAGER], [V4_REQUESTED])


def test_v3_pools_are_filtered_by_address(node, everything):
    found = chain(node).read_range(*EVERY_SWAP, pools=select_pools([to_checksum_address(V3_POOL)]))
    own = [swap for swap in everything.swaps if swap.pool.lower() == V3_POOL]
    assert [swap for swap in found.swaps if swap.pool.lower() == V3_POOL] == own
    (query, *_) = pool_queries(node)
    assert (query["address"], query["topics"]) == ([V3_POOL], [sorted(V3_POOL_TOPICS)])


def test_pools_of_both_kinds_are_filtered_by_a_call_each(node):
    first, last = V4_SWAPS
    found = chain(node).read_range(first, last, pools=select_pools([PLAIN, V3_POOL]))
    assert {swap.pool for swap in found.swaps} == {PLAIN}
    of_v4, of_v3 = pool_queries(node)
    assert (of_v4["address"], of_v4["topics"]) == ([MANAGER], [V4_REQUESTED, sorted([MINTED, PLAIN])])
    assert (of_v3["address"], of_v3["topics"]) == ([V3_POOL], [sorted(V3_POOL_TOPICS)])


def test_all_v4_pools_and_some_of_v3_take_one_call_and_foreign_logs_are_dropped(node):
    first, last = V4_SWAPS
    every_v4 = PoolSelection(v3_pools=frozenset({V3_POOL}), v4_pools=None)
    found = chain(node).read_range(first, last, pools=every_v4)
    (query,) = pool_queries(node)
    assert query["address"] == sorted([V3_POOL, MANAGER])
    assert query["topics"] == [REQUESTED]
    # The node returned transfers in the PoolManager.
    assert len(node.logs(query)) > len(found.swaps) + len(found.liquidity_changes)


def test_all_v3_pools_are_filtered_by_topic(node):
    first, last = V4_SWAPS
    found = chain(node).read_range(first, last, pools=PoolSelection(v3_pools=None, v4_pools=frozenset({PLAIN})))
    assert {swap.pool for swap in found.swaps} == {PLAIN}
    _, query = pool_queries(node)
    assert "address" not in query
    assert query["topics"] == [sorted(V3_POOL_TOPICS)]


def test_receipts_of_foreign_pools_are_dropped(node, everything):
    headers = all_headers(chain(node))[slice(*V4_SWAPS)]
    found = chain(node).read_receipts(headers, pools=select_pools([PLAIN]))
    assert traded(found.swaps) == [swap for swap in within(everything.swaps, *V4_SWAPS) if swap.pool == PLAIN]


def test_a_contract_that_imitates_the_pool_manager_is_no_pool(node):
    change_logs(node, of_pools(alter(address=STRANGER.lower())))
    found = chain(node).read_range(*V4_SWAPS, pools=EVERY_POOL)
    assert (found.swaps, found.liquidity_changes) == ((), ())


@pytest.mark.parametrize("chain_id", [1, 130])
def test_on_a_chain_without_v3_launches_only_reference_pools_are_of_v3(node, chain_id):
    info = load_registry().chain(chain_id)
    manager = str(info.v4_pool_manager).lower()
    references = {reference.pool for reference in info.reference_pools if len(reference.pool) == 42}
    # Ethereum's are v3, Unichain's is v4.
    assert bool(references) is (chain_id == 1)
    node.answers["eth_chainId"] = lambda: hex(chain_id)
    reading = Chain(info=info, rpc=RpcClient(chain_id=chain_id, urls=(node.url,), attempts=1))
    reading.read_range(*V4_SWAPS, pools=EVERY_POOL)
    (query,) = pool_queries(node)
    assert query["address"] == sorted({manager, *references})
    assert query["topics"] == [REQUESTED if references else V4_REQUESTED]
    assert reading.read_range(BOUGHT_IN, BOUGHT_IN, pools=NO_POOL).swaps == ()
    assert len(pool_queries(node)) == 1


# Launched pools.


def test_a_pool_is_read_from_its_launch_on(node, everything):
    found = chain(node).read_range(LAUNCHED_IN, BOUGHT_IN, pools=NO_POOL)
    assert PLAIN in {swap.pool for swap in found.swaps}
    launches = {launch.pool.address for facts in found.transactions for launch in facts.launches}
    (query,) = pool_queries(node)
    assert query["topics"][1] == sorted([MINTED, *launches])
    assert list(found.swaps) == [
        swap for swap in within(everything.swaps, LAUNCHED_IN, BOUGHT_IN) if swap.pool in launches
    ]


def test_a_selected_pool_is_not_requested_again_for_its_launch(node):
    chain(node).read_range(LAUNCHED_IN, LAUNCHED_IN, pools=select_pools([PLAIN.upper().replace("X", "x")]))
    assert len(pool_queries(node)) == 1


def test_a_pool_launched_in_one_part_is_read_in_the_next(node):
    headers = all_headers(chain(node))
    # One block for each request.
    reading = chain(node, batch_size=2)
    node.received.clear()
    found = reading.read_blocks([headers[LAUNCHED_IN], headers[BOUGHT_IN]], pools=NO_POOL)
    assert [swap.pool for swap in found.swaps] == [PLAIN]
    assert len(found.liquidity_changes) == 1


def test_launched_pools_are_read_in_the_chains_sequence(node, everything):
    first, last = int(mined("legacy-v2-deploy").block["number"], 16), HEAD
    (selected,) = (launch.pool.address for launch in mined("legacy-v31-deploy").decode())
    found = chain(node).read_range(first, last, pools=select_pools([selected]))
    assert list(found.swaps) == within(everything.swaps, first, last)
    pools = [swap.pool for swap in found.swaps]
    assert 0 < pools.index(selected) < len(pools) - 1


def test_logs_of_a_launched_pool_must_be_of_the_same_blocks(node, second_node):
    change_logs(node, lambda logs: alter(blockHash=OTHER)(logs) if any(map(is_of_pool, logs)) else logs)
    with pytest.raises(NodeUnavailableError, match="dropped during the read"):
        chain(node).read_range(LAUNCHED_IN, LAUNCHED_IN, pools=NO_POOL)


def is_of_pool(log):
    return log["topics"][0] in POOL_TOPICS


def test_refused_logs_of_a_launched_pool_are_no_empty_answer(node):
    def refuse(query):
        if not POOL_TOPICS.isdisjoint(query["topics"][0]):
            raise RefusedError(-32005, "query returned more than 10000 results")
        return node.logs(query)

    node.answers["eth_getLogs"] = refuse
    with pytest.raises(NodeUnavailableError, match="refused"):
        chain(node).read_range(LAUNCHED_IN, BOUGHT_IN, pools=NO_POOL)


def test_a_range_is_shortened_where_its_launched_pools_have_too_many_logs(node, everything):
    def refuse_long(query):
        long = int(query["toBlock"], 16) - int(query["fromBlock"], 16) >= 40
        if long and not POOL_TOPICS.isdisjoint(query["topics"][0]):
            raise RefusedError(-32005, "query returned more than 10000 results")
        return node.logs(query)

    node.answers["eth_getLogs"] = refuse_long
    assert chain(node, blocks=500).read_range(0, HEAD, pools=NO_POOL) == everything


# Calls.


def counted(node: Node, read):
    """Return the facts that are read, and the called methods."""
    node.received.clear()
    facts = read()
    return facts, sorted(call["method"] for call in node.calls if call["method"] != "eth_chainId")


def test_a_range_takes_one_more_call_or_two(node):
    reading = chain(node)
    for pools, more in ((EVERY_POOL, 1), (select_pools([PLAIN]), 1), (select_pools([PLAIN, V3_POOL]), 2)):
        _, before = counted(node, lambda: reading.read_range(BOUGHT_IN, BOUGHT_IN + 5))
        facts, calls = counted(
            node, lambda selected=pools: reading.read_range(BOUGHT_IN, BOUGHT_IN + 5, pools=selected)
        )
        assert facts.swaps
        assert calls == sorted([*before, *["eth_getLogs"] * more])
        assert len(node.received) == 1


def test_a_new_block_takes_one_more_call_and_names_its_traders(node):
    (header,) = chain(node).read_headers([BOUGHT_IN]).values()
    reading = chain(node)
    # Nodes that report no times: the header has it.
    change_logs(node, alter(blockTimestamp=None))
    for pools in (EVERY_POOL, select_pools([PLAIN])):
        _, before = counted(node, lambda: reading.read_blocks([header]))
        assert [call["params"][1] for call in node.calls if call["method"] == "eth_getBlockByHash"] == [False]
        facts, calls = counted(node, partial(reading.read_blocks, [header], pools=pools))
        assert [(swap.trader, swap.block_time) for swap in facts.swaps] == [(sender_of(facts.swaps[0]), header.time)]
        assert calls == sorted([*before, "eth_getLogs"])
        assert [call["params"][1] for call in node.calls if call["method"] == "eth_getBlockByHash"] == [True]


def test_receipts_take_no_more_calls(node):
    reading = chain(node)
    headers = all_headers(reading)
    _, before = counted(node, lambda: reading.read_receipts(headers))
    facts, calls = counted(node, lambda: reading.read_receipts(headers, pools=NO_POOL))
    assert len(facts.swaps) == 22
    assert calls == before


def test_a_launch_outside_of_the_selection_takes_one_request_more(node):
    reading = chain(node)
    _, before = counted(node, lambda: reading.read_range(LAUNCHED_IN, LAUNCHED_IN))
    facts, calls = counted(node, lambda: reading.read_range(LAUNCHED_IN, LAUNCHED_IN, pools=NO_POOL))
    assert facts.liquidity_changes
    # The launched pools' logs, and fee conversions.
    assert calls == sorted([*before, "eth_getLogs", "eth_getLogs", "eth_blockNumber"])


# Faulty nodes.


# Faults in test_log_reading.py that are left out here: a block by its hash has one hash anyway.
OF_LISTS = ("null", "an object", "a list of texts")
OF_POOLS = {name: of_pools(fault) for name, fault in FAULTY_LOGS.items() if name not in OF_LISTS}


@pytest.mark.parametrize("pools", [EVERY_POOL, select_pools([PLAIN])], ids=["every pool", "one pool"])
@pytest.mark.parametrize("fault", OF_POOLS.values(), ids=OF_POOLS)
def test_faulty_logs_of_pools_are_trusted_nowhere(node, second_node, everything, fault, pools):
    headers = [header for header in all_headers(chain(node)) if header.number in (BOUGHT_IN, SOLD_IN)]
    change_logs(node, fault)
    with pytest.raises(NodeUnavailableError):
        chain(node).read_blocks(headers, pools=pools)
    found = chain(node, second_node).read_blocks(headers, pools=pools)
    expected = [swap for swap in everything.swaps if swap.block_number in (BOUGHT_IN, SOLD_IN)]
    assert traded(found.swaps) == expected


@pytest.mark.parametrize(
    "change",
    [
        alter(data=lambda log: log["data"][:-64]),
        alter(topics=lambda log: log["topics"][:2]),
        alter(topics=lambda log: [*log["topics"][:2], OTHER]),
    ],
    ids=["a word less", "a topic less", "a sender of 32 bytes"],
)
def test_malformed_logs_of_pools_are_read_from_another_node(node, second_node, everything, change):
    pools = select_pools([PLAIN])
    expected = [swap for swap in everything.swaps if swap.block_number == BOUGHT_IN]
    headers = [header for header in all_headers(chain(node)) if header.number == BOUGHT_IN]
    change_logs(node, of_pools(change))
    receipts = node.answers["eth_getBlockReceipts"]
    node.answers["eth_getBlockReceipts"] = lambda number: [
        receipt | {"logs": of_pools(change)(receipt["logs"])} for receipt in receipts(number)
    ]
    for read in (
        lambda nodes: chain(*nodes).read_range(BOUGHT_IN, BOUGHT_IN, pools=pools),
        lambda nodes: chain(*nodes).read_blocks(headers, pools=pools),
    ):
        with pytest.raises(NodeUnavailableError):
            read([node])
        assert traded(read([node, second_node]).swaps) == expected
    assert traded(chain(node, second_node).read_receipts(headers, pools=pools).swaps) == expected


def test_a_log_index_without_a_position_stops_no_reading(node, caplog):
    pools = select_pools([PLAIN])
    headers = [header for header in all_headers(chain(node)) if header.number == BOUGHT_IN]
    change = of_pools(alter(logIndex=lambda log: hex(int(log["logIndex"], 16) + 2**20)))
    change_logs(node, change)
    receipts = node.answers["eth_getBlockReceipts"]
    node.answers["eth_getBlockReceipts"] = lambda number: [
        receipt | {"logs": change(receipt["logs"])} for receipt in receipts(number)
    ]
    for read in (
        lambda: chain(node).read_range(BOUGHT_IN, BOUGHT_IN, pools=pools),
        lambda: chain(node).read_blocks(headers, pools=pools),
        lambda: chain(node).read_receipts(headers, pools=pools),
    ):
        caplog.clear()
        assert not read().swaps
        assert f"of block {BOUGHT_IN} is left out" in caplog.text


TRANSACTIONS = {
    "hashes": lambda entry: entry["hash"],
    "no hash": lambda entry: {name: value for name, value in entry.items() if name != "hash"},
    "no sender": lambda entry: {name: value for name, value in entry.items() if name != "from"},
    "another transaction": lambda entry: entry | {"hash": OTHER},
}


@pytest.mark.parametrize("fault", TRANSACTIONS.values(), ids=TRANSACTIONS)
def test_a_block_without_its_transactions_is_read_from_another_node(node, second_node, fault):
    (header,) = chain(node).read_headers([BOUGHT_IN]).values()
    regular = node.answers["eth_getBlockByHash"]

    def changed(block_hash, full):
        block = regular(block_hash, full)
        return block | {"transactions": list(map(fault, block["transactions"]))}

    node.answers["eth_getBlockByHash"] = changed
    with pytest.raises(NodeUnavailableError):
        chain(node).read_blocks([header], pools=EVERY_POOL)
    (swap,) = chain(node, second_node).read_blocks([header], pools=EVERY_POOL).swaps
    assert swap.trader == sender_of(swap)


def test_logs_of_pools_in_another_block_are_trusted_nowhere(node):
    (header,) = chain(node).read_headers([BOUGHT_IN]).values()
    change_logs(node, alter(blockHash=OTHER))
    with pytest.raises(NodeUnavailableError, match="was dropped"):
        chain(node).read_blocks([header], pools=EVERY_POOL)


def test_swaps_of_a_dropped_block_are_gone(node):
    (header,) = chain(node).read_headers([BOUGHT_IN]).values()
    for read in (chain(node).read_blocks, chain(node).read_receipts):
        with pytest.raises(BlockNotCanonicalError):
            read([replace(header, hash=OTHER)], pools=EVERY_POOL)


def test_a_node_that_is_behind_has_no_swaps(node, second_node):
    node.answers["eth_blockNumber"] = lambda: hex(SOLD_IN - 1)
    node.answers["eth_getLogs"] = lambda _: []
    found = chain(node, second_node).read_range(BOUGHT_IN, SOLD_IN, pools=select_pools([PLAIN]))
    assert len(found.swaps) == 2
    with pytest.raises(NodeUnavailableError):
        chain(node).read_range(BOUGHT_IN, SOLD_IN, pools=EVERY_POOL)


@pytest.mark.parametrize("pools", [EVERY_POOL, NO_POOL], ids=["every pool", "launched pools"])
def test_times_that_logs_leave_open_are_those_of_headers(node, everything, pools):
    change_logs(node, alter(blockTimestamp=None))
    found = chain(node).read_range(0, HEAD, pools=pools)
    assert (found.swaps, found.liquidity_changes) == (everything.swaps, everything.liquidity_changes)


def test_a_refused_range_is_requested_in_parts(node, everything):
    def logs(query):
        if int(query["toBlock"], 16) - int(query["fromBlock"], 16) >= 20:
            raise RefusedError(-32614, "eth_getLogs is limited to a 20 range")
        return node.logs(query)

    node.answers["eth_getLogs"] = logs
    assert chain(node).read_range(0, HEAD, pools=NO_POOL) == everything


# Bloom filters.


def test_a_bloom_filter_decides_about_named_pools():
    (v4_swap, *_), (v3_swap, *_) = sorted(V4_POOL_TOPICS), sorted(V3_POOL_TOPICS)
    promise = chain().may_contain_events
    named = select_pools([PLAIN, V3_POOL])
    assert promise(header(MANAGER, v4_swap, PLAIN), pools=named) is True
    assert promise(header(V3_POOL, v3_swap), pools=named) is True
    # Other pools, and what only looks like a swap.
    assert promise(header(MANAGER, v4_swap, TOKEN1), pools=named) is False
    assert promise(header(STRANGER.lower(), v3_swap), pools=named) is False
    assert promise(header(MANAGER, PLAIN), pools=named) is False
    assert promise(header(V3_POOL, v4_swap), pools=named) is False
    assert promise(header(MANAGER, v4_swap, PLAIN)) is False


def test_a_bloom_filter_promises_nothing_of_all_pools():
    (v4_swap, *_), (v3_swap, *_) = sorted(V4_POOL_TOPICS), sorted(V3_POOL_TOPICS)
    foreign = header(MANAGER, v4_swap, PLAIN, V3_POOL, v3_swap)
    promise = chain().may_contain_events
    assert promise(foreign, pools=EVERY_POOL) is False
    assert promise(foreign, pools=PoolSelection(v3_pools=frozenset({V3_POOL}), v4_pools=None)) is True
    assert promise(replace(foreign, logs_bloom=2**2048 - 1), pools=EVERY_POOL) is None


def test_every_recorded_block_with_a_swap_matches_its_filter(node, everything):
    headers = all_headers(chain(node))
    pools = select_pools(swap.pool for swap in everything.swaps)
    holding = {swap.block_number for swap in everything.swaps}
    assert all(chain(node).may_contain_events(headers[number], pools=pools) for number in holding)


# A real node.


def test_a_real_node_returns_the_same_by_each_method(own_launchpad: Launchpad, chains_file):
    info = load_registry(chains_file).chain(CHAIN_ID)
    reading = Chain(info=info, rpc=RpcClient(chain_id=CHAIN_ID, urls=(own_launchpad.deployment.rpc_url,)))
    first = reading.read_head() + 1
    own_launchpad.launch()
    own_launchpad.mine(2)
    own_launchpad.launch()
    last = reading.read_head()
    headers = [header for _, header in sorted(reading.read_headers(range(first, last + 1)).items())]
    for pools in (EVERY_POOL, NO_POOL):
        found = reading.read_range(first, last, pools=pools)
        assert len({change.pool for change in found.liquidity_changes}) == 2
        receipts = reading.read_receipts(headers, pools=pools)
        assert reading.read_blocks(headers, pools=pools) == receipts
        facts = {name: tuple(traded(getattr(receipts, name))) for name in ("swaps", "liquidity_changes")}
        assert replace(receipts, **facts) == found
