"""Responses validated against our own OpenAPI description; `tokens.catalogue.records` builds the records."""

import copy
import json
from datetime import timedelta

import pytest
from django.urls import reverse
from jsonschema import Draft202012Validator, FormatChecker, ValidationError

from accounts.models import PartnerKey
from development.devchain.anvil import CHAIN_ID
from pretokens.body import without_nulls
from tests.rows.factories import (
    DeploymentFactory,
    DeployWalletFactory,
    FeeClaimFactory,
    SocialProfileFactory,
    TokenEventFactory,
    TokenFactory,
)
from tests.rows.launch_requests import WALLET as ORDERING_WALLET
from tests.rows.launch_requests import order, pretoken
from tests.rows.pictures import encoded, plain_picture
from tests.rows.token_lists import price
from tests.rows.user_tokens import as_user
from tests.tokens.market.stored_trades import WEEK, make_candle, make_trade, make_traded_token, make_weeks
from tokens.chains.launching.merkle import build_tree
from tokens.deploying import airdrop_proofs
from tokens.indexing.metadata import parse_metadata
from tokens.models import PoolTrade

pytestmark = pytest.mark.django_db

WALLET = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
POOL = "0x" + "ab" * 32
LOCKUP = {"startedAt": "2026-02-07T12:00:00.000Z", "lockDuration": 604_800, "vestDuration": 0}
# Each record part with all its fields.
FULL = {
    "description": "A token",
    "img_url": "https://a.example/a.png",
    "requestor_fid": 7,
    "requestor_address": WALLET,
    "cast_hash": "0x12",
    "locker_address": WALLET,
    "position_id": "12",
    "presale_id": "3",
    "metadata": parse_metadata(
        '{"description": "d", "auditUrls": ["https://b.example"],'
        ' "socialMediaUrls": [{"platform": "x", "url": "https://x.com/a"}]}'
    ),
    "social_context": {"interface": "Bankr", "platform": "farcaster", "messageId": "1", "id": "7", "more": [1]},
    "deploy_config": {"devBuyAmount": "1", "lockupPercentage": 12.5, "vestingUnlockDate": "2026-02-07T12:00:00.000Z"},
    "starting_market_cap": 9.87,
    "launch_warnings": ["UNUSUAL_TICK"],
    "extensions": {
        "fees": {
            "type": "dynamic",
            "clankerFee": None,
            "pairedFee": None,
            "baseFee": 100,
            "maxFee": 500.5,
            "hook_address": WALLET,
            "recipients": [{"admin": WALLET, "recipient": WALLET, "bps": 10_000, "token": "Both"}],
        },
        "vault": {"amount": "1", "lockup": LOCKUP},
        "airdrop": {"amount": "1", "merkleRoot": POOL, "admin": WALLET, "lockup": LOCKUP | {"startedAt": None}},
        "devBuy": {"amount": "1", "amountEth": "1", "recipient": WALLET},
        "sniperTax": {"startingFee": 666_777, "endingFee": 41_673, "secondsToDecay": 15},
        "positions": [{"tickLower": -230_400, "tickUpper": -120_000, "positionBps": 10_000}],
    },
}


@pytest.fixture
def description(client):
    """Return the description with `additionalProperties: false` wherever it is not set."""
    document = client.get("/api/openapi.json").json()
    close_objects(document["components"]["schemas"])
    return document


def close_objects(schema):
    if isinstance(schema, list):
        for part in schema:
            close_objects(part)
    elif isinstance(schema, dict):
        if "properties" in schema and schema.get("type") == "object":
            schema.setdefault("additionalProperties", False)
        for part in schema.values():
            close_objects(part)


def check(description, path, body, *, method="get", status=200):
    """Raise ValidationError if the body is not as described."""
    operation = description["paths"][path][method]
    schema = operation["responses"][str(status)]["content"]["application/json"]["schema"]
    whole = {"components": description["components"]} | schema
    Draft202012Validator(whole, format_checker=FormatChecker()).validate(body)


