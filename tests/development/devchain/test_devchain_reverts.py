"""What the development contracts refuse, each with its custom error, as the factory of generation v4 does."""

import os
from collections.abc import Callable
from typing import Any

import pytest
from eth_abi.abi import encode

from development.devchain import anvil, deploy_contracts, node_client
from development.devchain.deploy_contracts import OWNER, Deployment
from development.devchain.launch_transactions import (
    DAY,
    ZERO_ADDRESS,
    AirdropShare,
    DynamicFees,
    LaunchConfig,
    OwnBuy,
    Recipient,
    StaticFees,
    VaultShare,
    deployment_config,
    launch,
    native_value,
    token_config,
)
from tests.nodes.devchain_tests import OTHER, SENDER, refused

VAULT = VaultShare(admin=SENDER)
AIRDROP = AirdropShare(admin=SENDER)
BUY = OwnBuy(recipient=SENDER)


def shares(*bps: int, admin: str = SENDER) -> tuple[Recipient, ...]:
    return tuple(Recipient(admin=admin, recipient=SENDER, bps=part) for part in bps)


REFUSED_CONFIGURATIONS = [
    ("OnlyOriginatingChain", LaunchConfig(originating_chain_id=1)),
    ("MaxExtensionBpsExceeded", LaunchConfig(vault=VaultShare(admin=SENDER, bps=9_001))),
    ("MaxExtensionBpsExceeded", LaunchConfig(vault=VaultShare(admin=SENDER, bps=8_751), airdrop=AIRDROP)),
    ("InvalidRewardBps", LaunchConfig(recipients=shares(9_999))),
    ("InvalidRewardBps", LaunchConfig(recipients=shares(9_999, 2))),
    ("ZeroRewardAmount", LaunchConfig(recipients=shares(10_000, 0))),
    ("ZeroRewardAddress", LaunchConfig(recipients=shares(10_000, admin=ZERO_ADDRESS))),
    ("TooManyRewardParticipants", LaunchConfig(recipients=shares(*[1_250] * 8))),
    ("InvalidPositionBps", LaunchConfig(positions=((-230_400, -120_000, 9_999),))),
    ("TooManyPositions", LaunchConfig(positions=((-230_400, -120_000, 1_250),) * 8)),
    ("TicksBackwards", LaunchConfig(positions=((-120_000, -230_400, 10_000),))),
    ("TicksNotMultipleOfTickSpacing", LaunchConfig(positions=((-230_399, -120_000, 10_000),))),
    ("TickRangeLowerThanStartingTick", LaunchConfig(positions=((-230_600, -120_000, 10_000),))),
    ("ClankerFeeTooHigh", LaunchConfig(fees=StaticFees(launched=100_001))),
    ("PairedFeeTooHigh", LaunchConfig(fees=StaticFees(paired=100_001))),
    ("BaseFeeTooLow", LaunchConfig(fees=DynamicFees(base_fee=2_499))),
    ("MaxLpFeeTooHigh", LaunchConfig(fees=DynamicFees(max_lp_fee=100_001))),
    ("BaseFeeGreaterThanMaxLpFee", LaunchConfig(fees=DynamicFees(base_fee=50_001))),
    ("VaultLockupDurationTooShort", LaunchConfig(vault=VaultShare(admin=SENDER, lockup=7 * DAY - 1))),
    ("InvalidVaultBps", LaunchConfig(vault=VaultShare(admin=SENDER, bps=0))),
    ("InvalidVaultAdmin", LaunchConfig(vault=VaultShare(admin=ZERO_ADDRESS))),
    ("AirdropLockupDurationTooShort", LaunchConfig(airdrop=AirdropShare(admin=SENDER, lockup=DAY - 1))),
    ("InvalidAirdropBps", LaunchConfig(airdrop=AirdropShare(admin=SENDER, bps=0))),
    ("InvalidMsgValue", LaunchConfig(own_buy=OwnBuy(recipient=SENDER, value=0))),
    ("InsufficientOutput", LaunchConfig(own_buy=OwnBuy(recipient=SENDER, minimum_out=10**29))),
]  # fmt: skip


