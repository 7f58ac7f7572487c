"""tokens/chains/rpc/block_ranges.py: adaptive ranges of logs, and the errors of providers."""

import threading

import pytest

from tokens.chains.rpc.block_ranges import FEW_LOGS, MANY_LOGS, RangeLimit, RangeSize, parse_range_limit

ALCHEMY = (
    "Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the "
    "response size, or you can request any block range with a cap of 10K logs in the response. Based on your "
    "parameters and the response size limit, this block range should work: "
)

# (code, message, data), and the number of blocks that the node would take, None where the error lacks it.
TOO_LONG = [
    # Alchemy.
    (-32602, ALCHEMY + "[0xc5dc00, 0xc614a7]", None, 0xC614A7 - 0xC5DC00 + 1),
    (
        -32600,
        "Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range. Based on your "
        "parameters, this block range should work: [0x1180fca, 0x1180fd3]. Upgrade to PAYG for expanded block range.",
        None,
        10,
    ),
    (
        -32000,
        "Query timeout exceeded. Consider reducing your block range. Based on your parameters and the response size "
        "limit, this block range should work: [0x5223c98, 0x5223e80]",
        None,
        0x5223E80 - 0x5223C98 + 1,
    ),
    # Infura.
    (-32005, "query returned more than 10000 results. Try with this block range [0xBDE5F8, 0xBDE6F7].", None, 256),
    (-32005, "query returned more than 10000 results", {"from": "0xBDE5F8", "limit": 10000, "to": "0xBDE6F7"}, 256),
    (-32005, "query returned more than 10000 results", None, None),
    (-32602, "range 1000000 exceeds limit of 10000", None, 10_000),
    (-32602, "range 25887126 - 25897126 exceeds limit of 10000", None, 10_000),
    (-32005, "query timeout exceeded", None, None),
    # QuickNode, 1RPC.
    (-32614, "eth_getLogs is limited to a 10,000 range", None, 10_000),
    (-32614, "eth_getLogs and eth_newFilter are limited to a 10,000 blocks range", None, 10_000),
    (-32602, "eth_getLogs is limited to 0 - 50 blocks range", None, 50),
    (-32000, "response size should not greater than 10000000 bytes", None, None),
    # Ankr.
    (-32600, "block range is too wide", None, None),
    (-32062, "Block range is too large", None, None),
    (-32000, "maximum [from, to] blocks distance: 1000", None, 1000),
    # The public nodes of Base and Optimism, and Coinbase's.
    (-32000, "block range too large", None, None),
    (-32020, "backend response too large", None, None),
    (-32602, "please limit the query to at most 1,000 blocks", None, 1000),
    # Cloudflare, thirdweb, Tenderly.
    (-32047, "Invalid eth_getLogs request. 'fromBlock'-'toBlock' range too large. Max range: 800", None, 800),
    (-32602, "Maximum allowed number of requested blocks is 1000", None, 1000),
    (-32602, "invalid params", {"payload": "range 9009594 is bigger than range limit 2000"}, 2000),
    # BlockPI, Chainstack, dRPC, publicnode, merkle, Blast.
    (-32602, "eth_getLogs block range is limited to 1024 blocks", None, 1024),
    (-32602, "Block range limit exceeded. See more details at https://docs.chainstack.com/docs/limits", None, None),
    (35, "ranges over 10000 blocks are not supported on freetier", None, 10_000),
    (-32602, "query returns too many logs", None, None),
    (-32701, "exceed maximum block range: 50000", None, 50_000),
    (-32000, "eth_getLogs range is too large, max is 10k blocks", None, 10_000),
    (-32600, "the block range exceeds the range allowed for your plan (5000 > 500)", None, 500),
    # Clients: geth, reth, erigon, coreth, Arbitrum's, zkSync's, Moonbeam's, Scroll's, Morph's, Sei's, Harmony's.
    (-32602, "query exceeds max results 20000, retry with the range 6000000-6000509", None, 510),
    (
        -32602,
        "request exceeded max allowed range: query exceeds max results 2000, retry with the range 64862334-64862849",
        None,
        516,
    ),
    (-32602, "query exceeds max block range 100000", None, 100_000),
    (-32000, "exceed maximum block range: 5000", None, 5000),
    (-32000, "requested too many blocks from 0 to 5000000, maximum is set to 1024", None, 1024),
    (-32000, "logs matched by query exceeds limit of 10000", None, None),
    (3, "Query returned more than 20000 results. Try with this block range [0x7dfd25, 0x7e0fcc].", None, 0x12A8),
    (-32603, "block range is too wide (maximum 1024)", None, 1024),
    (-32000, "block range is bigger than maxBlockRange", None, None),
    (
        -32000,
        "block range is larger than max block range, block range = 5120, max block range = 5000",
        None,
        5000,
    ),
    (-32000, "block range too large (2000), maximum allowed is 1000 blocks", None, 1000),
    (-32000, "query must be smaller than size 1024", None, 1024),
    (-32000, "block range greater than 10000 max", None, 10_000),
    (-32000, "block range exceeds 1000", None, 1000),
    (-32012, "requested range too large", None, None),
    (-32003, "response too large", None, None),
    # Timeouts over a range.
    (-32002, "request timed out", None, None),
    (-32000, "context deadline exceeded", None, None),
    (-32603, "Query timeout limit exceeded", None, None),
]

