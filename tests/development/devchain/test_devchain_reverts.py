"""Reverts of the development contracts, with the custom errors of generation v4."""

import os
from collections.abc import Callable
from typing import Any

import pytest
from eth_abi.abi import encode

from development.devchain import anvil, deploy_contracts, node_client
from development.devchain.deploy_contracts import OWNER, DevelopmentContracts
from development.devchain.launch_transactions import (
    DAY,
    ZERO_ADDRESS,
    DevAirdropShare,
    DevLaunchConfig,
    DevVaultShare,
    DynamicFees,
    LaunchPurchase,
    Recipient,
    StaticFees,
    deployment_config,
    native_value,
    send_launch,
    token_config,
)
from tests.nodes.devchain_tests import OTHER, SENDER, refused

VAULT = DevVaultShare(admin=SENDER)
AIRDROP = DevAirdropShare(admin=SENDER)
BUY = LaunchPurchase(recipient=SENDER)


def shares(*bps: int, admin: str = SENDER) -> tuple[Recipient, ...]:
    return tuple(Recipient(admin=admin, recipient=SENDER, bps=part) for part in bps)


REFUSED_CONFIGURATIONS = [
    ("OnlyOriginatingChain", DevLaunchConfig(originating_chain_id=1)),
    ("MaxExtensionBpsExceeded", DevLaunchConfig(vault=DevVaultShare(admin=SENDER, bps=9_001))),
    ("MaxExtensionBpsExceeded", DevLaunchConfig(vault=DevVaultShare(admin=SENDER, bps=8_751), airdrop=AIRDROP)),
    ("InvalidRewardBps", DevLaunchConfig(recipients=shares(9_999))),
    ("InvalidRewardBps", DevLaunchConfig(recipients=shares(9_999, 2))),
    ("ZeroRewardAmount", DevLaunchConfig(recipients=shares(10_000, 0))),
    ("ZeroRewardAddress", DevLaunchConfig(recipients=shares(10_000, admin=ZERO_ADDRESS))),
    ("TooManyRewardParticipants", DevLaunchConfig(recipients=shares(*[1_250] * 8))),
    ("InvalidPositionBps", DevLaunchConfig(positions=((-230_400, -120_000, 9_999),))),
    ("TooManyPositions", DevLaunchConfig(positions=((-230_400, -120_000, 1_250),) * 8)),
    ("TicksBackwards", DevLaunchConfig(positions=((-120_000, -230_400, 10_000),))),
    ("TicksNotMultipleOfTickSpacing", DevLaunchConfig(positions=((-230_399, -120_000, 10_000),))),
    ("TickRangeLowerThanStartingTick", DevLaunchConfig(positions=((-230_600, -120_000, 10_000),))),
    ("ClankerFeeTooHigh", DevLaunchConfig(fees=StaticFees(launched=100_001))),
    ("PairedFeeTooHigh", DevLaunchConfig(fees=StaticFees(paired=100_001))),
    ("BaseFeeTooLow", DevLaunchConfig(fees=DynamicFees(base_fee=2_499))),
    ("MaxLpFeeTooHigh", DevLaunchConfig(fees=DynamicFees(max_lp_fee=100_001))),
    ("BaseFeeGreaterThanMaxLpFee", DevLaunchConfig(fees=DynamicFees(base_fee=50_001))),
    ("VaultLockupDurationTooShort", DevLaunchConfig(vault=DevVaultShare(admin=SENDER, lockup=7 * DAY - 1))),
    ("InvalidVaultBps", DevLaunchConfig(vault=DevVaultShare(admin=SENDER, bps=0))),
    ("InvalidVaultAdmin", DevLaunchConfig(vault=DevVaultShare(admin=ZERO_ADDRESS))),
    ("AirdropLockupDurationTooShort", DevLaunchConfig(airdrop=DevAirdropShare(admin=SENDER, lockup=DAY - 1))),
    ("InvalidAirdropBps", DevLaunchConfig(airdrop=DevAirdropShare(admin=SENDER, bps=0))),
    ("InvalidMsgValue", DevLaunchConfig(own_buy=LaunchPurchase(recipient=SENDER, value=0))),
    ("InsufficientOutput", DevLaunchConfig(own_buy=LaunchPurchase(recipient=SENDER, minimum_out=10**29))),
]


@pytest.mark.parametrize(("error", "config"), REFUSED_CONFIGURATIONS)
def test_it_refuses_a_configuration(deployment: DevelopmentContracts, error: str, config: DevLaunchConfig) -> None:
    arguments = deployment_config(deployment, config, sender=SENDER)

    with refused(error):
        call_deploy(deployment, arguments, value=native_value(config))


