"""GET /api/get-lp-info/{address}."""

import json

import pytest

from tests.nodes.launch_builder import LOCKER, LOCKER_V3, POOL, TOKEN, WETH, v1_launch, v3_launch, v4_launch
from tests.nodes.recordings import DATA, RECORDED_LAUNCHES, V4_LAUNCHES, decoded, mined
from tests.rows.factories import TokenFactory
from tests.rows.indexed_tokens import index_launch

pytestmark = pytest.mark.django_db

PATH = "/api/get-lp-info/"
ADDRESS = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
CLANKER = "0x1bc0c42215582d5A085795f4baDbaC3ff36d1Bcb"
ETHEREUM_USDC = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
SUPPLY = 10**29
LOCKUP = {"startedAt": None, "lockDuration": 604_800, "vestDuration": 0}

V4_LOCKER = "0x63D2DfEA64b3433F4071A98665bcD7Ca14d93496"
ALL = (str(SUPPLY), "100")
# lockerAddress, lpNftId, amountDepositedIntoLP, percentLocked, token_name, token_symbol
GOLDEN = {
    "legacy-v0-deploy": ("0x5e078B7cc2D3f65f5DbA27bf6a424ec6eD6AaFC8", "4", *ALL, "Legacy 0", "L0"),
    "legacy-v2-deploy": ("0x618A9840691334eE8d24445a4AdA4284Bf42417D", "2", *ALL, "Legacy 2", "L2"),
    "legacy-v31-deploy": (
        "0x33e2Eda238edcF470309b8c6D228986A1204c8f9", "1", "90000000000000000000000000000", "90", "Legacy 3.1", "L31",
    ),
    "deploy-airdrop": (V4_LOCKER, "5", "99750000000000000000000000000", "99.75", "Dropper", "DROP"),
    "deploy-devbuy": (V4_LOCKER, "6", *ALL, "Dev Buy", "DVB"),
    "deploy-dynamic-fee": (V4_LOCKER, "8", *ALL, "Dynamic", "DYN"),
    "deploy-multi-recipients": (V4_LOCKER, "7", *ALL, "Split", "SPLT"),
    "deploy-plain": (V4_LOCKER, "1", *ALL, "Plain", "PLN"),
    "deploy-token1": (V4_LOCKER, "3", *ALL, "High Addr", "HIGH"),
    "deploy-vault": (V4_LOCKER, "4", "90000000000000000000000000000", "90", "Vaulted", "VLT"),
}  # fmt: skip
BUILT = {
    "v1": (v1_launch, (LOCKER, "42", *ALL, "First", "ONE")),
    "v3.0": (v3_launch, (LOCKER_V3, "42", *ALL, "Third", "TRI")),
}


@pytest.fixture
def fetch(client, read_key):
    """Request a token with a key and return the response."""
    return lambda address, **parameters: client.get(PATH + address, parameters, headers=read_key)


def assert_refused(answer, status, text):
    assert (answer.status_code, answer.json()["error"]) == (status, text)
    assert answer.headers["Cache-Control"] == "no-store"


def body(pool, facts):
    locker, nft_id, deposited, percent, name, symbol = facts
    return {
        "poolAddress": pool,
        "lockerAddress": locker,
        "lpNftId": nft_id,
        "amountDepositedIntoLP": deposited,
        "totalSupply": str(SUPPLY),
        "percentLocked": percent,
        "token_name": name,
        "token_symbol": symbol,
    }


@pytest.mark.parametrize(
    ("address", "symbol"), [(WETH, "WETH"), (WETH.lower(), "WETH"), (CLANKER, "CLANKER"), (ETHEREUM_USDC, "USDC")]
)
def test_it_refuses_a_quote_token(fetch, address, symbol):
    TokenFactory(contract_address=CLANKER)
    rule = f"must be a launched token; {symbol} is a quote token"
    answer = fetch(address)
    assert_refused(answer, 400, f"address {rule}")
    assert answer.json()["details"] == [{"field": "address", "message": rule}]


def test_a_quote_token_of_another_chain_is_none_of_the_requested_chain(fetch):
    assert_refused(fetch(ETHEREUM_USDC, chainId=8453), 404, "Token not found")
    TokenFactory(contract_address=ETHEREUM_USDC, chain_id=8453)
    assert fetch(ETHEREUM_USDC, chainId=8453).status_code == 200
    assert fetch(ETHEREUM_USDC, chainId=1).status_code == 400


@pytest.mark.parametrize("label", RECORDED_LAUNCHES)
def test_it_returns_a_recorded_launch(fetch, label):
    token = index_launch(mined(label))
    answer = fetch(token.contract_address)
    assert answer.status_code == 200
    record = json.loads((DATA / "records" / f"{label}.json").read_text(encoding="utf-8"))
    assert answer.json() == body(record["pool_address"], GOLDEN[label])
    assert answer.headers["Cache-Control"] == "private, max-age=120"


