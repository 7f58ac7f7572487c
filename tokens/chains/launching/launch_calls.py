"""Encoder for launches: the factory's `deployToken`, and the presale contract's `startPresale`.

The registry's `deploy` entries have the contracts and their data layouts. The encoding equals the launchpad SDK's,
release 4.2.18, byte for byte.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tokens.chains.abi import codec
from tokens.chains.abi.codec import AbiData
from tokens.chains.addresses import ZERO_ADDRESS
from tokens.chains.errors import LaunchOptionUnavailableError
from tokens.chains.launching.launch_config import LaunchConfig, Liquidity, PresaleTerms, StaticFee
from tokens.chains.launching.launch_ticks import TICK_SPACING
from tokens.chains.launching.merkle import build_tree
from tokens.chains.registry.chains import ChainInfo, Contract
from tokens.chains.transaction_types import ContractCall
from tokens.chains.types import fee_preference

# The first fee, the last fee (parts per million), and the seconds between: the SDK's default.
SNIPER_FEES = (666_777, 41_673, 15)

_NO_POOL = (ZERO_ADDRESS, ZERO_ADDRESS, 0, 0, ZERO_ADDRESS)
_DEPLOY = codec.load_abi("v4").function("deployToken")
_START_PRESALE = codec.load_abi("presale").function("startPresale")

_Data = AbiData | bytes
_Extension = tuple[str, int, int, _Data]


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchCalls:
    """A launch's `deployToken`, and the `startPresale` of one with a presale.

    With a presale only its start is sent. The launch, which the presale contract did not request, is then to be
    simulated: if its only error is that contract's `NotExpectingTokenDeployment()`, the rest of the configuration is
    valid. Source: the comment on the presale contract's `startPresale`.
    """

    launch: ContractCall
    presale_start: ContractCall | None


def encode_launch(info: ChainInfo, config: LaunchConfig, *, salt: str) -> LaunchCalls:
    """Encode the calls for a launch; `salt` is 32 bytes in 0x-prefixed hex.

    The sender does not affect the token's address. The caller that ends a presale chooses another salt, so this one
    decides nothing there. Raises LaunchOptionUnavailableError where the chain lacks a contract.
    """
    presale = _presale(info, config)
    extensions = _extensions(info, config)
    parts = (_token(config, salt=salt), _pool(info, config), _locker(info, config), _mev_module(info))
    factory = _contract(info, "factory", field="chainId", what="launches are").address
    start = None
    if presale is not None:
        terms, contract = presale
        sale_terms = _sale_terms(info, terms)
        # The contract itself writes the presale's id into its extension's data.
        started = (contract.address, 0, terms.bps, b"")
        data = _START_PRESALE.encode_input((*parts, [*extensions, started]), *sale_terms)
        start = ContractCall(to=contract.address, data=data, value=0)
        # An id that no presale has.
        extensions.append((contract.address, 0, terms.bps, AbiData(("uint256",), (0,))))
    launch = ContractCall(
        to=factory,
        data=_DEPLOY.encode_input((*parts, extensions)),
        value=sum(value for _, value, _, _ in extensions),
    )
    return LaunchCalls(launch=launch, presale_start=start)


def on_chain_json(values: Mapping[str, Any]) -> str:
    """Return the keys that have a value as JavaScript's JSON.stringify writes them; "" if none has."""
    present = {key: value for key, value in values.items() if value is not None}
    return json.dumps(present, ensure_ascii=False, separators=(",", ":")) if present else ""


def _contract(info: ChainInfo, role: str, *, field: str, what: str) -> Contract:
    contract = info.deploying(role)
    if contract is None:
        raise LaunchOptionUnavailableError(field, f"{what} not offered on chain {info.chain_id}")
    return contract


def _presale(info: ChainInfo, config: LaunchConfig) -> tuple[PresaleTerms, Contract] | None:
    if config.presale is None:
        return None
    contract = _contract(info, "presale", field="presale", what="a presale is")
    if config.own_buy:
        raise LaunchOptionUnavailableError(
            "devBuy", "a dev buy is not offered with a presale, whose launch carries no coins"
        )
    return config.presale, contract


