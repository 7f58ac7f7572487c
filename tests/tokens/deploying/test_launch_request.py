"""Tests of tokens/deploying/launch_request.py: rules for a body, and a valid body's launch."""

import copy
import cProfile
import json
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from config.api.parsing import parse_json_body
from tests.rows.changed_bodies import ABSENT, with_value
from tokens.chains.abi import codec
from tokens.chains.addresses import checksum_bytes
from tokens.chains.launching.launch_calls import encode_launch
from tokens.chains.launching.launch_config import (
    TOKEN_SUPPLY,
    Liquidity,
    OwnBuy,
    PresaleTerms,
    Reward,
    StaticFee,
    VaultShare,
)
from tokens.chains.launching.merkle import build_tree
from tokens.chains.registry.chains import Position
from tokens.deploying import launch_request, simulation
from tokens.deploying.launch_request import LaunchRequestError
from tokens.deploying.rules import supply_shares
from tokens.installation.installed_chains import installed_chain

ADMIN = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
OTHER = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
THIRD = "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65"
WETH = "0x4200000000000000000000000000000000000006"
USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
ZERO = "0x" + "0" * 40
# Without a listener there: parsing a request queries no node.
NOWHERE = ("http://127.0.0.1:1",)
BILLION = str(10**27)

TOKEN = {"name": "Plain", "symbol": "PLN", "tokenAdmin": ADMIN, "requestKey": "k" * 32}
REWARD = {"admin": ADMIN, "recipient": OTHER, "allocation": 100}
VAULT = {"percentage": 10, "lockupDuration": 30}
ENTRIES = [{"account": THIRD, "amount": BILLION}, {"account": OTHER, "amount": BILLION}]
AIRDROP = {"entries": ENTRIES, "lockupDuration": 1}
PRESALE = {"minEthGoal": 1, "maxEthGoal": 5, "presaleDuration": 3600}
DEV_BUY = {"ethAmount": 0.1}
DYNAMIC = {"type": "dynamic"}
FULL = {
    "token": TOKEN,
    "rewards": [REWARD],
    "pool": {},
    "fees": {},
    "vault": VAULT,
    "airdrop": AIRDROP,
    "context": {},
}


@pytest.fixture(autouse=True)
def chains(settings, forget_chains):
    """Install Base, Ethereum without a dynamic hook, Arbitrum without presales, and a chain without a v4 factory."""
    settings.RPC_URLS = {8453: NOWHERE, 1: NOWHERE, 42161: NOWHERE, 2741: NOWHERE}
    settings.DEPLOY_MAX_DEV_BUY_ETH = Decimal(1)
    forget_chains()


def body(**parts):
    return copy.deepcopy({"token": TOKEN} | parts)


def refusals(order):
    """Return a body's broken rules: field -> message."""
    with pytest.raises(LaunchRequestError) as caught:
        launch_request.parse_launch_request(order)
    return {field or "body": message for field, message in caught.value.problems}


def parse(order):
    """Return a valid body's launch configuration."""
    return launch_request.parse_launch_request(order).config


def sent_texts(order):
    """Return metadata and context as a body's launch call contains them."""
    call = encode_launch(installed_chain(8453).info, parse(order), salt="0x" + "00" * 32).launch
    token = codec.load_abi("v4").function("deployToken").decode_input(call.data)["deploymentConfig"]["tokenConfig"]
    return token["metadata"], token["context"]


