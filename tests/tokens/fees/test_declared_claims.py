"""Declared launchpads' fee claims and creator changes, from recordings of their real contracts to rows and API.

The truth is how balances changed, and which account owned an NFT: not what the events contain.
"""

import copy
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import transaction

from config.redis.connection import redis_client
from tests.nodes.contract_events import V4_INITIALIZE, V4_SWAP
from tests.nodes.launchpad_recordings import CHAIN, load_recording, name_of, write_registry
from tests.nodes.log_encoding import emit
from tests.rows.fee_sums import counted_sums, stored_sums, sum_chain
from tokens.chains.addresses import checksum_address
from tokens.chains.evm.transactions.transaction_receipts import read_transaction
from tokens.indexing import chain_lock
from tokens.indexing.unwinding import unwind_blocks
from tokens.indexing.writing import write_transactions
from tokens.installation.installed_chains import installed_chain
from tokens.models import Coverage, FeeClaim, PoolTrade, Token, TokenEvent

pytestmark = pytest.mark.django_db(transaction=True)

TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
RELEASE = "0x951cb665214ddfa483febb22b592b0c67f38eac40f7be33f6fcbbe63289276d1"
STRANGER = "0x" + "99" * 20
DATA = Path("tests/data/launchpads")


class Recorded:
    """A recorded launchpad behind the installed chain."""

    def __init__(self, recording, node):
        self.recording, self.node = recording, node
        self.numbers = [int(entry["block"]["number"], 16) for entry in recording["transactions"]]

    @property
    def expected(self):
        return self.recording["expected"]

    def backfill(self):
        """Read all blocks as history, verify them, and return what the command prints."""
        output, place = StringIO(), (f"--from={self.numbers[0]}", f"--to={self.numbers[-1]}")
        call_command("backfill", f"--chain={CHAIN}", *place, "--verify", stdout=output)
        return output.getvalue()

    def facts(self, label):
        """Return a transaction, read in full by its hash."""
        chain = installed_chain(CHAIN)
        (entry,) = [entry for entry in self.recording["transactions"] if entry["label"] == label]
        return read_transaction(chain.rpc, chain.info, entry["transaction"]["hash"])

    def write(self, *facts):
        with transaction.atomic():
            chain_lock.lock_exclusive(CHAIN)
            return write_transactions(list(facts), chain=installed_chain(CHAIN).info)

    def unwind(self, *, above):
        with transaction.atomic():
            chain_lock.lock_exclusive(CHAIN)
            return unwind_blocks(CHAIN, above=above)

    def received(self, currency, sender, recipient):
        """Return the amounts that an ERC-20 moved from one account to another, in the recording's order."""
        return [
            int(log["data"], 16)
            for entry in self.recording["transactions"]
            for log in entry["receipt"]["logs"]
            if checksum_address(log["address"]) == currency
            and log["topics"][0] == TRANSFER
            and [checksum_address("0x" + topic[-40:]) for topic in log["topics"][1:]] == [sender, recipient]
        ]


@pytest.fixture
def install(recorded_node, settings, forget_chains, tmp_path):
    """Return a function that installs a recording's chain, one more empty block included."""

    def installed(name, *launchpads, change=None, more=""):
        redis_client().flushdb()
        settings.CANDLE_MINUTE_DAYS = settings.TRADE_DAYS = 100_000
        recording = copy.deepcopy(load_recording(DATA / f"{name}.json"))
        if change:
            change(recording)
        node = recorded_node(recording)
        top = node.blocks[max(node.blocks)]
        number = int(top["number"], 16) + 1
        empty = {"number": hex(number), "hash": f"0x{number:064x}", "parentHash": top["hash"], "transactions": []}
        node.blocks[number] = top | empty
        settings.CHAINS_FILES = (str(write_registry(recording, tmp_path, more=more)),)
        settings.RPC_URLS, settings.LAUNCHPADS = {CHAIN: (node.url,)}, {CHAIN: launchpads or (name_of(recording),)}
        forget_chains()
        return Recorded(recording, node)

    return installed


def paid(recipient=None):
    """Return the stored claims: recipient, currency and amount, in the chain's order."""
    claims = FeeClaim.objects.order_by("event__block_number", "event__log_index", "currency")
    claims = claims.filter(recipient=recipient) if recipient else claims
    return [(claim.recipient, claim.currency, int(claim.amount)) for claim in claims]


