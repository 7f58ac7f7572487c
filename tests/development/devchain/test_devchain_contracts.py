"""Development contracts: generation v4's external interface (calls, events and addresses), and its readers."""

import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from eth_abi.abi import encode
from eth_utils.abi import collapse_if_tuple
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak
from hexbytes import HexBytes
from web3.types import RPCEndpoint

from development.devchain import node_client
from development.devchain.airdrop_tree import merkle_proof, merkle_root
from development.devchain.deploy_contracts import DevelopmentContracts
from development.devchain.launch_transactions import (
    DAY,
    TOKEN_SUPPLY,
    DevAirdropShare,
    DevLaunchConfig,
    DevVaultShare,
    DynamicFees,
    LaunchPurchase,
    Recipient,
    send_launch,
    send_launch_batch,
    token_config,
)
from development.devchain.node_client import load_artifact
from tests.nodes.devchain_tests import OTHER, SENDER, events_of, launched, token_at
from tokens.chains.evm.generations.mined_transactions import read_mined
from tokens.chains.evm.generations.transaction_decoding import decode_mined
from tokens.chains.registry import chains

DEVCHAIN = Path(__file__).resolve().parents[3] / "development" / "devchain"
# Events as the real contracts declare them; `indexed` is null where the event has no recorded log.
EVENTS = json.loads((Path(__file__).parents[2] / "data" / "v4_events.json").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_a_rebuild_gives_the_committed_bytes(tmp_path: Path) -> None:
    program = shutil.which("node")
    assert program, "the compiler needs node"
    # 30 s on one core, and several times as long beside other tests.
    subprocess.run([program, "compile.mjs", "--out", str(tmp_path)], cwd=DEVCHAIN, check=True, timeout=900)

    committed = {path.name: path.read_bytes() for path in (DEVCHAIN / "artifacts").iterdir()}
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == committed
    assert "Factory.json" in committed


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event["signature"].partition("(")[0])
def test_it_declares_the_event(event: dict[str, Any]) -> None:
    declared = {signature_of(item): item for item in load_artifact(event["contract"]).abi if item["type"] == "event"}

    assert "0x" + keccak(event["signature"].encode()).hex() == event["topic0"]
    inputs = declared[event["signature"]]["inputs"]
    assert event["indexed"] in (None, [item["name"] for item in inputs if item["indexed"]])


def test_a_plain_launch_emits_the_events_in_order(deployment: DevelopmentContracts) -> None:
    receipt = launched(deployment, DevLaunchConfig(salt=os.urandom(32)))

    assert [name for name, _ in events_of(deployment, receipt) if name not in ("Transfer", "Approval")] == [
        "Initialize",
        "PoolInitialized",
        "PoolCreatedFactory",
        "PoolExtensionRegistered",
        "ModifyLiquidity",
        "InitialFeePreferences",
        "TokenRewardAdded",
        "FeeConfigSet",
        "TokenCreated",
    ]


