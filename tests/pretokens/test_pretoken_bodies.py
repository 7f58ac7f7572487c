"""pretokens/body.py: validating a pretoken's body by the launch request rules, and the launch it describes."""

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from pretokens import body as bodies
from pretokens.models import MAX_KEYWORD, MAX_KEYWORD_KEY
from tests.rows.changed_bodies import ABSENT, with_value
from tests.rows.factories import PretokenFactory
from tests.tokens.deploying.test_launch_request import ADMIN, JSON, NOWHERE, OTHER, USDC, WETH, ZERO
from tokens.deploying import launch_request
from tokens.deploying.launch_request import LaunchRequestError

KEY = "k" * 32
ADMINS = [{"admin": ADMIN, "recipient": OTHER, "bps": 7_500}, {"admin": OTHER, "recipient": OTHER, "bps": 2_500}]
BODY = {
    "keyword": "doge",
    "chain_id": 8453,
    "token_settings": {
        "name": "Doge",
        "symbol": "DOGE",
        "image_url": "ipfs://picture",
        "description": "Wow",
        "admins": ADMINS,
        "paired_token": "WETH",
        "pool_config_type": "project",
        "starting_market_cap": 12.5,
        "fee_config_type": "dynamic",
        "metadata": {"socialMediaUrls": ["https://x.com/doge"], "auditUrls": ["https://audit.example"]},
        "social_context": {"interface": "App", "messageId": "0x12"},
    },
    "vault_settings": {"percentage": 10, "lockupDuration": 30, "recipient": OTHER},
    "airdrop": {"entries": [{"account": OTHER, "amount": str(10**27)}], "lockupDuration": 1},
}
# The same launch as a launch request body.
ORDER = {
    "token": {
        "name": "Doge",
        "symbol": "DOGE",
        "tokenAdmin": ADMIN,
        "image": "ipfs://picture",
        "description": "Wow",
        "requestKey": KEY,
        **BODY["token_settings"]["metadata"],
    },
    "rewards": [
        {"admin": ADMIN, "recipient": OTHER, "allocation": 75},
        {"admin": OTHER, "recipient": OTHER, "allocation": 25},
    ],
    "pool": {"type": "project", "pairedToken": "WETH", "initialMarketCap": 12.5},
    "fees": {"type": "dynamic"},
    "vault": BODY["vault_settings"],
    "airdrop": BODY["airdrop"],
    "context": BODY["token_settings"]["social_context"],
    "chainId": 8453,
}


@pytest.fixture(autouse=True)
def chains(settings, forget_chains):
    """Set up Base, Ethereum without a dynamic hook, and a chain without a v4 factory."""
    settings.RPC_URLS = {8453: NOWHERE, 1: NOWHERE, 2741: NOWHERE}
    forget_chains()


def refusals(body):
    """Return field -> a body's broken rule."""
    with pytest.raises(LaunchRequestError) as caught:
        bodies.parse_pretoken(body, request_key=KEY)
    return {field or "body": message for field, message in caught.value.problems}


