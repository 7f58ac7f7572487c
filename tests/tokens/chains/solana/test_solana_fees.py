"""tokens/chains/solana/bonding_curve_fees.py: a pool's pending trading fees, and accounts that are no pool."""

import base64

import pytest
from solders.pubkey import Pubkey

from development.standins.solana_node import SolanaStandIn
from tests.nodes.solana import recorded
from tests.nodes.solana.forms import mark
from tests.nodes.solana.recorded import solana_chain
from tokens.chains.errors import FeesUnavailableError, NodeUnavailableError
from tokens.chains.rpc.quantities import BLOCK_LIMIT
from tokens.chains.solana.bonding_curve_fees import PoolTotals
from tokens.chains.token_fees import Currency, FeeShare, TokenFees

# Offsets in the recorded pool: base and quote amounts for the partner and for the creator.
PARTNER_FEES, CREATOR_FEES = 264, 352
# Offset: when the curve was completed.
COMPLETED_AT = 344


def data_of(node, address):
    return bytearray(base64.b64decode(node.accounts[address]["data"][0]))


def put(node, address, data):
    node.accounts[address] = node.accounts[address] | {"data": [base64.b64encode(data).decode(), "base64"]}


def account_calls(node):
    return sum(call["method"] == "getMultipleAccounts" for call in node.calls)


def shares(solana):
    return [(share.recipient, share.harvested, share.pending) for share in solana.read_pool_fees(recorded.POOL).shares]


def test_it_returns_what_is_pending_after_the_creators_claim(solana):
    # The recorded swap left 8,000,000 lamports to both, and the creator has claimed half.
    assert solana.read_pool_fees(recorded.POOL) == TokenFees(
        block_number=1005,
        currencies=(
            Currency(address=recorded.MINT, symbol="LSOL", decimals=6),
            Currency(address=recorded.WRAPPED_SOL, symbol="SOL", decimals=9),
        ),
        shares=(
            FeeShare(recipient=recorded.CREATOR, harvested=(0, 0), pending=(0, 0)),
            FeeShare(recipient=recorded.PARTNER, harvested=(0, 0), pending=(0, 4_000_000)),
        ),
        conversion="none",
    )


def test_it_returns_each_amount_by_its_mint(solana, solana_node):
    data = data_of(solana_node, recorded.POOL)
    for place, amount in ((PARTNER_FEES, 1), (PARTNER_FEES + 8, 2), (CREATOR_FEES, 3), (CREATOR_FEES + 8, 2**64 - 1)):
        data[place : place + 8] = amount.to_bytes(8, "little")
    put(solana_node, recorded.POOL, data)
    assert shares(solana) == [(recorded.CREATOR, (0, 0), (3, 2**64 - 1)), (recorded.PARTNER, (0, 0), (1, 2))]


# After the recorded swap.
PRICE = 0x015D911465CA05DD << 32


def of_a_pool_with_a_hook(node):
    """Lay out the recorded accounts as the program does where the mint calls a program at each transfer."""
    put(node, recorded.POOL, mark("account", "TransferHookPool") + data_of(node, recorded.POOL)[8:])
    config = mark("account", "ConfigWithTransferHook") + data_of(node, recorded.CONFIG)[8:]
    put(node, recorded.CONFIG, config + bytes(32 + 48))


def test_it_returns_what_is_pending_in_a_pool_with_a_transfer_hook(solana, solana_node):
    before = shares(solana)
    of_a_pool_with_a_hook(solana_node)
    assert len(data_of(solana_node, recorded.CONFIG)) == 1_128
    assert shares(solana) == before


def test_it_returns_what_was_claimed_of_a_pool_with_a_transfer_hook(solana, solana_node):
    of_a_pool_with_a_hook(solana_node)
    assert solana.read_pool_totals([recorded.POOL]) == {
        recorded.POOL: PoolTotals(config=recorded.CONFIG, claimed=(0, 4_000_000), sqrt_price=PRICE, completed_at=None)
    }


def test_a_pool_without_a_swap_has_no_price_of_one(solana, solana_node):
    data = data_of(solana_node, recorded.POOL)
    # state/virtual_pool.rs: the trading fee totals, behind the protocol fee totals.
    totals = 8 + 64 + 5 * 32 + 4 * 8 + 2 * 8 + 16 + 8 + 8 + 16
    put(solana_node, recorded.POOL, data[:totals] + bytes(16) + data[totals + 16 :])
    assert solana.read_pool_totals([recorded.POOL])[recorded.POOL].sqrt_price is None