@pytest.fixture
def tokens():
    """Create a token with all fields, user and market, and one with none; return the first."""
    SocialProfileFactory(fid=7, verified_addresses=[WALLET], pfp_url="https://a.example/p.png", bio="Hello")
    full = TokenFactory(**FULL, contract_address=WALLET, admin=WALLET, pool_address=POOL, name="dog", verified=True)
    price(full, price_usd=1.5, market_cap=2, volume_24h=3, liquidity_usd=4, tx_count_24h=5)
    price(full, price_change_1h=1, price_change_6h=-2.5, price_change_24h=0)
    empty = {"supply": None, "admin": "", "msg_sender": "", "pool_address": "", "paired_token": "", "pair": ""}
    nothing = dict.fromkeys(("pairedToken", "tickIfToken0IsNewToken", "tickSpacing", "hook"))
    TokenFactory(**empty, name="", symbol="", pool_config=nothing, requestor_fid=8)
    # One with the first one's name and symbol, and a market without values.
    price(TokenFactory(name="dog", symbol=full.symbol, requestor_fid=None))
    return full


LISTS = [
    (name, parameters)
    for name in ("token-list", "token-list-authenticated")
    for parameters in (
        {},
        {"includeUser": 1, "includeMarket": 1},
        {"q": "dog"},
        {"q": WALLET},
        {"limit": 1},
        {"limit": 0},
    )
]
OTHERS = [
    ("token-search", {}),
    ("token-search", {"q": "dog"}),
    ("deployed-by-fid", {"fid": 7}),
    ("deployed-by-address", {"address": WALLET}),
    ("token-by-pool", {"poolAddress": POOL}),
    ("token-by-pool", {"poolAddress": WALLET}),
    ("token-by-address", {"address": WALLET}),
    ("tokens-by-fid", {"fid": 7}),
    ("tokens-by-fid", {"fid": 9}),
    ("tokens-by-admin", {"admin": WALLET}),
    ("tokens-by-admin", {"admin": WALLET, "includeUser": 1, "includeMarket": 1, "limit": 1}),
    ("token-blocked", {"address": WALLET}),
    ("token-blocked", {"address": "So11111111111111111111111111111111111111112"}),
    ("market-cap", {"tokenAddress": WALLET}),
    ("market-caps", {"addresses": WALLET}),
    ("market-caps", {"addresses": POOL[:42]}),
    ("factories", {}),
    ("contracts", {}),
    ("contracts", {"chainId": 101}),
    ("user-by-fid", {"fid": 7}),
    ("user-by-address", {"address": WALLET}),
    ("user-by-name", {"name": "USER-7"}),
    ("users-by-fids", {"fids": "7,8"}),
    ("airdrops", {"tokenAddress": WALLET}),
    ("airdrop-allocations", {"tokenAddress": WALLET}),
]


@pytest.mark.parametrize(("name", "parameters"), LISTS + OTHERS)
def test_an_answer_is_as_described(client, read_key, tokens, description, name, parameters):
    path = reverse(name)
    answer = client.get(path, parameters, headers=read_key)
    assert answer.status_code == 200, answer.content
    check(description, path, answer.json())


@pytest.mark.parametrize(
    "columns",
    [
        {"locker_address": WALLET, "position_id": "12"},
        {"supply": None, "pool_address": "", "locker_address": "", "presale_id": "3"},
    ],
)
def test_facts_of_the_liquidity_are_as_described(client, read_key, description, columns):
    TokenFactory(contract_address=WALLET, generation="v2", **columns)
    path = reverse("lp-info", args=[WALLET])
    answer = client.get(path, headers=read_key)
    check(description, path.replace(WALLET, "{address}"), answer.json())
    path = reverse("claim-info")
    check(description, path, client.get(path, {"address": WALLET}, headers=read_key).json())


@pytest.mark.parametrize("parameters", [{}, {"includeUser": 1, "includeMarket": 1}])
def test_a_token_record_is_as_described(client, tokens, description, parameters):
    path = "/api/tokens/{chainId}/{address}"
    for address, status in ((WALLET, 200), (POOL[:42], 404), (POOL, 400)):
        answer = client.get(path.format(chainId=8453, address=address), parameters)
        assert answer.status_code == status
        check(description, path, answer.json(), status=status)


