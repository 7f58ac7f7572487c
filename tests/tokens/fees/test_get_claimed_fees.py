"""GET /api/get-claimed-fees/{tokenAddress}/{feeRecipient}."""

from datetime import UTC, datetime

import pytest

from tests.nodes.recordings import decoded
from tests.rows.factories import FeeClaimFactory, TokenEventFactory
from tokens.indexing import index_requests

pytestmark = pytest.mark.django_db

WETH = "0x4200000000000000000000000000000000000006"
TOKEN = "0x72e27903809b8351B0F4BE9Db3F5079A7403c73B"
OWNER = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
MINT = "So11111111111111111111111111111111111111112"
CREATOR = "dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN"


def path(currency=WETH, recipient=OWNER):
    return f"/api/get-claimed-fees/{currency}/{recipient}"


@pytest.fixture
def fetch(client, read_key):
    """Send a request with a key, by default for OWNER's WETH, and return the response."""
    return lambda *place, **parameters: client.get(path(*place), parameters, headers=read_key)


def claims(count, **changes):
    return [FeeClaimFactory(recipient=OWNER, **changes) for _ in range(count)]


@pytest.mark.parametrize("parameters", [{}, {"chainId": 101}])
def test_a_mint_is_of_solana_and_found_only_in_its_own_case(fetch, parameters):
    signature = "5" * 88
    event = TokenEventFactory(chain_id=101, tx_hash=signature, block_hash="")
    FeeClaimFactory(event=event, currency=MINT, recipient=CREATOR, amount=7)
    found = fetch(MINT, CREATOR, **parameters).json()
    assert (found["tokenAddress"], found["feeRecipient"], found["chainId"]) == (MINT, CREATOR, 101)
    assert (found["totalClaimed"], found["txHashes"]) == ("7", [signature])
    assert fetch(MINT, CREATOR[:-1] + "n", **parameters).json()["claimCount"] == 0


@pytest.mark.parametrize("chain", [{}, {"chainId": 8453}, {"chainId": 10143}])
def test_without_claims_it_answers_with_zeros(fetch, chain):
    answer = fetch(**chain)
    assert answer.status_code == 200
    assert answer.json() == {
        "tokenAddress": WETH,
        "feeRecipient": OWNER,
        "chainId": chain.get("chainId", 8453),
        "totalClaimed": "0",
        "claimCount": 0,
        "txHashes": [],
        "pagination": {"limit": 50, "offset": 0, "hasMore": False},
    }
    assert answer.headers["Cache-Control"] == "private, max-age=60"


@pytest.mark.parametrize(
    ("chains", "default"), [((), 8453), ((1,), 1), ((1, 8453), 8453), ((101,), 8453), ((101, 1), 1)]
)
def test_without_a_chain_the_registrys_first_evm_chain_with_a_node_is_meant(fetch, settings, chains, default):
    settings.RPC_URLS = dict.fromkeys(chains, ("http://127.0.0.1:9",))
    assert fetch().json()["chainId"] == default


def test_it_lists_claims_newest_first_page_by_page(fetch):
    hashes = [claim.event.tx_hash for claim in claims(5, amount=10**18 + 1)][::-1]
    pages = [fetch(limit=2, offset=offset).json() for offset in (0, 2, 4, 6)]
    assert [page["txHashes"] for page in pages] == [hashes[:2], hashes[2:4], hashes[4:], []]
    assert [page["pagination"] for page in pages] == [
        {"limit": 2, "offset": offset, "hasMore": more}
        for offset, more in ((0, True), (2, True), (4, False), (6, False))
    ]
    assert {(page["totalClaimed"], page["claimCount"]) for page in pages} == {(str(5 * (10**18 + 1)), 5)}


def test_a_page_that_ends_with_the_last_claim_has_no_more(fetch):
    claims(2)
    assert [fetch(limit=limit).json()["pagination"]["hasMore"] for limit in (1, 2, 3)] == [True, False, False]


