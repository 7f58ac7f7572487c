"""A development chain whose blocks and mempool a test controls, wallets on it, and deployments for it."""

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from web3.types import RPCEndpoint

from config.environment.secret import Secret
from development.devchain import node_client
from development.devchain.anvil import CHAIN_ID
from development.devchain.deploy_contracts import OWNER
from development.devchain.deploy_contracts import DevelopmentContracts as Contracts
from development.devchain.launch_transactions import DevLaunchConfig, deployment_config, native_value
from tests.nodes.devchain_launches import Launchpad
from tests.rows.factories import DeploymentFactory
from tokens.chains.transaction_types import ContractCall
from tokens.deploying.sending import submit, wallets
from tokens.deploying.sending import watch as watching
from tokens.deploying.sending.gas import add_gas_reserve
from tokens.installation.installed_chains import installed_chain
from tokens.installation.installed_signers import installed_signers
from tokens.models import DeployAttempt, Deployment, DeployWallet, SignedTransaction

# The node's accounts 3 to 5.
KEYS = {
    "0x90F79bf6EB2c4f870365E785982E1f101E93b906": "7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6",
    "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65": "47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a",
    "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc": "8b3a350cf5c34c9194ca85829a2df0ec3153be0318b5e2d3348e872092edffba",
}
WALLET, SECOND, THIRD = KEYS


