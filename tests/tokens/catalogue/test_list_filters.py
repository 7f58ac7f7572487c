"""Trust in token records, and the filters of lists by trust, warnings and market."""

import itertools

import pytest

from tests.rows.factories import SocialProfileFactory, TokenFactory
from tests.rows.token_lists import SORTS, ids, price, walk
from tokens.catalogue.token_trust import TRUST_REASONS, WARNING_CODES

pytestmark = pytest.mark.django_db

PUBLIC, PARTNERS = "/api/tokens", "/api/tokens/authenticated"
WALLET = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
OTHER = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
BANKR = {"interface": "Bankr", "platform": None, "messageId": None, "id": None}


@pytest.fixture(params=[PUBLIC, PARTNERS])
def fetch(request, client, read_key):
    """Send the parameters to a list and return the response."""
    headers = read_key if request.param == PARTNERS else {}
    return lambda **parameters: client.get(request.param, parameters, headers=headers)


@pytest.fixture
def trust(client):
    """Return a function from a token to its record's trust."""

    def read(token):
        answer = client.get(f"{PUBLIC}/{token.chain_id}/{token.contract_address}")
        return answer.json()["data"]["trust"]

    return read


@pytest.mark.parametrize(
    ("columns", "verified", "reasons"),
    [
        ({}, False, []),
        ({"verified": True}, True, ["OPERATOR_VERIFIED"]),
        ({"known_interface_deployer": True}, True, ["DEPLOYER_KNOWN"]),
        (
            {"known_interface_deployer": True, "social_context": BANKR},
            True,
            ["DEPLOYER_KNOWN", "INTERFACE_KNOWN"],
        ),
        ({"social_context": BANKR}, False, ["INTERFACE_UNVERIFIED"]),
        # Anyone may launch a token and call its verify().
        ({"verified_on_chain": True}, False, ["ADMIN_VERIFIED"]),
        ({"requestor_fid": 9}, False, ["USER_UNVERIFIED"]),
        ({"requestor_fid": 9, "known_interface_deployer": True}, True, ["DEPLOYER_KNOWN"]),
        ({"confirmed": True, "champagne": True}, False, ["LAUNCH_FINAL"]),
        ({"verified": True, "blocked": True}, False, ["OPERATOR_VERIFIED", "BLOCKED"]),
        (
            {"verified": True, "launch_warnings": ["UNUSUAL_TICK", "UNUSUAL_POSITIONS"]},
            True,
            ["OPERATOR_VERIFIED", "UNUSUAL_TICK", "UNUSUAL_POSITIONS"],
        ),
    ],
)
def test_trust_has_the_facts_for_and_against(trust, columns, verified, reasons):
    assert trust(TokenFactory(**columns)) == {"verified": verified, "reasons": reasons}
    assert set(reasons) <= {*TRUST_REASONS, *WARNING_CODES}


def test_only_the_sender_proves_a_user(trust):
    SocialProfileFactory(fid=7, verified_addresses=[OTHER, WALLET])
    sent = TokenFactory(requestor_fid=7, msg_sender=WALLET)
    assert trust(sent) == {"verified": False, "reasons": ["USER_VERIFIED"]}
    # Others may name the user, and make any account the admin.
    for columns in (
        {"admin": WALLET},
        {"requestor_address": WALLET},
        {"msg_sender": ""},
        {"msg_sender": WALLET.lower()},
    ):
        assert trust(TokenFactory(requestor_fid=7, **columns))["reasons"] == ["USER_UNVERIFIED"]
    for fid, reasons in ((8, ["USER_UNVERIFIED"]), (None, [])):
        assert trust(TokenFactory(requestor_fid=fid, msg_sender=WALLET))["reasons"] == reasons


def test_a_copy_is_a_reason_against(trust):
    TokenFactory(name="Higher", symbol="HIGHER", verified=True)
    copy = TokenFactory(name="Higher", symbol="HIGHER", known_interface_deployer=True)
    assert trust(copy) == {"verified": True, "reasons": ["DEPLOYER_KNOWN", "POSSIBLE_COPY"]}


def test_the_filter_finds_what_records_state(fetch):
    SocialProfileFactory(fid=7, verified_addresses=[WALLET])
    for columns in ({}, {"verified": True}, {"known_interface_deployer": True}, {"verified_on_chain": True}):
        TokenFactory(**columns)
        TokenFactory(requestor_fid=7, msg_sender=WALLET, **columns)
        TokenFactory(blocked=True, **columns)
    everything = fetch(limit=20).json()["data"]
    stated = [record["id"] for record in everything if record["trust"]["verified"]]
    for text in ("1", "true"):
        answer = fetch(verified=text, limit=20)
        assert (ids(answer), answer.json()["total"]) == (stated, 4)
    assert len(ids(fetch(verified="false", limit=20))) == len(everything) == 8


def test_lists_by_warnings(fetch):
    original = TokenFactory(name="Higher", symbol="HIGHER", champagne=True)
    warned = TokenFactory(launch_warnings=["UNUSUAL_TICK"])
    copy = TokenFactory(name="Higher", symbol="HIGHER")
    both = TokenFactory(name="Higher", symbol="HIGHER", launch_warnings=["UNUSUAL_PAIR_ADDRESS"])
    plain = TokenFactory()
    assert ids(fetch(warnings="none")) == [plain.pk, original.pk]
    assert ids(fetch(warnings="any")) == [both.pk, warned.pk]
    assert copy.pk not in ids(fetch(warnings="any"))
    assert fetch(warnings="none", limit=0).json()["total"] == fetch(warnings="any", limit=0).json()["total"] == 2