def test_claims_of_one_block_keep_their_order(fetch):
    at = datetime(2026, 3, 1, tzinfo=UTC)
    hashes = [claim.event.tx_hash for claim in claims(4, event__at=at)][::-1]
    assert [fetch(limit=1, offset=offset).json()["txHashes"] for offset in range(4)] == [[one] for one in hashes]


def test_a_transaction_with_two_claims_is_listed_twice(fetch):
    first = TokenEventFactory()
    second = TokenEventFactory(tx_hash=first.tx_hash, log_index=3)
    for event in (first, second):
        claims(1, event=event)
    found = fetch().json()
    assert (found["claimCount"], found["txHashes"]) == (2, [first.tx_hash] * 2)


@pytest.mark.parametrize("spell", [str.lower, lambda text: "0x" + text[2:].upper(), lambda text: "0X" + text[2:]])
def test_it_takes_addresses_in_any_case(fetch, spell):
    claims(1, amount=7)
    found = fetch(spell(WETH), spell(OWNER)).json()
    assert (found["tokenAddress"], found["feeRecipient"], found["totalClaimed"]) == (WETH, OWNER, "7")


def test_others_claims_do_not_count(fetch):
    claims(1, amount=5)
    FeeClaimFactory(amount=1)
    claims(1, currency=TOKEN)
    claims(1, event__chain_id=1)
    assert fetch().json()["totalClaimed"] == "5"
    assert fetch(chainId=1).json()["claimCount"] == 1


def test_sums_are_exact_beyond_all_integers(fetch):
    claims(3, amount=2**256 - 1)
    assert fetch().json()["totalClaimed"] == str(3 * (2**256 - 1))


@pytest.fixture
def recorded(installed_node):
    """Index transactions of the recorded chain."""

    def index(*labels):
        for label in labels:
            index_requests.index_transaction(chain_id=8453, tx_hash=decoded(label)["hash"])

    return index


def claimed(label, name):
    (log,) = (log for log in decoded(label)["decodedLogs"] if log["event"] == name)
    return log["args"]


def test_it_adds_up_what_the_recorded_fee_locker_paid(fetch, recorded):
    recorded("claim-weth-plain", "claim-token-plain")
    for label in ("claim-weth-plain", "claim-token-plain"):
        paid = claimed(label, "ClaimTokens")
        found = fetch(paid["token"], paid["feeOwner"]).json()
        assert (found["totalClaimed"], found["txHashes"]) == (paid["amountClaimed"], [decoded(label)["hash"]])


def test_it_adds_up_what_the_recorded_older_lockers_paid(fetch, recorded):
    recorded("legacy-v0-deploy", "legacy-v2-deploy", "legacy-v31-deploy")
    recorded("legacy-v0-claim", "legacy-v2-claim", "legacy-v31-claim")
    for label, name in (("legacy-v0-claim", "ClaimedFees"), ("legacy-v2-claim", "ClaimedRewards")):
        paid = claimed(label, name)
        assert fetch(paid["token0"], paid["claimer"]).json()["totalClaimed"] == paid["amount0"]
    shares = claimed("legacy-v31-claim", "ClaimedRewards")
    for role in ("interface", "team"):
        found = fetch(shares["token1"], shares[f"{role}Recipient"]).json()
        assert found["totalClaimed"] == shares[f"{role}Reward1"]
    # The same account claimed from the v2 token and is the creator of the v3.1 token, and was paid WETH by both.
    both = int(shares["creatorReward0"]) + int(claimed("legacy-v2-claim", "ClaimedRewards")["amount1"])
    assert fetch(WETH, shares["creatorRecipient"]).json()["totalClaimed"] == str(both)


def test_a_dropped_claim_is_gone(fetch, recorded):
    recorded("claim-weth-plain")
    index_requests.unwind_request(index_requests.IndexRequest.objects.get())
    assert fetch().json()["claimCount"] == 0


def test_any_number_of_claims_costs_the_same_queries(fetch, django_assert_num_queries):
    # The key's first use of the day is stored.
    fetch()
    for _ in range(2):
        claims(20)
        # The key, and two for the claims.
        with django_assert_num_queries(3):
            fetch()
