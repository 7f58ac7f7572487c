"""GET /api/tokens"""

import base64
import json
from datetime import UTC, datetime, timedelta

import pytest

from tests.factories import TokenFactory

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)
WALLET = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"


@pytest.fixture
def ask(client):
    """Sends the parameters and returns the answer."""
    return lambda **parameters: client.get("/api/tokens", parameters)


def cursor_of(content):
    return base64.b64encode(json.dumps(content).encode()).decode()


def ids(answer):
    assert answer.status_code == 200, answer.content
    return [record["id"] for record in answer.json()["data"]]


def walk(ask, **parameters):
    """The ids of all pages."""
    found, cursor = [], None
    while True:
        answer = ask(**parameters, **({"cursor": cursor} if cursor else {}))
        found += ids(answer)
        cursor = answer.json()["cursor"]
        if cursor is None:
            return found


FID_RULE = f"must be a whole number from 1 to {2**63 - 1}"
FIDS_RULE = "must be 1 to 100 whole numbers, separated by commas"
LIMIT_RULE = "must be a whole number from 0 to 20"
CURSOR_RULE = "must be the cursor of an earlier answer of this list"


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        *[("limit", value, LIMIT_RULE) for value in ("21", "-1", "abc", "1.0", "1e1", "٣", str(2**63), "9" * 5_000)],
        ("sort", "up", "must be desc or asc"),
        ("sort", "DESC", "must be desc or asc"),
        *[(name, value, FID_RULE) for name in ("fid", "chainId") for value in ("0", "-1", "abc", "1.5", "٣")],
        *[(name, value, FID_RULE) for name in ("fid", "chainId") for value in (str(2**63), "9" * 5_000)],
        *[("fids", value, FIDS_RULE) for value in (",", "1,", "1,,2", "a", "1,0", "1;2", f"1,{2**63}")],
        ("fids", ",".join(map(str, range(1, 102))), FIDS_RULE),
        ("msgSender", "0x12", None),
        ("msgSender", "vitalik.eth", None),
        ("msgSender", WALLET + "0", None),
        *[("cursor", value, CURSOR_RULE) for value in ("x", "%%%", "é", "bnVsbA==", "W10=", "a" * 600)],
        ("cursor", cursor_of({"id": "yesterday"}), CURSOR_RULE),
        ("cursor", cursor_of({"id": 5, "k": 1, "s": "deployed-at"}), CURSOR_RULE),
        ("cursor", cursor_of({"id": "2026-02-07T03:50:49.000Z", "k": 2**63, "s": "deployed-at"}), CURSOR_RULE),
        ("cursor", cursor_of({"id": "2026-02-07T03:50:49.000Z", "k": "1; DROP", "s": "deployed-at"}), CURSOR_RULE),
    ],
)
def test_it_refuses_a_bad_parameter_by_name(ask, name, value, rule):
    answer = ask(**{name: value})
    body = answer.json()
    assert answer.status_code == 400
    assert answer.headers["Cache-Control"] == "no-store"
    assert [detail["field"] for detail in body["details"]] == [name]
    assert body["error"] == f"{name} {body['details'][0]['message']}"
    if rule:
        assert body == {"error": f"{name} {rule}", "details": [{"field": name, "message": rule}]}


@pytest.mark.parametrize("name", ["limit", "sort", "cursor", "chainId", "fid", "fids", "msgSender"])
def test_it_refuses_nul_characters(ask, name):
    answer = ask(**{name: "1\0"})
    assert answer.status_code == 400
    assert answer.json()["details"][0]["field"] == name


def test_it_refuses_a_parameter_given_twice(client):
    answer = client.get("/api/tokens?limit=1&limit=2")
    assert (answer.status_code, answer.json()["error"]) == (400, "limit must be given once")


def test_it_names_every_bad_parameter(ask):
    details = ask(limit="x", fid="x", fids="x").json()["details"]
    assert {detail["field"] for detail in details} == {"limit", "fid", "fids"}


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_it_takes_get_alone(client, method):
    answer = getattr(client, method)("/api/tokens")
    assert answer.status_code == 405
    assert set(answer.json()) == {"error"}
    assert "GET" in answer.headers["Allow"]


def test_it_lists_neither_blocked_nor_unindexed_tokens(ask):
    TokenFactory(blocked=True)
    TokenFactory(unindexed=True)
    shown = TokenFactory()
    answer = ask()
    assert ids(answer) == [shown.pk]
    assert (answer.json()["total"], answer.json()["tokensDeployed"]) == (1, 1)


def test_it_answers_with_nothing_where_there_is_nothing(ask):
    answer = ask()
    assert answer.json() == {"data": [], "total": 0, "cursor": None, "tokensDeployed": 0}
    assert answer.headers["Cache-Control"] == "public, s-maxage=2"
    assert answer.headers["Content-Type"] == "application/json"
    assert "X-Ignored-Params" not in answer.headers


