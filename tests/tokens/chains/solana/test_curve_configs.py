"""tokens/chains/solana/curve_configs.py: curve terms from recorded bytes, and nodes that differ about them."""

import pytest

from development.standins.solana_node import SolanaStandIn
from tests.nodes.solana import recorded
from tests.nodes.solana.forms import change_account, inner, mark, raw_of
from tests.nodes.solana.recorded import solana_chain
from tokens.chains.addresses import decode_base58
from tokens.chains.errors import NodeUnavailableError
from tokens.chains.solana.curve_configs import CurveConfig, CurveSegment

# The program's highest price: the recorded curve's second segment has hardly any liquidity.
MAX_SQRT_PRICE = 79226673521066979257578248091
CURVE = CurveConfig(
    start_sqrt_price=95_072_344_172_433_750,
    migration_sqrt_price=380_289_371_323_205_464,
    migration_threshold=85_000_000_000,
    segments=(
        CurveSegment(380_289_371_323_205_464, 101_410_499_496_546_307_411_360_885_487_802),
        CurveSegment(MAX_SQRT_PRICE, 3_434_578_513_360_188_981_331_421),
    ),
)
THRESHOLD, MIGRATION_PRICE, START_PRICE, POINTS = 264, 280, 392, 408


@pytest.fixture
def other_node():
    with SolanaStandIn() as node:
        yield node


@pytest.fixture
def two(solana_node, other_node, solana_info):
    """Return Solana with two nodes."""
    return solana_chain(solana_info, solana_node.url, other_node.url, timeout=1.0)


def read(chain):
    return chain.read_curve_configs([recorded.CONFIG])


def test_it_reads_the_terms_of_a_curve(solana):
    assert read(solana) == {recorded.CONFIG: CURVE}


def test_a_config_of_mints_with_a_hook_starts_alike(solana, solana_node):
    change_account(solana_node, recorded.CONFIG, 0, mark("account", "ConfigWithTransferHook"))
    change_account(solana_node, recorded.CONFIG, 1_048, bytes(32 + 48))
    assert read(solana) == {recorded.CONFIG: CURVE}


def test_the_reserve_follows_from_the_price(solana_node):
    event = decode_base58(inner(raw_of(solana_node, recorded.SWAP), 4)[-1]["data"])
    assert event[8:16] == mark("event", "EvtSwap2")
    # The reserves after the recorded swap and of the complete curve, before the time at the event's end.
    reserve, threshold = (int.from_bytes(event[place : place + 8], "little") for place in (-24, -16))
    sqrt_price = 0x015D911465CA05DD
    # The program rounds in the pool's favour.
    assert (CURVE.reserve_at(sqrt_price), reserve) == (989_999_999, 990_000_000)
    assert threshold == CURVE.migration_threshold


def test_the_reserve_is_empty_at_the_start_and_complete_at_the_migration_price():
    assert CURVE.reserve_at(CURVE.start_sqrt_price) == CURVE.reserve_at(0) == 0
    # The program rounds the migration price down.
    assert CURVE.reserve_at(CURVE.migration_sqrt_price) == CURVE.migration_threshold - 1
    # Beyond the first segment, with its own liquidity.
    assert CURVE.reserve_at(MAX_SQRT_PRICE) > CURVE.migration_threshold


@pytest.mark.parametrize(
    ("place", "content"),
    [
        (0, mark("account", "VirtualPool")),
        (THRESHOLD, (85_000_000_100).to_bytes(8, "little")),
        (THRESHOLD, bytes(8)),
        (MIGRATION_PRICE, (CURVE.migration_sqrt_price - 10**12).to_bytes(16, "little")),
        (START_PRICE, bytes(16)),
        (POINTS, MAX_SQRT_PRICE.to_bytes(16, "little")),
        (POINTS, bytes(32)),
        (POINTS + 16, (1).to_bytes(16, "little")),
    ],
    ids=["kind", "threshold", "no threshold", "migration", "start", "same prices", "no first segment", "liquidity"],
)
def test_bytes_that_contradict_themselves_are_no_curve(solana, solana_node, place, content):
    change_account(solana_node, recorded.CONFIG, place, content)
    assert read(solana) == {}


@pytest.mark.parametrize("address", [recorded.MINT, recorded.POOL, "11111111111111111111111111111112"])
def test_another_account_is_no_curve_and_keeps_none_from_the_rest(solana, address):
    assert solana.read_curve_configs([address, recorded.CONFIG]) == {recorded.CONFIG: CURVE}


def test_nodes_that_agree_are_trusted(two, solana_node, other_node):
    assert read(two) == {recorded.CONFIG: CURVE}
    for node in (solana_node, other_node):
        assert [call["method"] for call in node.calls][-1] == "getMultipleAccounts"


def test_nodes_that_differ_are_not_trusted(two, other_node):
    # Other consistent terms: half the prices, and twice the liquidity.
    for place, number in ((START_PRICE, CURVE.start_sqrt_price), (MIGRATION_PRICE, CURVE.migration_sqrt_price)):
        change_account(other_node, recorded.CONFIG, place, (number // 2).to_bytes(16, "little"))
    first, liquidity = CURVE.segments[0]
    point = (first // 2).to_bytes(16, "little") + (2 * liquidity).to_bytes(16, "little")
    change_account(other_node, recorded.CONFIG, POINTS, point)
    assert read(two) == {}
    del other_node.accounts[recorded.CONFIG]
    assert read(two) == {}


def test_one_node_of_two_is_not_enough(two, other_node):
    other_node.refused["getMultipleAccounts"] = {"code": -32005, "message": "Node is behind"}
    with pytest.raises(NodeUnavailableError, match="1 of 2 nodes"):
        read(two)
