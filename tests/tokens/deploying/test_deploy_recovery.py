"""Recovery of deploying: the service itself repairs what happens to its wallets and its chain."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from development.devchain import node_client
from tests.chaos.deploy_clients import Partner, order
from tests.chaos.deploy_service import WALLETS, DeployService, run_deploy_service
from tests.nodes.faulty_node import BROADCAST
from tests.processes.waiting import wait_for

pytestmark = pytest.mark.slow

GWEI = 10**9


@pytest.fixture(scope="module")
def service(django_db_modify_db_settings, tmp_path_factory) -> Iterator[DeployService]:
    with run_deploy_service(tmp_path_factory.mktemp("healing") / "chains.toml") as running:
        yield running


@pytest.fixture
def partner(service: DeployService) -> Partner:
    service.forget()
    return service.partner()


def rpc(service: DeployService, method: str, *params: Any) -> Any:
    return node_client.connect(service.node.rpc_url).manager.request_blocking(method, list(params))


def use_outside(service: DeployService, wallet: str) -> None:
    """Send an unrelated transaction with the wallet's key."""
    node_client.wait_for_receipt(
        service.node.rpc_url, node_client.send_transaction(service.node.rpc_url, sender=wallet, to=wallet, data="0x01")
    )


def select(service: DeployService, statement: str, *values: Any) -> list[Any]:
    with psycopg.connect(service.database_url) as connection:
        return [row[0] for row in connection.execute(statement, values)]


def versions_of(service: DeployService, request_key: str) -> list[int]:
    """Return the offers for a gas of the versions of the deployment's newest attempt, oldest first."""
    return select(
        service,
        "SELECT max_fee FROM tokens_signedtransaction WHERE attempt_id = (SELECT max(a.id) FROM tokens_deployattempt a"
        " JOIN tokens_deployment d ON d.id = a.deployment_id WHERE d.request_key = %s) ORDER BY id",
        request_key,
    )


def status_of(service: DeployService, request_key: str) -> str:
    (status,) = select(service, "SELECT status FROM tokens_deployment WHERE request_key = %s", request_key)
    return str(status)


@pytest.mark.django_db
def test_a_repeated_order_is_answered_as_the_first_whose_token_came_while_it_was_tried(service, partner):
    body = order("Twice")
    with ThreadPoolExecutor(1) as pool, service.node.gate("eth_call", most=1) as gate:
        late = pool.submit(partner.order, body)
        gate.wait()
        first = partner.order(body)
        partner.wait(body["token"]["requestKey"])
        gate.open()
        assert late.result() == first
    assert service.judge() == []


@pytest.mark.django_db
def test_an_order_comes_through_though_another_sender_has_used_the_next_nonces(service, partner):
    for wallet in WALLETS:
        use_outside(service, wallet)
    body = order("After others")
    partner.request_until_final(body)
    partner.wait(body["token"]["requestKey"])
    assert service.judge() == []


@pytest.mark.django_db
def test_an_order_gets_another_nonce_where_another_sender_was_quicker_with_its_own(service, partner):
    body = order("Overtaken")
    request_key = body["token"]["requestKey"]
    with service.node.gate(BROADCAST) as gate, ThreadPoolExecutor(1) as pool:
        pool.submit(partner.request_until_final, body).result()
        gate.wait()
        for wallet in WALLETS:
            use_outside(service, wallet)
    partner.wait(request_key)
    assert service.judge() == []
    assert partner.status(request_key)["attempts"] == 2


@pytest.mark.django_db
def test_a_transaction_that_offers_too_little_is_replaced_by_one_with_the_same_nonce(service, partner):
    body = order("Stuck")
    request_key = body["token"]["requestKey"]
    rpc(service, "evm_setAutomine", False)
    try:
        partner.request_until_final(body)
        wait_for(lambda: versions_of(service, request_key))
        # Blocks require more than it offers, and less than is allowed.
        base_fee = 2 * versions_of(service, request_key)[0]
        assert base_fee < 40 * GWEI

        def mine() -> bool:
            rpc(service, "anvil_setNextBlockBaseFeePerGas", hex(base_fee))
            rpc(service, "anvil_mine", "0x1")
            return status_of(service, request_key) == "indexed"

        wait_for(mine)
    finally:
        rpc(service, "evm_setAutomine", True)
    partner.wait(request_key)
    assert service.judge() == []
    fees = versions_of(service, request_key)
    assert len(fees) > 1
    assert all(later * 8 >= earlier * 9 for earlier, later in zip(fees, fees[1:], strict=False))
    assert partner.status(request_key)["attempts"] == 1


@pytest.mark.django_db
def test_a_launch_that_the_chain_drops_is_launched_again_at_the_same_address(service, partner):
    body = order("Taken back")
    request_key = body["token"]["requestKey"]
    expected = partner.request_until_final(body).body["expectedAddress"]
    partner.wait(request_key)
    block = "SELECT block_hash FROM tokens_token WHERE contract_address = %s"
    before = select(service, block, expected)
    # The node drops the transactions of the blocks, which others may keep.
    rpc(service, "anvil_reorg", 1, [])
    rpc(service, "anvil_mine", "0x1")

    wait_for(lambda: status_of(service, request_key) != "indexed")
    partner.wait(request_key)
    assert select(service, block, expected) not in ([], before)
    assert service.judge() == []