SETTINGS = "token_settings"
REFUSED = [
    ("keyword", ABSENT, "keyword", "is required"),
    ("keyword", " ", "keyword", "must not be blank"),
    ("keyword", "k" * 101, "keyword", "at most 100 characters"),
    ("chain_id", ABSENT, "chain_id", "is required"),
    ("chain_id", "8453", "chain_id", "EIP-155"),
    ("chain_id", 101, "chain_id", "must be an EVM chain, since on Solana there is no launch through this service"),
    ("chain_id", 2741, "chain_id", "must be a chain where this service launches tokens: 8453, 1"),
    ("id", "x", "id", "is not known"),
    (SETTINGS, ABSENT, SETTINGS, "is required"),
    (SETTINGS, [], SETTINGS, "must be a JSON object"),
    (f"{SETTINGS}.name", ABSENT, f"{SETTINGS}.name", "is required"),
    (f"{SETTINGS}.name", "n" * 129, f"{SETTINGS}.name", "at most 128 characters"),
    (f"{SETTINGS}.symbol", "", f"{SETTINGS}.symbol", "must not be blank"),
    (f"{SETTINGS}.requestKey", KEY, f"{SETTINGS}.requestKey", "is not known"),
    (f"{SETTINGS}.image_url", "javascript:x", f"{SETTINGS}.image_url", "must be a URL"),
    (f"{SETTINGS}.admins", ABSENT, f"{SETTINGS}.admins", "is required"),
    (f"{SETTINGS}.admins", [], f"{SETTINGS}.admins", "1 to 7 entries"),
    (f"{SETTINGS}.admins", [{**ADMINS[0], "bps": 1}] * 8, f"{SETTINGS}.admins", "1 to 7 entries"),
    (f"{SETTINGS}.admins.1.bps", 2_499, f"{SETTINGS}.admins", "sum to exactly 10000, and these sum to 9999"),
    (f"{SETTINGS}.admins.1.bps", 0, f"{SETTINGS}.admins[1].bps", "in bps"),
    (f"{SETTINGS}.admins.0.admin", ZERO, f"{SETTINGS}.admins[0].admin", "zero address"),
    (f"{SETTINGS}.admins.0.recipient", ABSENT, f"{SETTINGS}.admins[0].recipient", "is required"),
    (f"{SETTINGS}.paired_token", "weth", f"{SETTINGS}.paired_token", "20-byte hex address"),
    (f"{SETTINGS}.pool_config_type", "Standard", f"{SETTINGS}.pool_config_type", "standard or project"),
    (f"{SETTINGS}.starting_market_cap", 0, f"{SETTINGS}.starting_market_cap", "above 0"),
    (f"{SETTINGS}.starting_market_cap", 1e-60, f"{SETTINGS}.starting_market_cap", "price that Uniswap has"),
    (f"{SETTINGS}.fee_config_type", "StaticBasic", f"{SETTINGS}.fee_config_type", "static or dynamic"),
    (f"{SETTINGS}.fee_config_type", {"type": "static"}, f"{SETTINGS}.fee_config_type", "static or dynamic"),
    (f"{SETTINGS}.metadata.links", [], f"{SETTINGS}.metadata.links", "is not known"),
    (f"{SETTINGS}.metadata.description", "Much", f"{SETTINGS}.metadata.description", "must be the same"),
    (f"{SETTINGS}.social_context.interface", 5, f"{SETTINGS}.social_context.interface", "must be text"),
    ("vault_settings.percentage", 91, "vault_settings.percentage", "from 0 to 90, in percent"),
    ("vault_settings.percentage", 90, "vault_settings.percentage", "must leave a tenth to the pool"),
    ("airdrop.entries.0.amount", "1", "airdrop.entries", "0.25 to 90 percent"),
]


@pytest.mark.parametrize(("path", "value", "field", "words"), REFUSED)
def test_it_refuses_by_the_pretokens_own_fields(path, value, field, words):
    found = refusals(with_value(BODY, path, value))
    assert list(found) == [field]
    assert words in found[field]


def test_it_returns_all_that_is_wrong_at_once():
    body = with_value(BODY, "vault_settings.percentage", 90) | {"keyword": "", "chain_id": 5}
    assert set(refusals(body)) == {"keyword", "chain_id", "vault_settings.percentage"}


def test_it_names_what_the_chain_does_not_offer():
    assert list(refusals(BODY | {"chain_id": 1})) == ["token_settings.fee_config_type"]


def test_texts_that_are_too_long_together_are_refused_on_the_settings():
    assert "8192 bytes" in refusals(with_value(BODY, f"{SETTINGS}.description", "é" * 5_000))[SETTINGS]


def test_it_is_the_launch_request_that_a_deployment_of_the_same_would_be():
    assert bodies.parse_pretoken(BODY, request_key=KEY).launch_request == replace(
        launch_request.parse_launch_request(ORDER), names=bodies.FIELD_NAMES
    )


def test_what_it_leaves_out_is_what_a_deployment_leaves_out():
    smallest = {"name": "Doge", "symbol": "DOGE", "admins": [{"admin": ADMIN, "recipient": ADMIN, "bps": 10_000}]}
    body = {"keyword": "doge", "chain_id": 8453, "token_settings": smallest}
    same = {"name": "Doge", "symbol": "DOGE", "tokenAdmin": ADMIN, "requestKey": KEY}
    expected = replace(launch_request.parse_launch_request({"token": same, "chainId": 8453}), names=bodies.FIELD_NAMES)
    assert bodies.parse_pretoken(body, request_key=KEY).launch_request == expected
    nulls = body | {"vault_settings": None, "airdrop": None, "token_settings": smallest | {"paired_token": None}}
    assert bodies.parse_pretoken(nulls, request_key=KEY).launch_request == expected
    assert bodies.without_nulls(nulls) == body