# A change to a valid body: field and value; then the only field in the error, and words from the message.
MINT = "So11111111111111111111111111111111111111112"
REFUSED = [
    ("token", ABSENT, "token", "name, symbol, tokenAdmin and requestKey are keys of this object"),
    ("token", None, "token", "is required"),
    ("token", "Plain", "token", "must be a JSON object"),
    ("token.name", ABSENT, "token.name", "is required"),
    ("token.name", " \n", "token.name", "must not be blank"),
    ("token.name", 5, "token.name", "must be text"),
    ("token.name", "n" * 129, "token.name", "at most 128 characters"),
    ("token.name", "a\0b", "token.name", "NUL"),
    ("token.name", "a\ud800", "token.name", "UTF-8"),
    ("token.symbol", ABSENT, "token.symbol", "is required"),
    ("token.symbol", "S" * 33, "token.symbol", "at most 32 characters"),
    ("token.tokenAdmin", ABSENT, "token.tokenAdmin", "is required"),
    ("token.tokenAdmin", ZERO, "token.tokenAdmin", "zero address"),
    ("token.tokenAdmin", ADMIN[:-1], "token.tokenAdmin", "20-byte hex address"),
    ("token.tokenAdmin", 5, "token.tokenAdmin", "20-byte hex address"),
    ("token.requestKey", ABSENT, "token.requestKey", "is required"),
    ("token.requestKey", "k" * 31, "token.requestKey", "32 visible ASCII characters"),
    ("token.requestKey", "k" * 33, "token.requestKey", "32 visible ASCII characters"),
    ("token.requestKey", "k" * 31 + " ", "token.requestKey", "32 visible ASCII characters"),
    ("token.requestKey", "k" * 31 + "é", "token.requestKey", "32 visible ASCII characters"),
    ("token.requestKey", "k" * 31 + "\n", "token.requestKey", "32 visible ASCII characters"),
    ("token.requestKey", "k" * 31 + "\x7f", "token.requestKey", "32 visible ASCII characters"),
    ("token.requestKey", int("1" * 32), "token.requestKey", "32 visible ASCII characters"),
    ("token.image", "picture.png", "token.image", "http:// or https:// or ipfs://"),
    ("token.image", "ftp://example.com/a", "token.image", "http:// or https:// or ipfs://"),
    ("token.image", "javascript:alert(1)", "token.image", "http:// or https:// or ipfs://"),
    ("token.image", "https://", "token.image", "http:// or https:// or ipfs://"),
    ("token.image", "https://a b", "token.image", "http:// or https:// or ipfs://"),
    ("token.image", "https://a/\u202egpj.exe", "token.image", "http:// or https:// or ipfs://"),
    ("token.image", "http://[::1", "token.image", "must be a URL with a host and a port that exist, without a user"),
    ("token.image", "http://x:99999999/a", "token.image", "a port that exist"),
    ("token.image", "https://:443/a", "token.image", "with a host"),
    ("token.image", "https://user:pw@a/b", "token.image", "without a user"),
    ("token.auditUrls", ["https://user@a/b"], "token.auditUrls[0]", "without a user"),
    ("token.image", 'https://a/"><script>', "token.image", "http:// or https:// or ipfs://"),
    ("token.image", "https://a/" + "b" * 2_048, "token.image", "at most 2048 characters"),
    ("token.description", 5, "token.description", "must be text"),
    ("token.description", "d" * 5_001, "token.description", "at most 5000 characters"),
    ("token.description", "ü" * 4_200, "token", "8192 bytes of UTF-8 in name, symbol, image, metadata and context"),
    ("token.socialMediaUrls", "https://x.com", "token.socialMediaUrls", "list of at most 50 entries"),
    ("token.socialMediaUrls", ["https://x.com"] * 51, "token.socialMediaUrls", "list of at most 50 entries"),
    ("token.socialMediaUrls", ["x.com"], "token.socialMediaUrls[0]", "http:// or https://"),
    ("token.socialMediaUrls", [5], "token.socialMediaUrls[0]", "must be a JSON object"),
    ("token.socialMediaUrls", [{"platform": "x"}], "token.socialMediaUrls[0].url", "is required"),
    ("token.socialMediaUrls", [{"url": "https://x.com"}], "token.socialMediaUrls[0].platform", "is required"),
    ("token.auditUrls", ["https://a.com", "javascript:1"], "token.auditUrls[1]", "http:// or https:// or ipfs://"),
    ("token.logo", "https://a.com", "token.logo", "is not known; known are name, symbol, tokenAdmin"),
    ("rewards", [], "rewards", "list of 1 to 7 entries"),
    ("rewards", [REWARD] * 8, "rewards", "list of 1 to 7 entries"),
    ("rewards", REWARD, "rewards", "list of 1 to 7 entries"),
    ("rewards", [5], "rewards[0]", "must be a JSON object"),
    ("rewards", [REWARD | {"allocation": 99.99}], "rewards", "exactly 100 percent, and these sum to 99.99"),
    ("rewards", [REWARD, REWARD], "rewards", "exactly 100 percent, and these sum to 200"),
    ("rewards", [REWARD, REWARD | {"allocation": 0}], "rewards[1].allocation", "above 0 and at most 100, in percent"),
    ("rewards.0.allocation", -1, "rewards[0].allocation", "above 0 and at most 100, in percent"),
    ("rewards.0.allocation", 100.01, "rewards[0].allocation", "above 0 and at most 100, in percent"),
    ("rewards.0.allocation", 33.333, "rewards[0].allocation", "at most 2 decimals"),
    ("rewards.0.allocation", "100", "rewards[0].allocation", "above 0 and at most 100, in percent"),
    ("rewards.0.allocation", True, "rewards[0].allocation", "above 0 and at most 100, in percent"),
    ("rewards.0.allocation", float("nan"), "rewards[0].allocation", "above 0 and at most 100, in percent"),
    ("rewards.0.allocation", ABSENT, "rewards[0].allocation", "is required"),
    ("rewards.0.admin", ZERO, "rewards[0].admin", "zero address"),
    ("rewards.0.admin", ABSENT, "rewards[0].admin", "is required"),
    ("rewards.0.recipient", "0x", "rewards[0].recipient", "20-byte hex address"),
    ("rewards.0.rewardsToken", "both", "rewards[0].rewardsToken", "must be Both or Clanker or Paired"),
    ("rewards.0.bps", 10_000, "rewards[0].bps", "is not known; known are admin, recipient, allocation"),
    ("pool", 5, "pool", "must be a JSON object"),
    ("pool.type", "twenty_eth", "pool.type", "must be standard or project"),
    ("pool.pairedToken", "weth", "pool.pairedToken", "20-byte hex address, 0x followed by 40 hex digits, or WETH"),
    ("pool.pairedToken", ZERO, "pool.pairedToken", "zero address"),
    ("pool.initialMarketCap", 0, "pool.initialMarketCap", "in whole units of the paired token"),
    ("pool.initialMarketCap", 10**15 + 1, "pool.initialMarketCap", "above 0 and at most 1000000000000000, in whole"),
    ("pool.initialMarketCap", 1e60, "pool.initialMarketCap", "above 0 and at most 1000000000000000, in whole"),
    ("pool.initialMarketCap", 1e-60, "pool.initialMarketCap", "a price that Uniswap has, in units of the paired"),
    ("pool.tick", -230400, "pool.tick", "is not known; known are type, pairedToken, initialMarketCap"),
    ("fees", "static", "fees", "must be a JSON object"),
    ("fees.type", "fixed", "fees.type", "must be static or dynamic"),
    ("fees.clankerFee", 100, "fees.clankerFee", "from 0 to 5, in percent"),
    ("fees.clankerFee", 5.0001, "fees.clankerFee", "from 0 to 5, in percent"),
    ("fees.pairedFee", 1.00001, "fees.pairedFee", "at most 4 decimals"),
    ("fees.baseFee", 1, "fees.baseFee", "is no key of static fees"),
    ("fees.maxFee", 1, "fees.maxFee", "is no key of static fees"),
    ("fees", DYNAMIC | {"pairedFee": 1}, "fees.pairedFee", "is no key of dynamic fees"),
    ("fees", DYNAMIC | {"baseFee": 0.2499}, "fees.baseFee", "from 0.25 to 5, in percent"),
    ("fees", DYNAMIC | {"maxLpFee": 5.5}, "fees.maxLpFee", "from 0.25 to 5, in percent"),
    ("fees", DYNAMIC | {"maxFee": 500}, "fees.maxFee", "from 0.25 to 5, in percent"),
    ("fees", DYNAMIC | {"maxFee": 3, "maxLpFee": 3}, "fees.maxFee", "another name for maxLpFee"),
    ("fees", DYNAMIC | {"baseFee": 3, "maxLpFee": 2}, "fees.maxLpFee", "must be at least baseFee"),
    ("fees", DYNAMIC | {"maxLpFee": 0.5}, "fees.maxLpFee", "must be at least baseFee, which is 1 percent"),
    ("fees", DYNAMIC | {"resetPeriod": -1}, "fees.resetPeriod", "from 0 to 86400, in seconds"),
    ("fees", DYNAMIC | {"resetPeriod": 1.5}, "fees.resetPeriod", "whole number from 0 to 86400, in seconds"),
    (
        "fees",
        DYNAMIC | {"referenceTickFilterPeriod": 86_401},
        "fees.referenceTickFilterPeriod",
        "from 0 to 86400, in seconds",
    ),
    ("fees", DYNAMIC | {"resetTickFilter": 887_273}, "fees.resetTickFilter", "from 0 to 887272, in ticks"),
    ("fees", DYNAMIC | {"feeControlNumerator": 10**18 + 1}, "fees.feeControlNumerator", f"from 0 to {10**18}"),
    ("fees", DYNAMIC | {"decayFilterBps": 10_001}, "fees.decayFilterBps", "from 0 to 10000, in bps"),
    ("vault", [], "vault", "must be a JSON object"),
    ("vault.percentage", ABSENT, "vault.percentage", "is required"),
    ("vault.percentage", 90.01, "vault.percentage", "from 0 to 90, in percent"),
    ("vault.percentage", 1.005, "vault.percentage", "at most 2 decimals"),
    ("vault.percentage", 89, "vault.percentage", "91 percent together, of 90 at most"),
    ("vault.lockupDuration", ABSENT, "vault.lockupDuration", "is required"),
    ("vault.lockupDuration", 6.99, "vault.lockupDuration", "from 7 to 36500, in days"),
    ("vault.lockupDuration", 86_400, "vault.lockupDuration", "in days: this looks like seconds"),
    ("vault.lockupDuration", 36_501, "vault.lockupDuration", "from 7 to 36500, in days"),
    ("vault.lockupDuration", 7.000001, "vault.lockupDuration", "whole seconds"),
    ("vault.vestingDuration", -1, "vault.vestingDuration", "from 0 to 36500, in days"),
    ("vault.recipient", ZERO, "vault.recipient", "zero address"),
    ("vault.lockUpDuration", 30, "vault.lockUpDuration", "is not known; known are percentage, lockupDuration"),
    ("airdrop.entries", ABSENT, "airdrop.entries", "is required"),
    ("airdrop.entries", [], "airdrop.entries", "list of 1 to 100000 entries"),
    ("airdrop.entries", {THIRD: 1}, "airdrop.entries", "list of 1 to 100000 entries"),
    ("airdrop.entries", ENTRIES[:1] * 100_001, "airdrop.entries", "list of 1 to 100000 entries"),
    ("airdrop.entries.1", 5, "airdrop.entries[1]", "must be a JSON object"),
    ("airdrop.entries.1", {"account": OTHER}, "airdrop.entries[1].amount", "is required"),
    ("airdrop.entries.1.account", "0x12", "airdrop.entries[1].account", "20-byte hex address"),
    ("airdrop.entries.1.account", "0x" + "a " * 20, "airdrop.entries[1].account", "20-byte hex address"),
    ("airdrop.entries.1.account", "0x" + "aa " * 13 + " ", "airdrop.entries[1].account", "20-byte hex address"),
    ("airdrop.entries.1.account", ZERO, "airdrop.entries[1].account", "zero address"),
    ("airdrop.entries.1.account", None, "airdrop.entries[1].account", "is required"),
    ("airdrop.entries.1.account", THIRD.lower(), "airdrop.entries[1].account", "twice"),
    ("airdrop.entries.1.account", "0X" + THIRD[2:].upper(), "airdrop.entries[1].account", "twice"),
    ("airdrop.entries.1.amount", "0", "airdrop.entries[1].amount", f"whole number from 1 to {TOKEN_SUPPLY}, in wei"),
    (
        "airdrop.entries.1.amount",
        0,
        "airdrop.entries[1].amount",
        "whole number from 1 to 100000000000, in whole tokens",
    ),
    ("airdrop.entries.1.amount", 10**9, "airdrop.entries[1].amount", "all in wei, or all in whole tokens"),
    ("airdrop.entries.1.amount", 10**11 + 1, "airdrop.entries[1].amount", "in whole tokens"),
    ("airdrop.entries.1.amount", "-5", "airdrop.entries[1].amount", "in wei (digits in a text"),
    ("airdrop.entries.1.amount", "1.5", "airdrop.entries[1].amount", "in wei (digits in a text"),
    ("airdrop.entries.1.amount", 1.5, "airdrop.entries[1].amount", "wei are digits in a text"),
    ("airdrop.entries.1.amount", "٣", "airdrop.entries[1].amount", "in wei (digits in a text"),
    ("airdrop.entries.1.amount", True, "airdrop.entries[1].amount", "wei are digits in a text"),
    ("airdrop.entries.1.amount", str(TOKEN_SUPPLY + 1), "airdrop.entries[1].amount", "in wei"),
    ("airdrop.entries.1.amount", "9" * 100_000, "airdrop.entries[1].amount", "in wei (digits in a text"),
    ("airdrop.entries.1.note", "x", "airdrop.entries[1].note", "is not known; known are account, amount"),
    # Whole tokens.
    ("airdrop.entries", [{"account": THIRD, "amount": str(10**9)}], "airdrop.entries", "these sum to 1000000000 wei"),
    (
        "airdrop.entries",
        [{"account": THIRD, "amount": str(25 * 10**25 - 1)}],
        "airdrop.entries",
        "0.25 to 90 percent of the supply together",
    ),
    (
        "airdrop.entries",
        [{"account": THIRD, "amount": str(90 * 10**27 + 1)}],
        "airdrop.entries",
        "0.25 to 90 percent of the supply together",
    ),
    ("airdrop.lockupDuration", ABSENT, "airdrop.lockupDuration", "is required"),
    ("airdrop.lockupDuration", 0.5, "airdrop.lockupDuration", "from 1 to 36500, in days"),
    ("airdrop.merkleRoot", "0x", "airdrop.merkleRoot", "is not known"),
    ("presale", PRESALE | {"minEthGoal": 0}, "presale.minEthGoal", "above 0 and at most 1000000000000, in ETH"),
    ("presale", PRESALE | {"maxEthGoal": -1}, "presale.maxEthGoal", "in ETH"),
    ("presale", PRESALE | {"minEthGoal": 5.1}, "presale.minEthGoal", "at most maxEthGoal, in ETH"),
    ("presale", PRESALE | {"maxEthGoal": 10**18}, "presale.maxEthGoal", f"above 0 and at most {10**12}, in ETH"),
    ("presale", PRESALE | {"presaleDuration": 59}, "presale.presaleDuration", "from 60 to 3628800, in seconds"),
    ("presale", PRESALE | {"presaleDuration": 3_628_801}, "presale.presaleDuration", "in seconds"),
    ("presale", PRESALE | {"lockupDuration": 6}, "presale.lockupDuration", "from 7 to 36500, in days"),
    ("presale", PRESALE | {"vestingDuration": 86_400}, "presale.vestingDuration", "looks like seconds"),
    ("presale", PRESALE | {"presaleSupplyBps": 0}, "presale.presaleSupplyBps", "from 1 to 9000, in bps"),
    ("presale", PRESALE | {"presaleSupplyBps": 9_001}, "presale.presaleSupplyBps", "from 1 to 9000, in bps"),
    ("presale", PRESALE | {"presaleSupplyBps": 8_900}, "presale.presaleSupplyBps", "of 90 at most"),
    ("presale", PRESALE | {"recipient": "me"}, "presale.recipient", "20-byte hex address"),
    ("presale", PRESALE | {"allowlist": [ADMIN, "0x1"]}, "presale.allowlist[1]", "20-byte hex address"),
    ("presale", PRESALE | {"allowlist": []}, "presale.allowlist", "list of 1 to 10000 entries"),
    ("presale", PRESALE | {"allowlist": [ADMIN, ADMIN.lower()]}, "presale.allowlist", "each address once"),
    ("presale", {"minEthGoal": 1, "maxEthGoal": 5}, "presale.presaleDuration", "is required"),
    ("devBuy", {}, "devBuy.ethAmount", "is required"),
    *(
        ("devBuy", {"ethAmount": amount}, "devBuy.ethAmount", "above 0 and at most 1000000000000, in ETH")
        for amount in (0, -1, "1")
    ),
    ("devBuy", {"ethAmount": 1e-19}, "devBuy.ethAmount", "in ETH with at most 18 decimals"),
    ("devBuy", {"ethAmount": 1.1}, "devBuy.ethAmount", "at most 1, in ETH"),
    ("devBuy", {"ethAmount": 10**17}, "devBuy.ethAmount", "in ETH"),
    ("devBuy", DEV_BUY | {"recipient": ZERO}, "devBuy.recipient", "zero address"),
    ("devBuy", DEV_BUY | {"poolKey": {}}, "devBuy.poolKey", "is not known; known are ethAmount, recipient"),
    ("context.interface", 5, "context.interface", "must be text"),
    ("context.id", "1" * 201, "context.id", "at most 200 characters"),
    ("context.channel", "x", "context.channel", "is not known; known are interface, platform, messageId, id"),
    ("chainId", 5, "chainId", "a chain where this service launches tokens: 8453, 1, 42161"),
    ("chainId", 2741, "chainId", "a chain where this service launches tokens: 8453, 1, 42161"),
    ("chainId", 56, "chainId", "a chain where this service launches tokens: 8453, 1, 42161"),
    ("chainId", 101, "chainId", "an EVM chain, since on Solana there is no launch through this service"),
    ("token.tokenAdmin", MINT, "token.tokenAdmin", "must be of an EVM chain, since on Solana there is no launch"),
    ("pool.pairedToken", MINT, "pool.pairedToken", "must be of an EVM chain, since on Solana there is no launch"),
    ("chainId", "8453", "chainId", "must be a whole number"),
    ("chainId", 0, "chainId", "must be a whole number"),
    ("chainId", 10**30, "chainId", "must be a whole number"),
    ("dryRun", "yes", "dryRun", "must be true, false, 1 or 0"),
    ("dryRun", 2, "dryRun", "must be true, false, 1 or 0"),
    ("dryrun", True, "dryrun", "is not known; known are token, rewards, pool"),
    ("", 1, '""', "is not known"),
]


