"""Tests of `GET /api/tokens`."""

import itertools
from datetime import UTC, datetime, timedelta

import pytest

from tests.rows.factories import SocialProfileFactory, TokenFactory
from tests.rows.token_lists import SORTS, content_of, ids, price, walk

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)
WALLET = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"


@pytest.fixture
def fetch(client):
    """Send the parameters and return the response."""
    return lambda **parameters: client.get("/api/tokens", parameters)


PARAMETERS = [
    "q",
    "fid",
    "fids",
    "msgSender",
    "pairAddress",
    "pair",
    "sortBy",
    "sort",
    "socialInterface",
    "startDate",
    "limit",
    "offset",
    "includeUser",
    "includeMarket",
    "champagne",
    "verified",
    "warnings",
    "minMarketCap",
    "minVolume24h",
    "chainId",
    "cursor",
]


def test_it_lists_neither_blocked_nor_unindexed_tokens(fetch):
    TokenFactory(blocked=True)
    TokenFactory(unindexed=True)
    shown = TokenFactory()
    answer = fetch()
    assert ids(answer) == [shown.pk]
    assert (answer.json()["total"], answer.json()["tokensDeployed"]) == (1, 1)


def test_it_answers_with_nothing_where_there_is_nothing(fetch):
    answer = fetch()
    assert answer.json() == {"data": [], "total": 0, "cursor": None, "tokensDeployed": 0}
    assert answer.headers["Cache-Control"] == "public, s-maxage=2"
    assert answer.headers["Content-Type"] == "application/json"
    assert "X-Ignored-Params" not in answer.headers


def test_blank_parameters_are_no_filters(fetch):
    TokenFactory()
    answer = fetch(**dict.fromkeys(PARAMETERS, ""))
    assert len(ids(answer)) == 1
    assert "X-Ignored-Params" not in answer.headers


def test_it_pages_by_limit(fetch):
    TokenFactory.create_batch(21)
    for parameters, count in (({}, 10), ({"limit": 0}, 0), ({"limit": 1}, 1), ({"limit": 20}, 20)):
        answer = fetch(**parameters)
        assert len(ids(answer)) == count
        assert answer.json()["total"] == 21
        assert (answer.json()["cursor"] is None) == (count == 0)


def test_a_cursor_has_the_contracts_form(fetch):
    TokenFactory(deployed_at=NOON)
    last = TokenFactory(deployed_at=NOON)
    assert content_of(fetch(limit=1).json()["cursor"]) == {
        "id": "2026-02-07T12:00:00.000Z",
        "k": last.pk,
        "s": "deployed-at",
    }


def test_the_older_cursor_gives_what_is_at_or_before_its_second(fetch):
    second = datetime(2026, 2, 7, 3, 50, 49, tzinfo=UTC)
    before, at, later_in_it, after = (
        TokenFactory(deployed_at=second + timedelta(seconds=seconds)) for seconds in (-1, 0, 0.5, 1)
    )
    answer = fetch(cursor="eyJpZCI6IjIwMjYtMDItMDdUMDM6NTA6NDkifQ==")
    assert ids(answer) == [later_in_it.pk, at.pk, before.pk]
    assert after.pk not in ids(answer)


def test_an_offset_counts_from_the_cursor(fetch):
    newest_first = [token.pk for token in reversed(TokenFactory.create_batch(9))]
    cursor = fetch(limit=2).json()["cursor"]
    answer = fetch(limit=3, cursor=cursor, offset=1)
    assert ids(answer) == newest_first[3:6]
    assert ids(fetch(limit=3, cursor=answer.json()["cursor"])) == newest_first[6:]
    assert ids(fetch(limit=3, offset=8)) == newest_first[8:]


def test_beyond_the_end_is_the_last_page(fetch):
    TokenFactory.create_batch(3)
    for offset in (3, 10_000):
        body = fetch(offset=offset).json()
        assert (body["data"], body["cursor"], body["total"]) == ([], None, 3)


COLUMNS = dict(
    zip(SORTS[1:], ("market_cap", "tx_count_24h", "volume_24h", "price_change_24h", "price_change_1h"), strict=True)
)


