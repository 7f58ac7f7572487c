"""Events after launch: from a transaction hash to what it changed, on the recorded chain, and back."""

from collections import defaultdict

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.nodes import contract_events as abi
from tests.nodes.launch_builder import DEPLOYER, FACTORY_V4, LOCKER_V4, SENDER, STRANGER, WETH, ZERO, event, transaction
from tests.nodes.log_encoding import topic
from tests.nodes.recordings import EVENT_TRANSACTIONS, RECORDED_LAUNCHES, decoded, mined
from tests.rows.factories import TokenFactory
from tokens.catalogue.records import read_records
from tokens.chains.errors import LaunchNotFoundError
from tokens.indexing import event_rows, index_requests
from tokens.models import FeeClaim, IndexRequest, Token, TokenEvent

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("installed_node")]

CHAIN_ID = 8453
FEE_LOCKER = "0xF3622742b1E446D92e45E22923Ef11C2fcD55D68"
VAULT_V4 = "0x8E845EAd15737bF71904A30BdDD3aEE76d6ADF6C"
VAULT_V31 = "0x42A95190B4088C88Dd904d930c79deC1158bF09D"
FEE_SPENDER = "0x10F4485d6f90239B72c6A5eaD2F2320993D285E4"
AIRDROP = "0xf652b3610D75D81871bf96DB50825d9af28391E0"


@pytest.fixture(autouse=True)
def _only_events(installed_node):
    """Serve no current state, so that only events change a token."""
    installed_node.refuse_state()


def index(label):
    return index_requests.index_transaction(chain_id=CHAIN_ID, tx_hash=decoded(label)["hash"])


def launched(label):
    """Index a launch; return its token."""
    return Token.objects.get(contract_address=index(label)[0])


def request_of(tx_hash):
    return IndexRequest.objects.get(chain_id=CHAIN_ID, tx_hash=tx_hash)


def record_of(token):
    return read_records(Token.objects.filter(pk=token.pk))[0]


def everything():
    """Return all that indexing writes, except its time and whether it is final."""
    tokens = [
        {name: value for name, value in row.items() if name not in ("last_indexed", "confirmed")}
        for row in Token.objects.order_by("id").values()
    ]
    return tokens, list(TokenEvent.objects.order_by("id").values()), list(FeeClaim.objects.order_by("id").values())


def index_logs(node, *logs, to=STRANGER):
    """Index a transaction that holds these logs."""
    return index_requests.index_transaction(chain_id=CHAIN_ID, tx_hash=node.hold(transaction(*logs, to=to)))


@pytest.mark.parametrize(("label", "launch"), EVENT_TRANSACTIONS.items())
def test_it_keeps_each_recorded_event_once(label, launch):
    token = launched(launch) if launch else None
    before = everything()
    addresses = index(label)
    assert addresses == ((token.contract_address,) if token else ())
    (kept,) = TokenEvent.objects.filter(tx_hash=decoded(label)["hash"])
    receipt = mined(label).receipt
    assert (kept.chain_id, kept.token, kept.block_hash) == (CHAIN_ID, token, receipt["blockHash"])
    assert kept.block_number == int(receipt["blockNumber"], 16)
    assert kept.at.timestamp() == int(mined(label).block["timestamp"], 16)
    (log,) = (log for log in decoded(label)["decodedLogs"] if log["logIndex"] == kept.log_index)
    assert kept.emitter.lower() == log["address"]

    after = everything()
    assert index(label) == addresses
    assert everything() == after

    request = request_of(kept.tx_hash)
    assert (request.status, request.block_hash) == ("indexed", kept.block_hash)
    if label not in RECORDED_LAUNCHES:
        index_requests.unwind_request(request)
        assert everything() == before
        assert request_of(kept.tx_hash).status == "pending"