@pytest.mark.parametrize(("path", "value", "field", "words"), REFUSED)
def test_it_names_the_field_the_rule_and_the_unit(path, value, field, words):
    found = refusals(with_value(FULL, path, value))
    assert list(found) == [field]
    assert words in found[field]


def test_the_body_that_those_are_changes_of_is_taken():
    assert parse(copy.deepcopy(FULL)).airdrop.bps == 200


@pytest.mark.parametrize("nothing", [None, [], "body", 5, True])
def test_it_refuses_what_is_no_object(nothing):
    assert refusals(nothing) == {"body": "must be a JSON object"}


def test_a_flat_body_of_old_is_refused_with_where_its_keys_belong():
    found = refusals({"name": "Plain", "symbol": "PLN", "image": "", "requestorAddress": ADMIN})
    assert next(iter(found)) == "token"
    assert "name, symbol, tokenAdmin and requestKey are keys of this object" in found["token"]


def test_all_broken_rules_are_reported_at_once():
    found = refusals(
        {
            "token": TOKEN | {"name": "", "tokenAdmin": ZERO},
            "rewards": [REWARD | {"allocation": 50}, REWARD | {"allocation": "50"}],
            "fees": DYNAMIC,
            "vault": {"percentage": 50, "lockupDuration": 604_800},
            "presale": PRESALE | {"minEthGoal": 9},
            "devBuy": {"ethAmount": 2},
            "pool": {"pairedToken": USDC},
            "chainId": 1,
        }
    )
    assert set(found) == {
        "token.name",
        "token.tokenAdmin",
        "rewards[1].allocation",
        "fees.type",
        "vault.lockupDuration",
        "presale.minEthGoal",
        "devBuy.ethAmount",
        "devBuy",
    }