@pytest.mark.parametrize("sort_by", SORTS[1:])
def test_it_sorts_by_market_with_the_unknown_last_in_both_directions(fetch, sort_by):
    column = COLUMNS[sort_by]
    tokens = TokenFactory.create_batch(8)
    # Some values are equal, one is null, and the last two tokens have none.
    for token, value in zip(tokens, [5, 0, None, 7, 5, 0], strict=False):
        price(token, **{column: value})
    by_number = [token.pk for token in tokens]
    second, fourth, unknown = by_number[1], by_number[3], [by_number[2], *by_number[6:]]
    rising = [second, by_number[5], by_number[0], by_number[4], fourth]
    assert ids(fetch(sortBy=sort_by, sort="asc")) == rising + unknown
    assert ids(fetch(sortBy=sort_by)) == rising[::-1] + unknown[::-1]
    for limit in (1, 3, 7, 8):
        assert walk(fetch, sortBy=sort_by, sort="asc", limit=limit) == rising + unknown
        assert walk(fetch, sortBy=sort_by, limit=limit) == rising[::-1] + unknown[::-1]


def test_a_cursor_among_the_unknown_contains_null(fetch):
    oldest, _, newest = TokenFactory.create_batch(3)
    for sort_by in SORTS[1:]:
        for sort, first, direction in (("desc", newest, {}), ("asc", oldest, {"d": "asc"})):
            cursor = fetch(sortBy=sort_by, sort=sort, limit=1).json()["cursor"]
            assert content_of(cursor) == {"id": None, "k": first.pk, "s": sort_by} | direction


def test_a_cursor_has_the_exact_number(fetch):
    for number in (0.1, 1e-17, 12345.678901234567, 1e22):
        price(TokenFactory(), market_cap=number)
    assert content_of(fetch(sortBy="market-cap", limit=1).json()["cursor"])["id"] == 1e22
    assert len(set(walk(fetch, sortBy="market-cap", limit=1))) == 4
    tokens = [price(TokenFactory(), tx_count_24h=number) for number in (2**53, 2**53 + 1)]
    assert walk(fetch, sortBy="tx-h24", limit=1)[:2] == [tokens[1].pk, tokens[0].pk]


def test_a_cursor_of_any_other_sort_starts_from_the_first_page(fetch):
    for number in range(3):
        price(TokenFactory(), **dict.fromkeys(COLUMNS.values(), number))
    cursors = {
        (sort_by, sort): fetch(sortBy=sort_by, sort=sort, limit=1).json()["cursor"]
        for sort_by, sort in itertools.product(SORTS, ("desc", "asc"))
    }
    first = ids(fetch())
    for sort_by, (own, cursor) in itertools.product(SORTS, cursors.items()):
        assert ids(fetch(sortBy=sort_by, cursor=cursor)) == (first[1:] if own == (sort_by, "desc") else first)


def test_the_older_cursor_starts_from_the_first_page_of_a_market_sort(fetch):
    token = TokenFactory()
    assert ids(fetch(sortBy="market-cap", cursor="eyJpZCI6IjIwMjYtMDItMDdUMDM6NTA6NDkifQ==")) == [token.pk]


def test_it_filters_by_chain(fetch):
    base, other = TokenFactory(chain_id=8453), TokenFactory(chain_id=1)
    assert ids(fetch(chainId=8453)) == [base.pk]
    assert ids(fetch(chainId=1)) == [other.pk]
    assert fetch(chainId=2**63 - 1).status_code == 400


def test_it_filters_by_sender_in_any_case(fetch):
    token = TokenFactory(msg_sender=WALLET)
    TokenFactory()
    for text in (WALLET, WALLET.lower(), "0X" + WALLET[2:].upper()):
        answer = fetch(msgSender=text)
        assert ids(answer) == [token.pk]
        assert answer.json()["data"][0]["msg_sender"] == WALLET


def test_it_filters_by_requestor(fetch):
    first, second = TokenFactory(requestor_fid=1), TokenFactory(requestor_fid=2)
    TokenFactory(requestor_fid=None)
    assert ids(fetch(fid=1)) == [first.pk]
    assert ids(fetch(fids="2,1")) == [second.pk, first.pk]
    assert ids(fetch(fids=",".join(map(str, range(1, 101))))) == [second.pk, first.pk]
    assert ids(fetch(fid=1, fids="2")) == []


