"""Declared launchpads' fee claims and creator changes, from recordings of their real contracts to rows and API.

The truth is how balances changed, and which account owned an NFT: not what the events contain.
"""

import pytest

from tests.nodes.contract_events import TRANSFER, V4_INITIALIZE, V4_SWAP
from tests.nodes.launchpad_recordings import CHAIN
from tests.nodes.log_encoding import emit, topic
from tests.rows.fee_sums import counted_sums, stored_sums, sum_chain
from tests.rows.recorded_launchpads import InstalledRecording
from tokens.chains.addresses import checksum_address
from tokens.models import Coverage, FeeClaim, PoolTrade, Token, TokenEvent

pytestmark = pytest.mark.django_db(transaction=True)

RELEASE = "0x951cb665214ddfa483febb22b592b0c67f38eac40f7be33f6fcbbe63289276d1"
STRANGER = "0x" + "99" * 20


def received(recorded, currency, sender, recipient):
    """Return the amounts that an ERC-20 moved from one account to another, in the recording's order."""
    return [
        int(log["data"], 16)
        for entry in recorded.recording["transactions"]
        for log in entry["receipt"]["logs"]
        if checksum_address(log["address"]) == currency
        and log["topics"][0] == topic(TRANSFER)
        and [checksum_address("0x" + word[-40:]) for word in log["topics"][1:]] == [sender, recipient]
    ]


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


def test_claims_by_pool_are_what_balances_changed_by(install_recording, client, read_key):
    recorded = install_recording("doppler-multicurve_1_weth")
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


def test_claims_in_each_order_of_reading_are_the_same_rows(install_recording):
    recorded = install_recording("doppler-multicurve_1_weth")
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
    return [recorded.facts_of(claim["tx_hash"]) for claim in recorded.expected["fee_claims"]]


def test_verification_repairs_lost_and_altered_claims(install_recording):
    recorded = install_recording("doppler-multicurve_1_weth")
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
def test_nobody_but_a_declared_emitter_claims(install_recording, emitter):
    def forge(recorded):
        for entry in recorded.recording["transactions"]:
            for log in entry["receipt"]["logs"]:
                if log["topics"][0] == RELEASE:
                    log["address"] = emitter

    recorded = install_recording("doppler-multicurve_1_weth", change=forge)
    recorded.backfill()
    assert Token.objects.count() == 1 and paid() == []


def test_a_claim_of_another_launchpads_token_does_not_count(install_recording):
    recorded = install_recording("doppler-multicurve_1_weth", "doppler", "bankr")
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
def test_payments_of_a_pools_hook_are_what_the_recipient_got_of_it(install_recording, name):
    recorded = install_recording(name)
    assert ", repaired: 0 missing, 0 invented" in recorded.backfill()
    hook = checksum_address(recorded.recording["contracts"]["hook"])
    for recipient, currency in {claim[:2] for claim in paid()}:
        amounts = [amount for to, of, amount in paid(recipient) if of == currency]
        assert amounts == received(recorded, currency, hook, recipient)
    assert paid() and {currency for _, currency, _ in paid()} == {recorded.recording["contracts"]["zora_token"]}


def test_a_payment_by_another_hook_than_the_pools_does_not_count(install_recording):
    recorded = install_recording("zora-creator_coin_1")
    recorded.write(recorded.facts("launch"))
    recorded.write(recorded.facts("buy"))
    assert paid()
    buy = recorded.facts("buy")
    for log in buy.event_logs:
        object.__setattr__(log, "emitter", checksum_address(STRANGER))
    TokenEvent.objects.all().delete()
    recorded.write(buy)
    assert paid() == []


def test_the_creator_of_a_coin_follows_its_nft(install_recording):
    recorded = install_recording("flaunch-launch_1_fair_launch")
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


def test_nfts_of_one_transaction_are_of_their_own_launches(install_recording):
    recorded = install_recording("flaunch-batch_1_two_launches")
    recorded.backfill()
    admins = {token.contract_address: token.admin for token in Token.objects.all()}
    assert admins == {launch["token"]: launch["creator"] for launch in recorded.expected["launches"]}
    nfts = [token.launch.facts["nft"].rpartition("/")[2] for token in Token.objects.order_by("log_index")]
    assert nfts == ["5", "6"]


def test_an_nft_of_another_contract_with_the_same_id_changes_nothing(install_recording):
    def move(recorded):
        recorded.entry("creator_change")["receipt"]["logs"][0]["address"] = STRANGER

    recorded = install_recording("flaunch-launch_1_fair_launch", change=move)
    recorded.backfill()
    assert Token.objects.get().admin == recorded.expected["creator"]