def test_a_launch_with_everything_emits_the_extensions_events(deployment: DevelopmentContracts) -> None:
    config = DevLaunchConfig(
        salt=os.urandom(32),
        fees=DynamicFees(),
        vault=DevVaultShare(admin=OTHER, bps=1_000),
        airdrop=DevAirdropShare(admin=OTHER, entries=ENTRIES, bps=250),
        own_buy=LaunchPurchase(recipient=OTHER),
    )

    events = dict(events_of(deployment, launched(deployment, config)))

    created = events["TokenCreated"]
    assert created["extensionsSupply"] == TOKEN_SUPPLY * 1_250 // 10_000
    assert created["extensions"] == [deployment.vault, deployment.airdrop, deployment.dev_buy]
    assert created["poolHook"] == deployment.dynamic_hook
    token = created["tokenAddress"]
    vault = {"supply": TOKEN_SUPPLY // 10, "lockupDuration": 30 * DAY, "vestingDuration": 30 * DAY}
    assert events["AllocationCreated"] == {"token": token, "admin": OTHER, **vault}
    airdrop = {"supply": TOKEN_SUPPLY // 40, "lockupDuration": DAY, "vestingDuration": DAY}
    assert events["AirdropCreated"] == {"token": token, "admin": OTHER, "merkleRoot": merkle_root(ENTRIES), **airdrop}
    bought = events["EthDevBuy"]
    # 0.1 ether at 1.0001^-230400 ether a token, less fees and the price impact: about 1 % of the supply.
    assert (bought["token"], bought["user"], bought["ethAmount"]) == (token, OTHER, 10**17)
    assert bought["tokenAmount"] == pytest.approx(10**17 * 1.0001**230_400 * 0.977, rel=1e-3)
    assert token_at(deployment, token).functions.balanceOf(OTHER).call() == bought["tokenAmount"]
    assert events["ExtensionTriggered"] == {"extension": deployment.dev_buy, "extensionSupply": 0, "msgValue": 10**17}


def test_a_dollar_pair_can_be_bought_with_native_currency(deployment: DevelopmentContracts) -> None:
    config = DevLaunchConfig(
        salt=os.urandom(32), paired_token=deployment.usd, tick=-424_400, own_buy=LaunchPurchase(recipient=OTHER)
    )

    events = dict(events_of(deployment, launched(deployment, config)))

    assert events["TokenCreated"]["pairedToken"] == deployment.usd
    # 0.1 ether are about 300 dollars, with 6 decimals; fees and the price impact cost 2 %.
    assert events["EthDevBuy"]["tokenAmount"] == pytest.approx(300e6 * 1.0001**424_400 * 0.98, rel=0.01)


@pytest.mark.parametrize("first", [True, False], ids=["token0", "token1"])
def test_a_token_has_the_predicted_address_and_pool(deployment: DevelopmentContracts, first: bool) -> None:
    config = salted_so_that(deployment, DevLaunchConfig(name="犬 🐕", symbol="狗", tick=-223_400), first=first)

    events = dict(events_of(deployment, launched(deployment, config)))

    token = predict(deployment, config, admin=SENDER)
    created, opened = events["TokenCreated"], events["Initialize"]
    assert created["tokenAddress"] == token
    low, high = sorted((token, deployment.wrapped_native), key=str.lower)
    key = (low, high, 0x800000, 200, deployment.static_hook)
    pool_id = keccak(encode(["address", "address", "uint24", "int24", "address"], key))
    assert created["poolId"] == opened["id"] == events["PoolCreatedFactory"]["poolId"] == pool_id
    assert created["startingTick"] == -223_400
    assert opened["tick"] == (-223_400 if first else 223_400)
    assert opened["sqrtPriceX96"] == pytest.approx(1.0001 ** (opened["tick"] / 2) * 2**96, rel=1e-9)


def test_zero_supply_takes_the_same_address_and_emits_nothing(deployment: DevelopmentContracts) -> None:
    config = DevLaunchConfig(salt=os.urandom(32), originating_chain_id=10)
    factory = node_client.bind_contract(deployment.rpc_url, "Factory", deployment.factory)
    function = factory.functions.deployTokenZeroSupply(token_config(config, admin=SENDER))

    receipt = node_client.transact(deployment.rpc_url, function, sender=SENDER)

    assert receipt["logs"] == []
    assert token_at(deployment, predict(deployment, config, admin=SENDER)).functions.totalSupply().call() == 0


def test_a_batch_launches_several_for_another_caller(deployment: DevelopmentContracts) -> None:
    configs = [
        DevLaunchConfig(salt=os.urandom(32), own_buy=LaunchPurchase(recipient=OTHER, value=n)) for n in (1, 2, 3)
    ]

    receipt = node_client.wait_for_receipt(deployment.rpc_url, send_launch_batch(deployment, configs, sender=SENDER))

    created = [values for name, values in events_of(deployment, receipt) if name == "TokenCreated"]
    assert [values["tokenAddress"] for values in created] == [predict(deployment, c, admin=SENDER) for c in configs]
    assert {values["msgSender"] for values in created} == {deployment.batch_launcher}


def test_the_chain_answers_for_a_launch(deployment: DevelopmentContracts) -> None:
    url = deployment.rpc_url
    positions = ((-230_400, -214_000, 2_000), (-214_000, -120_000, 8_000))
    recipients = (
        Recipient(admin=SENDER, recipient=OTHER, bps=7_000, wants="Paired"),
        Recipient(admin=OTHER, recipient=SENDER, bps=3_000, wants="Clanker"),
    )
    config = DevLaunchConfig(salt=os.urandom(32), positions=positions, recipients=recipients)
    events = dict(events_of(deployment, launched(deployment, config)))
    token = events["TokenCreated"]["tokenAddress"]

    info = node_client.bind_contract(url, "Factory", deployment.factory).functions.tokenDeploymentInfo(token).call()
    assert tuple(info) == (token, deployment.static_hook, deployment.locker, [])
    locker = node_client.bind_contract(url, "Locker", deployment.locker)
    added = events["TokenRewardAdded"]
    rewards = locker.functions.tokenRewards(token).call()
    assert list(rewards)[2:] == [added["positionId"], 2, [7_000, 3_000], [SENDER, OTHER], [OTHER, SENDER]]
    assert [locker.functions.feePreferences(token, index).call() for index in (0, 1)] == [1, 2]
    positions_contract = node_client.bind_contract(url, "PositionManager", deployment.position_manager)
    assert positions_contract.functions.ownerOf(added["positionId"] + 1).call() == deployment.locker
    assert added["poolSupply"] == TOKEN_SUPPLY
    assert token_at(deployment, token).functions.balanceOf(deployment.pool_manager).call() == TOKEN_SUPPLY
    all_data = token_at(deployment, token).functions.allData().call()
    assert all_data == [SENDER, SENDER, config.image, config.metadata, config.context]


def test_the_service_reads_a_launch(deployment: DevelopmentContracts, chains_file: Path) -> None:
    url = deployment.rpc_url
    config = DevLaunchConfig(
        salt=os.urandom(32), vault=DevVaultShare(admin=OTHER), own_buy=LaunchPurchase(recipient=OTHER)
    )
    sent = send_launch(deployment, config, sender=SENDER)
    node_client.wait_for_receipt(url, sent)

    def call_rpc(method: str, *params: Any) -> Any:
        return node_client.connect(url).provider.make_request(RPCEndpoint(method), params)["result"]

    receipt = call_rpc("eth_getTransactionReceipt", sent.to_0x_hex())
    mined = read_mined(
        chains.load_registry(chains_file).chain(deployment.chain_id),
        transaction=call_rpc("eth_getTransactionByHash", sent.to_0x_hex()),
        receipt=receipt,
        block=call_rpc("eth_getBlockByHash", receipt["blockHash"], False),
    )
    facts = decode_mined(mined)
    [read] = facts.launches

    assert (read.token, read.name, read.generation) == (predict(deployment, config, admin=SENDER), "Sample", "v4")
    assert read.context == config.context
    assert read.pool and read.pool.pair_symbol == "WETH"
    assert read.vault and read.vault.amount == TOKEN_SUPPLY // 10
    assert read.dev_buy and read.dev_buy.amount_eth == 10**17
    assert read.sniper_tax and read.sniper_tax.seconds_to_decay == 15


# The tree and the proof that the SDK made for these entries.
ENTRIES = (
    ("0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65", 200_000_000 * 10**18),
    ("0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc", 50_000_000 * 10**18),
)


def test_an_airdrops_tree_is_the_sdks() -> None:
    assert merkle_root(ENTRIES).hex() == "c3f7adbc247a1d8cdabfc8b27889a0c7f2ec239522aa3e4089803dc19dfab5a5"
    proof = [step.hex() for step in merkle_proof(ENTRIES, ENTRIES[0])]
    assert proof == ["cfec0cace20172684f1d3884c164dfd99a8ce4293402b7e147a7c5fca6d8ae9f"]


def signature_of(item: dict[str, Any]) -> str:
    return f"{item['name']}({','.join(collapse_if_tuple(part) for part in item['inputs'])})"


def salted_so_that(deployment: DevelopmentContracts, config: DevLaunchConfig, *, first: bool) -> DevLaunchConfig:
    """Return the configuration with a salt that makes the token sort below (or not) its paired token."""
    while True:
        config = replace(config, salt=os.urandom(32))
        if (predict(deployment, config, admin=SENDER).lower() < deployment.wrapped_native.lower()) is first:
            return config


def predict(deployment: DevelopmentContracts, config: DevLaunchConfig, *, admin: str) -> str:
    """Compute a token's CREATE2 address."""
    types = ["string", "string", "uint256", "address", "string", "string", "string", "uint256"]
    fields = [config.name, config.symbol, TOKEN_SUPPLY, admin, config.image, config.metadata, config.context]
    code = HexBytes(load_artifact("Token").bytecode) + encode(types, [*fields, config.originating_chain_id])
    salt = keccak(encode(["address", "bytes32"], [admin, config.salt]))
    return to_checksum_address(keccak(b"\xff" + HexBytes(deployment.factory) + salt + keccak(code))[12:])
