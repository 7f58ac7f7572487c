"""Tests of `GET /api/get-user-by-fid`, `-by-address`, `-by-name` and `/api/get-multiple-users-by-fid`."""

from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import SocialProfile
from tests.rows.factories import SocialProfileFactory
from tests.rows.many_tokens import multiply
from tests.rows.query_plans import plans

pytestmark = pytest.mark.django_db

BY_FID, BY_ADDRESS, BY_NAME, MANY = (
    "/api/get-user-by-fid",
    "/api/get-user-by-address",
    "/api/get-user-by-name",
    "/api/get-multiple-users-by-fid",
)
ETH, SOL = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", "So11111111111111111111111111111111111111112"
FETCHED = datetime.fromisoformat("2026-02-07T12:00:00Z")
NOT_FOUND = (404, {"error": "User not found"})
ADA = {
    "fid": 7,
    "username": "ada.eth",
    "displayName": "Ada",
    "display_name": "Ada",
    "pfpUrl": "https://a.example/p.png",
    "pfp_url": "https://a.example/p.png",
    "bio": "Hello",
    "verifiedAddresses": [ETH, SOL],
    "profile": {"bio": {"text": "Hello"}},
    "verifications": [ETH],
    "verified_addresses": {"eth_addresses": [ETH], "sol_addresses": [SOL]},
    "fetchedAt": "2026-02-07T12:00:00.000Z",
}


@pytest.fixture
def ada():
    """Store a profile with all facts, one without any, and one that no response has filled yet."""
    SocialProfileFactory(fid=8, username="", display_name="")
    SocialProfileFactory(fid=9, wanted=True, verified_addresses=[ETH])
    return SocialProfileFactory(
        fid=7,
        username="ada.eth",
        display_name="Ada",
        pfp_url="https://a.example/p.png",
        bio="Hello",
        score=0.9,
        verified_addresses=[ETH, SOL],
        fetched_at=FETCHED,
    )


@pytest.fixture
def get(client):
    """Request a path; return status and body."""

    def get(path, **parameters):
        answer = client.get(path, parameters)
        return answer.status_code, answer.json()

    return get


@pytest.mark.parametrize(
    ("path", "parameters"),
    [
        (BY_FID, {"fid": 7}),
        (BY_ADDRESS, {"address": ETH}),
        (BY_ADDRESS, {"address": ETH.lower()}),
        (BY_ADDRESS, {"address": SOL}),
        (BY_NAME, {"name": "ada.eth"}),
        (BY_NAME, {"name": "@Ada.ETH "}),
    ],
)
def test_a_user_is_found_by_each_of_its_names_in_one_query(client, ada, path, parameters, django_assert_num_queries):
    with django_assert_num_queries(1):
        answer = client.get(path, parameters)
    assert (answer.status_code, answer.json()) == (200, ADA)
    assert answer.headers["Cache-Control"] == "public, s-maxage=300"


def test_unknown_facts_are_null(get, ada):
    status, user = get(BY_FID, fid=8)
    assert status == 200
    assert [name for name, value in user.items() if value is None] == [
        *("username", "displayName", "display_name", "pfpUrl", "pfp_url", "bio"),
    ]
    assert user["profile"] == {"bio": {"text": None}}
    assert user["verified_addresses"] == {"eth_addresses": [], "sol_addresses": []}


@pytest.mark.parametrize(
    ("path", "parameters"),
    [
        (BY_FID, {"fid": 6}),
        (BY_FID, {"fid": 9}),
        (BY_FID, {"fid": 2**63 - 1}),
        (BY_ADDRESS, {"address": "0x" + "1" * 40}),
        (BY_ADDRESS, {"address": SOL.swapcase()}),
        (BY_NAME, {"name": "ada"}),
        (BY_NAME, {"name": "%"}),
        (BY_NAME, {"name": "@"}),
        (BY_NAME, {"name": "a" * 255}),
    ],
)
def test_what_is_not_stored_is_not_found_and_not_fetched(get, ada, path, parameters):
    known = SocialProfile.objects.count()
    found = get(path, **parameters)
    assert found == NOT_FOUND or found[0] == 400 and path == BY_ADDRESS
    assert SocialProfile.objects.count() == known


def test_users_come_in_the_sequence_of_the_request_and_once(client, ada, django_assert_num_queries):
    with django_assert_num_queries(1):
        answer = client.get(MANY, {"fids": "8,404,7,9,8"})
    assert [user["fid"] for user in answer.json()["users"]] == [8, 7]
    assert answer.json()["users"][1] == ADA


def test_of_several_users_the_rule_chooses_one(get, ada):
    SocialProfileFactory(fid=3, username="other", verified_addresses=[ETH])
    assert get(BY_ADDRESS, address=ETH)[1]["fid"] == 3
    SocialProfileFactory(fid=11, username="ADA.eth", fetched_at=FETCHED + timedelta(days=1))
    assert get(BY_NAME, name="ada.eth")[1]["fid"] == 11


def test_users_are_looked_up_in_indexes(get):
    SocialProfile.objects.all().delete()
    values = {
        "fid": "n",
        "username": "'user-' || n",
        "verified_addresses": "ARRAY['0x' || lpad(to_hex(n), 40, '0')]",
        "fetched_at": "now()",
    }
    multiply(SocialProfileFactory(fid=10**6, fetched_at=timezone.now()), values)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE accounts_socialprofile")
    (name,) = plans(lambda: get(BY_NAME, name="User-77"), "accounts_socialprofile")
    (address,) = plans(lambda: get(BY_ADDRESS, address="0x" + f"{77:040x}"), "accounts_socialprofile")
    assert "social_profile_by_username" in name and "Seq Scan" not in name
    assert "social_profile_by_address" in address and "Seq Scan" not in address
