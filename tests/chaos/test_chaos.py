"""Small form of `make chaos`: a real follower is killed, the chain reorganises, and every row is right in the end."""

import pytest

from development.devchain.anvil import CHAIN_ID
from development.devchain.launch_transactions import DevLaunchConfig
from tests.chaos import follower_chaos
from tests.chaos.follower_chaos import Plan
from tokens.indexing.index_requests import index_transaction
from tokens.models import Token

pytestmark = pytest.mark.slow

MADE_UP = "0x" + "12" * 20
PLAN = Plan(launches=60, kills=3, reorgs=3)


@pytest.fixture
def environment(own_launchpad, service_environment, tmp_path):
    finality = tmp_path / "finality.toml"
    follower_chaos.write_finality(finality, CHAIN_ID)
    url = own_launchpad.deployment.rpc_url
    return service_environment | {
        "CHAINS_FILE": f"{service_environment['CHAINS_FILE']},{finality}",
        f"RPC_WS_URL_{CHAIN_ID}": url.replace("http", "ws"),
        f"FOLLOW_FROM_{CHAIN_ID}": "0",
        "LOG_LEVEL": "ERROR",
    }


@pytest.mark.django_db(transaction=True)
def test_every_row_is_right_after_kills_and_reorganisations(own_launchpad, environment):
    outcome = follower_chaos.run(own_launchpad, environment, PLAN)
    assert (outcome.kills, outcome.reorgs) >= (PLAN.kills, PLAN.reorgs)
    is_right, counted, findings = follower_chaos.check(own_launchpad.deployment.rpc_url, environment["DATABASE_URL"])
    assert is_right, findings
    assert counted["tokens"] == PLAN.launches


@pytest.mark.django_db(transaction=True)
def test_the_check_finds_rows_that_are_missing_wrong_and_made_up(own_launchpad, environment):
    for _ in range(2):
        index_transaction(chain_id=CHAIN_ID, tx_hash=own_launchpad.launch_batch(DevLaunchConfig(), DevLaunchConfig()))
    assert follower_chaos.check(own_launchpad.deployment.rpc_url, environment["DATABASE_URL"])[0]
    first, second, third, _ = Token.objects.all()
    Token.objects.filter(pk=first.pk).update(unindexed=True)
    Token.objects.filter(pk=second.pk).update(name="Other")
    Token.objects.filter(pk=third.pk).update(contract_address=MADE_UP)
    is_right, _, findings = follower_chaos.check(own_launchpad.deployment.rpc_url, environment["DATABASE_URL"])
    assert not is_right
    for token, wrong in (
        (first.contract_address, "is missing"),
        (second.contract_address, "has name 'Other'"),
        (third.contract_address, "is missing"),
        (MADE_UP, "is not on the chain"),
    ):
        assert any(token in line and wrong in line for line in findings.splitlines())