def test_the_first_bad_entries_are_reported_and_how_many_more_there_are():
    entries = [{"account": f"0x{number:040x}", "amount": "0"} for number in range(1, 1_001)]
    found = refusals(body(airdrop={"entries": entries, "lockupDuration": 1}))
    assert list(found)[:19] == [f"airdrop.entries[{index}].amount" for index in range(19)]
    assert list(found.items())[19:] == [("airdrop.entries", "breaks rules in 981 more places")]


def test_a_long_allowlist_is_reported_in_part():
    found = refusals(body(presale=PRESALE | {"allowlist": ["0x1"] * 30}))
    assert list(found)[:19] == [f"presale.allowlist[{index}]" for index in range(19)]
    assert list(found.items())[19:] == [("presale.allowlist", "breaks rules in 11 more places")]


def test_unknown_keys_without_end_are_reported_in_part():
    found = refusals(body(**{f"key{number}": 1 for number in range(500)}))
    assert len(found) == 20
    assert found["body"] == "breaks rules in 481 more places"


@pytest.mark.parametrize(
    ("chain_id", "part", "field", "words"),
    [
        (1, {"fees": DYNAMIC}, "fees.type", "Ethereum offers no dynamic fees"),
        (42161, {"presale": PRESALE}, "presale", "Arbitrum One offers no presale"),
    ],
)
def test_it_refuses_what_the_chain_has_no_contract_for(chain_id, part, field, words):
    found = refusals(body(chainId=chain_id, **part))
    assert list(found) == [field]
    assert words in found[field]


