"""Tests of `GET /api/get-token-by-address`."""

import json

import pytest

from tests.rows.factories import SocialProfileFactory, TokenFactory
from tokens.indexing.metadata import parse_metadata

pytestmark = pytest.mark.django_db

PATH = "/api/get-token-by-address"
ADDRESS = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
MINT = "So11111111111111111111111111111111111111112"


@pytest.mark.parametrize("spell", [str, str.lower, lambda text: "0X" + text[2:].upper()])
def test_it_finds_a_token_in_any_case(fetch, spell):
    token = TokenFactory(contract_address=ADDRESS)
    answer = fetch(address=spell(ADDRESS), partner="x")
    record = answer.json()["data"]
    assert (record["id"], record["contract_address"]) == (token.pk, ADDRESS)
    assert answer.headers["Cache-Control"] == "private, max-age=120"
    assert answer.headers["X-Ignored-Params"] == "partner"


def test_it_finds_a_blocked_token(fetch):
    TokenFactory(contract_address=ADDRESS, blocked=True)
    assert fetch(address=ADDRESS).json()["data"]["tags"]["blocked"] is True


def test_of_several_chains_the_registrys_first_counts(fetch):
    TokenFactory(contract_address=ADDRESS, chain_id=424_242)
    ethereum = TokenFactory(contract_address=ADDRESS, chain_id=1)
    base = TokenFactory(contract_address=ADDRESS, chain_id=8453)
    assert fetch(address=ADDRESS).json()["data"]["id"] == base.pk
    assert fetch(address=ADDRESS, chainId=1).json()["data"]["id"] == ethereum.pk
    base.unindexed = True
    base.save()
    assert fetch(address=ADDRESS).json()["data"]["id"] == ethereum.pk


def test_it_adds_deployer_and_links(fetch):
    urls = {
        "Twitter": "https://x.com/a",
        "website": "https://a.example",
        "warpcast": "https://w",
        "telegram": "https://t",
    }
    links = [{"platform": platform, "url": url} for platform, url in urls.items()]
    token = TokenFactory(
        contract_address=ADDRESS,
        requestor_fid=7,
        requestor_address="0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
        metadata={"auditUrls": [], "description": None, "socialMediaUrls": links},
    )
    TokenFactory(requestor_fid=7, chain_id=1, blocked=True)
    TokenFactory(requestor_fid=7, unindexed=True)
    TokenFactory(requestor_fid=8, msg_sender=token.msg_sender)
    record = fetch(address=ADDRESS).json()["data"]
    assert record["deployer"] == {
        "fid": 7,
        "username": None,
        "displayName": None,
        "pfpUrl": None,
        "address": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
        "tokensDeployed": 2,
    }
    found = [record[key] for key in ("twitterUrl", "websiteUrl", "farcasterUrl", "telegramUrl")]
    assert found == list(urls.values())
    assert record["farcasterVerifiedEthAddress"] is None


def test_bare_addresses_are_known_by_their_hosts(fetch):
    urls = ["https://www.x.com/a", "http://[", "https://t.me/b", "https://farcaster.xyz/c", "https://x.com.example/d"]
    TokenFactory(contract_address=ADDRESS, metadata=parse_metadata(json.dumps({"socialMediaUrls": urls})))
    record = fetch(address=ADDRESS).json()["data"]
    found = [record[key] for key in ("twitterUrl", "telegramUrl", "farcasterUrl", "websiteUrl")]
    del urls[1]
    assert found == urls
    assert record["socialLinks"] == [{"name": "website", "link": url} for url in urls]


def test_old_rows_show_no_link_that_is_not_of_the_web_or_of_ipfs(fetch):
    stored = {
        "auditUrls": ["javascript:a", " https://audit.example"],
        "description": "javascript:stays",
        "socialMediaUrls": [
            {"platform": platform, "url": url}
            for platform in ("x", "website", "telegram", "farcaster")
            for url in ("javascript:alert(1)", "//evil.example", "https://a@evil.example")
        ],
    }
    TokenFactory(contract_address=ADDRESS, img_url="data:image/svg+xml,<svg/>", metadata=stored)
    record = fetch(address=ADDRESS).json()["data"]
    names = ("img_url", "twitterUrl", "websiteUrl", "telegramUrl", "farcasterUrl")
    assert {name: record[name] for name in names} == dict.fromkeys(names)
    assert record["socialLinks"] == []
    assert record["metadata"] == {
        "auditUrls": ["https://audit.example"],
        "description": "javascript:stays",
        "socialMediaUrls": [],
    }


def test_it_returns_the_deployers_profile(fetch, django_assert_num_queries):
    TokenFactory(contract_address=ADDRESS, requestor_fid=7)
    addresses = [MINT, "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", ADDRESS]
    SocialProfileFactory(
        fid=7, username="a", display_name="A", pfp_url="https://host/a.png", verified_addresses=addresses
    )
    SocialProfileFactory(fid=8)
    record = fetch(address=ADDRESS).json()["data"]
    assert {key: record["deployer"][key] for key in ("fid", "username", "displayName", "pfpUrl")} == {
        "fid": 7,
        "username": "a",
        "displayName": "A",
        "pfpUrl": "https://host/a.png",
    }
    assert record["farcasterVerifiedEthAddress"] == "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
    with django_assert_num_queries(4):
        fetch(address=ADDRESS)


def test_a_deployer_whose_profile_is_not_there_yet_has_none(fetch):
    TokenFactory(contract_address=ADDRESS, requestor_fid=7)
    SocialProfileFactory(fid=7, wanted=True)
    record = fetch(address=ADDRESS).json()["data"]
    assert (record["deployer"]["fid"], record["deployer"]["username"]) == (7, None)
    assert record["farcasterVerifiedEthAddress"] is None


def test_a_deployer_without_fid_is_known_by_their_wallet(fetch):
    token = TokenFactory(contract_address=ADDRESS)
    TokenFactory.create_batch(2, msg_sender=token.msg_sender)
    deployer = fetch(address=ADDRESS).json()["data"]["deployer"]
    assert (deployer["address"], deployer["tokensDeployed"]) == (token.msg_sender, 3)


def test_a_deployer_for_whom_the_launchpad_sent_is_known_by_their_own_wallet(fetch):
    wallet = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
    token = TokenFactory(contract_address=ADDRESS, requestor_address=wallet)
    TokenFactory.create_batch(3, msg_sender=token.msg_sender)
    TokenFactory(msg_sender=wallet)
    TokenFactory(requestor_address=wallet, unindexed=True)
    deployer = fetch(address=ADDRESS).json()["data"]["deployer"]
    assert (deployer["address"], deployer["tokensDeployed"]) == (wallet, 2)


def test_an_unknown_deployer_deployed_only_this_token(fetch):
    TokenFactory(contract_address=ADDRESS, msg_sender="")
    TokenFactory(msg_sender="")
    deployer = fetch(address=ADDRESS).json()["data"]["deployer"]
    assert (deployer["address"], deployer["tokensDeployed"]) == (None, 1)


def test_it_queries_the_database_for_key_token_and_count(fetch, django_assert_num_queries):
    TokenFactory(contract_address=ADDRESS)
    fetch(address=ADDRESS)
    with django_assert_num_queries(3):
        assert fetch(address=ADDRESS).status_code == 200