def test_lists_by_launchpad(fetch):
    of_clanker = [TokenFactory(generation=name).pk for name in ("v0", "v3.1", "v4", "solana")]
    of_zora, of_doppler, gone = (TokenFactory(generation=name).pk for name in ("zora", "doppler", "gone"))
    assert sorted(ids(fetch(launchpad="clanker"))) == of_clanker
    for names, expected in (
        ("zora", [of_zora]),
        ("zora,doppler", [of_doppler, of_zora]),
        ("doppler,zora,zora", [of_doppler, of_zora]),
        # The registry has this launchpad, but it has no tokens.
        ("flaunch", []),
    ):
        answer = fetch(launchpad=names)
        assert (ids(answer), answer.json()["total"]) == (expected, len(expected))
    assert gone in ids(fetch()) and len(ids(fetch())) == 7
    assert ids(fetch(launchpad="zora", chainId=1)) == []


def test_records_name_the_launchpad(fetch):
    made = [
        ("v0", "proxy", "clanker", "Clanker"),
        ("v4", "clanker_v4", "clanker", "Clanker"),
        ("solana", "clanker_solana", "clanker", "Clanker"),
        ("zora", "zora", "zora", "Zora"),
        # Its launchpad is no longer in the registry.
        ("gone", "gone", "gone", "gone"),
    ]
    for generation, *_ in made:
        TokenFactory(generation=generation)
    records = fetch(sort="asc").json()["data"]
    names = ("type", "launchpad", "launchpadTitle")
    assert [[record[name] for name in names] for record in records] == [list(labels) for _, *labels in made]


@pytest.mark.parametrize(("parameter", "column"), [("minMarketCap", "market_cap"), ("minVolume24h", "volume_24h")])
def test_lists_by_the_least_value_in_every_sort(fetch, parameter, column):
    values = [None, 0, 99.99, 100, 100.01, 10**15]
    rows = [price(TokenFactory(), **{column: value, "tx_count_24h": 5}).pk for value in values]
    for sort_by, sort in itertools.product(SORTS, ("desc", "asc")):
        assert sorted(walk(fetch, sortBy=sort_by, sort=sort, limit=2, **{parameter: 100})) == rows[3:]
    for least, listed in ((0, rows[1:]), (10**15, rows[5:])):
        assert ids(fetch(sort="asc", **{parameter: least})) == listed
    assert fetch(**{parameter: 100}).json()["total"] == 3


FILTERS = [
    ({"verified": 1}, {"verified": True}, {}),
    ({"warnings": "any"}, {"launch_warnings": ["UNUSUAL_TICK"]}, {}),
    ({"minMarketCap": 5}, {}, {"market_cap": 5}),
    ({"minVolume24h": 5}, {}, {"volume_24h": 5}),
    ({"launchpad": "zora"}, {"generation": "zora"}, {}),
    ({"launchpad": "flaunch,zora"}, {"generation": "zora"}, {}),
]


@pytest.mark.parametrize(("parameters", "columns", "market"), FILTERS)
def test_filters_narrow_a_search(fetch, parameters, columns, market):
    def make(name, **columns):
        return (
            price(TokenFactory(name=name, **columns), **market).pk if market else TokenFactory(name=name, **columns).pk
        )

    wanted = [make("good dog", **columns) for _ in range(3)]
    TokenFactory(name="good dog")
    make("cat", **columns)
    for q in ("good", "o"):
        for sort_by in ("deployed-at", "market-cap"):
            answer = fetch(q=q, sortBy=sort_by, **parameters)
            assert (ids(answer), answer.json()["total"]) == (wanted[::-1], 3)
        assert walk(fetch, q=q, sort="asc", limit=2, **parameters) == wanted
    address = TokenFactory(name="no match").contract_address
    assert ids(fetch(q=address, **parameters)) == []


def test_a_search_without_warnings(fetch):
    TokenFactory(name="good dog", symbol="DOG", verified=True)
    TokenFactory(name="good dog", symbol="DOG")
    TokenFactory(name="good dog", launch_warnings=["UNUSUAL_TICK"])
    assert len(ids(fetch(q="good", warnings="none"))) == 1


def test_filters_are_combined(fetch):
    wanted = price(TokenFactory(verified=True, social_context=BANKR, chain_id=1), market_cap=50, volume_24h=7)
    price(TokenFactory(verified=True, social_context=BANKR, chain_id=1), market_cap=49, volume_24h=7)
    price(TokenFactory(verified=True, chain_id=1), market_cap=50, volume_24h=7)
    price(TokenFactory(social_context=BANKR, chain_id=1), market_cap=50, volume_24h=7)
    chosen = {"verified": 1, "warnings": "none", "socialInterface": "bankr", "minMarketCap": 50, "minVolume24h": 7}
    assert ids(fetch(**chosen, chainId=1)) == [wanted.pk]
