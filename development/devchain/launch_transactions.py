"""Launch transactions on the development chain: a configuration with defaults, and its factory calls."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eth_abi.abi import encode
from hexbytes import HexBytes

from development.devchain import node_client
from development.devchain.airdrop_tree import Entry, merkle_root
from development.devchain.anvil import CHAIN_ID
from development.devchain.deploy_contracts import DevelopmentContracts

TOKEN_SUPPLY = 10**29
BPS = 10_000
DAY = 86_400
ZERO_ADDRESS = "0x" + "00" * 20
# The default position's height above the starting tick, as in the SDK's standard preset.
_STANDARD_REACH = 110_400
# The first fee, the last fee (in parts per million) and the seconds between, as in the SDK's default.
_MEV_FEES = (666_777, 41_673, 15)
# Fee currency numbers in lockerData.
FEE_PREFERENCES = {"Both": 0, "Paired": 1, "Clanker": 2}


@dataclass(frozen=True, kw_only=True)
class Recipient:
    """Liquidity fee share in bps; all shares sum to 10,000. `wants` is Both, Paired or Clanker."""

    admin: str
    recipient: str
    bps: int
    wants: str = "Both"


@dataclass(frozen=True, kw_only=True)
class StaticFees:
    """Static hook fees, in parts per million."""

    launched: int = 10_000
    paired: int = 10_000


@dataclass(frozen=True, kw_only=True)
class DynamicFees:
    """Dynamic hook fees, as its data sorts them; in parts per million, periods in seconds."""

    base_fee: int = 10_000
    max_lp_fee: int = 50_000
    reference_tick_filter_period: int = 30
    reset_period: int = 120
    reset_tick_filter: int = 200
    fee_control_numerator: int = 500_000_000
    decay_filter_bps: int = 7_500


@dataclass(frozen=True, kw_only=True)
class DevVaultShare:
    """Part of the supply in the vault; durations are in seconds."""

    admin: str
    bps: int = 1_000
    lockup: int = 30 * DAY
    vesting: int = 30 * DAY


@dataclass(frozen=True, kw_only=True)
class DevAirdropShare:
    """Part of the supply for an airdrop; amounts are in wei. Without entries the root stays open."""

    admin: str
    entries: tuple[Entry, ...] = ()
    bps: int = 250
    lockup: int = DAY
    vesting: int = DAY


@dataclass(frozen=True, kw_only=True)
class LaunchPurchase:
    """Purchase within the launch, paid by the sender; amounts are in wei."""

    recipient: str
    value: int = 10**17
    minimum_out: int = 0


@dataclass(frozen=True, kw_only=True)
class DevLaunchConfig:
    """Configuration of a launch. Ticks are as if the launched token were token0.

    `admin` None is the sender; `paired_token` None is wrapped native; without `recipients` all fees go to the admin;
    without `positions` there is one (tick_lower, tick_upper, bps) from the starting tick upwards.
    """

    name: str = "Sample"
    symbol: str = "SMPL"
    admin: str | None = None
    salt: bytes = bytes(32)
    image: str = "ipfs://bafkreib5h4mmqsgmm7at7wphdfy66oh4yfcqo6dz64olhwv3nejq5ysycm"
    metadata: str = '{"description":"A sample","socialMediaUrls":[],"auditUrls":[]}'
    context: str = '{"interface":"devchain","platform":"farcaster","messageId":"","id":"12345"}'
    originating_chain_id: int = CHAIN_ID
    paired_token: str | None = None
    tick: int = -230_400
    tick_spacing: int = 200
    positions: tuple[tuple[int, int, int], ...] = ()
    fees: StaticFees | DynamicFees = StaticFees()
    recipients: tuple[Recipient, ...] = ()
    vault: DevVaultShare | None = None
    airdrop: DevAirdropShare | None = None
    own_buy: LaunchPurchase | None = None


def send_launch(deployment: DevelopmentContracts, config: DevLaunchConfig, *, sender: str) -> HexBytes:
    """Send one launch from an account of the node; return the transaction's hash without waiting.

    A launch that the factory rejects is mined and reverted: `wait_for_receipt` raises.
    """
    arguments = deployment_config(deployment, config, sender=sender)
    data = node_client.bind_contract(deployment.rpc_url, "Factory", deployment.factory).encode_abi(
        "deployToken", [arguments]
    )
    return node_client.send_transaction(
        deployment.rpc_url, sender=sender, to=deployment.factory, data=data, value=native_value(config)
    )


def send_launch_batch(deployment: DevelopmentContracts, configs: Sequence[DevLaunchConfig], *, sender: str) -> HexBytes:
    """Send several launches in one transaction through the batch contract; otherwise as `send_launch`."""
    batch = node_client.bind_contract(deployment.rpc_url, "BatchLauncher", deployment.batch_launcher)
    all_arguments = [deployment_config(deployment, config, sender=sender) for config in configs]
    return node_client.send_transaction(
        deployment.rpc_url,
        sender=sender,
        to=deployment.batch_launcher,
        data=batch.encode_abi("launch", [deployment.factory, all_arguments]),
        value=sum(native_value(config) for config in configs),
        gas=min(node_client.GAS * len(configs), node_client.BLOCK_GAS),
    )


def native_value(config: DevLaunchConfig) -> int:
    """Return the wei that the launch's transaction has to carry."""
    return config.own_buy.value if config.own_buy else 0