def test_claims_add_up_to_the_wei_to_the_amounts_on_chain():
    for label in RECORDED_LAUNCHES:
        index(label)
    expected = defaultdict(int)
    for label in EVENT_TRANSACTIONS:
        index(label)
        for log in decoded(label)["decodedLogs"]:
            args = log["args"]
            if log["event"] == "ClaimTokens":
                expected[args["feeOwner"], args["token"]] += int(args["amountClaimed"])
            elif log["event"] == "ClaimTeamFees":
                expected[args["recipient"], args["token"]] += int(args["amount"])
            elif "claimer" in args:
                for place in (0, 1):
                    expected[args["claimer"], args[f"token{place}"]] += int(args[f"amount{place}"])
            elif "lpTokenId" in args:
                for role in ("creator", "interface", "team"):
                    for place in (0, 1):
                        expected[args[f"{role}Recipient"], args[f"token{place}"]] += int(args[f"{role}Reward{place}"])
    found = defaultdict(int)
    for claim in FeeClaim.objects.all():
        found[claim.recipient, claim.currency] += int(claim.amount)
    assert found == expected
    assert TokenEvent.objects.count() == len(EVENT_TRANSACTIONS)


@pytest.mark.parametrize(
    ("launch", "claim"),
    [("legacy-v0-deploy", "legacy-v0-claim"), ("legacy-v2-deploy", "legacy-v2-claim")],
)
def test_the_older_lockers_pay_what_left_them_for_the_claimer(launch, claim):
    index(launch)
    index(claim)
    # Every transfer from the locker to the claimer, as the currencies' own contracts log it.
    (claimed,) = (log for log in decoded(claim)["decodedLogs"] if "claimer" in log["args"])
    moved = {
        (log["args"]["to"], log["address"]): int(log["args"]["value"])
        for log in decoded(claim)["decodedLogs"]
        if log["event"] == "Transfer" and log["args"]["from"].lower() == claimed["address"]
    }
    claimer = claimed["args"]["claimer"]
    paid = {(row.recipient, row.currency.lower()): int(row.amount) for row in FeeClaim.objects.all()}
    assert paid == {key: amount for key, amount in moved.items() if key[0] == claimer}
    assert len(paid) == 2


def test_admin_image_and_verification_follow_the_chain():
    token = launched("deploy-plain")
    for label in ("token-update-image", "token-verify", "token-update-admin"):
        index(label)
    record = record_of(token)
    assert (record["admin"], record["img_url"]) == ("0x976EA74026E726554dB657fA54763abd0C3a0aa9", "ipfs://new-image")
    assert record["tags"]["verified"]
    # The operators' own tag is independent.
    token.refresh_from_db()
    assert (token.verified, token.verified_on_chain) == (False, True)


def test_recipients_follow_the_chain():
    token = launched("deploy-multi-recipients")
    first, second, third = token.extensions["fees"]["recipients"]
    index("locker-update-reward-recipient")
    index("locker-update-fee-preference")
    token.refresh_from_db()
    assert token.extensions["fees"]["recipients"] == [
        first | {"recipient": "0x90F79bf6EB2c4f870365E785982E1f101E93b906"},
        second,
        third | {"token": "Paired"},
    ]


# By the published ABI for v3.1's locker; its events name neither the token nor the share's index.
V31_SHARES = [
    ("CreatorRewardRecipientUpdated", 0, "recipient"),
    ("CreatorRewardRecipientAdminUpdated", 0, "admin"),
    ("InterfaceRewardRecipientUpdated", 1, "recipient"),
    ("InterfaceRewardRecipientAdminUpdated", 1, "admin"),
]
V31_TOPICS = {
    "CreatorRewardRecipientUpdated": "0x8b82c83824d9033277aa41c543b5e53662a3b944a80fdc9b01ff1b7a4d737ca2",
    "InterfaceRewardRecipientAdminUpdated": "0x81c087afd6e0515c84a3516ff82c92e261554d53c3e85ed966d4405df38ebb5a",
}


V31_CHANGED = "%s(uint256 indexed,address indexed,address)"