V3_POOL, V4_POOL = "0x5FbDB2315678afecb367f032d93F642f64180aa3", "0x" + "ab" * 32


def test_it_filters_by_pool_or_paired_token_in_any_case(fetch):
    for column, stored in (("pool_address", V3_POOL), ("pool_address", V4_POOL), ("paired_token", WALLET)):
        token = TokenFactory(**{column: stored})
        for text in (stored, stored.lower(), "0x" + stored[2:].upper()):
            assert ids(fetch(pairAddress=text)) == [token.pk]


def test_it_filters_by_a_pool_and_a_paired_token_at_one_address(fetch):
    tokens = [TokenFactory(pool_address=WALLET), TokenFactory(paired_token=WALLET)]
    answer = fetch(pairAddress=WALLET)
    assert (ids(answer), answer.json()["total"]) == ([token.pk for token in reversed(tokens)], 2)


def test_it_filters_by_the_paired_symbol_in_any_case(fetch):
    tokens = [TokenFactory(pair="WETH"), TokenFactory(pair="weth")]
    for pair in ("WETHX", "XWETH", "", "USDC"):
        TokenFactory(pair=pair)
    for text in ("wETH", "WETH", "weth", " weth "):
        assert ids(fetch(pair=text)) == [token.pk for token in reversed(tokens)]


def test_the_pair_all_is_no_filter(fetch):
    tokens = [TokenFactory(pair=pair) for pair in ("WETH", "", "ALL")]
    for text in ("all", "ALL", " All "):
        answer = fetch(pair=text)
        assert (ids(answer), answer.json()["total"]) == ([token.pk for token in reversed(tokens)], 3)


def test_a_pair_is_no_pattern(fetch):
    token = TokenFactory(pair="%")
    TokenFactory(pair="WETH")
    assert ids(fetch(pair="%")) == [token.pk]
    assert ids(fetch(pair="W_TH")) == []


def test_it_filters_by_interface_in_any_case(fetch):
    tokens = [TokenFactory(social_context={"interface": name}) for name in ("Bankr", "bANKR")]
    for name in ("Bankr2", "", None):
        TokenFactory(social_context={"interface": name})
    TokenFactory(social_context={})
    for text in ("Bankr", "bankr", "BANKR", " bankr "):
        assert ids(fetch(socialInterface=text)) == [token.pk for token in reversed(tokens)]


def test_a_long_interface_is_compared_wholly(fetch):
    # The index holds only the beginning.
    longest = TokenFactory(social_context={"interface": "É" * 100})
    TokenFactory(social_context={"interface": "É" * 101})
    TokenFactory(social_context={"interface": "É" * 50_000})
    assert ids(fetch(socialInterface="é" * 100)) == [longest.pk]


def test_a_start_is_strictly_after(fetch):
    at, just_after, after = (
        TokenFactory(deployed_at=NOON + timedelta(milliseconds=milliseconds)) for milliseconds in (0, 1, 1000)
    )
    second = int(NOON.timestamp())
    assert ids(fetch(startDate=second)) == [after.pk, just_after.pk]
    assert ids(fetch(startDate=second - 1)) == [after.pk, just_after.pk, at.pk]
    assert ids(fetch(startDate=second + 1)) == []
    assert len(ids(fetch(startDate=0))) == 3
    assert ids(fetch(startDate=253_402_300_799)) == []


def test_it_filters_by_champagne_where_that_is_true(fetch):
    champagne, plain = TokenFactory(champagne=True), TokenFactory()
    for texts, listed in ((("true", "1", "TRUE"), [champagne.pk]), (("false", "0"), [plain.pk, champagne.pk])):
        for text in texts:
            answer = fetch(champagne=text)
            assert (ids(answer), answer.json()["total"]) == (listed, len(listed))