def test_it_refuses_every_chain_where_none_is_set_up(settings):
    settings.RPC_URLS = {}
    assert refusals(body()) == {"chainId": "must be a chain where this service launches tokens: none is set up"}


@pytest.mark.parametrize(("pair", "named"), [(USDC, ["devBuy"]), ("WETH", []), (WETH.lower(), [])])
def test_a_dev_buy_needs_the_wrapped_native_coin_as_the_pair(pair, named):
    order = body(devBuy=DEV_BUY, pool={"pairedToken": pair})
    if named:
        assert list(refusals(order)) == named
    else:
        assert parse(order).own_buy == OwnBuy(wei=10**17, recipient=ADMIN)


def test_it_refuses_a_dev_buy_in_a_presale():
    assert "has no payer for it" in refusals(body(devBuy=DEV_BUY, presale=PRESALE))["devBuy"]


def test_no_dev_buy_is_paid_where_the_setting_is_nothing(settings):
    settings.DEPLOY_MAX_DEV_BUY_ETH = Decimal(0)
    assert "at most 0, in ETH" in refusals(body(devBuy={"ethAmount": 0.000000000000000001}))["devBuy.ethAmount"]


def test_what_is_left_out_has_the_contracts_defaults():
    order = launch_request.parse_launch_request(body())
    assert (order.config.chain_id, order.request_key, order.dry_run) == (8453, "k" * 32, False)
    order = order.config
    assert (order.name, order.symbol, order.admin, order.image) == ("Plain", "PLN", ADMIN, "")
    assert order.rewards == (Reward(admin=ADMIN, recipient=ADMIN, bps=10_000, currency="Both"),)
    assert (order.preset.name, order.paired_token, order.market_cap) == ("standard", WETH, 10)
    assert order.fees == StaticFee(clanker=10_000, paired=10_000)
    assert (order.vault, order.airdrop, order.presale, order.own_buy) == (None, None, None, None)


