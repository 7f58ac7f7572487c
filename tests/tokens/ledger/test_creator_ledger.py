"""GET /api/creators/{creator}: its parameters, totals, pages and queries."""

from datetime import timedelta

import pytest
from django.utils import timezone

from config.parsing.timestamps import format_timestamp
from tests.config.api.test_described_answers import check
from tests.rows.factories import SocialProfileFactory, SolanaTokenFactory, TokenFactory
from tests.rows.token_lists import price
from tests.tokens.ledger.creator_launches import ALICE, BOB, CREATOR, FID, FIRST, WETH, claim, collect, launch

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("summed")]


@pytest.mark.parametrize("creator", [str(FID), str(2**63 - 1), CREATOR, "So11111111111111111111111111111111111111112"])
def test_an_unknown_creator_has_an_empty_ledger(fetch, description, creator):
    TokenFactory()
    answer = fetch(creator)
    check(description, "/api/creators/{creator}", answer.json())
    data = answer.json()["data"]
    is_user = creator.isdigit()
    assert data["creator"] == {
        "key": creator,
        "fid": int(creator) if is_user else None,
        "address": None if is_user else creator,
        "user": None,
    }
    assert (data["launches"], data["recipientOf"], data["claimed"]) == ([], [], [])
    assert (data["cursor"], data["recipientCursor"], data["totals"]["launches"]) == (None, None, 0)
    assert answer.headers["Cache-Control"] == "public, s-maxage=15"


def test_totals_of_a_user(read):
    SocialProfileFactory(fid=FID, username="ada")
    old = TokenFactory(requestor_fid=FID, deployed_at=FIRST, launch_warnings=["UNUSUAL_TICK"])
    new = SolanaTokenFactory(requestor_fid=FID, deployed_at=FIRST + timedelta(days=1))
    price(old, volume_24h=3.5)
    price(new, volume_24h=1, graduated_at=FIRST, last_trade_at=timezone.now())
    TokenFactory(requestor_fid=FID, blocked=True)
    data = read(FID)
    assert data["creator"]["user"]["username"] == "ada"
    assert data["totals"] == {
        "launches": 2,
        "isComplete": True,
        "firstLaunchAt": format_timestamp(FIRST),
        "lastLaunchAt": format_timestamp(FIRST + timedelta(days=1)),
        "stillTraded": 1,
        "graduated": 1,
        "withWarnings": 1,
        "volume24h": 4.5,
    }
    assert [entry["token"]["id"] for entry in data["launches"]] == [new.pk, old.pk]


def test_the_volume_of_a_user_is_the_decimal_sum(read):
    for volume in (0.1, 0.2):
        price(TokenFactory(requestor_fid=FID), volume_24h=volume)
    assert read(FID)["totals"]["volume24h"] == 0.3


def test_pages_of_both_lists(read):
    made = [
        launch(CREATOR, contract_address=f"0x{number:040x}", deployed_at=FIRST + timedelta(hours=number))
        for number in range(1, 6)
    ]
    newest = [token.pk for token in reversed(made)]
    for name, cursor in (("launches", "cursor"), ("recipientOf", "recipientCursor")):
        found, place = [], {}
        for size in (2, 2, 1):
            data = read(limit=2, **place)
            assert len(data[name]) == size
            found += [entry["token"]["id"] for entry in data[name]]
            place = {cursor: data[cursor]}
        assert (found, data[cursor]) == (newest, None)
    data = read(limit=0)
    assert (data["launches"], data["recipientOf"], data["totals"]["launches"]) == ([], [], 5)


def test_pages_of_tokens_that_name_a_wallet_and_of_declared_launches_that_paid_it(read):
    tokens = []
    for number in range(1, 7):
        columns = {"contract_address": f"0x{number:040x}", "deployed_at": FIRST + timedelta(hours=number)}
        if number % 2:
            tokens.append(launch(BOB, **columns))
        else:
            tokens.append(TokenFactory(generation="zora", **columns))
            claim(BOB, WETH, 5, token=tokens[-1])
    claim(BOB, WETH, 5, token=TokenFactory(generation="v4"))
    claim(ALICE, WETH, 5, token=TokenFactory(generation="zora"))
    pages, position = [], {}
    for _ in range(3):
        data = read(BOB, limit=2, **position)
        pages.append([entry["token"]["id"] for entry in data["recipientOf"]])
        position = {"recipientCursor": data["recipientCursor"]}
    newest = [token.pk for token in reversed(tokens)]
    assert pages == [newest[:2], newest[2:4], newest[4:]]
    assert data["recipientCursor"] is None


def test_any_number_of_launches_costs_the_same_queries(fetch, django_assert_num_queries):
    def queries(count):
        with django_assert_num_queries(count):
            fetch()

    for number in range(1, 4):
        collect(launch(ALICE, CREATOR, contract_address=f"0x{number:040x}"), (1, 1), (1, 1))
    queries(15)
    for number in range(4, 9):
        token = launch(ALICE, CREATOR, BOB, contract_address=f"0x{number:040x}")
        collect(token, (1, 1, 1), (1, 1, 1))
        claim(ALICE, token.contract_address, 1, token=token)
    queries(15)


def test_the_ledger_is_as_described(fetch, description, installed_node):
    SocialProfileFactory(fid=FID)
    token = launch(ALICE, CREATOR, requestor_fid=FID, requestor_address=CREATOR)
    collect(token, (1, 1), (1, 1))
    claim(CREATOR, WETH, 10)
    price(token, market_cap=1, volume_24h=2)
    for creator in (FID, CREATOR):
        for parameters in ({}, {"includeWaiting": 1, "days": 90, "limit": 1}):
            check(description, "/api/creators/{creator}", fetch(creator, **parameters).json())
    check(description, "/api/creators/{creator}", fetch("x").json(), status=400)