# A claim by a pool, whose event names no token and no other recipient.
SKIMMED = "Skimmed(address indexed to, uint256 fees0, uint256 fees1)"
OF_POOLS = f"""
[[launchpads.doppler.claim]]
event = "{SKIMMED}"
by = "pool"
recipient = "to"
amount0 = "fees0"
amount1 = "fees1"
"""


def test_pools_claim_for_their_token_before_and_after_they_moved(install_recording):
    def skim(recorded):
        first = recorded.expected["launch_event"]["poolOrHook"]
        pools = {"buy": first, "buy_after_graduation": _pair(recorded.recording)}
        for entry in recorded.recording["transactions"]:
            for pool in filter(None, (pools.get(entry["label"]), STRANGER)):
                recorded.add_logs(entry["label"], emit(pool, SKIMMED, STRANGER, 5, 7))

    recorded = install_recording("doppler-v3_to_v2_1", change=skim, more=OF_POOLS)
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


def test_the_hook_of_a_pool_that_a_coin_moved_to_pays_and_its_swaps_are_no_trades(install_recording):
    def migrate(recorded):
        coin, quote = recorded.expected["token"], recorded.expected["quote"]
        manager, pool = recorded.recording["contracts"]["pool_manager"], bytes.fromhex(NEW_POOL[2:])
        key = (*sorted((coin, quote), key=str.lower), 8388608, 200, NEW_HOOK)
        moved = [emit(manager, V4_INITIALIZE, pool, *key, 2**96, 0), emit(coin, MOVED, key, pool, key, pool)]
        recorded.add_logs("uri_change", *moved)
        amounts = (-(10**18), 10**18, 2**96, 10**21, 0, 0)
        rewarded = f"CoinMarketRewardsV4({'address,' * 7}({','.join(['uint256'] * 10)}))"
        recorded.add_logs(
            "vesting_claim",
            *(emit(manager, V4_SWAP, pool, sender, *amounts) for sender in (STRANGER, NEW_HOOK)),
            emit(NEW_HOOK, rewarded, coin, quote, STRANGER, *[NEW_HOOK] * 4, (9, *[0] * 9)),
        )

    zora = InstalledRecording("zora-creator_coin_1").recording["contracts"]["zora_token"]
    quote = f'quote_tokens = [{{ symbol = "ZORA", address = "{zora}", decimals = 18, stable = true }}]'
    recorded = install_recording("zora-creator_coin_1", change=migrate, more=quote)
    assert ", repaired: 0 missing, 0 invented" in recorded.backfill()
    token = Token.objects.get()
    assert token.pool_address == NEW_POOL
    assert {pool.hook for pool in token.pools.all()} == {"", checksum_address(NEW_HOOK)}
    assert paid(checksum_address(STRANGER)) == [(checksum_address(STRANGER), recorded.expected["quote"], 9)]
    assert list(PoolTrade.objects.order_by("position").values_list("is_conversion", flat=True))[-2:] == [False, True]


def test_an_earlier_move_that_is_read_later_leaves_its_pool_to_the_token(install_recording):
    pools = {"uri_change": "0x" + "79" * 32, "vesting_claim": NEW_POOL}

    def migrate(recorded):
        coin, key = recorded.expected["token"], (STRANGER, STRANGER, 0, 0, NEW_HOOK)
        for label, pool in pools.items():
            recorded.add_logs(label, emit(coin, MOVED, key, bytes(32), key, bytes.fromhex(pool[2:])))

    recorded = install_recording("zora-creator_coin_1", change=migrate)
    recorded.write(recorded.facts("launch"), recorded.facts("vesting_claim"))
    launched = Token.objects.get().launch.facts["pool"]["address"]
    recorded.write(recorded.facts("uri_change"))
    token = Token.objects.get()
    assert token.pool_address == NEW_POOL
    assert {pool.pool_address for pool in token.pools.all()} == {launched, *pools.values()}


def test_a_pool_without_the_token_is_no_move(install_recording):
    def migrate(recorded):
        coin, manager = recorded.expected["token"], recorded.recording["contracts"]["pool_manager"]
        key, pool = ("0x" + "11" * 20, STRANGER, 3000, 60, NEW_HOOK), bytes.fromhex(NEW_POOL[2:])
        moved = [emit(manager, V4_INITIALIZE, pool, *key, 2**96, 0), emit(coin, MOVED, key, pool, key, pool)]
        recorded.add_logs("uri_change", *moved)

    recorded = install_recording("zora-creator_coin_1", change=migrate)
    recorded.write(recorded.facts("launch"))
    launched = Token.objects.get().pool_address
    counts = recorded.write(recorded.facts("uri_change"))
    assert Token.objects.get().pool_address == launched != NEW_POOL
    (log,) = counts.undecodable
    assert log.launchpad == "zora" and "the new pool lacks the token" in log.reason