def v31_change(name, token, *, locker=None, position_id=None, to=STRANGER):
    """Build a log by v3.1's locker about the token's LP NFT."""
    changed = position_id or int(token.position_id)
    return event(locker or token.locker_address, V31_CHANGED % name, changed, ZERO, to)


@pytest.mark.parametrize(("name", "place", "part"), V31_SHARES)
def test_recipients_and_admins_of_v31_follow_the_chain_and_back(node, name, place, part):
    token = launched("legacy-v31-deploy")
    expected = token.extensions["fees"]["recipients"]
    expected[place] = expected[place] | {part: STRANGER}
    before = everything()
    change = v31_change(name, token)
    assert V31_TOPICS.get(name, change["topics"][0]) == change["topics"][0]
    assert index_logs(node, change) == (token.contract_address,)
    token.refresh_from_db()
    assert token.extensions["fees"]["recipients"] == expected
    kept = TokenEvent.objects.get()
    assert (kept.kind, kept.token) == (f"reward_{part}_updated", token)
    index_requests.unwind_request(request_of("0x" + "ab" * 32))
    assert everything() == before


def test_a_change_of_each_share_of_v31_is_kept_and_the_last_of_each_counts(node):
    token = launched("legacy-v31-deploy")
    changes = [v31_change(name, token, to=to) for to in (STRANGER, DEPLOYER) for name, _, _ in V31_SHARES]
    index_logs(node, *changes)
    token.refresh_from_db()
    shares = token.extensions["fees"]["recipients"]
    assert [(share["admin"], share["recipient"]) for share in shares] == [(DEPLOYER, DEPLOYER)] * 2


def test_a_change_of_v31_in_the_launchs_own_transaction_counts(node):
    launch = mined("legacy-v31-deploy")
    (added,) = (log for log in decoded("legacy-v31-deploy")["decodedLogs"] if log["event"] == "TokenRewardAdded")
    position = int(added["args"]["lpTokenId"])
    change = event(added["address"], V31_CHANGED % "CreatorRewardRecipientUpdated", position, ZERO, STRANGER)
    launch.logs.append(launch.logs[-1] | change | {"logIndex": hex(len(launch.logs) + 100)})
    node.hold(launch)
    token = launched("legacy-v31-deploy")
    assert token.extensions["fees"]["recipients"][0]["recipient"] == STRANGER


def test_a_change_of_v31_before_its_launch_is_indexed_is_refused_until_then(node):
    token = launched("legacy-v31-deploy")
    change = v31_change("CreatorRewardRecipientUpdated", token)
    Token.objects.all().delete()
    with pytest.raises(LaunchNotFoundError):
        index_logs(node, change)
    index("legacy-v31-deploy")
    assert index_logs(node, change) == (token.contract_address,)


def test_a_change_of_v31_counts_only_from_the_locker_and_position_of_the_launch(node):
    v31, v2 = launched("legacy-v31-deploy"), launched("legacy-v2-deploy")
    name = "CreatorRewardRecipientUpdated"
    foreign = [
        v31_change(name, v31, locker=STRANGER),
        v31_change(name, v31, locker=v2.locker_address),
        v31_change(name, v31, locker=LOCKER_V4),
        v31_change(name, v31, position_id=int(v31.position_id) + 1),
        {"address": STRANGER, "topics": v31_change(name, v31)["topics"][:1], "data": "0x12"},
    ]
    with pytest.raises(LaunchNotFoundError):
        index_logs(node, *foreign)


def test_what_no_transaction_was_recorded_of_is_followed_too(node):
    token = launched("deploy-airdrop")
    address = token.contract_address
    index_logs(
        node,
        event(address, abi.UPDATE_METADATA, '{"description":"New","socialMediaUrls":["https://x.example"]}'),
        event(LOCKER_V4, abi.REWARD_ADMIN_UPDATED, address, 0, ZERO, SENDER),
        event(AIRDROP, abi.AIRDROP_ROOT_UPDATED, address, b"\0" * 32, b"\x11" * 32),
        event(AIRDROP, abi.AIRDROP_ADMIN_UPDATED, address, ZERO, STRANGER),
        event(VAULT_V4, abi.VAULT_ADMIN_UPDATED, address, ZERO, SENDER),
    )  # fmt: skip
    record = record_of(token)
    token.refresh_from_db()
    assert (record["description"], record["socialLinks"]) == (
        "New",
        [{"name": "website", "link": "https://x.example"}],
    )
    assert token.extensions["fees"]["recipients"][0]["admin"] == SENDER
    assert (token.extensions["airdrop"]["merkleRoot"], token.extensions["airdrop"]["admin"]) == (
        "0x" + "11" * 32,
        STRANGER,
    )
    assert TokenEvent.objects.filter(token=token).count() == 5