def _extensions(info: ChainInfo, config: LaunchConfig) -> list[_Extension]:
    """Return (contract, wei, supply bps, data) per extension, in the SDK's order; the caller adds a presale's last."""
    extensions = list[_Extension]()
    if vault := config.vault:
        address = _contract(info, "vault", field="vault", what="a vault is").address
        data = AbiData(("address", "uint256", "uint256"), (vault.recipient, vault.lockup, vault.vesting))
        extensions.append((address, 0, vault.bps, data))
    if airdrop := config.airdrop:
        address = _contract(info, "airdrop", field="airdrop", what="an airdrop is").address
        data = AbiData(
            ("address", "bytes32", "uint256", "uint256"),
            (config.admin, bytes.fromhex(airdrop.tree.root[2:]), airdrop.lockup, airdrop.vesting),
        )
        extensions.append((address, 0, airdrop.bps, data))
    if buy := config.own_buy:
        address = _contract(info, "dev_buy", field="devBuy", what="a dev buy is").address
        if info.wrapped_native is None or config.paired_token.lower() != info.wrapped_native.lower():
            # The data would need the pool in which the paired token is bought first.
            raise LaunchOptionUnavailableError(
                "devBuy", "a dev buy is offered only where the paired token is the wrapped native coin"
            )
        # The tokens come from the launch's own pool, in the same transaction: the price cannot have changed before.
        data = AbiData(("(address,address,uint24,int24,address)", "uint128", "address"), (_NO_POOL, 0, buy.recipient))
        extensions.append((address, buy.wei, 0, data))
    return extensions


def _token(config: LaunchConfig, *, salt: str) -> tuple[Any, ...]:
    return (
        config.admin,
        config.name.encode(),
        config.symbol.encode(),
        bytes.fromhex(salt[2:]),
        config.image.encode(),
        on_chain_json(config.metadata).encode(),
        on_chain_json(config.context).encode(),
        config.chain_id,
    )


def _pool(info: ChainInfo, config: LaunchConfig) -> tuple[Any, ...]:
    fees = config.fees
    if isinstance(fees, StaticFee):
        hook = _contract(info, "static_hook", field="fees.type", what="static fees are")
        data = AbiData(("uint24", "uint24"), (fees.clanker, fees.paired))
    else:
        hook = _contract(info, "dynamic_hook", field="fees.type", what="dynamic fees are")
        data = AbiData(
            ("uint24", "uint24", "uint256", "uint256", "int24", "uint256", "uint24"),
            (
                fees.base,
                fees.maximum,
                fees.reference_tick_filter_period,
                fees.reset_period,
                fees.reset_tick_filter,
                fees.fee_control_numerator,
                fees.decay_filter_bps,
            ),
        )
    if hook.deploy == "wrapped":
        data = AbiData(("(address,bytes,bytes)",), ((ZERO_ADDRESS, b"", data),))
    return hook.address, config.paired_token, _liquidity(config).tick, TICK_SPACING, data


def _locker(info: ChainInfo, config: LaunchConfig) -> tuple[Any, ...]:
    locker = _contract(info, "locker", field="chainId", what="launches are")
    data: _Data = b""
    if locker.deploy == "preferences":
        data = AbiData(("(uint8[])",), (([fee_preference(reward.currency) for reward in config.rewards],),))
    else:
        for index, reward in enumerate(config.rewards):
            if reward.currency != "Both":
                raise LaunchOptionUnavailableError(
                    f"rewards[{index}].rewardsToken", f"a choice of currency is not offered on chain {info.chain_id}"
                )
    positions = _liquidity(config).positions
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


def _liquidity(config: LaunchConfig) -> Liquidity:
    if config.liquidity is None:
        raise ValueError("the decimals of the paired token are not known")
    return config.liquidity


def _mev_module(info: ChainInfo) -> tuple[str, _Data]:
    module = _contract(info, "mev_module", field="chainId", what="launches are")
    fall = AbiData(("uint24", "uint24", "uint256"), SNIPER_FEES)
    return module.address, fall if module.deploy == "descending" else b""


def _sale_terms(info: ChainInfo, terms: PresaleTerms) -> tuple[Any, ...]:
    """Return the arguments of `startPresale` after the launch's configuration."""
    allowlist, data = ZERO_ADDRESS, b""
    if terms.allowlist:
        what = "an allowlist of a presale is"
        allowlist = _contract(info, "presale_allowlist", field="presale.allowlist", what=what).address
        # A Merkle root of (buyer, maximum payment in wei).
        data = bytes.fromhex(build_tree([(buyer, terms.max_goal) for buyer in terms.allowlist]).root[2:])
    return (
        terms.min_goal,
        terms.max_goal,
        terms.duration,
        terms.recipient,
        terms.lockup,
        terms.vesting,
        allowlist,
        data,
    )
