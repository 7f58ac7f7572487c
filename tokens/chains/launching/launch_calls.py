"""Encoder for launches: the factory's `deployToken`, or the presale contract's `startPresale`.

The registry's `deploy` entries have the contracts and their data layouts. The encoding equals the launchpad SDK's,
release 4.2.18, byte for byte.
"""

from collections.abc import Sequence
from typing import Any

from tokens.chains.abi import codec
from tokens.chains.addresses import ZERO_ADDRESS
from tokens.chains.errors import LaunchOptionUnavailableError
from tokens.chains.launching.launch_config import LaunchConfig, PresaleTerms, StaticFee, on_chain_json
from tokens.chains.launching.launch_ticks import TICK_SPACING, place_positions
from tokens.chains.launching.merkle import build_tree
from tokens.chains.registry.chains import ChainInfo, Contract, Position
from tokens.chains.transaction_types import ContractCall
from tokens.chains.types import fee_preference

# The first fee, the last fee (parts per million), and the seconds between: the SDK's default.
SNIPER_FEES = (666_777, 41_673, 15)

_NO_POOL = (ZERO_ADDRESS, ZERO_ADDRESS, 0, 0, ZERO_ADDRESS)
_DEPLOY = codec.load_abi("v4").function("deployToken")
_START_PRESALE = codec.load_abi("presale").function("startPresale")

_Extension = tuple[str, int, int, bytes]


def deploy_call(info: ChainInfo, config: LaunchConfig, *, salt: str) -> ContractCall:
    """Encode the factory's `deployToken` for a launch without a presale; `salt` is 32 bytes in 0x-prefixed hex.

    The sender does not affect the token's address. Raises LaunchOptionUnavailableError where the chain lacks a
    contract.
    """
    if config.presale:
        raise ValueError("a launch after a presale is the presale contract's to send")
    extensions = _extensions(info, config)
    data = _DEPLOY.encode(_deployment(info, config, salt=salt, extensions=extensions))
    return ContractCall(to=_factory(info).address, data=data, value=sum(value for _, value, _, _ in extensions))


def start_presale_call(info: ChainInfo, config: LaunchConfig, *, salt: str) -> ContractCall:
    """Encode the presale contract's `startPresale`, which returns the presale's id; only admins may call it.

    The caller that ends the presale chooses another salt, so this one decides nothing. Raises
    LaunchOptionUnavailableError as `deploy_call`.
    """
    terms, presale = _presale(info, config)
    # The contract itself writes the presale's id into its extension's data.
    extensions = [*_extensions(info, config), (presale.address, 0, terms.bps, b"")]
    allowlist, allowlist_data = _allowlist(info, terms)
    data = _START_PRESALE.encode(
        _deployment(info, config, salt=salt, extensions=extensions),
        terms.min_goal,
        terms.max_goal,
        terms.duration,
        terms.recipient,
        terms.lockup,
        terms.vesting,
        allowlist,
        allowlist_data,
    )
    return ContractCall(to=presale.address, data=data, value=0)


def presale_probe_call(info: ChainInfo, config: LaunchConfig, *, salt: str) -> ContractCall:
    """Encode a launch that the presale contract did not request. To be simulated, never sent.

    If the only error is the presale contract's `NotExpectingTokenDeployment()`, the rest of the configuration is valid.
    Source: the comment on the presale contract's `startPresale`. Raises LaunchOptionUnavailableError as `deploy_call`.
    """
    terms, presale = _presale(info, config)
    extensions = [*_extensions(info, config), (presale.address, 0, terms.bps, codec.encode_values(["uint256"], [0]))]
    data = _DEPLOY.encode(_deployment(info, config, salt=salt, extensions=extensions))
    return ContractCall(to=_factory(info).address, data=data, value=0)


def _contract(info: ChainInfo, role: str, *, field: str, what: str) -> Contract:
    contract = info.deploying(role)
    if contract is None:
        raise LaunchOptionUnavailableError(field, f"{what} not offered on chain {info.chain_id}")
    return contract


def _factory(info: ChainInfo) -> Contract:
    return _contract(info, "factory", field="chainId", what="launches are")


def _deployment(info: ChainInfo, config: LaunchConfig, *, salt: str, extensions: list[_Extension]) -> tuple[Any, ...]:
    """Return the struct DeploymentConfig as a tuple in field order."""
    token = (
        config.admin,
        config.name.encode(),
        config.symbol.encode(),
        bytes.fromhex(salt[2:]),
        config.image.encode(),
        on_chain_json(config.metadata).encode(),
        on_chain_json(config.context).encode(),
        config.chain_id,
    )
    hook, fees = _hook(info, config)
    if config.decimals is None:
        raise ValueError("the decimals of the paired token are not known")
    tick, positions = place_positions(config.market_cap, decimals=config.decimals, preset=config.preset)
    pool = (hook, config.paired_token, tick, TICK_SPACING, fees)
    return (token, pool, _locker(info, config, positions), _mev_module(info), extensions)