def test_fees_that_another_account_receives_are_claimed_by_their_owner(node):
    permissioned = "ClaimTokensPermissioned(address indexed,address indexed,address,uint256)"
    claim = event(FEE_LOCKER, permissioned, SENDER, WETH, STRANGER, 5)
    index_logs(node, claim)
    paid = FeeClaim.objects.get()
    assert (paid.recipient, paid.currency, int(paid.amount)) == (SENDER, WETH, 5)


def test_fees_that_the_team_returns_to_a_creator_are_claimed(node):
    token = launched("legacy-v2-deploy")
    returned = "Transfer(address indexed,address indexed,uint256,address,address indexed)"
    logs = [
        event(by, returned, STRANGER, token.contract_address, 7, DEPLOYER, SENDER) for by in (FEE_SPENDER, STRANGER)
    ]
    assert index_logs(node, *logs) == (token.contract_address,)
    paid = FeeClaim.objects.get()
    assert (paid.recipient, paid.currency, int(paid.amount)) == (SENDER, token.contract_address, 7)


def test_a_share_that_is_not_in_the_launch_changes_nothing(node):
    token = launched("deploy-plain")
    index_logs(node, event(LOCKER_V4, abi.RECIPIENT_UPDATED, token.contract_address, 2**255, ZERO, SENDER))
    before = token.extensions
    token.refresh_from_db()
    assert token.extensions == before
    assert TokenEvent.objects.get().arguments["rewardIndex"] == str(2**255)


def test_an_unknown_preference_is_both(node):
    token = launched("deploy-multi-recipients")
    index_logs(node, event(LOCKER_V4, abi.PREFERENCE_UPDATED, token.contract_address, 1, 0, 9))
    token.refresh_from_db()
    assert token.extensions["fees"]["recipients"][1]["token"] == "Both"


def test_the_vault_of_v31_is_known_by_its_own_event(node):
    token = launched("legacy-v31-deploy")
    unlocked = event(VAULT_V31, "AllocationUnlocked(address indexed,uint256,uint256)", token.contract_address, 7, 3)
    index_logs(node, unlocked)
    kept = TokenEvent.objects.get()
    assert (kept.kind, kept.arguments["amount"], kept.token) == ("vault_claimed", "7", token)


def test_a_launch_that_is_indexed_again_keeps_what_happened_since():
    launched("deploy-plain")
    for label in ("token-update-image", "token-verify", "token-update-admin"):
        index(label)
    before = everything()
    last_indexed = Token.objects.get().last_indexed
    index("deploy-plain")
    assert everything() == before
    assert Token.objects.get().last_indexed > last_indexed


def test_it_makes_no_difference_in_which_order_changes_are_indexed(node):
    token = launched("deploy-plain")
    # In an earlier block than the recorded ones.
    earlier = transaction(event(token.contract_address, abi.UPDATE_IMAGE, "ipfs://older"), to=STRANGER)
    index("token-update-image")
    index_requests.index_transaction(chain_id=CHAIN_ID, tx_hash=node.hold(earlier))
    token.refresh_from_db()
    assert token.img_url == "ipfs://new-image"
    index_requests.unwind_request(request_of(decoded("token-update-image")["hash"]))
    token.refresh_from_db()
    assert token.img_url == "ipfs://older"