@pytest.mark.parametrize("seconds", [1, 2**32, 253_402_300_800, 2**63, 2**64 - 1])
def test_the_next_node_is_used_for_a_completion_at_a_time_that_no_block_has(solana_node, solana_info, seconds):
    data = data_of(solana_node, recorded.POOL)
    data[COMPLETED_AT : COMPLETED_AT + 8] = seconds.to_bytes(8, "little")
    put(solana_node, recorded.POOL, data)
    with SolanaStandIn() as honest:
        two = solana_chain(solana_info, solana_node.url, honest.url, attempts=1, breaker_failures=1)
        for _ in range(2):
            assert two.read_pool_totals([recorded.POOL])[recorded.POOL].completed_at is None
    # The first answer counts as a failure, which opens the circuit.
    assert account_calls(solana_node) == 1 and account_calls(honest) == 2


def at_an_impossible_slot(call_count, body):
    result = body["result"] if isinstance(body, dict) else None
    if not isinstance(result, dict) or "context" not in result:
        return body
    return body | {"result": result | {"context": {"slot": BLOCK_LIMIT}}}


def test_the_next_node_is_used_for_fees_at_an_impossible_slot(solana_node, solana_info):
    solana_node.change = at_an_impossible_slot
    with SolanaStandIn() as honest:
        two = solana_chain(solana_info, solana_node.url, honest.url, attempts=1, breaker_failures=1)
        assert two.read_pool_fees(recorded.POOL).block_number == 1005
    # Pool, config and mint are read: only the first read is sent to the faulty node.
    assert account_calls(solana_node) == 1 and account_calls(honest) == 3


@pytest.mark.parametrize("address", [recorded.POOL, recorded.CONFIG])
def test_it_reads_no_fees_of_a_shorter_pool_with_a_transfer_hook(solana, solana_node, address):
    of_a_pool_with_a_hook(solana_node)
    put(solana_node, address, data_of(solana_node, address)[:-1])
    with pytest.raises(FeesUnavailableError, match="unknown layout"):
        solana.read_pool_fees(recorded.POOL)


def test_a_mint_that_is_gone_has_no_decimals(solana, solana_node):
    del solana_node.accounts[recorded.MINT]
    with pytest.raises(FeesUnavailableError, match="no longer exists"):
        solana.read_pool_fees(recorded.POOL)


@pytest.mark.parametrize("address", [recorded.POOL, recorded.CONFIG])
def test_fields_that_the_program_appends_to_an_account_are_ignored(solana, solana_node, address):
    fees = solana.read_pool_fees(recorded.POOL)
    put(solana_node, address, data_of(solana_node, address) + b"\0" * 64)
    assert solana.read_pool_fees(recorded.POOL) == fees


def without(node, address):
    del node.accounts[address]


def of_a_stranger(node, address):
    node.accounts[address] = node.accounts[address] | {"owner": str(Pubkey.new_unique())}


def of_another_kind(node, address):
    data = data_of(node, address)
    data[0] ^= 1
    put(node, address, data)


def cut_short(node, address):
    put(node, address, data_of(node, address)[:-1])


@pytest.mark.parametrize("change", [without, of_a_stranger, of_another_kind, cut_short])
@pytest.mark.parametrize(("address", "kind"), [(recorded.POOL, "pool"), (recorded.CONFIG, "config")])
def test_it_reads_no_fees_of_an_account_that_is(solana, solana_node, change, address, kind):
    change(solana_node, address)
    with pytest.raises(FeesUnavailableError, match=kind):
        solana.read_pool_fees(recorded.POOL)


@pytest.mark.parametrize("address", [recorded.MINT, recorded.CONFIG, recorded.CREATOR])
def test_it_reads_no_fees_of_what_is_no_pool(solana, address):
    with pytest.raises(FeesUnavailableError, match="no pool"):
        solana.read_pool_fees(address)


def test_an_account_that_is_no_pool_opens_no_circuit(solana, solana_node):
    for _ in range(5):
        with pytest.raises(FeesUnavailableError):
            solana.read_pool_fees(recorded.MINT)
    assert solana.read_head() == 1005


def test_fees_are_out_of_reach_where_no_node_answers(solana, solana_node):
    solana_node.refused["getMultipleAccounts"] = {"code": -32005, "message": "Node is unhealthy"}
    with pytest.raises(NodeUnavailableError):
        solana.read_pool_fees(recorded.POOL)
