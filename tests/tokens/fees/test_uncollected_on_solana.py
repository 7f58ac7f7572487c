"""GET /api/get-uncollected-fees/{address} for a mint."""

from functools import partial

import pytest
from solders.pubkey import Pubkey

from development.standins.http_server import Mode
from tests.config.api.test_described_answers import check, close_objects
from tests.nodes.solana.forms import change_account
from tests.nodes.solana.recorded import CONFIG, CREATOR, LAUNCH, MINT, PARTNER, POOL, WRAPPED_SOL
from tests.rows.factories import SolanaTokenFactory
from tests.tokens.catalogue.test_solana_addresses import other_case
from tokens.indexing.index_requests import index_transaction
from tokens.models import Token

pytestmark = pytest.mark.django_db

PATH = "/api/get-uncollected-fees"
# A mint in the token program, with a description by Metaplex.
OTHER_MINT = "2KW2XRd9kwqet15Aha2oK3tYvd3nWbTFH1MBiRAv1BE1"
# Offsets: the fields that the tests change.
POOLS_PARTNER_FEES, POOLS_IS_MIGRATED, POOLS_CREATOR_FEES = 264, 305, 352
CONFIGS_QUOTE_MINT, CONFIGS_FEE_CLAIMER = 8, 40


@pytest.fixture
def node(installed_solana_node, settings, forget_chains):
    settings.RPC_ATTEMPTS = 1
    forget_chains()
    return installed_solana_node


@pytest.fixture
def fetch(client, read_key, node):
    return lambda address, **parameters: client.get(f"{PATH}/{address}", parameters, headers=read_key)


@pytest.fixture
def token(node):
    """Add the recorded launch."""
    index_transaction(chain_id=101, tx_hash=LAUNCH)
    return Token.objects.get()


@pytest.fixture
def change(node):
    """Return a function that changes an account's bytes from an offset on."""
    return partial(change_account, node)


def key(address):
    return bytes(Pubkey.from_string(address))


def amounts(base, quote):
    return base.to_bytes(8, "little") + quote.to_bytes(8, "little")


def lsol(pending):
    return {"currency": MINT, "symbol": "LSOL", "decimals": 6, "harvested": "0", "pending": pending}


def sol(pending):
    return {"currency": WRAPPED_SOL, "symbol": "SOL", "decimals": 9, "harvested": "0", "pending": pending}


@pytest.mark.parametrize("parameters", [{}, {"chainId": 101}])
def test_a_mint_in_another_case_is_another_mint(fetch, token, node, parameters):
    calls_before = len(node.calls)
    answer = fetch(other_case(MINT), **parameters)
    assert (answer.status_code, answer.json()) == (404, {"error": "Token not found"})
    assert len(node.calls) == calls_before


def test_it_reports_when_no_node_answers(fetch, token, node):
    node.behave(Mode.FAIL)
    answer = fetch(MINT)
    assert (answer.status_code, answer.json()) == (503, {"error": "Upstream is not available"})
    assert answer.headers["Retry-After"] == "5"


def test_it_reports_when_it_has_no_node_of_solana(fetch, settings, forget_chains):
    settings.RPC_URLS = {}
    forget_chains()
    token = SolanaTokenFactory()
    answer = fetch(token.contract_address)
    assert (answer.status_code, answer.json()) == (503, {"error": "The chain is not available"})


@pytest.mark.parametrize(
    "changes",
    [
        {"pool_address": ""},
        # No account; a wallet; a mint; the program's account that is no pool.
        {"pool_address": str(Pubkey(bytes(range(32))))},
        {"pool_address": CREATOR},
        {"pool_address": OTHER_MINT},
        {"pool_address": CONFIG},
        # Another token's pool, and a pool with another quote.
        {"contract_address": OTHER_MINT},
        {"paired_token": OTHER_MINT},
    ],
)
def test_what_the_chain_can_not_have_returned_is_an_error_of_the_upstream(fetch, token, changes):
    Token.objects.update(**changes)
    answer = fetch(Token.objects.get().contract_address)
    assert (answer.status_code, answer.json()) == (502, {"error": "Upstream answered with an error"})


def test_it_returns_what_is_pending_after_the_creators_claim(fetch, token, client):
    answer = fetch(MINT, page=1)
    document = client.get("/api/openapi.json").json()
    close_objects(document["components"]["schemas"])
    # The recorded swap left 8,000,000 lamports to both, and the creator has claimed half.
    assert (answer.status_code, answer.json()) == (
        200,
        {
            "tokenAddress": MINT,
            "chainId": 101,
            "blockNumber": 1005,
            "fees": [lsol("0"), sol("4000000")],
            "recipients": [
                {"recipient": CREATOR, "fees": [lsol("0"), sol("0")]},
                {"recipient": PARTNER, "fees": [lsol("0"), sol("4000000")]},
            ],
            "conversion": "none",
            "collectableFrom": None,
        },
    )
    assert answer.headers["Cache-Control"] == "private, max-age=15"
    assert answer.headers["X-Ignored-Params"] == "page"
    check(document, f"{PATH}/{{address}}", answer.json())


@pytest.mark.parametrize(("recipient", "lamports"), [(PARTNER, "4000000"), (CREATOR, "0"), (OTHER_MINT, "0")])
def test_it_returns_only_one_recipient(fetch, token, recipient, lamports):
    answer = fetch(MINT, chainId=101, recipient=recipient).json()
    fees = [lsol("0"), sol(lamports)]
    assert (answer["fees"], answer["recipients"]) == (fees, [{"recipient": recipient, "fees": fees}])


def test_an_account_that_is_both_the_creator_and_the_launchpad_has_both_parts(fetch, token, change):
    change(POOL, POOLS_CREATOR_FEES, amounts(5, 6))
    change(CONFIG, CONFIGS_FEE_CLAIMER, key(CREATOR))
    fees = [lsol("5"), sol("4000006")]
    answer = fetch(MINT).json()
    assert (answer["fees"], answer["recipients"]) == (fees, [{"recipient": CREATOR, "fees": fees}])


def test_amounts_are_returned_to_the_smallest_unit(fetch, token, change):
    change(POOL, POOLS_CREATOR_FEES, amounts(2**64 - 1, 1))
    change(POOL, POOLS_PARTNER_FEES, amounts(2**64 - 1, 0))
    answer = fetch(MINT).json()
    assert answer["fees"] == [lsol(str(2**65 - 2)), sol("1")]


def test_a_pool_that_has_graduated_keeps_what_was_not_claimed(fetch, token, change):
    change(POOL, POOLS_IS_MIGRATED, b"\1")
    assert fetch(MINT).json()["fees"] == [lsol("0"), sol("4000000")]


def test_a_quote_mint_that_the_registry_lacks_describes_itself(fetch, token, change):
    change(CONFIG, CONFIGS_QUOTE_MINT, key(OTHER_MINT))
    Token.objects.update(paired_token=OTHER_MINT)
    fees = fetch(MINT).json()["fees"]
    calls_before = {"currency": OTHER_MINT, "symbol": "SOLT", "decimals": 6, "harvested": "0", "pending": "4000000"}
    assert fees == [lsol("0"), calls_before]


def test_the_amounts_are_as_of_the_slot_at_which_the_node_looked(fetch, token, node):
    node.slot = 5000
    assert fetch(MINT).json()["blockNumber"] == 5000