def test_an_event_in_another_block_takes_the_place_of_the_dropped_one(node):
    token = launched("deploy-plain")
    tx_hash = decoded("token-update-image")["hash"]
    index("token-update-image")
    moved = mined("token-update-image")
    for part in (moved.transaction, moved.receipt, *moved.logs):
        part["blockHash"] = "0x" + "ee" * 32
    moved.block["hash"] = "0x" + "ee" * 32
    moved.logs[0].update(event(token.contract_address, abi.UPDATE_IMAGE, "ipfs://moved"), logIndex="0x5")
    node.hold(moved)
    index("token-update-image")
    kept = TokenEvent.objects.get()
    token.refresh_from_db()
    assert (kept.log_index, kept.block_hash, token.img_url) == (5, "0x" + "ee" * 32, "ipfs://moved")
    assert request_of(tx_hash).block_hash == "0x" + "ee" * 32


def test_an_event_is_confirmed_at_the_chains_finality_or_unwound(node):
    launched("deploy-plain")
    index("token-update-image")
    node.answers["eth_blockNumber"] = lambda: hex(10_000)
    assert index_requests.confirm_indexed(CHAIN_ID) == 2
    assert request_of(decoded("token-update-image")["hash"]).status == "confirmed"

    index("token-update-admin")
    number = int(mined("token-update-admin").receipt["blockNumber"], 16)
    node.blocks[number] = node.blocks[number] | {"hash": "0x" + "ee" * 32}
    assert index_requests.confirm_indexed(CHAIN_ID) == 0
    assert request_of(decoded("token-update-admin")["hash"]).status == "pending"
    token = Token.objects.get()
    assert (token.admin, token.img_url) == (
        "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
        "ipfs://new-image",
    )


def test_an_event_whose_transaction_now_fails_is_undone(node):
    launched("deploy-plain")
    index("token-update-image")
    failed = mined("token-update-image")
    failed.logs.clear()
    failed.receipt["status"] = "0x0"
    for part in (failed.transaction, failed.receipt, failed.block):
        part["hash" if part is failed.block else "blockHash"] = "0x" + "ee" * 32
    node.hold(failed)
    with pytest.raises(LaunchNotFoundError):
        index("token-update-image")
    assert request_of(failed.hash).status == "orphaned"
    assert not TokenEvent.objects.exists()
    assert Token.objects.get().img_url != "ipfs://new-image"


@pytest.mark.parametrize(
    "label", [label for label, launch in EVENT_TRANSACTIONS.items() if launch and label not in RECORDED_LAUNCHES]
)
def test_what_concerns_a_token_that_was_not_launched_here_is_refused_until_its_launch_is_indexed(label):
    if label == "claim-token-plain":
        # A claim in a currency counts, for any token.
        assert index(label) == ()
        return
    with pytest.raises(LaunchNotFoundError):
        index(label)
    assert request_of(decoded(label)["hash"]).status == "failed"
    index(EVENT_TRANSACTIONS[label])
    assert len(index(label)) == 1
    assert request_of(decoded(label)["hash"]).status == "indexed"


def test_a_row_without_a_launch_vouches_for_nothing():
    TokenFactory(contract_address="0x72e27903809b8351B0F4BE9Db3F5079A7403c73B", locker_address=LOCKER_V4)
    for label in ("token-update-image", "collect-plain"):
        with pytest.raises(LaunchNotFoundError):
            index(label)


def test_a_token_that_a_reorg_hides_still_vouches():
    token = launched("deploy-plain")
    index_requests.unwind_request(request_of(token.tx_hash))
    assert index("token-update-image") == (token.contract_address,)
    index("deploy-plain")
    token.refresh_from_db()
    assert (token.unindexed, token.img_url) == (False, "ipfs://new-image")