@pytest.mark.parametrize("label", V4_LAUNCHES)
def test_what_v4_deposits_is_what_its_locker_got(fetch, label):
    (reward,) = (log["args"] for log in decoded(label)["decodedLogs"] if log["event"] == "TokenRewardAdded")
    token = index_launch(mined(label))
    assert fetch(token.contract_address).json()["amountDepositedIntoLP"] == reward["poolSupply"]


@pytest.mark.parametrize("label", ["legacy-v0-deploy", "legacy-v2-deploy", "legacy-v31-deploy"])
def test_what_is_deposited_is_what_the_position_got_but_for_rounding(fetch, label):
    moved = [log["args"] for log in decoded(label)["decodedLogs"] if log["event"] == "IncreaseLiquidity"]
    token = index_launch(mined(label))
    deposited = int(fetch(token.contract_address).json()["amountDepositedIntoLP"])
    (got,) = (max(int(args["amount0"]), int(args["amount1"])) for args in moved)
    assert 0 <= deposited - got < 10**6


@pytest.mark.parametrize("generation", BUILT)
def test_it_returns_a_built_launch(fetch, generation):
    launch, facts = BUILT[generation]
    index_launch(launch())
    assert fetch(TOKEN).json() == body(POOL, facts)


@pytest.mark.parametrize(
    ("vault", "airdrop", "percent"),
    [
        (30 * 10**27, None, "70"),
        (30 * 10**27, 25 * 10**26, "67.5"),
        (90 * 10**27, None, "10"),
        # Never 100 where a part is missing.
        (1, None, "99.9999"),
        (None, 10**29 // 3, "66.6666"),
        (10**29, None, "0"),
    ],
)
def test_vault_and_airdrop_are_not_deposited(fetch, vault, airdrop, percent):
    extensions = dict.fromkeys(("fees", "vault", "airdrop", "devBuy", "sniperTax", "positions"))
    for part, amount in (("vault", vault), ("airdrop", airdrop)):
        extensions[part] = amount and {"amount": str(amount), "lockup": LOCKUP}
    TokenFactory(contract_address=ADDRESS, extensions=extensions)
    answer = fetch(ADDRESS).json()
    deposited = SUPPLY - (vault or 0) - (airdrop or 0)
    assert (answer["amountDepositedIntoLP"], answer["percentLocked"]) == (str(deposited), percent)


def test_what_other_extensions_got_is_not_deposited(fetch):
    presale = "0xeeBbC567C3D612f50a67820f39CDD30dcCF7E6b8"
    index_launch(v4_launch(extensions=(presale,), extensions_supply=SUPPLY // 2))
    answer = fetch(TOKEN).json()
    assert (answer["amountDepositedIntoLP"], answer["percentLocked"]) == (str(SUPPLY // 2), "50")


def test_what_a_presale_left_is_not_known_where_the_launch_was_not_stored(fetch):
    TokenFactory(contract_address=ADDRESS, presale_id="3")
    answer = fetch(ADDRESS).json()
    assert (answer["amountDepositedIntoLP"], answer["percentLocked"]) == (None, None)
    assert answer["totalSupply"] == str(SUPPLY)


@pytest.mark.parametrize(("supply", "amount"), [(None, None), (0, "0")])
def test_nothing_of_no_supply_has_no_percentage(fetch, supply, amount):
    TokenFactory(contract_address=ADDRESS, supply=supply, pool_address="", locker_address="")
    answer = fetch(ADDRESS).json()
    assert (answer["amountDepositedIntoLP"], answer["totalSupply"], answer["percentLocked"]) == (amount, amount, None)
    assert (answer["poolAddress"], answer["lockerAddress"]) == (None, None)


@pytest.mark.parametrize("spell", [str, str.lower, lambda text: "0X" + text[2:].upper()])
def test_it_finds_a_token_in_any_case(fetch, spell):
    TokenFactory(contract_address=ADDRESS, name="Found", blocked=True)
    answer = fetch(spell(ADDRESS), partner="x")
    assert answer.json()["token_name"] == "Found"
    assert answer.headers["X-Ignored-Params"] == "partner"


def test_of_several_chains_the_registrys_first_counts(fetch):
    for chain_id, name in ((10143, "Elsewhere"), (1, "Ethereum"), (8453, "Base")):
        TokenFactory(contract_address=ADDRESS, chain_id=chain_id, name=name)
    assert fetch(ADDRESS).json()["token_name"] == "Base"
    assert fetch(ADDRESS, chainId=1).json()["token_name"] == "Ethereum"
    assert fetch(ADDRESS, chainId=10143).json()["token_name"] == "Elsewhere"


def test_it_queries_the_database_for_key_and_token(fetch, django_assert_num_queries):
    TokenFactory(contract_address=ADDRESS)
    # The first use of a key is stored.
    fetch(ADDRESS)
    with django_assert_num_queries(2):
        assert fetch(ADDRESS).status_code == 200


def test_liquidity_of_a_declared_launchpad_is_unknown(fetch):
    token = TokenFactory(generation="zora", locker_address="", position_id="")
    facts = fetch(token.contract_address).json()
    assert (facts["amountDepositedIntoLP"], facts["percentLocked"], facts["lockerAddress"]) == (None, None, None)