def deployment_config(deployment: DevelopmentContracts, config: DevLaunchConfig, *, sender: str) -> dict[str, Any]:
    """Return the factory's DeploymentConfig for web3.py."""
    admin = config.admin or sender
    dynamic = isinstance(config.fees, DynamicFees)
    return {
        "tokenConfig": token_config(config, admin=admin),
        "poolConfig": {
            "hook": deployment.dynamic_hook if dynamic else deployment.static_hook,
            "pairedToken": config.paired_token or deployment.wrapped_native,
            "tickIfToken0IsClanker": config.tick,
            "tickSpacing": config.tick_spacing,
            "poolData": _pool_data(config.fees),
        },
        "lockerConfig": _locker_config(deployment, config, admin=admin),
        "mevModuleConfig": {
            "mevModule": deployment.mev_module,
            "mevModuleData": encode(["uint24", "uint24", "uint256"], _MEV_FEES),
        },
        "extensionConfigs": _extensions(deployment, config),
    }


def token_config(config: DevLaunchConfig, *, admin: str) -> dict[str, Any]:
    """Return the factory's TokenConfig for web3.py."""
    return {
        "tokenAdmin": admin,
        "name": config.name,
        "symbol": config.symbol,
        "salt": config.salt,
        "image": config.image,
        "metadata": config.metadata,
        "context": config.context,
        "originatingChainId": config.originating_chain_id,
    }


def _pool_data(fees: StaticFees | DynamicFees) -> bytes:
    if isinstance(fees, StaticFees):
        fee_data = encode(["uint24", "uint24"], [fees.launched, fees.paired])
    else:
        values = [
            fees.base_fee,
            fees.max_lp_fee,
            fees.reference_tick_filter_period,
            fees.reset_period,
            fees.reset_tick_filter,
            fees.fee_control_numerator,
            fees.decay_filter_bps,
        ]
        fee_data = encode(["uint24", "uint24", "uint256", "uint256", "int24", "uint256", "uint24"], values)
    return encode(["(address,bytes,bytes)"], [(ZERO_ADDRESS, b"", fee_data)])


def _locker_config(deployment: DevelopmentContracts, config: DevLaunchConfig, *, admin: str) -> dict[str, Any]:
    recipients = config.recipients or (Recipient(admin=admin, recipient=admin, bps=BPS),)
    positions = config.positions or ((config.tick, config.tick + _STANDARD_REACH, BPS),)
    return {
        "locker": deployment.locker,
        "rewardAdmins": [share.admin for share in recipients],
        "rewardRecipients": [share.recipient for share in recipients],
        "rewardBps": [share.bps for share in recipients],
        "tickLower": [lower for lower, _, _ in positions],
        "tickUpper": [upper for _, upper, _ in positions],
        "positionBps": [bps for _, _, bps in positions],
        "lockerData": encode(["(uint8[])"], [([FEE_PREFERENCES[share.wants] for share in recipients],)]),
    }


def _extensions(deployment: DevelopmentContracts, config: DevLaunchConfig) -> list[dict[str, Any]]:
    extensions = []
    if config.vault:
        vault = config.vault
        data = encode(["address", "uint256", "uint256"], [vault.admin, vault.lockup, vault.vesting])
        extensions.append(_extension(deployment.vault, data, bps=vault.bps))
    if config.airdrop:
        airdrop = config.airdrop
        fields = [airdrop.admin, merkle_root(airdrop.entries), airdrop.lockup, airdrop.vesting]
        data = encode(["address", "bytes32", "uint256", "uint256"], fields)
        extensions.append(_extension(deployment.airdrop, data, bps=airdrop.bps))
    if config.own_buy:
        data = _own_buy_data(deployment, config, config.own_buy)
        extensions.append(_extension(deployment.dev_buy, data, value=config.own_buy.value))
    return extensions


def _own_buy_data(deployment: DevelopmentContracts, config: DevLaunchConfig, buy: LaunchPurchase) -> bytes:
    """Encode the pool in which the paired token is bought first; zeros if that is wrapped native."""
    key: tuple[Any, ...] = (ZERO_ADDRESS, ZERO_ADDRESS, 0, 0, ZERO_ADDRESS)
    if config.paired_token == deployment.usd:
        key = deployment.dollar_pool_key
    types = ["(address,address,uint24,int24,address)", "uint128", "address"]
    return encode(types, [key, buy.minimum_out, buy.recipient])


def _extension(address: str, data: bytes, *, bps: int = 0, value: int = 0) -> dict[str, Any]:
    return {"extension": address, "msgValue": value, "extensionBps": bps, "extensionData": data}