def set_field(section: str, field: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda arguments: arguments[section].update({field: value})


def set_extension(field: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda arguments: arguments["extensionConfigs"][0].update({field: value})


def repeat_extension(times: int) -> Callable[[dict[str, Any]], None]:
    return lambda arguments: arguments.update(extensionConfigs=arguments["extensionConfigs"] * times)


TWO_PREFERENCES = encode(["(uint8[])"], [([0, 0],)])
NO_FEES = encode(["uint24", "uint24"], [0, 0])
WATCHED_POOL = encode(["(address,bytes,bytes)"], [(OTHER, b"", NO_FEES)])


def mev_data(starting: int, ending: int, seconds: int) -> bytes:
    return encode(["uint24", "uint24", "uint256"], [starting, ending, seconds])


def set_mev_data(starting: int, ending: int, seconds: int) -> Callable[[dict[str, Any]], None]:
    return set_field("mevModuleConfig", "mevModuleData", mev_data(starting, ending, seconds))


REFUSED_ARGUMENTS = [
    ("HookNotEnabled", DevLaunchConfig(), set_field("poolConfig", "hook", OTHER)),
    ("LockerNotEnabled", DevLaunchConfig(), set_field("lockerConfig", "locker", OTHER)),
    ("MevModuleNotEnabled", DevLaunchConfig(), set_field("mevModuleConfig", "mevModule", OTHER)),
    ("ExtensionNotEnabled", DevLaunchConfig(vault=VAULT), set_extension("extension", OTHER)),
    ("MaxExtensionsExceeded", DevLaunchConfig(vault=DevVaultShare(admin=SENDER, bps=1)), repeat_extension(11)),
    ("AllocationAlreadyExists", DevLaunchConfig(vault=VAULT), repeat_extension(2)),
    ("AirdropAlreadyExists", DevLaunchConfig(airdrop=AIRDROP), repeat_extension(2)),
    ("ExtensionMsgValueMismatch", DevLaunchConfig(own_buy=BUY), set_extension("msgValue", BUY.value - 1)),
    ("ExtensionMsgValueMismatch", DevLaunchConfig(own_buy=BUY), set_extension("msgValue", BUY.value + 1)),
    ("InvalidEthDevBuyPercentage", DevLaunchConfig(own_buy=BUY), set_extension("extensionBps", 1)),
    ("InvalidPairedTokenPoolKey", DevLaunchConfig(own_buy=BUY), lambda arguments: None),
    ("NoRewardRecipients", DevLaunchConfig(), set_field("lockerConfig", "rewardBps", [])),
    ("MismatchedRewardArrays", DevLaunchConfig(), set_field("lockerConfig", "rewardAdmins", [])),
    ("InvalidFeePreferences", DevLaunchConfig(), set_field("lockerConfig", "lockerData", TWO_PREFERENCES)),
    ("NoPositions", DevLaunchConfig(), set_field("lockerConfig", "tickLower", [])),
    ("MismatchedPositionInfos", DevLaunchConfig(), set_field("lockerConfig", "tickUpper", [])),
    ("PoolExtensionNotEnabled", DevLaunchConfig(), set_field("poolConfig", "poolData", WATCHED_POOL)),
    ("StartingFeeTooHigh", DevLaunchConfig(), set_mev_data(800_001, 1, 15)),
    ("StartingFeeLowerThanEndingFee", DevLaunchConfig(), set_mev_data(1, 2, 15)),
    ("TimeDecayLongerThanMaxMevDelay", DevLaunchConfig(), set_mev_data(2, 1, 121)),
]


@pytest.mark.parametrize(("error", "config", "change"), REFUSED_ARGUMENTS)
def test_it_refuses_arguments(
    deployment: DevelopmentContracts, error: str, config: DevLaunchConfig, change: Callable[[dict[str, Any]], None]
) -> None:
    arguments = deployment_config(deployment, config, sender=SENDER)
    if error == "InvalidPairedTokenPoolKey":
        # A buy with the dollar as the pair, without a pool in which to buy dollars.
        arguments["poolConfig"]["pairedToken"] = deployment.usd
    change(arguments)

    with refused(error):
        call_deploy(deployment, arguments, value=native_value(config))


def test_it_refuses_launches_once_deprecated(tmp_path: Any) -> None:
    with anvil.run_anvil() as url:
        at = deploy_contracts.deploy_contracts(url, chains_file=tmp_path / "chains.toml")
        factory = node_client.bind_contract(url, "Factory", at.factory)
        with refused("Unauthorized"):
            factory.functions.setDeprecated(True).call({"from": SENDER})

        node_client.transact(url, factory.functions.setDeprecated(True), sender=OWNER)

        arguments = deployment_config(at, DevLaunchConfig(), sender=SENDER)
        with refused("Deprecated"):
            call_deploy(at, arguments)
        zero_supply = factory.functions.deployTokenZeroSupply(arguments["tokenConfig"])
        with refused("Deprecated"):
            zero_supply.call({"from": SENDER})


def test_it_refuses_zero_supply_on_the_tokens_own_chain(deployment: DevelopmentContracts) -> None:
    factory = node_client.bind_contract(deployment.rpc_url, "Factory", deployment.factory)
    function = factory.functions.deployTokenZeroSupply(token_config(DevLaunchConfig(), admin=SENDER))

    with refused("OnlyNonOriginatingChains"):
        function.call({"from": SENDER})


def test_it_refuses_the_same_launch_twice_and_leaves_no_log(deployment: DevelopmentContracts) -> None:
    config = DevLaunchConfig(salt=os.urandom(32))
    node_client.wait_for_receipt(deployment.rpc_url, send_launch(deployment, config, sender=SENDER))

    second = send_launch(deployment, config, sender=SENDER)

    with pytest.raises(node_client.TransactionRevertedError):
        node_client.wait_for_receipt(deployment.rpc_url, second)
    receipt = node_client.connect(deployment.rpc_url).eth.get_transaction_receipt(second)
    assert (receipt["status"], receipt["logs"]) == (0, [])


def test_its_parts_answer_only_to_the_factory(deployment: DevelopmentContracts) -> None:
    arguments = deployment_config(deployment, DevLaunchConfig(vault=VAULT), sender=SENDER)
    key = deployment.dollar_pool_key
    calls = [
        ("Locker", "placeLiquidity", [arguments["lockerConfig"], arguments["poolConfig"], key, 1, deployment.usd]),
        ("Vault", "receiveTokens", [arguments, key, deployment.usd, 1, 0]),
        ("Airdrop", "receiveTokens", [arguments, key, deployment.usd, 1, 0]),
        ("DevBuy", "receiveTokens", [arguments, key, deployment.usd, 1, 0]),
        ("MevModule", "initialize", [key, mev_data(2, 1, 15)]),
        ("StaticHook", "initializePool", [OTHER, deployment.usd, 0, 200, OTHER, OTHER, WATCHED_POOL]),
        ("FeeLocker", "storeFees", [SENDER, deployment.usd, 1]),
        ("FeeLocker", "addDepositor", [SENDER]),
        ("PoolManager", "collectFees", [key, SENDER]),
        ("Factory", "claimTeamFees", [deployment.usd]),
        ("Factory", "setEnabled", [SENDER, True]),
    ]
    for name, function, values in calls:
        bound = node_client.bind_contract(deployment.rpc_url, name, ADDRESSES[name](deployment)).functions[function](
            *values
        )
        with refused("Unauthorized"):
            bound.call({"from": SENDER})


def test_it_refuses_tokens_without_a_launch(deployment: DevelopmentContracts) -> None:
    def read(name: str, function: str, *values: Any) -> Callable[[], Any]:
        bound = node_client.bind_contract(deployment.rpc_url, name, ADDRESSES[name](deployment)).functions[function](
            *values
        )
        return lambda: bound.call({"from": SENDER})

    with refused("NotFound"):
        read("Factory", "tokenDeploymentInfo", OTHER)()
    with refused("TokenHasNoRewards"):
        read("Locker", "collectRewards", OTHER)()
    with refused("TokenHasNoRewards"):
        read("Locker", "simulateSwapFees", OTHER, 0, 0)()
    with refused("NoFeesToClaim"):
        read("FeeLocker", "claim", SENDER, OTHER)()
    with refused("NoBalanceToClaim"):
        read("Vault", "claim", OTHER)()
    with refused("InvalidProof"):
        read("Airdrop", "claim", OTHER, SENDER, 1, [])()


ADDRESSES: dict[str, Callable[[DevelopmentContracts], str]] = {
    "Factory": lambda at: at.factory,
    "Locker": lambda at: at.locker,
    "FeeLocker": lambda at: at.fee_locker,
    "Vault": lambda at: at.vault,
    "Airdrop": lambda at: at.airdrop,
    "DevBuy": lambda at: at.dev_buy,
    "MevModule": lambda at: at.mev_module,
    "StaticHook": lambda at: at.static_hook,
    "PoolManager": lambda at: at.pool_manager,
}


def call_deploy(deployment: DevelopmentContracts, arguments: dict[str, Any], *, value: int = 0) -> str:
    factory = node_client.bind_contract(deployment.rpc_url, "Factory", deployment.factory)
    token: str = factory.functions.deployToken(arguments).call({"from": SENDER, "value": value})
    return token
