"""Tests of `GET /api/tokens/estimate-rewards-by-pool-address`."""

import pytest

from development.standins.loopback import Reply
from tests.nodes.launch_builder import LOCKER, LOCKER_V3, STRANGER, TOKEN, USDC, WETH, v1_launch, v3_launch
from tests.nodes.locker_responses import collects, decimals, position, recorded_claim, team_percent
from tests.nodes.recordings import base, mined
from tests.rows.factories import TokenFactory
from tests.rows.indexed_tokens import index_launch
from tests.rows.token_lists import price
from tokens.chains.addresses import checksum_address
from tokens.models import Token

pytestmark = pytest.mark.django_db

PATH = "/api/tokens/estimate-rewards-by-pool-address"
V3_POOL = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
SUCCESSOR = {"Deprecation": "@1767225600", "Link": '</api/get-uncollected-fees>; rel="successor-version"'}

# USD for one whole token, and for one WETH.
PRICE, QUOTE_PRICE = 0.00000125, 3000.0

# Each locker's view for the team's percentage; a v3.1 launch contains it.
LEGACY = {"legacy-v0-deploy": "_fee", "legacy-v2-deploy": "_clankerTeamReward", "legacy-v31-deploy": None}
TEAM = {"legacy-v0-deploy": 50, "legacy-v2-deploy": 60, "legacy-v31-deploy": 20}


@pytest.fixture
def fetch(client, installed_node):
    """Request a pool's rewards from the service, which has the recorded chain's node."""
    return lambda pool, **more: client.get(PATH, {"poolAddress": pool} | more)


def index(launch, *, price_usd=PRICE, quote_price_usd=QUOTE_PRICE):
    """Create a launch's row, with prices by default."""
    return price(index_launch(launch), price_usd=price_usd, quote_price_usd=quote_price_usd)


@pytest.fixture
def waiting(node):
    """Create a v1 launch's row, and have the node return its uncollected fees: tokens and WETH, in wei."""

    def waiting(amounts, **prices):
        token = index(v1_launch(), **prices)
        position(node, 42, owner=LOCKER, currencies=(TOKEN, WETH))
        decimals(node, TOKEN, 18)
        collects(node, 42, owner=LOCKER, amounts=amounts)
        team_percent(node, LOCKER, 40, accessor="_fee")
        return token

    return waiting


def usd(amounts, currencies, token):
    """Return the amounts, all with 18 decimals, in USD."""
    prices = {token.contract_address: PRICE, WETH: QUOTE_PRICE}
    return sum(amount / 10**18 * prices[currency] for amount, currency in zip(amounts, currencies, strict=True))


def names_successor(answer):
    return {name: answer.headers.get(name) for name in SUCCESSOR} == SUCCESSOR


@pytest.mark.parametrize(
    "hidden", [{"unindexed": True}, {"pool_address": checksum_address(STRANGER)}, {"position_id": ""}]
)
def test_it_has_no_token_pool(fetch, node, hidden):
    TokenFactory(**({"generation": "v2", "pool_address": V3_POOL, "position_id": "2"} | hidden))
    answer = fetch(V3_POOL)
    assert (answer.status_code, answer.json()) == (404, {"error": "Token not found"})
    assert answer.headers["Cache-Control"] == "no-store"
    assert names_successor(answer)
    assert node.calls == []


def test_it_reports_that_no_node_responds(fetch, waiting, node):
    token = waiting((10**18, 10**15))
    node.behave = lambda body: Reply(b"", status=503)
    answer = fetch(token.pool_address)
    assert (answer.status_code, answer.json()) == (503, {"error": "Upstream is not available"})
    assert answer.headers["Retry-After"] == "5"
    assert names_successor(answer)


def test_it_reports_that_it_has_no_node_of_the_chain(fetch, waiting, settings, forget_chains):
    token = waiting((10**18, 10**15))
    settings.RPC_URLS = {}
    forget_chains()
    answer = fetch(token.pool_address)
    assert (answer.status_code, answer.json()) == (503, {"error": "The chain is not available"})
    assert answer.headers["Retry-After"] == "5"


@pytest.mark.parametrize("missing", ["position", "split", "pool"])
def test_impossible_values_of_the_chain_are_an_upstream_error(fetch, waiting, node, missing):
    token = waiting((10**18, 10**15))
    if missing == "pool":
        position(node, 42, owner=LOCKER, currencies=(TOKEN, USDC))
    else:
        contract = base().v3_position_manager if missing == "position" else LOCKER
        node.views = {key: view for key, view in node.views.items() if key[0] != contract.lower()}
    answer = fetch(token.pool_address)
    assert (answer.status_code, answer.json()) == (502, {"error": "Upstream answered with an error"})


