"""GET /api/get-uncollected-fees/{address}."""

from contextlib import ExitStack
from datetime import UTC, datetime

import pytest

from config.processes.concurrency_limits import SLOTS, node_slot
from development.standins.loopback import Reply
from tests.config.api.test_described_answers import check, close_objects
from tests.nodes.launch_builder import DEPLOYER, SENDER, STRANGER, WETH, v1_launch
from tests.nodes.locker_responses import answer, collects, decimals, position, team_percent
from tests.nodes.log_encoding import call
from tests.nodes.recordings import mined, recorded_chain
from tests.rows.factories import TokenFactory
from tests.rows.indexed_tokens import index_launch
from tests.tokens.chains.evm.generations.test_v4_fees import DELAY, guard
from tokens.models import Token

pytestmark = pytest.mark.django_db

PATH = "/api/get-uncollected-fees"
HEAD = 209


@pytest.fixture
def fetch(client, read_key, installed_node):
    """Send a request to the service, which has the recorded chain's node, with a key."""
    return lambda address, **parameters: client.get(f"{PATH}/{address}", parameters, headers=read_key)


@pytest.fixture
def description(client):
    """Return the OpenAPI schema, in which objects have exactly the declared keys."""
    document = client.get("/api/openapi.json").json()
    close_objects(document["components"]["schemas"])
    return document


def names(node, locker, accessor, account):
    """Have a locker return this account."""
    answer(node, locker, call(accessor), ["address"], account)


def weth(harvested, pending):
    return {"currency": WETH, "symbol": "WETH", "decimals": 18, "harvested": harvested, "pending": pending}


def own(token, harvested, pending):
    address = token.contract_address
    return {"currency": address, "symbol": token.symbol, "decimals": 18, "harvested": harvested, "pending": pending}


def test_it_is_refused_at_once_while_as_many_wait_for_nodes_as_may(fetch, node):
    token = index_launch(mined("deploy-token1"))
    with ExitStack() as slots:
        for _ in range(SLOTS):
            slots.enter_context(node_slot())
        calls_before = len(node.calls)
        answer = fetch(token.contract_address)
        assert (answer.status_code, answer.json()) == (503, {"error": "Too many concurrent calls to the chain"})
        assert (answer.headers["Retry-After"], answer.headers["Cache-Control"]) == ("1", "no-store")
        assert len(node.calls) == calls_before
    # All slots are released again.
    assert fetch(token.contract_address).json().get("error") != "Too many concurrent calls to the chain"


def test_it_reports_when_no_node_answers(fetch, node):
    token = index_launch(mined("deploy-token1"))
    node.behave = lambda body: Reply(b"", status=503)
    answer = fetch(token.contract_address)
    assert (answer.status_code, answer.json()) == (503, {"error": "Upstream is not available"})
    assert answer.headers["Retry-After"] == "5"


def test_it_reports_when_it_has_no_node_of_the_chain(fetch):
    token = TokenFactory(chain_id=1)
    answer = fetch(token.contract_address)
    assert (answer.status_code, answer.json()) == (503, {"error": "The chain is not available"})


def test_it_reports_when_the_registry_lacks_a_contract(fetch, node, settings, forget_chains, tmp_path):
    chains = tmp_path / "chains.toml"
    chains.write_text('[chains.999]\nname = "Bare"\nnative = "ETH"\nfinality_depth = 1\n')
    settings.CHAINS_FILES = (str(chains),)
    settings.RPC_URLS = {999: (node.url,)}
    forget_chains()
    node.answers["eth_chainId"] = lambda: hex(999)
    for changes, key in (
        ({"locker_address": STRANGER}, "v4_position_manager"),
        ({"generation": "v2", "position_id": "2"}, "v3_position_manager"),
    ):
        token = TokenFactory(chain_id=999, **changes)
        answer = fetch(token.contract_address)
        text = f"Fees can't be read on chain 999: its {key} is not in the registry"
        assert (answer.status_code, answer.json()) == (503, {"error": text})


@pytest.mark.parametrize(
    "changes",
    [{"locker_address": ""}, {"locker_address": STRANGER}, {"paired_token": STRANGER}, {"generation": "v2"}],
)
def test_what_the_chain_can_not_have_returned_is_an_error_of_the_upstream(fetch, changes):
    token = index_launch(mined("deploy-token1"))
    Token.objects.update(**changes)
    answer = fetch(token.contract_address)
    assert (answer.status_code, answer.json()) == (502, {"error": "Upstream answered with an error"})