def spoofs(token):
    """Return look-alikes for every event kind from untrusted contracts, well-formed and malformed."""
    address, paired = token.contract_address, token.paired_token
    return [
        event(STRANGER, abi.UPDATE_ADMIN, ZERO, STRANGER),
        event(STRANGER, abi.VERIFIED, STRANGER, address),
        event(STRANGER, abi.COLLECTED, address, 1, 1, [1], [1]),
        event(FEE_LOCKER, abi.COLLECTED, address, 1, 1, [1], [1]),
        event(STRANGER, abi.RECIPIENT_UPDATED, address, 0, ZERO, STRANGER),
        event(STRANGER, abi.CLAIM_TOKENS, STRANGER, paired, 10**30),
        event(LOCKER_V4, abi.CLAIM_TOKENS, STRANGER, paired, 10**30),
        event(address, abi.CLAIM_TOKENS, STRANGER, paired, 10**30),
        event(STRANGER, abi.CLAIM_TEAM_FEES, paired, STRANGER, 10**30),
        event(STRANGER, abi.FIRST_CLAIMED % "ClaimedRewards", STRANGER, address, paired, 9, 9, 9, 9),
        event(STRANGER, abi.FIRST_CLAIMED % "ClaimedFees", STRANGER, ZERO, ZERO, 9, 9, 9, 9),
        event(STRANGER, abi.V31_CLAIMED, int(token.position_id or 0), *[STRANGER] * 3, address, paired, *[9] * 6),
        event(STRANGER, abi.VAULT_CLAIMED, address, 1, 1),
        event(STRANGER, abi.AIRDROP_CLAIMED, address, STRANGER, 1, 1),
        {"address": STRANGER, "topics": [topic(abi.CLAIM_TOKENS)], "data": "0x12"},
        {"address": STRANGER, "topics": [topic(abi.UPDATE_IMAGE)], "data": "0x"},
        {"address": STRANGER, "topics": [topic(abi.COLLECTED)], "data": "0x"},
    ]  # fmt: skip


@pytest.mark.parametrize("launch", ["deploy-plain", "legacy-v31-deploy", "legacy-v2-deploy", "legacy-v0-deploy"])
def test_no_other_contract_can_emit_them(node, launch):
    token = launched(launch)
    before = everything()
    with pytest.raises(LaunchNotFoundError):
        index_logs(node, *spoofs(token))
    assert everything() == before


def test_a_spoof_beside_an_event_is_left_out(node):
    token = launched("deploy-plain")
    index_logs(node, *spoofs(token), event(token.contract_address, abi.UPDATE_IMAGE, "ipfs://true"))
    assert TokenEvent.objects.get().arguments == {"image": "ipfs://true"}


def test_a_locker_is_trusted_only_for_tokens_whose_launch_named_it(node):
    """Check two generations' lockers that name another launch's token, position and currencies."""
    v2, v31, v4 = launched("legacy-v2-deploy"), launched("legacy-v31-deploy"), launched("deploy-plain")
    pair = (v2.contract_address, v2.paired_token)
    position_id = int(v31.position_id)
    foreign = [
        event(v2.locker_address, abi.COLLECTED, v4.contract_address, 1, 1, [1], [1]),
        event(v31.locker_address, abi.FIRST_CLAIMED % "ClaimedRewards", SENDER, *pair, 9, 9, 9, 9),
        event(v2.locker_address, abi.FIRST_CLAIMED % "ClaimedRewards", SENDER, pair[0], STRANGER, 9, 9, 9, 9),
        event(v2.locker_address, abi.V31_CLAIMED, position_id, *[SENDER] * 3, *pair, *[9] * 6),
        event(v31.locker_address, abi.V31_CLAIMED, position_id + 1, *[SENDER] * 3, *pair, *[9] * 6),
    ]  # fmt: skip
    with pytest.raises(LaunchNotFoundError):
        index_logs(node, *foreign)


def test_a_locker_without_a_fee_is_found_by_its_own_token(node):
    token = launched("legacy-v0-deploy")
    claim = event(token.locker_address, abi.FIRST_CLAIMED % "ClaimedFees", SENDER, ZERO, ZERO, 5, 7, 5, 7)
    assert index_logs(node, claim) == (token.contract_address,)
    assert {(claim.currency, int(claim.amount)) for claim in FeeClaim.objects.all()} == {
        (token.contract_address, 5),
        (WETH, 7),
    }