@pytest.mark.parametrize("kind", ["trades", "candles"])
def test_trades_and_candles_are_as_described(client, description, kind):
    make_weeks(1)
    token = make_traded_token()
    path = f"/api/tokens/{{chainId}}/{{address}}/{kind}"
    for columns in ({}, {"quote_usd": 3000, "is_buy": False}, {"trader": None}, {"is_conversion": True}):
        make_trade(token, log_index=PoolTrade.objects.count(), **columns)
    make_candle(token, WEEK + timedelta(hours=1), 1, 2, 0.5, 1.5, seconds=3600)
    unknown = dict.fromkeys(("open_usd", "high_usd", "low_usd", "close_usd"))
    make_candle(token, WEEK, 1, 2, 0.5, 1.5, seconds=3600, **unknown)
    for parameters in ({"limit": 1}, {}, {"currency": "quote", "fill": 1}):
        answer = client.get(path.format(chainId=token.chain_id, address=token.contract_address), parameters)
        assert answer.json()["data"]
        check(description, path, answer.json())


@pytest.mark.parametrize("supply", [10**20, None])
def test_facts_about_a_launch_are_as_described(client, description, supply):
    make_weeks(1)
    bought = {"devBuy": {"amount": "1", "amountEth": "1", "recipient": WALLET}}
    token = make_traded_token(block_number=1, log_index=9, supply=supply, admin=WALLET)
    token.extensions |= bought
    token.save()
    path = "/api/tokens/{chainId}/{address}/integrity"

    def fetch():
        answer = client.get(path.format(chainId=token.chain_id, address=token.contract_address), {"seconds": 10})
        check(description, path, answer.json())
        return answer.json()

    assert fetch()["bundles"]["list"] == []
    for columns in ({}, {"trader": None}, {"is_buy": False, "amount_token": 10**17}):
        make_trade(token, log_index=PoolTrade.objects.count(), **columns)
    vault = {"amount": "5", "remainingAmount": "0"}
    TokenEventFactory(token=token, kind="vault_claimed", arguments=vault)
    FeeClaimFactory(event=TokenEventFactory(token=token), recipient=WALLET, currency=token.contract_address)
    # Not the cached report.
    token.tx_hash = POOL
    token.save()
    facts = fetch()
    assert facts["bundles"]["list"] and facts["holders"]["atLaunch"] and facts["dev"]["vaultClaimed"]["transactions"]


def test_tokens_by_pools_are_as_described(client, tokens, description):
    path = reverse("tokens-by-pools")
    answer = client.post(path, json.dumps({"poolAddresses": [POOL, WALLET]}), content_type="application/json")
    assert list(answer.json()["data"]) == [POOL]
    check(description, path, answer.json(), method="post")


@pytest.mark.parametrize(
    ("name", "parameters", "status"),
    [
        ("token-list", {"limit": 21}, 400),
        ("deployed-by-fid", {}, 400),
        ("token-by-address", {"address": POOL[:42]}, 404),
        ("tokens-by-fid", {}, 400),
        ("tokens-by-admin", {"admin": WALLET, "limit": 0}, 400),
        ("token-blocked", {}, 400),
        ("airdrop-claim", {"tokenAddress": WALLET}, 400),
        ("airdrops", {}, 400),
        ("airdrop-allocations", {"tokenAddress": WALLET, "cursor": "x"}, 400),
        ("market-cap", {"tokenAddress": POOL[:42]}, 404),
        ("market-caps", {}, 400),
        ("contracts", {"role": "x"}, 400),
        ("user-by-fid", {"fid": 9}, 404),
        ("user-by-name", {}, 400),
        ("claim-info", {"address": POOL[:42]}, 404),
    ],
)
def test_an_error_is_as_described(client, read_key, description, name, parameters, status):
    answer = client.get(reverse(name), parameters, headers=read_key)
    assert answer.status_code == status
    check(description, reverse(name), answer.json(), status=status)