def test_it_returns_both_layers_together_and_per_recipient(fetch, description):
    token = index_launch(mined("deploy-token1"))
    answer = fetch(token.contract_address.lower(), chainId=8453, page=1)
    fees = [weth("0", "1663339986693280"), own(token, "23835600093206530008051746", "0")]
    assert answer.status_code == 200
    assert answer.json() == {
        "tokenAddress": token.contract_address,
        "chainId": 8453,
        "blockNumber": HEAD,
        "fees": fees,
        "recipients": [{"recipient": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", "fees": fees}],
        "conversion": "none",
        "collectableFrom": None,
    }
    assert answer.headers["Cache-Control"] == "private, max-age=15"
    assert answer.headers["X-Ignored-Params"] == "page"
    check(description, f"{PATH}/{{address}}", answer.json())


def test_it_states_from_when_a_collection_pays(fetch, node, description):
    token = index_launch(mined("deploy-token1"))
    now = int(recorded_chain()["blocks"][HEAD]["timestamp"], 16)
    guard(node, "deploy-token1", created=now)
    answer = fetch(token.contract_address).json()
    until = datetime.fromtimestamp(now + DELAY, UTC)
    assert answer["collectableFrom"] == f"{until:%Y-%m-%dT%H:%M:%S}.000Z"
    assert [fees["pending"] for fees in answer["fees"]] == ["0", "0"]
    check(description, f"{PATH}/{{address}}", answer)


def test_what_no_node_can_simulate_is_null_and_marked(fetch, description):
    token = index_launch(mined("deploy-multi-recipients"))
    answer = fetch(token.contract_address).json()
    assert answer["conversion"] == "unknown"
    assert answer["fees"] == [own(token, "0", None), weth("0", None)]
    assert [each["fees"] for each in answer["recipients"]] == [
        [own(token, "0", "0"), weth("0", None)],
        [own(token, "0", None), weth("0", "0")],
        [own(token, "0", "0"), weth("0", None)],
    ]
    check(description, f"{PATH}/{{address}}", answer)


def test_it_returns_only_one_recipient(fetch):
    token = index_launch(mined("deploy-multi-recipients"))
    recipient = "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc"
    answer = fetch(token.contract_address, recipient=recipient.lower()).json()
    fees = [own(token, "0", None), weth("0", "0")]
    assert (answer["fees"], answer["recipients"]) == (fees, [{"recipient": recipient, "fees": fees}])


@pytest.mark.parametrize("label", ["legacy-v0-deploy", "legacy-v2-deploy"])
def test_an_earlier_token_has_nothing_harvested(fetch, description, label):
    token = index_launch(mined(label))
    answer = fetch(token.contract_address).json()
    fees = [own(token, "0", "0"), weth("0", "999999999999999")]
    assert answer["fees"] == fees
    # The recorded responses lack the recipients of these lockers.
    assert answer["recipients"] == [{"recipient": None, "fees": fees}]
    check(description, f"{PATH}/{{address}}", answer)


def test_the_split_of_v31_is_the_launchs(fetch):
    token = index_launch(mined("legacy-v31-deploy"))
    answer = fetch(token.contract_address).json()
    assert answer["fees"] == [weth("0", "999999999999999"), own(token, "0", "0")]
    assert [(each["recipient"], each["fees"][0]["pending"]) for each in answer["recipients"]] == [
        (None, "199999999999999"),
        ("0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65", "399999999999999"),
        ("0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc", "400000000000001"),
    ]


def test_an_account_that_is_no_recipient_has_nothing(fetch, node):
    token = index_launch(v1_launch())
    position(node, 42, owner=token.locker_address, currencies=(token.contract_address, WETH))
    decimals(node, token.contract_address, 18)
    collects(node, 42, owner=token.locker_address, amounts=(3, 5))
    team_percent(node, token.locker_address, 0, accessor="_fee")
    names(node, token.locker_address, "owner()", SENDER)
    names(node, token.locker_address, "_feeRecipient()", DEPLOYER)
    assert [each["pending"] for each in fetch(token.contract_address, recipient=SENDER).json()["fees"]] == ["3", "5"]
    assert [each["pending"] for each in fetch(token.contract_address, recipient=STRANGER).json()["fees"]] == ["0", "0"]


def test_a_possible_unnamed_recipient_has_what_is_unknown(fetch):
    # The team's part, whose recipient is missing in the recorded responses.
    token = index_launch(mined("legacy-v31-deploy"))
    assert fetch(token.contract_address, recipient=STRANGER).json()["fees"] == [weth("0", None), own(token, "0", "0")]


def test_the_registrys_order_decides_between_chains(fetch):
    token = index_launch(mined("deploy-token1"))
    TokenFactory(contract_address=token.contract_address, chain_id=1)
    assert fetch(token.contract_address).json()["chainId"] == 8453
    assert fetch(token.contract_address, chainId=1).status_code == 503


def test_a_blocked_tokens_fees_are_returned(fetch):
    token = index_launch(mined("deploy-token1"))
    Token.objects.update(blocked=True)
    assert fetch(token.contract_address).status_code == 200


def test_it_reads_the_token_once(fetch, django_assert_max_num_queries):
    token = index_launch(mined("deploy-token1"))
    fetch(token.contract_address)
    # The key, its use, and the token.
    with django_assert_max_num_queries(4):
        assert fetch(token.contract_address).status_code == 200


def test_fees_of_a_declared_launchpad_are_not_read(fetch, node):
    token = TokenFactory(generation="zora", locker_address="", position_id="")
    answer = fetch(token.contract_address)
    rule = "must be a token of a launchpad whose uncollected fees are read; those of Zora are not"
    assert (answer.status_code, answer.json()["details"]) == (400, [{"field": "address", "message": rule}])
    assert node.calls == []