def test_null_is_as_good_as_absent():
    nulls = dict.fromkeys(["rewards", "pool", "fees", "vault", "airdrop", "presale", "devBuy", "context", "chainId"])
    given_null = body(**nulls, dryRun=None)
    given_null["token"] |= dict.fromkeys(["image", "description", "socialMediaUrls", "auditUrls"])
    assert launch_request.parse_launch_request(given_null) == launch_request.parse_launch_request(body())


def test_recipients_that_are_left_out_are_the_tokens_admin():
    order = parse(body(vault=VAULT, presale=PRESALE | {"presaleSupplyBps": 100}))
    assert order.vault == VaultShare(recipient=ADMIN, bps=1_000, lockup=30 * 86_400, vesting=0)
    assert order.presale == PresaleTerms(
        bps=100,
        min_goal=10**18,
        max_goal=5 * 10**18,
        duration=3_600,
        recipient=ADMIN,
        lockup=7 * 86_400,
        vesting=0,
        allowlist=(),
    )


def test_a_vault_of_nothing_is_none():
    assert parse(body(vault=VAULT | {"percentage": 0})).vault is None


@pytest.mark.parametrize(
    ("part", "attribute", "expected"),
    [
        ({"vault": VAULT | {"percentage": 0.01}}, "vault", {"bps": 1}),
        ({"vault": VAULT | {"percentage": 90}}, "vault", {"bps": 9_000}),
        (
            {"vault": VAULT | {"lockupDuration": 7, "vestingDuration": 0.5}},
            "vault",
            {"lockup": 604_800, "vesting": 43_200},
        ),
        ({"vault": VAULT | {"lockupDuration": 36_500.0}}, "vault", {"lockup": 3_153_600_000}),
        ({"vault": VAULT | {"recipient": OTHER.lower()}}, "vault", {"recipient": OTHER}),
        ({"fees": {"clankerFee": 0.0001, "pairedFee": 5}}, "fees", {"clanker": 1, "paired": 50_000}),
        ({"fees": {"clankerFee": 0, "pairedFee": 0.3}}, "fees", {"clanker": 0, "paired": 3_000}),
        ({"fees": DYNAMIC | {"baseFee": 0.25, "maxFee": 0.25}}, "fees", {"base": 2_500, "maximum": 2_500}),
        ({"fees": DYNAMIC | {"maxLpFee": 3.14}}, "fees", {"base": 10_000, "maximum": 31_400}),
        ({"devBuy": {"ethAmount": 1e-18, "recipient": OTHER}}, "own_buy", {"wei": 1, "recipient": OTHER}),
        ({"devBuy": {"ethAmount": 0.30000000000000004}}, "own_buy", {"wei": 300_000_000_000_000_040}),
        ({"devBuy": {"ethAmount": 1}}, "own_buy", {"wei": 10**18}),
        ({"presale": PRESALE | {"minEthGoal": 5}}, "presale", {"min_goal": 5 * 10**18, "max_goal": 5 * 10**18}),
        ({"presale": PRESALE | {"presaleDuration": 60.0}}, "presale", {"duration": 60}),
        ({"presale": PRESALE | {"allowlist": [OTHER.lower(), THIRD]}}, "presale", {"allowlist": (OTHER, THIRD)}),
    ],
)
def test_it_reads_each_unit_as_the_contracts_count(part, attribute, expected):
    taken = getattr(parse(body(**part)), attribute)
    assert {name: getattr(taken, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("amounts", "wei", "bps"),
    [
        (["250000000000000000000000000"], 25 * 10**25, 25),
        (["250000000000000000000000001"], 25 * 10**25 + 1, 26),
        ([25 * 10**7, 1], 25 * 10**25 + 10**18, 26),
        ([1, 2.5e8], 25 * 10**25 + 10**18, 26),
        ([2.5e8], 25 * 10**25, 25),
        ([str(9 * 10**28)], 9 * 10**28, 9_000),
    ],
)
def test_the_share_of_an_airdrop_is_rounded_up_to_hold_every_entry(amounts, wei, bps):
    accounts = [THIRD, OTHER]
    entries = [{"account": account, "amount": amount} for account, amount in zip(accounts, amounts, strict=False)]
    airdrop = parse(body(airdrop={"entries": entries, "lockupDuration": 1})).airdrop
    assert (airdrop.total, airdrop.bps) == (wei, bps)


def test_it_takes_as_many_entries_as_the_contract_allows():
    entries = [{"account": f"0x{number:040X}", "amount": str(10**23)} for number in range(1, 100_001)]
    airdrop = parse(body(airdrop={"entries": entries, "lockupDuration": 1})).airdrop
    assert len(airdrop.entries) == 100_000
    assert airdrop.entries[0xFB68] == (f"0x{0xFB69:040x}", 10**23)


@pytest.mark.parametrize(
    "entry",
    [
        {"account": THIRD, "amount": 10**9},
        {"account": THIRD.lower(), "amount": 1e9},
        {"amount": str(10**27), "account": "0X" + THIRD[2:]},
    ],
)
def test_a_valid_entry_costs_few_calls_in_any_notation_and_no_hash(entry):
    value = {"entries": [entry], "lockupDuration": 1}
    profile, hashes = cProfile.Profile(), checksum_bytes.cache_info()
    profile.enable()
    parsed = supply_shares.airdrop(value)
    profile.disable()
    assert parsed.entries == ((THIRD.lower(), 10**27),)
    assert checksum_bytes.cache_info() == hashes
    # The object around it costs half the calls.
    assert sum(row.callcount for row in profile.getstats()) < 90


@pytest.mark.parametrize("flag", [True, 1, "true", "1", "True"])
def test_a_dry_run_is_a_flag_as_everywhere(flag):
    assert launch_request.parse_launch_request(body(dryRun=flag)).dry_run is True


@pytest.mark.parametrize(
    ("texts", "metadata"),
    [
        ({}, ""),
        ({"description": ""}, '{"description":""}'),
        ({"auditUrls": [], "description": "a"}, '{"description":"a","auditUrls":[]}'),
        (
            {"socialMediaUrls": ["https://x.com", {"url": "https://t.me/a", "platform": "telegram"}]},
            '{"socialMediaUrls":["https://x.com",{"platform":"telegram","url":"https://t.me/a"}]}',
        ),
        ({"description": 'ü "q" \\ \n\t 🐶 \u2028'}, '{"description":"ü \\"q\\" \\\\ \\n\\t 🐶 \u2028"}'),
    ],
)
def test_metadata_goes_on_chain_as_javascript_writes_it(texts, metadata):
    assert sent_texts({"token": TOKEN | texts})[0] == metadata


@pytest.mark.parametrize(
    ("context", "text"),
    [
        ({}, ""),
        ({"id": "5", "interface": "bot"}, '{"interface":"bot","id":"5"}'),
        (
            {"id": "5", "messageId": "0x1", "platform": "farcaster", "interface": "bot"},
            '{"interface":"bot","platform":"farcaster","messageId":"0x1","id":"5"}',
        ),
    ],
)
def test_context_goes_on_chain_in_the_sdks_order(context, text):
    assert sent_texts(body(context=context))[1] == text


def test_texts_are_kept_as_they_are():
    order = parse({"token": TOKEN | {"name": "  Ünï\n", "image": "IPFS://Qm", "symbol": '"'}})
    assert (order.name, order.image, order.symbol) == ("  Ünï\n", "IPFS://Qm", '"')


@pytest.mark.parametrize(
    ("pool", "tick", "positions"),
    [
        ({}, -230_400, [(-230_400, -120_000, 10_000)]),
        ({"initialMarketCap": 20}, -223_400, [(-223_400, -113_000, 10_000)]),
        ({"pairedToken": USDC, "initialMarketCap": 37_109}, -424_400, [(-424_400, -314_000, 10_000)]),
        (
            {"type": "project", "initialMarketCap": 20},
            -223_400,
            [
                (-223_400, -207_000, 1_000),
                (-207_000, -148_000, 5_000),
                (-195_000, -148_000, 1_500),
                (-148_000, -113_000, 2_000),
                (-134_000, -113_000, 500),
            ],
        ),
    ],
)
def test_liquidity_lies_where_the_market_cap_puts_it(pool, tick, positions):
    assert parse(body(pool=pool)).liquidity == Liquidity(
        tick=tick,
        positions=tuple(Position(tick_lower=lower, tick_upper=upper, bps=bps) for lower, upper, bps in positions),
    )


# `decimals()`.
DECIMALS = "0x313ce567"


@pytest.fixture
def unlisted(settings, node, forget_chains):
    """Create a token that the registry doesn't have, with so many decimals; None is no response."""
    settings.RPC_URLS = {8453: (node.url,)}
    forget_chains()

    def answer(decimals):
        if decimals is not None:
            node.views[THIRD.lower(), DECIMALS] = {"result": f"0x{decimals:064x}"}
        return {"pairedToken": THIRD, "initialMarketCap": 37_109}

    return answer


def test_the_chain_is_queried_for_the_decimals_of_an_unlisted_pair(unlisted):
    order = launch_request.parse_launch_request(body(pool=unlisted(6)))
    _, config = simulation.resolve_launch(order)
    assert (order.config.liquidity, config.liquidity.tick) == (None, -424_400)


@pytest.mark.parametrize(
    ("decimals", "field", "words"),
    [
        (None, "pool.pairedToken", "must be an ERC-20 token on Base with a `decimals()` function"),
        (255, "pool.initialMarketCap", "a price that Uniswap has, in units of the paired token"),
    ],
)
def test_an_unlisted_pair_without_a_price_is_refused(unlisted, decimals, field, words):
    order = launch_request.parse_launch_request(body(pool=unlisted(decimals)))
    with pytest.raises(LaunchRequestError) as caught:
        simulation.resolve_launch(order)
    ((refused, message),) = caught.value.problems
    assert refused == field
    assert words in message


def test_the_normalised_configuration_has_every_default():
    assert launch_request.to_json(launch_request.parse_launch_request(body())) == {
        "token": TOKEN | {"image": "", "description": None, "socialMediaUrls": None, "auditUrls": None},
        "rewards": [{"admin": ADMIN, "recipient": ADMIN, "allocation": 100, "rewardsToken": "Both"}],
        "pool": {"type": "standard", "pairedToken": WETH, "initialMarketCap": 10},
        "fees": {"type": "static", "clankerFee": 1, "pairedFee": 1},
        "vault": None,
        "airdrop": None,
        "presale": None,
        "devBuy": None,
        "context": {"interface": None, "platform": None, "messageId": None, "id": None},
        "chainId": 8453,
    }


def test_the_normalised_configuration_has_the_bodys_keys_and_units():
    rewards = [REWARD | {"allocation": 33.33}, REWARD | {"allocation": 66.67, "rewardsToken": "Paired"}]
    parts = {
        "token": TOKEN | {"image": "", "description": "d", "socialMediaUrls": ["https://x.com"], "auditUrls": []},
        "rewards": [rewards[0] | {"rewardsToken": "Both"}, rewards[1]],
        "pool": {"type": "project", "pairedToken": WETH, "initialMarketCap": 12.5},
        "fees": {
            "type": "dynamic",
            "baseFee": 0.2501,
            "maxLpFee": 5,
            "referenceTickFilterPeriod": 30,
            "resetPeriod": 120,
            "resetTickFilter": 200,
            "feeControlNumerator": 500_000_000,
            "decayFilterBps": 7_500,
        },
        "vault": {"percentage": 12.34, "lockupDuration": 7.25, "vestingDuration": 0, "recipient": OTHER},
        "presale": {
            "minEthGoal": 0.30000000000000004,
            "maxEthGoal": 5,
            "presaleDuration": 3_600,
            "recipient": OTHER,
            "lockupDuration": 7,
            "vestingDuration": 0.1,
            "presaleSupplyBps": 5_000,
            "allowlist": [THIRD],
        },
        "context": {"interface": "bot", "platform": "farcaster", "messageId": "0x1", "id": "5"},
        "chainId": 8453,
    }
    order = launch_request.parse_launch_request(copy.deepcopy(parts))
    shown = launch_request.to_json(order)
    assert shown == parts | {"airdrop": None, "devBuy": None}
    again = {name: part for name, part in json.loads(json.dumps(shown)).items() if part is not None}
    assert launch_request.parse_launch_request(again) == order


def test_the_normalised_configuration_sums_an_airdrop_up():
    order = launch_request.parse_launch_request(body(airdrop=AIRDROP, devBuy=DEV_BUY))
    shown = launch_request.to_json(order)
    assert shown["devBuy"] == {"ethAmount": 0.1, "recipient": ADMIN}
    assert shown["airdrop"] == {
        "count": 2,
        "total": str(2 * 10**27),
        "merkleRoot": build_tree(order.config.airdrop.entries).root,
        "lockupDuration": 1,
        "vestingDuration": 0,
    }


def _paths(value, way=()):
    """Yield the path to every value within a body."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in items:
        yield ".".join(map(str, (*way, step)))
        yield from _paths(inner, (*way, step))


EVERYTHING = FULL | {
    "token": TOKEN | {"image": "", "description": "", "socialMediaUrls": [{"platform": "x", "url": "https://x.com"}]},
    "fees": DYNAMIC | {"baseFee": 1, "maxFee": 2, "resetTickFilter": 5},
    "presale": PRESALE | {"allowlist": [THIRD]},
    "devBuy": DEV_BUY,
    "pool": {"pairedToken": USDC, "initialMarketCap": 5, "type": "project"},
    "context": {"interface": "bot"},
}
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=50)
    | st.sampled_from([ADMIN, "WETH", "static", 2**256, -(10**400), 1e308, 5e-324, "https://a.b"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.sampled_from(list(FULL)), inner)
    ),
    max_leaves=10,
)
# The fixture sets the same for all examples.
_ANY = hypothesis_settings(max_examples=100)


@_ANY
@given(JSON)
def test_any_body_is_taken_or_refused_by_name(value):
    _take_or_refuse(value)


@_ANY
@given(st.sampled_from(sorted(_paths(EVERYTHING))), JSON)
@example("fees.type", [])
@example("rewards.0.allocation", -(10**400))
@example("pool.initialMarketCap", 10**400)
def test_any_value_in_any_place_is_taken_or_refused_by_name(path, value):
    _take_or_refuse(with_value(EVERYTHING, path, value))


def _take_or_refuse(value):
    try:
        order = launch_request.parse_launch_request(value)
    except LaunchRequestError as refused:
        assert refused.problems
        assert all(message for _, message in refused.problems)
    else:
        # Its stored and shown form is JSON as the service accepts it.
        assert parse_json_body(json.dumps(launch_request.to_json(order)).encode())