def expected_claims(recorded):
    """Return Doppler's claims by the beneficiaries' balances."""
    token, quote = recorded.expected["token"], recorded.expected["quote"]
    return [
        (claim["beneficiary"], currency, int(claim[key]))
        for claim in recorded.expected["fee_claims"]
        for currency, key in sorted(((token, "token_amount"), (quote, "quote_amount")))
        if int(claim[key])
    ]


def test_claims_by_pool_are_what_balances_changed_by(install, client, read_key):
    recorded = install("doppler-multicurve_1_weth")
    assert ", repaired: 0 missing, 0 invented" in recorded.backfill()
    assert paid() == expected_claims(recorded)
    token = Token.objects.get()
    assert {event.token_id for event in TokenEvent.objects.filter(kind="fees_claimed")} == {token.pk}
    sum_chain(CHAIN)
    assert stored_sums(chain_id=CHAIN) == counted_sums(chain_id=CHAIN)
    assert len(stored_sums(chain_id=CHAIN).claims) == 3
    first, _ = recorded.expected["fee_claims"]
    path = f"/api/get-claimed-fees/{token.contract_address}/{first['beneficiary']}"
    answer = client.get(path, {"chainId": CHAIN}, headers=read_key).json()
    assert (answer["totalClaimed"], answer["txHashes"]) == (first["token_amount"], [first["tx_hash"]])
    page = client.get(f"/tokens/{CHAIN}/{token.contract_address}").content.decode()
    assert "Paid so far" in page and "in 2 payments" in page and "Show fees that wait" not in page


def test_claims_in_each_order_of_reading_are_the_same_rows(install):
    recorded = install("doppler-multicurve_1_weth")
    launch, *claims = (recorded.facts("launch"), *(read for read in _claims(recorded)))
    recorded.write(launch, *claims)
    together = paid()
    assert together == expected_claims(recorded)
    recorded.unwind(above=recorded.numbers[0])
    assert (paid(), Token.objects.on_chain().count()) == ([], 1)
    for facts in reversed(claims):
        recorded.write(facts)
    assert paid() == together
    # A claim before its launch is known is about no token, so that another reading is needed.
    recorded.unwind(above=0)
    Token.objects.all().delete()
    recorded.write(*claims)
    assert paid() == []
    recorded.write(launch, *claims)
    assert paid() == together


def _claims(recorded):
    chain = installed_chain(CHAIN)
    return [read_transaction(chain.rpc, chain.info, claim["tx_hash"]) for claim in recorded.expected["fee_claims"]]


def test_verification_repairs_lost_and_altered_claims(install):
    recorded = install("doppler-multicurve_1_weth")
    recorded.backfill()
    found = paid()
    first, last = TokenEvent.objects.filter(kind="fees_claimed", claims__isnull=False).distinct().order_by("pk")
    first.delete()
    TokenEvent.objects.filter(pk=last.pk).update(arguments=last.arguments | {"amount0": "1"})
    last.claims.update(amount=1)
    # The blocks are verified again, and not read.
    Coverage.objects.update(verified_to=recorded.numbers[0] - 1)
    assert ", repaired: 1 missing" in recorded.backfill()
    assert paid() == found


@pytest.mark.parametrize("emitter", [STRANGER, "0x5fbdb2315678afecb367f032d93f642f64180aa3"])
def test_nobody_but_a_declared_emitter_claims(install, emitter):
    def forge(recording):
        for entry in recording["transactions"]:
            for log in entry["receipt"]["logs"]:
                if log["topics"][0] == RELEASE:
                    log["address"] = emitter

    recorded = install("doppler-multicurve_1_weth", change=forge)
    recorded.backfill()
    assert Token.objects.count() == 1 and paid() == []


def test_a_claim_of_another_launchpads_token_does_not_count(install):
    recorded = install("doppler-multicurve_1_weth", "doppler", "bankr")
    recorded.write(recorded.facts("launch"))
    # Both launchpads declare the contract.
    Token.objects.update(generation="bankr")
    recorded.write(*_claims(recorded))
    assert paid() == expected_claims(recorded)
    Token.objects.update(generation="zora")
    TokenEvent.objects.all().delete()
    recorded.write(*_claims(recorded))
    assert paid() == []


@pytest.mark.parametrize("name", ["zora-creator_coin_1", "zora-content_coin_1_of_a_creator_coin"])
def test_payments_of_a_pools_hook_are_what_the_recipient_got_of_it(install, name):
    recorded = install(name)
    assert ", repaired: 0 missing, 0 invented" in recorded.backfill()
    hook = checksum_address(recorded.recording["contracts"]["hook"])
    for recipient, currency in {claim[:2] for claim in paid()}:
        amounts = [amount for to, of, amount in paid(recipient) if of == currency]
        assert amounts == recorded.received(currency, hook, recipient)
    assert paid() and {currency for _, currency, _ in paid()} == {recorded.recording["contracts"]["zora_token"]}