def _hook(info: ChainInfo, config: LaunchConfig) -> tuple[str, bytes]:
    """Return the hook for this fee type, and poolData."""
    fees = config.fees
    if isinstance(fees, StaticFee):
        hook = _contract(info, "static_hook", field="fees.type", what="static fees are")
        data = codec.encode_values(["uint24", "uint24"], [fees.clanker, fees.paired])
    else:
        hook = _contract(info, "dynamic_hook", field="fees.type", what="dynamic fees are")
        data = codec.encode_values(
            ["uint24", "uint24", "uint256", "uint256", "int24", "uint256", "uint24"],
            [
                fees.base,
                fees.maximum,
                fees.reference_tick_filter_period,
                fees.reset_period,
                fees.reset_tick_filter,
                fees.fee_control_numerator,
                fees.decay_filter_bps,
            ],
        )
    if hook.deploy == "wrapped":
        data = codec.encode_values(["(address,bytes,bytes)"], [(ZERO_ADDRESS, b"", data)])
    return hook.address, data


def _locker(info: ChainInfo, config: LaunchConfig, positions: Sequence[Position]) -> tuple[Any, ...]:
    locker = _contract(info, "locker", field="chainId", what="launches are")
    data = b""
    if locker.deploy == "preferences":
        preferences = [fee_preference(reward.currency) for reward in config.rewards]
        data = codec.encode_values(["(uint8[])"], [(preferences,)])
    else:
        for index, reward in enumerate(config.rewards):
            if reward.currency != "Both":
                raise LaunchOptionUnavailableError(
                    f"rewards[{index}].rewardsToken", f"a choice of currency is not offered on chain {info.chain_id}"
                )
    return (
        locker.address,
        [reward.admin for reward in config.rewards],
        [reward.recipient for reward in config.rewards],
        [reward.bps for reward in config.rewards],
        [position.tick_lower for position in positions],
        [position.tick_upper for position in positions],
        [position.bps for position in positions],
        data,
    )


def _mev_module(info: ChainInfo) -> tuple[str, bytes]:
    module = _contract(info, "mev_module", field="chainId", what="launches are")
    fall = codec.encode_values(["uint24", "uint24", "uint256"], SNIPER_FEES)
    return module.address, fall if module.deploy == "descending" else b""


def _extensions(info: ChainInfo, config: LaunchConfig) -> list[_Extension]:
    """Return (contract, wei, supply bps, data) per extension, in the SDK's order; the caller adds a presale's last."""
    extensions = list[_Extension]()
    if vault := config.vault:
        data = codec.encode_values(["address", "uint256", "uint256"], [vault.recipient, vault.lockup, vault.vesting])
        address = _contract(info, "vault", field="vault", what="a vault is").address
        extensions.append((address, 0, vault.bps, data))
    if airdrop := config.airdrop:
        data = codec.encode_values(
            ["address", "bytes32", "uint256", "uint256"],
            [config.admin, bytes.fromhex(airdrop.tree.root[2:]), airdrop.lockup, airdrop.vesting],
        )
        address = _contract(info, "airdrop", field="airdrop", what="an airdrop is").address
        extensions.append((address, 0, airdrop.bps, data))
    if buy := config.own_buy:
        contract = _contract(info, "dev_buy", field="devBuy", what="a dev buy is")
        if info.wrapped_native is None or config.paired_token.lower() != info.wrapped_native.lower():
            # The data would need the pool in which the paired token is bought first.
            raise LaunchOptionUnavailableError(
                "devBuy", "a dev buy is offered only where the paired token is the wrapped native coin"
            )
        # The tokens come from the launch's own pool, in the same transaction: the price cannot have changed before.
        data = codec.encode_values(
            ["(address,address,uint24,int24,address)", "uint128", "address"], [_NO_POOL, 0, buy.recipient]
        )
        extensions.append((contract.address, buy.wei, 0, data))
    return extensions


def _presale(info: ChainInfo, config: LaunchConfig) -> tuple[PresaleTerms, Contract]:
    if config.presale is None:
        raise ValueError("a launch without a presale")
    presale = _contract(info, "presale", field="presale", what="a presale is")
    if config.own_buy:
        raise LaunchOptionUnavailableError(
            "devBuy", "a dev buy is not offered with a presale, whose launch carries no coins"
        )
    return config.presale, presale


def _allowlist(info: ChainInfo, terms: PresaleTerms) -> tuple[str, bytes]:
    """Return the allow-list contract and its data: a Merkle root of (buyer, maximum payment in wei)."""
    if not terms.allowlist:
        return ZERO_ADDRESS, b""
    contract = _contract(info, "presale_allowlist", field="presale.allowlist", what="an allowlist of a presale is")
    tree = build_tree([(buyer, terms.max_goal) for buyer in terms.allowlist])
    return contract.address, bytes.fromhex(tree.root[2:])