def test_all_filters_hold_together(fetch):
    wanted = {
        "requestor_fid": 7,
        "msg_sender": WALLET,
        "pool_address": V4_POOL,
        "pair": "WETH",
        "social_context": {"interface": "Bankr"},
        "deployed_at": NOON + timedelta(seconds=1),
        "champagne": True,
        "chain_id": 1,
        "name": "Good dog",
    }
    others = {
        "requestor_fid": 8,
        "msg_sender": V3_POOL,
        "pool_address": V3_POOL,
        "pair": "USDC",
        "social_context": {"interface": "other"},
        "deployed_at": NOON,
        "champagne": False,
        "chain_id": 8453,
        "name": "Good cat",
    }
    token = TokenFactory(**wanted)
    for name, other in others.items():
        TokenFactory(**wanted | {name: other})
    parameters = {
        "q": "DOG",
        "fid": 7,
        "fids": "6,7",
        "msgSender": WALLET,
        "pairAddress": V4_POOL,
        "pair": "weth",
        "socialInterface": "bankr",
        "startDate": int(NOON.timestamp()),
        "champagne": "true",
        "chainId": 1,
    }
    for sort_by in SORTS:
        answer = fetch(**parameters, sortBy=sort_by)
        assert (ids(answer), answer.json()["total"]) == ([token.pk], 1)
    # Only the identities: all that differ in another column, too.
    assert answer.json()["tokensDeployed"] == 1 + len(others.keys() - {"requestor_fid", "msg_sender", "chain_id"})


def test_tokens_deployed_follows_only_identities(fetch):
    TokenFactory.create_batch(2, msg_sender=WALLET, pair="USDC")
    TokenFactory(pair="USDC")
    narrow = {"q": "dog", "pair": "weth", "startDate": 2_000_000_000, "champagne": 1, "socialInterface": "x"}
    for name, value in narrow.items():
        body = fetch(**{name: value}, msgSender=WALLET).json()
        assert (body["total"], body["tokensDeployed"]) == (0, 2)
        assert fetch(**{name: value}).json()["tokensDeployed"] == 3


def test_a_limit_of_nothing_returns_the_counts(fetch, django_assert_num_queries):
    TokenFactory.create_batch(2, name="dog")
    TokenFactory(name="cat")
    with django_assert_num_queries(2):
        assert fetch(limit=0).json() == {"data": [], "total": 3, "cursor": None, "tokensDeployed": 3}
    assert fetch(limit=0, q="dog").json() == {"data": [], "total": 2, "cursor": None, "tokensDeployed": 3}
    assert fetch(limit=0, sortBy="market-cap", includeMarket=1).json()["total"] == 3


def test_filters_narrow_both_counts_whatever_the_page(fetch):
    TokenFactory.create_batch(3, msg_sender=WALLET)
    TokenFactory(msg_sender=WALLET, chain_id=1)
    TokenFactory(msg_sender=WALLET, blocked=True)
    TokenFactory()
    body = fetch(msgSender=WALLET, chainId=8453, limit=1).json()
    assert (len(body["data"]), body["total"], body["tokensDeployed"]) == (1, 3, 3)


def test_a_copy_is_marked_when_read(fetch):
    original = TokenFactory(name="Higher", symbol="HIGHER")
    copy = TokenFactory(name=" hi gher ", symbol="higher", launch_warnings=["UNUSUAL_TICK"])

    def warnings():
        return {record["id"]: record["warnings"] for record in fetch().json()["data"]}

    assert warnings() == {original.pk: [], copy.pk: ["UNUSUAL_TICK"]}
    original.verified = True
    original.save()
    assert warnings() == {original.pk: [], copy.pk: ["UNUSUAL_TICK", "POSSIBLE_COPY"]}
    original.verified, original.champagne = False, True
    original.save()
    assert warnings() == {original.pk: [], copy.pk: ["UNUSUAL_TICK", "POSSIBLE_COPY"]}
    # A tag for the copy does not make the older one a copy.
    original.champagne, copy.verified = False, True
    original.save()
    copy.save()
    assert warnings() == {original.pk: [], copy.pk: ["UNUSUAL_TICK"]}


USER = {
    "fid": 7,
    "username": "seven",
    "displayName": "Seven",
    "display_name": "Seven",
    "pfpUrl": None,
    "pfp_url": None,
    "bio": None,
    "verifiedAddresses": [WALLET],
}