def test_a_payment_by_another_hook_than_the_pools_does_not_count(install):
    recorded = install("zora-creator_coin_1")
    recorded.write(recorded.facts("launch"))
    recorded.write(recorded.facts("buy"))
    assert paid()
    buy = recorded.facts("buy")
    for log in buy.event_logs:
        object.__setattr__(log, "emitter", checksum_address(STRANGER))
    TokenEvent.objects.all().delete()
    recorded.write(buy)
    assert paid() == []


def test_the_creator_of_a_coin_follows_its_nft(install):
    recorded = install("flaunch-launch_1_fair_launch")
    creator, (change,) = recorded.expected["creator"], recorded.expected["creator_changes"]
    recorded.write(recorded.facts("launch"))
    token = Token.objects.get()
    nft = checksum_address(recorded.recording["contracts"]["flaunch_erc721"])
    assert token.launch.facts["nft"] == f"{nft}/{recorded.expected['token_id_of_creator_nft']}"
    assert (token.admin, token.requestor_address) == (creator, creator)
    assert ", repaired: 0 missing, 0 invented" in recorded.backfill()
    token.refresh_from_db()
    # Its launch stays the creator's.
    assert (token.admin, token.requestor_address) == (change["to"], creator)
    recorded.unwind(above=recorded.facts("creator_change").block_number - 1)
    token.refresh_from_db()
    assert token.admin == creator


def test_nfts_of_one_transaction_are_of_their_own_launches(install):
    recorded = install("flaunch-batch_1_two_launches")
    recorded.backfill()
    admins = {token.contract_address: token.admin for token in Token.objects.all()}
    assert admins == {launch["token"]: launch["creator"] for launch in recorded.expected["launches"]}
    nfts = [token.launch.facts["nft"].rpartition("/")[2] for token in Token.objects.order_by("log_index")]
    assert nfts == ["5", "6"]


def test_an_nft_of_another_contract_with_the_same_id_changes_nothing(install):
    def move(recording):
        (change,) = [entry for entry in recording["transactions"] if entry["label"] == "creator_change"]
        change["receipt"]["logs"][0]["address"] = STRANGER

    recorded = install("flaunch-launch_1_fair_launch", change=move)
    recorded.backfill()
    assert Token.objects.get().admin == recorded.expected["creator"]


# A claim by a pool, whose event names no token and no other recipient.
OF_POOLS = """
[[launchpads.doppler.claim]]
event = "Skimmed(address indexed to, uint256 fees0, uint256 fees1)"
by = "pool"
recipient = "to"
amount0 = "fees0"
amount1 = "fees1"
"""


def test_pools_claim_for_their_token_before_and_after_they_moved(install):
    def skim(recording):
        expected = recording["expected"]
        pools = {"buy": expected["launch_event"]["poolOrHook"], "buy_after_graduation": _pair(recording)}
        for entry in recording["transactions"]:
            logs = entry["receipt"]["logs"]
            for pool in (pools.get(entry["label"]), STRANGER):
                if pool:
                    log = emit(pool, "Skimmed(address indexed,uint256,uint256)", STRANGER, 5, 7)
                    place = {"topics": list(log.topics), "data": log.data, "logIndex": hex(len(logs))}
                    logs.append({**logs[0], "address": log.address, **place})

    recorded = install("doppler-v3_to_v2_1", change=skim, more=OF_POOLS)
    assert ", repaired: 0 missing, 0 invented" in recorded.backfill()
    low, high = sorted((recorded.expected["token"], recorded.expected["quote"]), key=str.lower)
    assert sorted(paid()) == sorted(2 * [(STRANGER, low, 5), (STRANGER, high, 7)])


def _pair(recording):
    """Return the pair that liquidity is migrated to, from its creation log."""
    created = "0x0d3648bd0f6ba80134a33ba9275ac585d9d315f0ad8355cddefde31afa28d0e9"
    logs = recording["transactions"][0]["receipt"]["logs"]
    return next("0x" + log["data"][26:66] for log in logs if log["topics"][0] == created)


NEW_HOOK, NEW_POOL = "0x" + "77" * 20, "0x" + "78" * 32
MOVED = (
    "LiquidityMigrated((address,address,uint24,int24,address),bytes32,(address,address,uint24,int24,address),bytes32)"
)