# Similar errors with another cause.
SOMETHING_ELSE = [
    (-32005, "rate limit exceeded", None),
    (-32005, "daily request count exceeded, request rate limited", None),
    (-32005, "limit exceeded", None),
    (429, "Your app has exceeded its compute units per second capacity. If you have retries enabled, ...", None),
    (-32007, "50/second request limit reached - reduce calls per second or upgrade your account", None),
    (-32000, "Too Many Requests, slow down", None),
    (-32011, "no backend is currently healthy to serve traffic", None),
    (-32602, "invalid block range params", None),
    (-32602, "block range extends beyond current head block", None),
    (-32000, "One of the blocks specified in filter (fromBlock, toBlock or blockHash) cannot be found.", None),
    (-32000, "unknown block", None),
    (-32000, "header not found", None),
    (-32601, "the method eth_getLogs does not exist/is not available", None),
    (-32602, "invalid argument 0: json: cannot unmarshal", None),
    (-32000, "Must be authenticated!", None),
    (-32603, "Internal server error", None),
    (None, None, None),
    (True, 5, [7]),
]


@pytest.mark.parametrize(("code", "message", "data", "blocks"), TOO_LONG)
def test_a_refusal_of_a_range_is_understood(code, message, data, blocks):
    assert parse_range_limit({"code": code, "message": message, "data": data}) == RangeLimit(blocks)


@pytest.mark.parametrize(("code", "message", "data"), SOMETHING_ELSE)
def test_a_refusal_of_something_else_is_not_about_the_range(code, message, data):
    assert parse_range_limit({"code": code, "message": message, "data": data}) is None


@pytest.mark.parametrize("text", ["[0x2, 0x1]", "[0xffffffffffffffffff, 0x1]", "with the range 5-1"])
def test_a_suggestion_that_makes_no_sense_is_none(text):
    assert parse_range_limit(
        {"code": -32005, "message": f"query returned more than 10000 results {text}"}
    ) == RangeLimit(None)


@pytest.mark.parametrize("digits", ["0", "9" * 400, "1,,,.", ",", "k"])
def test_a_number_that_makes_no_sense_breaks_nothing(digits):
    refusal = parse_range_limit({"code": -32614, "message": f"eth_getLogs is limited to a {digits} range"})
    assert refusal is not None
    assert refusal.blocks is None or refusal.blocks > 0


def test_a_refused_range_is_halved():
    size = RangeSize(1000, longest=5000)
    size.shrink(1000)
    assert size.blocks == 500


def test_a_suggestion_is_followed():
    size = RangeSize(1000, longest=5000)
    size.shrink(1000, suggested=300)
    assert size.blocks == 300


@pytest.mark.parametrize("suggested", [1000, 10**18])
def test_a_suggestion_that_is_no_shorter_halves(suggested):
    size = RangeSize(1000, longest=5000)
    size.shrink(1000, suggested=suggested)
    assert size.blocks == 500


def test_a_range_never_has_less_than_one_block():
    size = RangeSize(2, longest=5)
    for _ in range(5):
        size.shrink(size.blocks)
    assert size.blocks == 1


def test_it_grows_by_half_while_answers_are_small_up_to_the_longest():
    size = RangeSize(100, longest=400)
    lengths = []
    for _ in range(6):
        size.record_range(size.blocks, logs=0)
        lengths.append(size.blocks)
    assert lengths == [151, 227, 341, 400, 400, 400]


def test_it_grows_from_one_block():
    size = RangeSize(1, longest=100)
    size.record_range(1, logs=0)
    assert size.blocks > 1


def test_it_stays_where_answers_are_not_small():
    size = RangeSize(100, longest=400)
    size.record_range(100, logs=FEW_LOGS)
    assert size.blocks == 100


def test_it_shrinks_where_answers_are_heavy():
    size = RangeSize(100, longest=400)
    size.record_range(100, logs=MANY_LOGS + 1)
    assert size.blocks == 50


def test_the_rest_of_a_run_does_not_change_longer_ranges():
    size = RangeSize(100, longest=400)
    size.record_range(3, logs=0)
    assert size.blocks == 100


def test_what_was_refused_is_not_requested_again_at_once():
    size = RangeSize(1000, longest=5000)
    size.shrink(1000, suggested=800)
    for _ in range(20):
        size.record_range(size.blocks, logs=0)
        assert size.blocks <= 800
    size.shrink(800)
    for _ in range(20):
        size.record_range(size.blocks, logs=0)
        assert size.blocks < 800


def test_what_was_refused_is_requested_again_later():
    size = RangeSize(1000, longest=5000)
    size.shrink(1000, suggested=800)
    for _ in range(200):
        size.record_range(size.blocks, logs=0)
    assert size.blocks == 5000


def test_threads_that_are_refused_at_one_length_halve_it_once():
    size = RangeSize(1000, longest=5000)
    threads = [threading.Thread(target=size.shrink, args=(1000,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert size.blocks == 500


def test_it_starts_no_longer_than_the_longest():
    assert RangeSize(1000, longest=50).blocks == 50