def test_it_adds_users_who_are_known(fetch):
    SocialProfileFactory(fid=7, username="seven", display_name="Seven", verified_addresses=[WALLET])
    SocialProfileFactory(fid=8, wanted=True)
    for fid in (7, 8, 9, None, 7):
        TokenFactory(requestor_fid=fid)
    assert [record["related"] for record in fetch(includeUser="true").json()["data"]] == [
        {"user": user} for user in (USER, None, None, None, USER)
    ]


def test_it_adds_markets_that_are_known(fetch):
    TokenFactory()
    token = price(
        TokenFactory(),
        market_cap=1234.5,
        price_usd=1.5e-9,
        volume_24h=10,
        liquidity_usd=20.25,
        tx_count_24h=3,
        price_change_1h=5,
        price_change_6h=-6.5,
        updated_at=NOON,
    )
    for sort_by in SORTS:
        known, unknown = fetch(includeMarket=1, sortBy=sort_by).json()["data"]
        assert (known["id"], known["priceUsd"]) == (token.pk, 1.5e-9)
        assert known["related"] == {
            "market": {
                "marketCap": 1234.5,
                "priceUsd": 1.5e-9,
                "price": 1.5e-9,
                "volume24h": 10,
                "liquidityUsd": 20.25,
                "txCount24h": 3,
                "priceChangePercent1h": 5,
                "priceChangePercent6h": -6.5,
                "priceChangePercent24h": None,
                "marketDataUpdatedAt": "2026-02-07T12:00:00.000Z",
            }
        }
        assert (unknown["priceUsd"], unknown["related"]) == (None, {"market": None})


def test_it_adds_nothing_that_was_not_requested(fetch):
    price(TokenFactory(requestor_fid=7), price_usd=1)
    SocialProfileFactory(fid=7)
    for parameters in ({}, {"includeUser": "false", "includeMarket": "0"}):
        (record,) = fetch(**parameters).json()["data"]
        assert (record["priceUsd"], record["related"]) == (None, {})


def test_its_queries_are_as_many_whatever_the_page(fetch, django_assert_num_queries):
    for fid in range(1, 22):
        TokenFactory(requestor_fid=fid)
        SocialProfileFactory(fid=fid)
    cases = [
        # The newest event, the total, and the records.
        ({}, 3),
        ({"includeMarket": 1}, 3),
        ({"includeMarket": 1, "includeUser": 1}, 4),
        # The matches' estimate and count, and the sorted page; the records; and the number of deployed tokens.
        ({"pair": "weth"}, 6),
        # An estimate; page and total together; the records; and how many are deployed.
        ({"q": "token"}, 5),
        ({"q": "token", "includeMarket": 1, "includeUser": 1}, 6),
    ]
    for (parameters, queries), sort_by in itertools.product(cases, SORTS):
        cursor = fetch(limit=1, sortBy=sort_by, **parameters).json()["cursor"]
        for limit in (1, 20):
            with django_assert_num_queries(queries):
                assert len(ids(fetch(limit=limit, sortBy=sort_by, cursor=cursor, **parameters))) == limit


RECORD = {
    "created_at": "2026-02-07T12:00:01.234Z",
    "last_indexed": "2026-02-07T12:00:02.000Z",
    "deployed_at": "2026-02-07T12:00:00.000Z",
    "tx_hash": "0x" + "ab" * 32,
    "contract_address": "0x5FbDB2315678afecb367f032d93F642f64180aa3",
    "chain_id": 8453,
    "type": "clanker_v4",
    "launchpad": "clanker",
    "launchpadTitle": "Clanker",
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
    "trust": {"verified": False, "reasons": []},
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


def test_a_record_has_every_key_and_null_where_nothing_is_known(fetch):
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
    assert fetch().json()["data"] == [{"id": token.pk} | RECORD]


def test_a_supply_of_any_size_is_exact(fetch):
    TokenFactory(supply=2**256 - 1)
    assert fetch().json()["data"][0]["supply"] == str(2**256 - 1)


def test_a_generation_that_the_registry_has_lost_keeps_its_name(fetch):
    TokenFactory(generation="v9")
    assert fetch().json()["data"][0]["type"] == "v9"
