"""Tests of `GET /api/presales`, `/api/presales/allowlists` and `/api/presales/allowlists/proof`."""

import json

import pytest

from accounts.models import PartnerKey
from development.devchain.anvil import CHAIN_ID
from tests.nodes.devchain_tests import SENDER
from tests.nodes.relay import relay
from tests.rows.airdrop_entries import build_by_peer, sample_entries
from tests.rows.factories import DeploymentFactory
from tests.tokens.deploying.sales.conftest import set_enabled, set_root
from tests.tokens.deploying.test_presales import DAY, ETHER, HOUR, SALE, STRANGER, buy, end, start
from tokens.chains.types import Presale
from tokens.deploying.sales.posted_allowlists import save_allowlist
from tokens.deploying.sales.presale_search import presale_state
from tokens.installation.installed_chains import installed_chain

pytestmark = pytest.mark.django_db

PATH, ALLOWLIST, PROOF = "/api/presales", "/api/presales/allowlists", "/api/presales/allowlists/proof"
MOST = 15 * ETHER // 10
BUYERS = [account for account, _ in sample_entries(5)]


def test_without_a_presale_the_list_is_empty(contracts, get):
    assert get(PATH, chainId=CHAIN_ID) == {"presales": [], "totalCount": 0, "oldestSearched": None}


def test_presales_have_their_terms_and_their_state(contracts, client, get, forget_presales):
    chain = installed_chain(CHAIN_ID)
    (first, _), (second, _), (third, _) = (start(chain, contracts) for _ in range(3))
    buy(contracts, first, value=2 * ETHER)
    buy(contracts, second, value=ETHER)
    answer = client.get(PATH, {"chainId": CHAIN_ID})
    assert answer.headers["Cache-Control"] == "public, s-maxage=15"
    page = answer.json()
    assert page["totalCount"] == 3
    assert [(each["presaleId"], each["state"], each["ethRaised"]) for each in page["presales"]] == [
        (3, "active", "0"),
        (2, "active", str(ETHER)),
        (1, "successful", str(2 * ETHER)),
    ]
    shown = page["presales"][0]
    block = chain.read_newest_header().time
    assert block < shown.pop("endTime") <= block + HOUR
    assert block < shown.pop("launchUntil")
    assert shown == {
        "presaleId": 3,
        "chainId": CHAIN_ID,
        "contract": contracts.presale,
        "status": 1,
        "state": "active",
        "name": "Presold",
        "symbol": "PRE",
        "image": "",
        "tokenAdmin": SENDER,
        "owner": SENDER,
        "allowlist": None,
        "minEthGoal": str(ETHER),
        "maxEthGoal": str(2 * ETHER),
        "ethRaised": "0",
        "lockupDuration": 7 * DAY,
        "vestingDuration": 0,
        "tokenAddress": None,
    }
    launched = end(contracts, first)
    (log,) = (
        log
        for log in chain.rpc.query([("eth_getTransactionReceipt", (launched,))], parse=lambda found: found)[0]["logs"]
        if log["address"].lower() == contracts.factory.lower() and len(log["topics"]) == 3
    )
    forget_presales()
    page = get(PATH, chainId=CHAIN_ID, sort="asc", limit=1)
    (shown,) = page["presales"]
    assert (shown["presaleId"], shown["state"], shown["status"]) == (1, "launched", 5)
    assert shown["tokenAddress"].lower() == "0x" + log["topics"][1][-40:]


@pytest.mark.parametrize(
    ("status", "raised", "ends_in", "state"),
    [
        (1, 0, 60, "active"),
        (1, 0, -60, "failed"),
        (1, ETHER, -60, "successful"),
        (2, ETHER, 60, "successful"),
        (3, 2 * ETHER, 60, "successful"),
        (3, 2 * ETHER, -2 * DAY, "failed"),
        (4, 0, -60, "failed"),
        (5, ETHER, -2 * DAY, "launched"),
    ],
)
def test_the_state_follows_from_status_and_time(status, raised, ends_in, state):
    sale = Presale(
        presale_id=1,
        status=status,
        salt="0x",
        raised=raised,
        min_goal=ETHER,
        ends_at=10**9 + ends_in,
        launches_until=10**9 + ends_in + DAY,
    )
    assert presale_state(sale, unix_time=10**9) == state


def test_pages_are_of_ids(contracts, get):
    chain = installed_chain(CHAIN_ID)
    for _ in range(3):
        start(chain, contracts)

    def ids(**parameters):
        return [each["presaleId"] for each in get(PATH, chainId=CHAIN_ID, **parameters)["presales"]]

    assert ids(limit=2) == [3, 2]
    assert ids(limit=2, offset=2) == [1]
    assert ids(sort="asc", offset=1) == [2, 3]
    assert ids(offset=3) == []


def test_pages_of_all_callers_share_few_node_requests(contracts, get, settings, forget_chains, forget_presales):
    chain = installed_chain(CHAIN_ID)
    for _ in range(3):
        start(chain, contracts)
    requests = []
    with relay(contracts.rpc_url, before=requests.append) as url:
        # A node request covers two presales' terms.
        settings.RPC_URLS, settings.RPC_BATCH_SIZE = {CHAIN_ID: (url,)}, 3
        forget_chains()
        page = get(PATH, chainId=CHAIN_ID)
        assert [each["presaleId"] for each in page["presales"]] == [3, 2, 1]
        requests.clear()
        for number in range(30):
            # `x` is ignored, and makes the URL another one for response caches.
            get(PATH, chainId=CHAIN_ID, limit=1 + number, offset=number % 3, sort=("asc", "desc")[number % 2], x=number)
        assert requests == []
        forget_presales("presale-terms:")
        assert get(PATH, chainId=CHAIN_ID) == page
        assert len(requests) == 2


