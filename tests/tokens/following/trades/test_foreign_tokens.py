"""Tokens that two launchpads launch: one creates it, and the other makes a pool of it later. The first launch counts.

Recorded transactions on Doppler's contracts; later ones also have logs by Flaunch's contract for foreign tokens.
"""

import copy
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import transaction

from config.redis.connection import redis_client
from tests.nodes.contract_events import NFT_TRANSFER, V4_INITIALIZE, V4_SWAP
from tests.nodes.launchpad_recordings import CHAIN, load_recording, write_registry
from tests.nodes.log_encoding import checksum, emit
from tests.rows.written_facts import all_rows
from tokens.chains.evm.transactions.transaction_receipts import read_transaction
from tokens.indexing import chain_lock
from tokens.indexing.writing import write_transactions
from tokens.installation.installed_chains import installed_chain
from tokens.models import Candle, Coverage, PoolLiquidityChange, PoolTrade, Token, TokenDocument, TokenEvent, TokenPool

pytestmark = pytest.mark.django_db(transaction=True)

RECORDING = Path("tests/data/launchpads/doppler-multicurve_1_weth.json")
ANY, NFT = "0x8DC3b85e1dc1C846ebf3971179a751896842e5dC", "0xc5B2E8F197407263F4B62a35C71bfc394ecF95D5"
ADOPTER, BUYER = (checksum("0x" + digits * 20) for digits in ("ad", "bb"))
POOL = "0x" + "a1" * 32
# The transactions that gain logs, in their order.
ADOPTED, SOLD, TRADED = "buy_exact_output", "sell", "sell_all"


def launch_logs(token, quote, manager):
    low, high = sorted((token, quote), key=str.lower)
    yield emit(manager, V4_INITIALIZE, *(bytes.fromhex(POOL[2:]), low, high, 0, 60, ANY, 2**96, 0))
    yield emit(
        ANY,
        "PoolCreated(bytes32 indexed,address,address,uint256,bool,(address,address,uint24,bytes,bytes))",
        *(bytes.fromhex(POOL[2:]), token, ADOPTER, 7, False, (token, ADOPTER, 0, b"", b"")),
    )


def swap_log(manager):
    return emit(manager, V4_SWAP, *(bytes.fromhex(POOL[2:]), BUYER, -(10**18), 10**18, 2**96, 10**21, 0, 0))


def add_logs(entry, entries):
    """Add logs to a recorded transaction."""
    logs = entry["receipt"]["logs"]
    for log in entries:
        place = {"address": log.address, "topics": list(log.topics), "data": log.data, "logIndex": hex(len(logs))}
        logs.append(copy.deepcopy(logs[0]) | place)


class Adopted:
    """The recording with its token's launch by the other launchpad, a trade in that pool, and the NFT's sale."""

    def __init__(self):
        self.recording = load_recording(RECORDING)
        expected, manager = self.recording["expected"], self.recording["contracts"]["pool_manager"]
        self.token, self.quote = expected["token"], expected["quote"]
        add_logs(self.entry(ADOPTED), launch_logs(self.token, self.quote, manager))
        add_logs(self.entry(TRADED), [swap_log(manager)])
        nft = emit(NFT, NFT_TRANSFER, ADOPTER, BUYER, 7)
        add_logs(self.entry(SOLD), [nft])

    def entry(self, label):
        (found,) = [entry for entry in self.recording["transactions"] if entry["label"] == label]
        return found

    def number(self, label):
        return int(self.entry(label)["block"]["number"], 16)

    def backfill(self, label="launch"):
        """Read all blocks from a transaction's one on, and verify them."""
        output, blocks = StringIO(), (f"--from={self.number(label)}", f"--to={self.last}")
        call_command("backfill", f"--chain={CHAIN}", *blocks, "--verify", stdout=output)
        return output.getvalue()

    @property
    def last(self):
        return int(self.recording["transactions"][-1]["block"]["number"], 16)

    def write(self, label):
        chain = installed_chain(CHAIN)
        facts = read_transaction(chain.rpc, chain.info, self.entry(label)["transaction"]["hash"])
        with transaction.atomic():
            chain_lock.lock_exclusive(CHAIN)
            return write_transactions([facts], chain=chain.info)


@pytest.fixture
def adopted(recorded_node, settings, forget_chains, tmp_path):
    redis_client().flushdb()
    settings.CANDLE_MINUTE_DAYS = settings.TRADE_DAYS = 100_000
    found = Adopted()
    node = recorded_node(found.recording)
    top = node.blocks[max(node.blocks)]
    number = int(top["number"], 16) + 1
    empty = {"number": hex(number), "hash": f"0x{number:064x}", "parentHash": top["hash"], "transactions": []}
    node.blocks[number] = top | empty
    quote = f'quote_tokens = [{{ symbol = "WETH", address = "{found.quote}", decimals = 18, stable = true }}]'
    settings.CHAINS_FILES = (str(write_registry(found.recording, tmp_path, more=quote)),)
    settings.RPC_URLS, settings.LAUNCHPADS = {CHAIN: (node.url,)}, {CHAIN: ("doppler", "flaunch")}
    forget_chains()
    return found


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
    assert (token.generation, token.contract_address) == ("doppler", adopted.token)
    assert token.pool_address == adopted.recording["expected"]["pool_id"]
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
    written = {label: adopted.write(label) for label in order}
    token = Token.objects.get()
    assert (token.generation, token.admin) == ("doppler", adopted.recording["expected"]["transaction_sender"])
    assert token.launch.facts["factory"] == token.factory_address != ANY
    # The response names the token in each case.
    assert {counts.addresses[tx_hash] for counts in written.values() for tx_hash in counts.addresses} == {
        (adopted.token,)
    }


def test_both_launches_in_one_transaction_are_that_of_the_first_log(adopted):
    manager = adopted.recording["contracts"]["pool_manager"]
    add_logs(adopted.entry("launch"), launch_logs(adopted.token, adopted.quote, manager))
    assert adopted.write("launch").launches == 1
    assert Token.objects.get().generation == "doppler"