def test_the_hook_of_a_pool_that_a_coin_moved_to_pays_and_its_swaps_are_no_trades(install):
    def migrate(recording):
        expected, contracts = recording["expected"], recording["contracts"]
        coin, quote, manager = expected["token"], expected["quote"], contracts["pool_manager"]
        key = (*sorted((coin, quote), key=str.lower), 8388608, 200, NEW_HOOK)
        pool = bytes.fromhex(NEW_POOL[2:])
        amounts = (-(10**18), 10**18, 2**96, 10**21, 0, 0)
        paid_out = (coin, quote, STRANGER, *[NEW_HOOK] * 4, (9, *[0] * 9))
        logs = {
            "uri_change": [
                emit(manager, V4_INITIALIZE, *(pool, *key, 2**96, 0)),
                emit(coin, MOVED, key, pool, key, pool),
            ],
            "vesting_claim": [
                emit(manager, V4_SWAP, pool, STRANGER, *amounts),
                emit(manager, V4_SWAP, pool, NEW_HOOK, *amounts),
                emit(NEW_HOOK, f"CoinMarketRewardsV4({'address,' * 7}({','.join(['uint256'] * 10)}))", *paid_out),
            ],
        }
        for entry in recording["transactions"]:
            found = entry["receipt"]["logs"]
            for log in logs.get(entry["label"], ()):
                place = {"topics": list(log.topics), "data": log.data, "logIndex": hex(len(found))}
                found.append({**found[0], "address": log.address, **place})

    zora = load_recording(DATA / "zora-creator_coin_1.json")["contracts"]["zora_token"]
    quote = f'quote_tokens = [{{ symbol = "ZORA", address = "{zora}", decimals = 18, stable = true }}]'
    recorded = install("zora-creator_coin_1", change=migrate, more=quote)
    assert ", repaired: 0 missing, 0 invented" in recorded.backfill()
    token = Token.objects.get()
    assert token.pool_address == NEW_POOL
    assert {pool.hook for pool in token.pools.all()} == {"", checksum_address(NEW_HOOK)}
    assert paid(checksum_address(STRANGER)) == [(checksum_address(STRANGER), recorded.expected["quote"], 9)]
    assert list(PoolTrade.objects.order_by("position").values_list("is_conversion", flat=True))[-2:] == [False, True]


def test_an_earlier_move_that_is_read_later_leaves_its_pool_to_the_token(install):
    pools = {"uri_change": "0x" + "79" * 32, "vesting_claim": NEW_POOL}

    def migrate(recording):
        coin, key = recording["expected"]["token"], (STRANGER, STRANGER, 0, 0, NEW_HOOK)
        for entry in recording["transactions"]:
            if entry["label"] in pools:
                log = emit(coin, MOVED, key, bytes(32), key, bytes.fromhex(pools[entry["label"]][2:]))
                found = entry["receipt"]["logs"]
                place = {"topics": list(log.topics), "data": log.data, "logIndex": hex(len(found))}
                found.append({**found[0], "address": log.address, **place})

    recorded = install("zora-creator_coin_1", change=migrate)
    recorded.write(recorded.facts("launch"), recorded.facts("vesting_claim"))
    launched = Token.objects.get().launch.facts["pool"]["address"]
    recorded.write(recorded.facts("uri_change"))
    token = Token.objects.get()
    assert token.pool_address == NEW_POOL
    assert {pool.pool_address for pool in token.pools.all()} == {launched, *pools.values()}


def test_a_pool_without_the_token_is_no_move(install):
    def migrate(recording):
        coin, manager = recording["expected"]["token"], recording["contracts"]["pool_manager"]
        key, pool = ("0x" + "11" * 20, STRANGER, 3000, 60, NEW_HOOK), bytes.fromhex(NEW_POOL[2:])
        (entry,) = [entry for entry in recording["transactions"] if entry["label"] == "uri_change"]
        found = entry["receipt"]["logs"]
        for log in (
            emit(manager, V4_INITIALIZE, pool, *key, 2**96, 0),
            emit(coin, MOVED, key, pool, key, pool),
        ):
            place = {"topics": list(log.topics), "data": log.data, "logIndex": hex(len(found))}
            found.append({**found[0], "address": log.address, **place})

    recorded = install("zora-creator_coin_1", change=migrate)
    recorded.write(recorded.facts("launch"))
    launched = Token.objects.get().pool_address
    counts = recorded.write(recorded.facts("uri_change"))
    assert Token.objects.get().pool_address == launched != NEW_POOL
    (log,) = counts.undecodable
    assert log.launchpad == "zora" and "the new pool lacks the token" in log.reason