def test_a_contract_with_one_address_on_two_chains_has_presales_of_both(
    contracts, chains_file, get, settings, forget_chains, tmp_path
):
    start(installed_chain(CHAIN_ID), contracts)
    other = tmp_path / "other.toml"
    other.write_text(chains_file.read_text().replace(str(CHAIN_ID), str(CHAIN_ID + 1)))

    def as_other(request, answer):
        """Rename the first chain's node and its presale."""
        text = json.dumps(answer).replace(hex(CHAIN_ID), hex(CHAIN_ID + 1))
        return json.loads(text.replace(b"Presold".hex(), b"Foreign".hex()))

    with relay(contracts.rpc_url, change=as_other) as url:
        settings.CHAINS_FILES = (*settings.CHAINS_FILES, str(other))
        settings.RPC_URLS |= {CHAIN_ID + 1: (url,)}
        forget_chains()
        pages = [get(PATH, chainId=chain)["presales"] for chain in (CHAIN_ID, CHAIN_ID + 1)]
    assert [[sale["name"] for sale in page] for page in pages] == [["Presold"], ["Foreign"]]


def test_a_node_that_is_away_is_no_fault_of_the_caller(contracts, client, settings, forget_chains):
    settings.RPC_URLS, settings.RPC_ATTEMPTS = {CHAIN_ID: ("http://secret:key@127.0.0.1:9/path",)}, 1
    forget_chains()
    answer = client.get(PATH, {"chainId": CHAIN_ID})
    assert (answer.status_code, answer.json()) == (503, {"error": "The chain is not available"})


@pytest.fixture
def begin(contracts):
    """Return a function that starts a presale by this service, and returns the query for this presale."""

    def begin(*allowlist):
        started, _ = start(installed_chain(CHAIN_ID), contracts, max_goal=MOST, allowlist=allowlist)
        return {"chainId": CHAIN_ID, "presaleId": int(started.presale_id)}

    return begin


def test_a_buyer_has_the_proof_of_the_trees_of_the_contract(get, begin, django_assert_num_queries):
    sale = begin(*BUYERS)
    (peer,) = build_by_peer([[(buyer, MOST) for buyer in BUYERS]])
    with django_assert_num_queries(2):
        found = get(ALLOWLIST, **sale)
    # The tree is hashed once in each process.
    with django_assert_num_queries(1):
        assert get(ALLOWLIST, **sale) == found
    assert found == sale | {
        "merkleRoot": peer.root,
        "allocations": [{"address": buyer, "allowedAmountWei": str(MOST)} for buyer in BUYERS],
    }
    for buyer, proof in zip(BUYERS, peer.proofs, strict=True):
        found = get(PROOF, **sale, buyerAddress=buyer.lower())
        assert found.pop("encodedProof").startswith("0x")
        assert found == {"isAllowed": True, "proof": proof, "allowedAmountWei": str(MOST)}
    found = get(PROOF, **sale, buyerAddress=STRANGER)
    assert found == {"isAllowed": False, "proof": [], "encodedProof": None, "allowedAmountWei": "0"}


def test_the_root_on_the_chain_decides_for_a_presale_started_here(
    client, get, begin, contracts, own_launchpad, forget_presales
):
    sale = begin(*BUYERS)
    assert get(PROOF, **sale, buyerAddress=BUYERS[0])["isAllowed"]
    (peer,) = build_by_peer([[(buyer, MOST) for buyer in BUYERS[:2]]])
    set_root(own_launchpad, sale["presaleId"], peer.root)
    forget_presales()
    for path in (ALLOWLIST, PROOF):
        assert client.get(path, sale | {"buyerAddress": BUYERS[0]}).status_code == 404
    # A deployment's entries serve only its own presale; posted entries serve all.
    begin(*BUYERS[:2])
    assert client.get(ALLOWLIST, sale).status_code == 404
    partner = PartnerKey.objects.get(pk=DeploymentFactory().partner_key_id)
    entries = [{"address": buyer, "allowedAmountWei": str(MOST)} for buyer in BUYERS[:2]]
    save_allowlist({"entries": entries}, partner=partner)
    assert get(ALLOWLIST, **sale)["merkleRoot"] == peer.root
    set_enabled(own_launchpad, sale["presaleId"], False)
    forget_presales()
    assert get(ALLOWLIST, **sale) == sale | {"merkleRoot": None, "allocations": []}
    assert get(PROOF, **sale, buyerAddress=STRANGER)["isAllowed"]


def test_without_an_allow_list_everyone_may_buy(get, begin):
    sale = begin()
    assert get(ALLOWLIST, **sale) == sale | {"merkleRoot": None, "allocations": []}
    found = get(PROOF, **sale, buyerAddress=STRANGER)
    assert found == {"isAllowed": True, "proof": [], "encodedProof": None, "allowedAmountWei": str(MOST)}


@pytest.mark.parametrize("path", [ALLOWLIST, PROOF])
def test_a_deployment_without_a_presale_on_the_chain_is_not_found(contracts, client, path):
    DeploymentFactory(chain_id=CHAIN_ID, presale_id=7, config={"presale": SALE | {"allowlist": BUYERS}})
    answer = client.get(path, {"chainId": CHAIN_ID, "presaleId": 7, "buyerAddress": STRANGER})
    assert (answer.status_code, answer.json()) == (404, {"error": "Presale not found"})