@dataclass(frozen=True)
class Ground:
    """The chain and its contents. Nothing is mined until a test mines it."""

    contracts: Contracts

    def order(self, *, config: DevLaunchConfig | None = None, **changes: Any) -> Deployment:
        """Store a valid launch's deployment, without a signed transaction."""
        config = replace(config or DevLaunchConfig(), salt=secrets.token_bytes(32), admin=WALLET)
        contract = node_client.bind_contract(self.contracts.rpc_url, "Factory", self.contracts.factory)
        data = contract.encode_abi("deployToken", [deployment_config(self.contracts, config, sender=WALLET)])
        call = ContractCall(to=self.contracts.factory, data=data, value=native_value(config))
        simulation = installed_chain(CHAIN_ID).simulate(call, sender=WALLET)
        known = {
            "chain_id": CHAIN_ID,
            "salt": "0x" + config.salt.hex(),
            "to_address": call.to,
            "calldata": bytes.fromhex(call.data[2:]),
            "value": call.value,
            "gas": add_gas_reserve(simulation.gas),
            "expected_address": node_client.connect(self.contracts.rpc_url).to_checksum_address(
                simulation.output[-40:]
            ),
        }
        order: Deployment = DeploymentFactory(**known | changes)
        return order

    def submitted(self, **changes: Any) -> Deployment:
        """Store a deployment that was signed and sent."""
        order = self.order(**changes)
        assert submit.submit_deployment(order.pk)
        order.refresh_from_db()
        return order

    def doomed(self, **changes: Any) -> Deployment:
        """Store a deployment whose transaction will be reverted, as a simulation would show."""
        wrong = DevLaunchConfig(originating_chain_id=1)
        config = deployment_config(self.contracts, replace(wrong, admin=WALLET), sender=WALLET)
        contract = node_client.bind_contract(self.contracts.rpc_url, "Factory", self.contracts.factory)
        data = bytes.fromhex(contract.encode_abi("deployToken", [config])[2:])
        return self.order(calldata=data, **changes)

    def mine(self, blocks: int = 1) -> None:
        self.rpc("anvil_mine", hex(blocks))

    def watch(self) -> list[int]:
        return watching.watch_chain(CHAIN_ID)

    def set_base_fee(self, wei: int) -> None:
        """Mine an empty block with this base fee; the next one's is about the same."""
        self.drop_all()
        self.rpc("anvil_setNextBlockBaseFeePerGas", hex(wei))
        self.mine()

    def drop_all(self) -> None:
        """Have the node drop its pending transactions."""
        self.rpc("anvil_dropAllTransactions")

    def reorg(self, depth: int, *transactions: tuple[str, int]) -> None:
        """Replace the newest blocks by others; for each transaction its bytes and its index among the new blocks."""
        self.rpc("anvil_reorg", depth, [list(pair) for pair in transactions])

    def send_outside(self, nonce: int, *, gas_price: int = 10**10) -> str:
        """Send an unrelated transaction with the same key."""
        transaction = {
            "from": WALLET,
            "to": WALLET,
            "nonce": hex(nonce),
            "gas": hex(21000),
            "maxFeePerGas": hex(gas_price),
            "maxPriorityFeePerGas": hex(gas_price // 2),
        }
        return str(self.rpc("eth_sendTransaction", transaction))

    def launch_outside(self, order: Deployment, *, sender: str) -> str:
        """Send a deployment's very call from another account."""
        sent = node_client.send_transaction(
            self.contracts.rpc_url, sender=sender, to=order.to_address, data="0x" + bytes(order.calldata).hex()
        )
        return sent.to_0x_hex()

    def own(self, address: str) -> None:
        """Return another own wallet, which sends nothing now."""
        DeployWallet.objects.get_or_create(chain_id=CHAIN_ID, address=address)

    def block_hash(self, number: int) -> str:
        return str(self.rpc("eth_getBlockByNumber", hex(number), False)["hash"])

    def time(self, seconds: int) -> datetime:
        """Return a chain time, in Unix seconds."""
        return datetime.fromtimestamp(seconds, UTC)

    def confirm(self) -> list[int]:
        return watching.confirm_chain(CHAIN_ID)

    def pending(self) -> list[str]:
        """Return the node's pending transaction hashes."""
        return list(self.rpc("eth_getBlockByNumber", "pending", False)["transactions"])

    def rpc(self, method: str, *params: Any) -> Any:
        return node_client.connect(self.contracts.rpc_url).manager.request_blocking(RPCEndpoint(method), list(params))


def row(order: Deployment) -> Deployment:
    """Return the deployment's current row."""
    return Deployment.objects.get(pk=order.pk)


def secret_of(address: str) -> Secret:
    """Return a wallet's key, as settings have it."""
    return Secret(KEYS[address])


def wallet(address: str = WALLET) -> DeployWallet:
    return DeployWallet.objects.get(address=address)


def attempts() -> list[tuple[str, int, str]]:
    """Return (wallet, nonce, state) for all, oldest first."""
    rows = DeployAttempt.objects.order_by("pk").select_related("wallet")
    return [(row.wallet.address, row.nonce, row.state) for row in rows]


def versions(order: Deployment) -> list[SignedTransaction]:
    return list(SignedTransaction.objects.filter(attempt__deployment=order).order_by("pk"))


def long_ago(*rows: Any, seconds: int = 3600) -> None:
    """Age the rows by an hour: signed, sent, replaced, missed."""
    for row in rows:
        names = {field.name for field in row._meta.fields}
        moments = names & {"signed_at", "sent_at", "updated_at", "created_at", "missing_since"}
        then = timezone.now() - timedelta(seconds=seconds)
        row._meta.model.objects.filter(pk=row.pk).update(
            **{name: then for name in moments if getattr(row, name) is not None}
        )


def unsent(*signed: SignedTransaction) -> None:
    """Mark these versions as never sent."""
    SignedTransaction.objects.filter(pk__in=[version.pk for version in signed]).update(sent_at=None)


@pytest.fixture
def use_wallets(settings: Any) -> Callable[[Sequence[str]], None]:
    """Return a function that takes the sending wallets' addresses."""

    def use(addresses: Sequence[str]) -> None:
        settings.DEPLOYER_KEYS = {CHAIN_ID: tuple(map(secret_of, addresses))}
        installed_signers.cache_clear()
        wallets.refresh_wallets(CHAIN_ID, addresses=installed_signers(CHAIN_ID).keys())

    return use


@pytest.fixture
def ground(
    db: None, own_launchpad: Launchpad, settings: Any, use_wallets: Callable[[Sequence[str]], None]
) -> Iterator[Ground]:
    """Return the chain as it was before any test, with one wallet, and without automatic mining."""
    settings.DEPLOYER_KEYSTORES, settings.DEPLOYER_REMOTE = {}, {}
    there = Ground(own_launchpad.deployment)
    there.rpc("evm_setAutomine", False)
    there.set_base_fee(10**9)
    use_wallets([WALLET])
    yield there
    installed_signers.cache_clear()


@pytest.fixture
def without_hook(launchpad: Launchpad) -> Iterator[None]:
    """Have the factory refuse the static fee hook during the test."""
    url, factory = launchpad.deployment.rpc_url, launchpad.deployment.factory
    contract = node_client.bind_contract(url, "Factory", factory)

    def enable(enabled: bool) -> None:
        data = contract.encode_abi("setEnabled", [launchpad.deployment.static_hook, enabled])
        node_client.wait_for_receipt(url, node_client.send_transaction(url, sender=OWNER, to=factory, data=data))

    enable(False)
    yield
    enable(True)
