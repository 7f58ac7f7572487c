"""Tokens that two launchpads launch: one creates it, and the other makes a pool of it later. The first launch counts.

Recorded transactions on Doppler's contracts; later ones also have logs by Flaunch's contract for foreign tokens.
"""

import pytest

from tests.nodes.contract_events import NFT_TRANSFER, V4_INITIALIZE, V4_SWAP
from tests.nodes.launchpad_recordings import CHAIN
from tests.nodes.log_encoding import checksum, emit
from tests.rows.recorded_launchpads import InstalledRecording
from tests.rows.written_facts import all_rows
from tokens.models import Candle, Coverage, PoolLiquidityChange, PoolTrade, Token, TokenDocument, TokenEvent, TokenPool

pytestmark = pytest.mark.django_db(transaction=True)

RECORDING = "doppler-multicurve_1_weth"
ANY, NFT = "0x8DC3b85e1dc1C846ebf3971179a751896842e5dC", "0xc5B2E8F197407263F4B62a35C71bfc394ecF95D5"
ADOPTER, BUYER = (checksum("0x" + digits * 20) for digits in ("ad", "bb"))
POOL = "0x" + "a1" * 32
# The transactions that gain logs, in their order.
ADOPTED, SOLD, TRADED = "buy_exact_output", "sell", "sell_all"


def launch_logs(recorded):
    token, manager = recorded.expected["token"], recorded.recording["contracts"]["pool_manager"]
    low, high = sorted((token, recorded.expected["quote"]), key=str.lower)
    yield emit(manager, V4_INITIALIZE, *(bytes.fromhex(POOL[2:]), low, high, 0, 60, ANY, 2**96, 0))
    yield emit(
        ANY,
        "PoolCreated(bytes32 indexed,address,address,uint256,bool,(address,address,uint24,bytes,bytes))",
        *(bytes.fromhex(POOL[2:]), token, ADOPTER, 7, False, (token, ADOPTER, 0, b"", b"")),
    )


def launch_by_both(recorded):
    """Add the token's launch by the other launchpad, a trade in that pool, and the NFT's sale."""
    manager, amounts = recorded.recording["contracts"]["pool_manager"], (-(10**18), 10**18, 2**96, 10**21, 0, 0)
    recorded.add_logs(ADOPTED, *launch_logs(recorded))
    recorded.add_logs(TRADED, emit(manager, V4_SWAP, bytes.fromhex(POOL[2:]), BUYER, *amounts))
    recorded.add_logs(SOLD, emit(NFT, NFT_TRANSFER, ADOPTER, BUYER, 7))


@pytest.fixture
def adopted(install_recording):
    quote = InstalledRecording(RECORDING).expected["quote"]
    declared = f'quote_tokens = [{{ symbol = "WETH", address = "{quote}", decimals = 18, stable = true }}]'
    return install_recording(RECORDING, "doppler", "flaunch", change=launch_by_both, more=declared)


def rows():
    """Return all rows about tokens, without ids."""
    own = {
        model.__name__: sorted(
            str({name: value for name, value in row.items() if name != "token_id"}) for row in model.objects.values()
        )
        for model in (PoolTrade, PoolLiquidityChange, Candle, TokenPool)
    }
    return all_rows() | own | {"documents": list(TokenDocument.objects.values_list("uri", flat=True))}


def test_a_token_is_of_the_first_launch_whichever_is_read_first(adopted):
    assert ", repaired: 0 missing, 0 invented" in adopted.backfill()
    token = Token.objects.get()
    assert (token.generation, token.contract_address) == ("doppler", adopted.expected["token"])
    assert token.pool_address == adopted.expected["pool_id"]
    assert PoolTrade.objects.count() == 4 and "newAdmin" not in str(TokenEvent.objects.values_list("arguments"))
    from_first = rows()
    for model in (PoolTrade, PoolLiquidityChange, Candle):
        model.objects.all().delete()
    Token.objects.all().delete()
    Coverage.objects.all().delete()
    # The later launch, its trade and its creator change are read before the earlier launch.
    adopted.backfill(ADOPTED)
    token = Token.objects.get()
    assert (token.generation, token.pool_address, token.admin) == ("flaunch", POOL, BUYER)
    assert (token.name, PoolTrade.objects.count()) == ("Night Ferry", 1)
    assert ", repaired: 0 missing, 0 invented" in adopted.backfill()
    assert rows() == from_first


def test_a_foreign_token_that_no_other_launchpad_launched_is_stored(adopted, settings, forget_chains):
    settings.LAUNCHPADS = {CHAIN: ("flaunch",)}
    forget_chains()
    adopted.backfill()
    token = Token.objects.get()
    assert (token.generation, token.pool_address, token.admin) == ("flaunch", POOL, BUYER)
    assert (token.requestor_address, token.factory_address) == (ADOPTER, ANY)


@pytest.mark.parametrize("order", [("launch", ADOPTED), (ADOPTED, "launch"), (ADOPTED, "launch", ADOPTED)])
def test_transactions_that_are_indexed_by_hash_have_no_other_order(adopted, order):
    written = {label: adopted.write(adopted.facts(label)) for label in order}
    token = Token.objects.get()
    assert (token.generation, token.admin) == ("doppler", adopted.expected["transaction_sender"])
    assert token.launch.facts["factory"] == token.factory_address != ANY
    # The response names the token in each case.
    assert {counts.addresses[tx_hash] for counts in written.values() for tx_hash in counts.addresses} == {
        (adopted.expected["token"],)
    }


def test_both_launches_in_one_transaction_are_that_of_the_first_log(adopted):
    adopted.add_logs("launch", *launch_logs(adopted))
    assert adopted.write(adopted.facts("launch")).launches == 1
    assert Token.objects.get().generation == "doppler"