@pytest.mark.parametrize("parts", [{}, {"dryRun": True}, {"chainId": 5}])
def test_a_deployment_is_as_described(client, launchpad, deploy_key, description, parts):
    DeployWalletFactory(chain_id=CHAIN_ID, address=ORDERING_WALLET)
    body = order(**parts)
    bodies = description["paths"]["/api/tokens/deploy"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    Draft202012Validator({"components": description["components"]} | bodies).validate(body)
    answer = client.post("/api/tokens/deploy", json.dumps(body), content_type="application/json", headers=deploy_key)
    assert answer.status_code == (400 if "chainId" in parts else 200)
    for path in ("/api/tokens/deploy", "/api/tokens/deploy/v4"):
        check(description, path, answer.json(), method="post", status=answer.status_code)


@pytest.mark.parametrize(
    ("columns", "status"),
    [({}, 200), ({"status": "mined", "tx_hash": POOL, "error": "e"}, 200), ({"request_key": "x"}, 404)],
)
def test_the_status_of_a_deployment_is_as_described(client, deploy_key, description, columns, status):
    stored = DeploymentFactory(partner_key=PartnerKey.objects.get(), expected_address=WALLET, **columns)
    answer = client.get(f"/api/tokens/deploy/status/{stored.request_key}", headers=deploy_key)
    assert answer.status_code == status
    check(description, "/api/tokens/deploy/status/{requestKey}", answer.json(), status=status)


FULL_PRETOKEN = pretoken(
    vault_settings={"percentage": 10, "lockupDuration": 7.5, "recipient": WALLET},
    airdrop={"entries": [{"account": WALLET, "amount": 10**9}], "lockupDuration": 1, "vestingDuration": 0},
    settings={
        "image_url": "",
        "description": "Wow",
        "paired_token": "WETH",
        "pool_config_type": "project",
        "starting_market_cap": 12.5,
        "fee_config_type": "dynamic",
        "metadata": {
            "socialMediaUrls": ["https://x.com/a", {"platform": "x", "url": "https://x.com/b"}],
            "auditUrls": [],
        },
        "social_context": {"interface": "App", "platform": None},
    },
)


@pytest.mark.parametrize("body", [pretoken(), FULL_PRETOKEN, pretoken(vault_settings=None)])
def test_pretokens_are_as_described(client, launchpad, issuer, description, body):
    headers = as_user(issuer, 7)
    shape = description["paths"]["/api/pretoken/v4"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    Draft202012Validator({"components": description["components"]} | shape).validate(without_nulls(body))
    answer = client.post("/api/pretoken/v4", json.dumps(body), content_type="application/json", headers=headers)
    assert answer.status_code == 200, answer.content
    check(description, "/api/pretoken/v4", answer.json(), method="post")
    again = client.post("/api/pretoken/v4", json.dumps(body), content_type="application/json", headers=headers)
    check(description, "/api/pretoken/v4", again.json(), method="post", status=409)
    listed = client.get("/api/pretoken/pending", headers=headers).json()
    assert len(listed["pendingPretokens"]) == 1
    check(description, "/api/pretoken/pending", listed)
    for status in (200, 404):
        deleted = client.delete(f"/api/pretoken/{answer.json()['id']}", headers=headers)
        assert deleted.status_code == status
        check(description, "/api/pretoken/{id}", deleted.json(), method="delete", status=status)


@pytest.mark.parametrize("count", [0, 1])
def test_claimed_fees_are_as_described(client, read_key, description, count):
    FeeClaimFactory.create_batch(count, recipient=WALLET, currency=WALLET)
    answer = client.get(f"/api/get-claimed-fees/{WALLET}/{WALLET}", headers=read_key)
    assert answer.json()["claimCount"] == count
    check(description, "/api/get-claimed-fees/{tokenAddress}/{feeRecipient}", answer.json())


@pytest.mark.parametrize("claimer", [WALLET, POOL[:42]])
def test_airdrop_proofs_are_as_described(client, description, claimer):
    entries = [(WALLET, 10), (POOL[:41] + "c", 20)]
    deployment = DeploymentFactory(expected_address=WALLET, status="mined")
    airdrop_proofs.store_tree(deployment, tree=build_tree(entries), entries=entries)
    path = reverse("airdrop-claim")
    answer = client.get(path, {"tokenAddress": WALLET, "claimerAddress": claimer})
    assert len(answer.json()["proofs"]) == (claimer == WALLET)
    check(description, path, answer.json())


def test_airdrops_are_as_described(client, deploy_key, description):
    path, body = reverse("airdrops"), {"entries": [{"account": WALLET, "amount": "10"}]}
    shape = description["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
    Draft202012Validator({"components": description["components"]} | shape).validate(body)
    answer = client.post(path, json.dumps(body), content_type="application/json", headers=deploy_key)
    assert answer.status_code == 200, answer.content
    check(description, path, answer.json(), method="post")
    airdrop = FULL["extensions"]["airdrop"] | {"merkleRoot": answer.json()["merkleRoot"]}
    TokenFactory(contract_address=WALLET, extensions=FULL["extensions"] | {"airdrop": airdrop})
    for name, parameters, key in (
        ("airdrops", {"tokenAddress": WALLET, "claimerAddress": WALLET}, "claims"),
        ("airdrop-allocations", {"tokenAddress": WALLET}, "allocations"),
        ("saved-airdrops", {}, "data"),
    ):
        found = client.get(reverse(name), parameters, headers=deploy_key).json()
        assert len(found[key]) == 1
        check(description, reverse(name), found)
    for status in (200, 404):
        deleted = client.delete(f"/api/airdrops/saved/{answer.json()['id']}", headers=deploy_key)
        assert deleted.status_code == status
        check(description, "/api/airdrops/saved/{id}", deleted.json(), method="delete", status=status)


def test_posted_allow_lists_are_as_described(client, deploy_key, description):
    path, body = reverse("presale-allowlist"), {"entries": [{"address": WALLET, "allowedAmountWei": "10"}]}
    shape = description["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
    Draft202012Validator({"components": description["components"]} | shape).validate(body)
    answer = client.post(path, json.dumps(body), content_type="application/json", headers=deploy_key)
    assert answer.status_code == 200, answer.content
    check(description, path, answer.json(), method="post")
    found = client.get(reverse("saved-allowlists"), headers=deploy_key).json()
    assert len(found["data"]) == 1
    check(description, reverse("saved-allowlists"), found)
    for status in (200, 404):
        deleted = client.delete(f"/api/presales/allowlists/saved/{answer.json()['id']}", headers=deploy_key)
        assert deleted.status_code == status
        check(description, "/api/presales/allowlists/saved/{id}", deleted.json(), method="delete", status=status)


def test_uploads_are_as_described(client, deploy_key, description, settings, tmp_path):
    settings.UPLOAD_STORAGE, settings.UPLOAD_DIR = "directory", tmp_path
    path, picture = reverse("upload-picture"), encoded(plain_picture())
    content = description["paths"][path]["post"]["requestBody"]["content"]
    assert set(content) == {"image/png", "image/jpeg", "image/gif", "image/webp"}
    answer = client.generic("POST", path, picture, content_type="image/png", headers=deploy_key)
    check(description, path, answer.json(), method="post")
    path, body = reverse("upload-metadata"), {"name": "Called", "symbol": "CALL", "image": answer.json()["url"]}
    shape = description["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
    Draft202012Validator({"components": description["components"]} | shape).validate(body)
    answer = client.post(path, json.dumps(body), content_type="application/json", headers=deploy_key)
    check(description, path, answer.json(), method="post")


def leaves(value, path=()):
    """Yield each path in a record, down to values that are no objects."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list) and value:
        yield from leaves(value[0], (*path, 0))
    else:
        yield path


def change(record, path, act):
    """Return a record copy, with `act` applied at `path`."""
    changed = copy.deepcopy(record)
    inner = changed
    for part in path[:-1]:
        inner = inner[part]
    act(inner, path[-1])
    return changed


def test_the_description_notices_whatever_is_missing_or_of_another_type(client, tokens, description):
    body = client.get(
        "/api/tokens", {"includeUser": 1, "includeMarket": 1, "q": "dog", "sort": "asc", "limit": 1}
    ).json()
    (record,) = body["data"]
    unnoticed = []
    for path in leaves(record):
        if path[:2] == ("social_context", "more"):
            continue
        acts = {"of another type": lambda inner, key: inner.__setitem__(key, [[]])}
        if isinstance(path[-1], str):
            acts["missing"] = lambda inner, key: inner.__delitem__(key)
        for what, act in acts.items():
            try:
                check(description, "/api/tokens", body | {"data": [change(record, path, act)]})
            except ValidationError:
                continue
            unnoticed.append((what, *path))
    assert unnoticed == []
    more = change(record, ("more",), lambda inner, key: inner.__setitem__(key, 1))
    with pytest.raises(ValidationError, match="'more' was unexpected"):
        check(description, "/api/tokens", body | {"data": [more]})