def test_it_names_the_parameters_that_it_ignores(client):
    answer = client.get("/api/tokens?pageSize=5&page=1&partner=a%0d%0aX-Evil:1&l%0d%0aimit=1")
    assert answer.status_code == 200
    assert answer.headers["X-Ignored-Params"] == "l??imit,page,pageSize,partner"
    assert "X-Evil" not in answer.headers


@pytest.mark.parametrize("address", ["/api/tokens/", "/api/tokens"])
def test_it_answers_with_and_without_a_trailing_slash(client, address):
    TokenFactory()
    assert len(ids(client.get(address))) == 1


def test_blank_parameters_are_no_filters(ask):
    TokenFactory()
    assert len(ids(ask(fid="", fids="", chainId="", msgSender="", cursor="", sort="", limit=""))) == 1


@pytest.mark.parametrize(("limit", "count"), [(None, 10), (0, 0), (1, 1), (20, 20)])
def test_it_pages_by_limit(ask, limit, count):
    TokenFactory.create_batch(21)
    answer = ask(**({} if limit is None else {"limit": limit}))
    assert len(ids(answer)) == count
    assert answer.json()["total"] == 21
    assert (answer.json()["cursor"] is None) == (count == 0)


@pytest.mark.parametrize("sort", ["desc", "asc"])
def test_a_walk_meets_every_token_once_in_order(ask, sort):
    # Three to each second, so that pages end within ties.
    tokens = [TokenFactory(deployed_at=NOON + timedelta(seconds=number // 3)) for number in range(23)]
    expected = [token.pk for token in sorted(tokens, key=lambda token: (token.deployed_at, token.pk))]
    assert walk(ask, sort=sort, limit=4) == (expected if sort == "asc" else expected[::-1])


def test_a_walk_meets_every_token_once_while_others_arrive(ask):
    first = [TokenFactory().pk for _ in range(6)]
    answer = ask(limit=3)
    TokenFactory.create_batch(2)
    rest = ask(limit=3, cursor=answer.json()["cursor"])
    assert ids(answer) + ids(rest) == first[::-1]
    assert rest.json()["cursor"] is None


def test_a_cursor_has_the_contracts_form(ask):
    TokenFactory(deployed_at=NOON)
    last = TokenFactory(deployed_at=NOON)
    content = json.loads(base64.b64decode(ask(limit=1).json()["cursor"]))
    assert content == {"id": "2026-02-07T12:00:00.000Z", "k": last.pk, "s": "deployed-at"}


def test_a_cursor_of_another_sort_starts_from_the_first_page(ask):
    tokens = TokenFactory.create_batch(3)
    other_order = ask(limit=1, sort="asc").json()["cursor"]
    other_value = cursor_of({"id": 5.5, "k": tokens[0].pk, "s": "market-cap"})
    for cursor in (other_order, other_value):
        assert ids(ask(cursor=cursor)) == [token.pk for token in reversed(tokens)]


def test_the_older_cursor_gives_what_is_at_or_before_its_second(ask):
    second = datetime(2026, 2, 7, 3, 50, 49, tzinfo=UTC)
    before, at, later_in_it, after = (
        TokenFactory(deployed_at=second + timedelta(seconds=seconds)) for seconds in (-1, 0, 0.5, 1)
    )
    answer = ask(cursor="eyJpZCI6IjIwMjYtMDItMDdUMDM6NTA6NDkifQ==")
    assert ids(answer) == [later_in_it.pk, at.pk, before.pk]
    assert after.pk not in ids(answer)


def test_it_filters_by_chain(ask):
    base, other = TokenFactory(chain_id=8453), TokenFactory(chain_id=1)
    assert ids(ask(chainId=8453)) == [base.pk]
    assert ids(ask(chainId=1)) == [other.pk]
    assert ids(ask(chainId=2**63 - 1)) == []


@pytest.mark.parametrize("text", [WALLET, WALLET.lower(), "0X" + WALLET[2:].upper(), f" {WALLET} "])
def test_it_filters_by_sender_in_any_case(ask, text):
    token = TokenFactory(msg_sender=WALLET)
    TokenFactory()
    answer = ask(msgSender=text)
    assert ids(answer) == [token.pk]
    assert answer.json()["data"][0]["msg_sender"] == WALLET


def test_it_filters_by_requestor(ask):
    first, second = TokenFactory(requestor_fid=1), TokenFactory(requestor_fid=2)
    TokenFactory(requestor_fid=None)
    assert ids(ask(fid=1)) == [first.pk]
    assert ids(ask(fids="2, 1")) == [second.pk, first.pk]
    assert ids(ask(fids=",".join(map(str, range(1, 101))))) == [second.pk, first.pk]
    assert ids(ask(fid=1, fids="2")) == []


def test_filters_narrow_both_counts_whatever_the_page(ask):
    TokenFactory.create_batch(3, msg_sender=WALLET)
    TokenFactory(msg_sender=WALLET, chain_id=1)
    TokenFactory(msg_sender=WALLET, blocked=True)
    TokenFactory()
    body = ask(msgSender=WALLET, chainId=8453, limit=1).json()
    assert (len(body["data"]), body["total"], body["tokensDeployed"]) == (1, 3, 3)


def test_a_copy_is_told_when_read(ask):
    original = TokenFactory(name="Higher", symbol="HIGHER")
    copy = TokenFactory(name=" hi gher ", symbol="higher", launch_warnings=["UNUSUAL_TICK"])

    def warnings():
        return {record["id"]: record["warnings"] for record in ask().json()["data"]}

    assert warnings() == {original.pk: [], copy.pk: ["UNUSUAL_TICK"]}
    original.verified = True
    original.save()
    assert warnings() == {original.pk: [], copy.pk: ["UNUSUAL_TICK", "POSSIBLE_COPY"]}
    original.verified, original.champagne = False, True
    original.save()
    assert warnings() == {original.pk: [], copy.pk: ["UNUSUAL_TICK", "POSSIBLE_COPY"]}
    # Vouching for the copy makes no copy of the older one.
    original.champagne, copy.verified = False, True
    original.save()
    copy.save()
    assert warnings() == {original.pk: [], copy.pk: ["UNUSUAL_TICK"]}


@pytest.mark.parametrize("limit", [1, 20])
def test_it_asks_the_database_twice_whatever_the_page(ask, limit, django_assert_num_queries):
    TokenFactory.create_batch(21, verified=True)
    with django_assert_num_queries(2):
        assert len(ids(ask(limit=limit))) == limit


RECORD = {
    "created_at": "2026-02-07T12:00:01.234Z",
    "last_indexed": "2026-02-07T12:00:02.000Z",
    "deployed_at": "2026-02-07T12:00:00.000Z",
    "tx_hash": "0x" + "ab" * 32,
    "contract_address": "0x5FbDB2315678afecb367f032d93F642f64180aa3",
    "chain_id": 8453,
    "type": "clanker_v4",
    "name": "Higher ↑",
    "symbol": "HIGHER",
    "description": None,
    "img_url": None,
    "supply": "100000000000000000000000000000",
    "admin": WALLET,
    "msg_sender": WALLET,
    "requestor_fid": None,
    "requestor_address": None,
    "cast_hash": None,
    "pool_address": "0x" + "cd" * 32,
    "pair": "WETH",
    "factory_address": "0xE85A59c628F7d27878ACeB4bf3b35733630083a9",
    "locker_address": None,
    "position_id": None,
    "presale_id": None,
    "metadata": {
        "auditUrls": [],
        "description": None,
        "socialMediaUrls": [{"platform": "x", "url": "https://x.com/higher"}],
    },
    "deploy_config": {"devBuyAmount": "0", "lockupPercentage": 0, "vestingUnlockDate": None},
    "social_context": {"interface": None, "platform": None, "messageId": None, "id": None},
    "socialLinks": [{"name": "x", "link": "https://x.com/higher"}],
    "pool_config": {
        "pairedToken": "0x4200000000000000000000000000000000000006",
        "tickIfToken0IsNewToken": -230_400,
        "tickSpacing": 200,
        "hook": None,
    },
    "starting_market_cap": None,
    "tags": {"champagne": True, "verified": False, "knownInterfaceDeployer": False, "blocked": False},
    "warnings": [],
    "extensions": {
        "fees": None,
        "vault": None,
        "airdrop": None,
        "devBuy": None,
        "sniperTax": None,
        "positions": None,
    },
    "priceUsd": None,
    "related": {},
}


def test_a_record_has_every_key_and_null_where_nothing_is_known(ask):
    token = TokenFactory(
        tx_hash=RECORD["tx_hash"],
        contract_address=RECORD["contract_address"],
        name="Higher ↑",
        symbol="HIGHER",
        admin=WALLET,
        msg_sender=WALLET,
        pool_address=RECORD["pool_address"],
        metadata=RECORD["metadata"],
        deployed_at=NOON,
        last_indexed=NOON + timedelta(seconds=2),
        champagne=True,
    )
    token.created_at = NOON + timedelta(seconds=1, microseconds=234_999)
    token.save()
    assert ask().json()["data"] == [{"id": token.pk} | RECORD]


def test_a_supply_of_any_size_is_exact(ask):
    TokenFactory(supply=2**256 - 1)
    assert ask().json()["data"][0]["supply"] == str(2**256 - 1)


def test_a_generation_that_the_registry_has_lost_keeps_its_name(ask):
    TokenFactory(generation="v9")
    assert ask().json()["data"][0]["type"] == "v9"