@pytest.mark.parametrize(("error", "config"), REFUSED_CONFIGURATIONS)
def test_it_refuses_a_configuration(deployment: Deployment, error: str, config: LaunchConfig) -> None:
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
    ("HookNotEnabled", LaunchConfig(), set_field("poolConfig", "hook", OTHER)),
    ("LockerNotEnabled", LaunchConfig(), set_field("lockerConfig", "locker", OTHER)),
    ("MevModuleNotEnabled", LaunchConfig(), set_field("mevModuleConfig", "mevModule", OTHER)),
    ("ExtensionNotEnabled", LaunchConfig(vault=VAULT), set_extension("extension", OTHER)),
    ("MaxExtensionsExceeded", LaunchConfig(vault=VaultShare(admin=SENDER, bps=1)), repeat_extension(11)),
    ("AllocationAlreadyExists", LaunchConfig(vault=VAULT), repeat_extension(2)),
    ("AirdropAlreadyExists", LaunchConfig(airdrop=AIRDROP), repeat_extension(2)),
    ("ExtensionMsgValueMismatch", LaunchConfig(own_buy=BUY), set_extension("msgValue", BUY.value - 1)),
    ("ExtensionMsgValueMismatch", LaunchConfig(own_buy=BUY), set_extension("msgValue", BUY.value + 1)),
    ("InvalidEthDevBuyPercentage", LaunchConfig(own_buy=BUY), set_extension("extensionBps", 1)),
    ("InvalidPairedTokenPoolKey", LaunchConfig(own_buy=BUY), lambda arguments: None),
    ("NoRewardRecipients", LaunchConfig(), set_field("lockerConfig", "rewardBps", [])),
    ("MismatchedRewardArrays", LaunchConfig(), set_field("lockerConfig", "rewardAdmins", [])),
    ("InvalidFeePreferences", LaunchConfig(), set_field("lockerConfig", "lockerData", TWO_PREFERENCES)),
    ("NoPositions", LaunchConfig(), set_field("lockerConfig", "tickLower", [])),
    ("MismatchedPositionInfos", LaunchConfig(), set_field("lockerConfig", "tickUpper", [])),
    ("PoolExtensionNotEnabled", LaunchConfig(), set_field("poolConfig", "poolData", WATCHED_POOL)),
    ("StartingFeeTooHigh", LaunchConfig(), set_mev_data(800_001, 1, 15)),
    ("StartingFeeLowerThanEndingFee", LaunchConfig(), set_mev_data(1, 2, 15)),
    ("TimeDecayLongerThanMaxMevDelay", LaunchConfig(), set_mev_data(2, 1, 121)),
]  # fmt: skip


@pytest.mark.parametrize(("error", "config", "change"), REFUSED_ARGUMENTS)
def test_it_refuses_arguments(
    deployment: Deployment, error: str, config: LaunchConfig, change: Callable[[dict[str, Any]], None]
) -> None:
    arguments = deployment_config(deployment, config, sender=SENDER)
    if error == "InvalidPairedTokenPoolKey":
        # A buy with the dollar as the pair, and no pool named in which dollars are to be had.
        arguments["poolConfig"]["pairedToken"] = deployment.usd
    change(arguments)

    with refused(error):
        call_deploy(deployment, arguments, value=native_value(config))


def test_it_refuses_launches_once_deprecated(tmp_path: Any) -> None:
    with anvil.start() as url:
        at = deploy_contracts.prepare(url, chains_file=tmp_path / "chains.toml")
        factory = node_client.contract(url, "Factory", at.factory)
        with refused("Unauthorized"):
            factory.functions.setDeprecated(True).call({"from": SENDER})

        node_client.transact(url, factory.functions.setDeprecated(True), sender=OWNER)

        arguments = deployment_config(at, LaunchConfig(), sender=SENDER)
        with refused("Deprecated"):
            call_deploy(at, arguments)
        zero_supply = factory.functions.deployTokenZeroSupply(arguments["tokenConfig"])
        with refused("Deprecated"):
            zero_supply.call({"from": SENDER})


def test_it_refuses_zero_supply_on_the_tokens_own_chain(deployment: Deployment) -> None:
    factory = node_client.contract(deployment.rpc_url, "Factory", deployment.factory)
    function = factory.functions.deployTokenZeroSupply(token_config(LaunchConfig(), admin=SENDER))

    with refused("OnlyNonOriginatingChains"):
        function.call({"from": SENDER})


def test_it_refuses_the_same_launch_twice_and_leaves_no_log(deployment: Deployment) -> None:
    config = LaunchConfig(salt=os.urandom(32))
    node_client.wait(deployment.rpc_url, launch(deployment, config, sender=SENDER))

    second = launch(deployment, config, sender=SENDER)

    with pytest.raises(node_client.TransactionReverted):
        node_client.wait(deployment.rpc_url, second)
    receipt = node_client.connect(deployment.rpc_url).eth.get_transaction_receipt(second)
    assert (receipt["status"], receipt["logs"]) == (0, [])


def test_its_parts_answer_to_the_factory_alone(deployment: Deployment) -> None:
    arguments = deployment_config(deployment, LaunchConfig(vault=VAULT), sender=SENDER)
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
        bound = node_client.contract(deployment.rpc_url, name, ADDRESSES[name](deployment)).functions[function](*values)
        with refused("Unauthorized"):
            bound.call({"from": SENDER})


def test_it_refuses_what_no_launch_stands_behind(deployment: Deployment) -> None:
    def read(name: str, function: str, *values: Any) -> Callable[[], Any]:
        bound = node_client.contract(deployment.rpc_url, name, ADDRESSES[name](deployment)).functions[function](*values)
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


ADDRESSES: dict[str, Callable[[Deployment], str]] = {
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


def call_deploy(deployment: Deployment, arguments: dict[str, Any], *, value: int = 0) -> str:
    factory = node_client.contract(deployment.rpc_url, "Factory", deployment.factory)
    token: str = factory.functions.deployToken(arguments).call({"from": SENDER, "value": value})
    return token