@pytest.mark.parametrize(("text", "pair"), [(USDC.lower(), USDC), (WETH, WETH), ("WETH", WETH)])
def test_a_pair_is_taken_by_its_address(text, pair):
    body = with_value(BODY, f"{SETTINGS}.paired_token", text)
    assert bodies.parse_pretoken(body, request_key=KEY).launch_request.config.paired_token == pair


def test_a_description_may_be_in_either_place():
    body = with_value(BODY, f"{SETTINGS}.description", ABSENT)
    body[SETTINGS]["metadata"]["description"] = "Wow"
    assert (
        bodies.parse_pretoken(body, request_key=KEY).launch_request
        == bodies.parse_pretoken(BODY, request_key=KEY).launch_request
    )
    body[SETTINGS]["description"] = "Wow"
    assert bodies.parse_pretoken(body, request_key=KEY).launch_request.config.metadata["description"] == "Wow"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Doge", " dOGE "),
        ("STRASSE", "straße"),
        ("doge", "ｄｏｇｅ"),
        ("doge", "do\u200bge"),
        ("doge", "\u202edoge\u202c"),
        ("doge", "d\u2066o\u2069ge\ufeff"),
        ("doge", "doge\ufe0f"),
        ("doge", "doge\U000e0101"),
        ("doge", "do\u00adge\u3164\x07"),
        ("doge", "do\u034fge"),
        ("doge", "\u00a0doge\u2003"),
        ("é", "e\u0301"),
        ("ﬁne", "FINE"),
    ],
)
def test_keywords_that_look_alike_are_the_same(one, other):
    assert bodies.normalize_keyword(one) == bodies.normalize_keyword(other)


@pytest.mark.parametrize(("one", "other"), [("doge", "doges"), ("a b", "ab"), ("e", "é"), ("❤", "💔")])
def test_keywords_that_differ_stay_different(one, other):
    assert bodies.normalize_keyword(one) != bodies.normalize_keyword(other)


@given(st.text(max_size=MAX_KEYWORD))
def test_the_key_of_a_keyword_fits_and_is_its_own_key(keyword):
    key = bodies.normalize_keyword(keyword)
    assert len(key) <= MAX_KEYWORD_KEY
    assert bodies.normalize_keyword(key) == key


def test_a_keyword_that_grows_has_a_key_that_fits():
    # Each becomes eighteen characters.
    assert len(bodies.normalize_keyword("\ufdfa" * MAX_KEYWORD)) <= MAX_KEYWORD_KEY


@pytest.mark.parametrize("keyword", ["\u200b", "\u3164\u2800", " \ufe0f"])
def test_a_keyword_without_visible_characters_is_refused(keyword):
    assert refusals(BODY | {"keyword": keyword}) == {"keyword": "must not be blank"}


PLACES = ["keyword", "chain_id", SETTINGS, "vault_settings", "airdrop", "airdrop.entries.0"]
PLACES += [f"{SETTINGS}.{name}" for name in BODY[SETTINGS]] + [f"{SETTINGS}.admins.0.{name}" for name in ADMINS[0]]


@hypothesis_settings(max_examples=150)
@given(st.sampled_from(PLACES), JSON)
@example(f"{SETTINGS}.fee_config_type", [])
@example(f"{SETTINGS}.metadata", None)
def test_any_value_in_any_place_is_taken_or_refused_by_name(path, value):
    try:
        bodies.parse_pretoken(with_value(BODY, path, value), request_key=KEY)
    except LaunchRequestError as refused:
        assert refused.problems and all(message for _, message in refused.problems)


@pytest.mark.django_db
def test_the_longest_keyword_has_its_place():
    # Each character becomes three.
    row = PretokenFactory(keyword="\N{TRIPLE PRIME}" * 100)
    row.refresh_from_db()
    assert len(row.keyword_key) == 300