def test_a_shared_locker_that_names_no_currencies_changes_nothing(node):
    token = launched("legacy-v2-deploy")
    claim = event(token.locker_address, abi.FIRST_CLAIMED % "ClaimedRewards", SENDER, ZERO, ZERO, 5, 7, 5, 7)
    with pytest.raises(LaunchNotFoundError):
        index_logs(node, claim)
    # Nor does it where another event in the transaction names one of its tokens.
    pair = (token.contract_address, WETH)
    other = event(token.locker_address, abi.FIRST_CLAIMED % "ClaimedRewards", SENDER, *pair, 1, 2, 3, 4)
    index_logs(node, claim, other)
    assert TokenEvent.objects.get().arguments["total0"] == "3"


@pytest.mark.parametrize(
    ("launch", "emitter", "signature"),
    [
        ("deploy-plain", None, abi.UPDATE_IMAGE),
        ("deploy-plain", LOCKER_V4, abi.COLLECTED),
        ("deploy-plain", FEE_LOCKER, abi.CLAIM_TOKENS),
        ("deploy-plain", FACTORY_V4, "ClaimTeamFees(address,address,uint256)"),
        ("legacy-v0-deploy", "locker", abi.FIRST_CLAIMED % "ClaimedFees"),
    ],
)
def test_a_malformed_event_of_a_trusted_emitter_is_skipped_and_reported(node, caplog, launch, emitter, signature):
    token = launched(launch)
    emitter = token.locker_address if emitter == "locker" else emitter or token.contract_address
    broken = {"address": emitter.lower(), "topics": [topic(signature)], "data": "0x12"}
    index_logs(node, broken, event(token.contract_address, abi.UPDATE_IMAGE, "ipfs://fine"))
    assert TokenEvent.objects.get().arguments == {"image": "ipfs://fine"}
    (logged,) = [record for record in caplog.records if record.levelname == "ERROR"]
    assert f" of {emitter}: " in logged.getMessage()
    request = IndexRequest.objects.get(undecodable=True)
    assert (request.contract, request.launchpad) == (emitter, "clanker")


def test_of_many_changes_of_one_kind_the_last_counts_and_is_all_that_is_read(node):
    token = launched("deploy-plain")
    logs = [event(token.contract_address, abi.UPDATE_IMAGE, f"ipfs://{number}") for number in range(40)]
    logs += [
        event(LOCKER_V4, abi.RECIPIENT_UPDATED, token.contract_address, 0, SENDER, to) for to in (STRANGER, DEPLOYER)
    ]
    index_logs(node, *logs)
    token.refresh_from_db()
    assert token.img_url == "ipfs://39"
    assert token.extensions["fees"]["recipients"][0]["recipient"] == DEPLOYER
    assert len(event_rows._changes_of([token])[token.pk]) == 2


def test_events_of_many_tokens_cost_as_many_queries_as_those_of_one(node):
    labels = ["deploy-plain", "deploy-vault", "deploy-airdrop", "deploy-token1"]
    tokens = [launched(label) for label in labels]

    def queries(*chosen):
        logs = [
            log
            for token in chosen
            for log in (
                event(token.contract_address, abi.UPDATE_IMAGE, f"ipfs://{len(chosen)}"),
                event(LOCKER_V4, abi.COLLECTED, token.contract_address, 1, 1, [1], [1]),
                event(FEE_LOCKER, abi.CLAIM_TOKENS, SENDER, token.contract_address, 5),
            )
        ]
        node.hold(transaction(*logs, to=STRANGER))
        with CaptureQueriesContext(
            connection,
        ) as captured:
            index_requests.index_transaction(chain_id=CHAIN_ID, tx_hash="0x" + "ab" * 32)
        return len(captured)

    queries(tokens[0])
    alone = queries(tokens[1])
    assert queries(*tokens) == alone
    assert TokenEvent.objects.count() == 12