@pytest.mark.parametrize(
    ("amounts", "prices"),
    [
        ((10**18, 10**15), {"price_usd": None}),
        ((10**18, 10**15), {"quote_price_usd": None}),
        ((10**18, 0), {"price_usd": None}),
        ((0, 10**15), {"quote_price_usd": None}),
    ],
)
def test_it_gives_no_number_without_a_price_that_it_needs(fetch, waiting, amounts, prices):
    answer = fetch(waiting(amounts, **prices).pool_address)
    assert (answer.status_code, answer.json()) == (503, {"error": "Market data is not available yet"})
    assert answer.headers["Retry-After"] == "30"
    assert answer.headers["Cache-Control"] == "no-store"
    assert names_successor(answer)


@pytest.mark.parametrize(
    ("amounts", "prices", "rewards"),
    [
        ((0, 0), {"price_usd": None, "quote_price_usd": None}, 0),
        ((10**24, 0), {"quote_price_usd": None}, 0.75),
        ((0, 10**15), {"price_usd": None}, 1.8),
        ((10**24, 10**15), {}, 2.55),
        # The team's part is rounded down, as the locker does it.
        ((0, 1), {"price_usd": None}, 3000 / 10**18),
    ],
)
def test_it_needs_the_prices_of_uncollected_fees_only(fetch, waiting, amounts, prices, rewards):
    answer = fetch(waiting(amounts, **prices).pool_address)
    assert answer.status_code == 200
    assert answer.json() == {"userRewards": pytest.approx(rewards, rel=1e-12, abs=0)}


@pytest.mark.parametrize("label", LEGACY)
def test_it_estimates_what_waits_at_the_recorded_head(fetch, node, label):
    token = index(mined(label))
    if LEGACY[label]:
        team_percent(node, token.locker_address, TEAM[label], accessor=LEGACY[label])
    answer = fetch(token.pool_address.lower(), chain="x")
    users = 999_999_999_999_999 - 999_999_999_999_999 * TEAM[label] // 100
    assert answer.json() == {"userRewards": pytest.approx(users / 10**18 * QUOTE_PRICE)}
    assert answer.headers["Cache-Control"] == "public, s-maxage=15"
    assert answer.headers["X-Ignored-Params"] == "chain"
    assert names_successor(answer)


@pytest.mark.parametrize("label", LEGACY)
def test_it_estimates_what_the_recorded_claim_then_paid(fetch, node, label):
    token = index(mined(label))
    claim = recorded_claim(token.locker_address)
    collects(node, int(token.position_id), owner=token.locker_address, amounts=claim.collected)
    if LEGACY[label]:
        team_percent(node, token.locker_address, TEAM[label], accessor=LEGACY[label])
    currencies = sorted([token.contract_address, WETH], key=str.lower)
    expected = usd(claim.users, currencies, token)
    assert expected > 1
    assert fetch(token.pool_address).json() == {"userRewards": pytest.approx(expected, rel=1e-12)}


@pytest.mark.parametrize(
    ("launch", "locker", "accessor"),
    [
        (v1_launch, LOCKER, "_fee"),
        # A position that was moved into the shared locker.
        (v1_launch, STRANGER, "_clankerTeamFee"),
        (v3_launch, LOCKER_V3, "_clankerTeamReward"),
    ],
)
def test_it_estimates_by_the_split_of_the_positions_holder(fetch, node, launch, locker, accessor):
    token = index(launch())
    position(node, 42, owner=locker, currencies=(TOKEN, WETH))
    decimals(node, TOKEN, 18)
    collects(node, 42, owner=locker, amounts=(10**24, 10**15))
    team_percent(node, locker, 60, accessor=accessor)
    assert fetch(token.pool_address).json() == {"userRewards": pytest.approx(0.4 * (1.25 + 3))}


def test_each_currency_counts_with_its_own_decimals(fetch, node):
    token = index(v1_launch(), price_usd=None, quote_price_usd=1.0)
    Token.objects.update(paired_token=USDC)
    position(node, 42, owner=LOCKER, currencies=(TOKEN, USDC))
    decimals(node, TOKEN, 18)
    collects(node, 42, owner=LOCKER, amounts=(0, 5_000_000))
    team_percent(node, LOCKER, 40, accessor="_fee")
    assert fetch(token.pool_address).json() == {"userRewards": pytest.approx(3.0)}


def test_it_reads_the_database_once(fetch, waiting, django_assert_num_queries):
    token = waiting((10**18, 10**15))
    with django_assert_num_queries(1):
        assert fetch(token.pool_address).status_code == 200


def test_the_description_marks_it_as_deprecated(client):
    paths = client.get("/api/openapi.json").json()["paths"]
    operation = paths[PATH]["get"]
    assert operation["deprecated"] is True
    assert [parameter["name"] for parameter in operation["parameters"]] == ["poolAddress", "If-None-Match"]
    assert list(operation["responses"]) == ["200", "304", "400", "404", "429", "502", "503"]
    assert "deprecated" not in paths["/api/tokens"]["get"]
