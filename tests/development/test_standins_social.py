"""development/standins/social_server.py: the documented schemas of both providers."""

import re
from collections.abc import Iterator

import pytest
import requests

from development.standins.social_server import MAX_FIDS, SocialStandIn, is_known
from tokens.chains.addresses import parse_address

BULK = "/v2/farcaster/user/bulk/"


@pytest.fixture
def social() -> Iterator[SocialStandIn]:
    with SocialStandIn(api_key="right") as running:
        yield running


def bulk(social, fids, *, key="right"):
    headers = {} if key is None else {"x-api-key": key}
    return requests.get(social.url + BULK, params={"fids": fids}, headers=headers, timeout=60)


def hub(social, path, fid):
    return requests.get(f"{social.url}/v1/{path}", params={"fid": fid}, timeout=60)


@pytest.mark.parametrize("key", [None, "", "wrong"])
def test_it_refuses_a_call_without_its_key(social, key):
    answer = bulk(social, "1", key=key)
    assert (answer.status_code, answer.json()) == (401, {"message": "Incorrect or missing API key"})


@pytest.mark.parametrize("fids", ["", "x", "1,", "0", "-1", str(2**31), ",".join(map(str, range(1, MAX_FIDS + 2)))])
def test_it_refuses_fids_that_it_does_not_take(social, fids):
    answer = bulk(social, fids)
    assert (answer.status_code, answer.json()["property"]) == (400, "fids")


def test_it_leaves_out_unknown_fids(social):
    answer = bulk(social, "6,7,8,8").json()
    assert [user["fid"] for user in answer["users"]] == [6, 8]
    assert bulk(social, "7").json() == {"users": []}
    assert not is_known(7)


def test_it_returns_users_as_documented_and_the_same_each_time(social):
    fids = [fid for fid in range(1, MAX_FIDS + 1) if is_known(fid)]
    users = bulk(social, ",".join(map(str, fids))).json()["users"]
    assert [user["fid"] for user in users] == fids
    assert bulk(social, ",".join(map(str, fids))).json()["users"] == users
    for user in users:
        assert user["object"] == "user"
        assert re.fullmatch(r"[a-z0-9-]+", user["username"])
        assert "sample" in user["display_name"]
        assert 0 <= user["score"] <= 1
        verified = user["verified_addresses"]
        assert set(verified) == {"eth_addresses", "sol_addresses", "primary"}
        assert user["verifications"] == verified["eth_addresses"]
        for address in (user["custody_address"], *verified["eth_addresses"], *verified["sol_addresses"]):
            assert parse_address(address, allow_mint=True)
    assert len({user["username"] for user in users}) == len(users)
    assert {user["pfp_url"] is None for user in users} == {True, False}
    assert {len(user["verifications"]) for user in users} == {0, 1, 2}
    assert {len(user["verified_addresses"]["sol_addresses"]) for user in users} == {0, 1}


def test_the_hub_refuses_what_is_no_fid(social):
    assert hub(social, "userDataByFid", "x").status_code == 400
    assert hub(social, "linksByFid", 1).status_code == 404


def test_the_hub_returns_the_same_people_by_messages(social):
    for user in bulk(social, ",".join(map(str, range(1, 31)))).json()["users"]:
        messages = hub(social, "userDataByFid", user["fid"]).json()["messages"]
        assert {message["data"]["fid"] for message in messages} == {user["fid"]}
        # 2023-11-14, in seconds since 2021.
        assert all(90_000_000 < message["data"]["timestamp"] < 101_000_000 for message in messages)
        data = {body["type"]: body["value"] for body in (message["data"]["userDataBody"] for message in messages)}
        assert data["USER_DATA_TYPE_USERNAME"] == user["username"]
        assert data["USER_DATA_TYPE_DISPLAY"] == user["display_name"]
        assert data.get("USER_DATA_TYPE_PFP") == user["pfp_url"]
        assert data["USER_DATA_TYPE_BIO"] == user["profile"]["bio"]["text"]
        verified = hub(social, "verificationsByFid", user["fid"]).json()["messages"]
        addresses = [message["data"]["verificationAddAddressBody"]["address"] for message in verified]
        assert addresses == user["verifications"] + user["verified_addresses"]["sol_addresses"]
    assert hub(social, "userDataByFid", 7).json() == {"messages": [], "nextPageToken": ""}
