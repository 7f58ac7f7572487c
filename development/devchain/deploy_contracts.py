"""Contract deployment to a fresh development chain, with the registry file that describes it.

Usage: `python -m development.devchain.deploy_contracts RPC_URL CHAINS_FILE`.

The node's first account creates every contract at a fixed nonce. So each contract has the same address on every
development chain, contracts can refer to each other before they exist, and an interrupted run is resumed.
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eth_abi.abi import encode
from eth_utils.address import to_canonical_address, to_checksum_address
from eth_utils.crypto import keccak
from web3 import Web3

from development.devchain import node_client
from development.devchain.anvil import DEPLOYER
from development.devchain.node_client import load_artifact

# The first account of anvil's well-known mnemonic; it owns the contracts.
OWNER = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
# The chain's name for the market-data stand-in, which serves any network.
MARKET_NETWORK = "development"
# Field of DevelopmentContracts -> artifact, by nonce; the calls that prepare them use the following nonces.
_CONTRACTS = {
    "wrapped_native": "WrappedNative",
    "usd": "UsdStandIn",
    "pool_manager": "PoolManager",
    "position_manager": "PositionManager",
    "factory": "Factory",
    "fee_locker": "FeeLocker",
    "locker": "Locker",
    "vault": "Vault",
    "airdrop": "Airdrop",
    "dev_buy": "DevBuy",
    "static_hook": "StaticHook",
    "dynamic_hook": "DynamicHook",
    "mev_module": "MevModule",
    "batch_launcher": "BatchLauncher",
    "presale": "Presale",
    "presale_allowlist": "PresaleAllowlist",
    "swap_router": "SwapRouter",
    "curve_launchpad": "CurveLaunchpad",
    "plain_launchpad": "PlainLaunchpad",
}
# Uniswap's contracts, by their fields, which are their registry keys. They come after the calls, so that an earlier
# version's chain gets them, too.
_UNISWAP = {
    "permit2": "Permit2",
    "v3_factory": "UniswapV3Factory",
    "v3_quoter": "QuoterV2",
    "v4_quoter": "V4Quoter",
    "universal_router": "UniversalRouter",
}
# The creations above and their calls.
_FIRST_UNISWAP_NONCE = 31
# The digest of a v3 pool's creation code. Source: github.com/Uniswap/v3-periphery, `PoolAddress.sol`.
V3_POOL_CODE = "e34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54"
# Role in the registry, which is also the field -> its data layout if launches use the contract.
_LAYOUTS = {
    "factory": "v4",
    "locker": "preferences",
    "fee_locker": None,
    "vault": "v4",
    "airdrop": "v4",
    "dev_buy": "v4",
    "static_hook": "wrapped",
    "dynamic_hook": "wrapped",
    "mev_module": "descending",
    "presale": "v4",
    "presale_allowlist": "v4",
}
# 0.05 % and its usual spacing: the pool in which dev buys exchange native currency for the dollar, and which has the
# native currency's price.
_DOLLAR_POOL_FEE, _DOLLAR_POOL_SPACING = 500, 10
# 1.0001^-196260 * 10^(18-6) is about 3,000 dollars per ether.
_DOLLAR_TICK = -196260
# Both reserves have about the same liquidity, from the starting price to its half and to its double.
_DOLLAR_REACH = 6930
_DOLLAR_RESERVE, _NATIVE_RESERVE = 6_000_000 * 10**6, 2_000 * 10**18
_SWAPPED = 10**18


class NotDeployedError(Exception):
    """Raised when the contracts are not on this chain."""


class NotFreshError(Exception):
    """Raised when the first account's early nonces are used, so that the contracts can't get their addresses."""


@dataclass(frozen=True, kw_only=True)
class DevelopmentContracts:
    """Development contracts at a node; addresses are EIP-55."""

    rpc_url: str
    chain_id: int
    wrapped_native: str
    usd: str
    pool_manager: str
    position_manager: str
    factory: str
    fee_locker: str
    locker: str
    vault: str
    airdrop: str
    dev_buy: str
    static_hook: str
    dynamic_hook: str
    mev_module: str
    batch_launcher: str
    presale: str
    presale_allowlist: str
    swap_router: str
    curve_launchpad: str
    plain_launchpad: str
    permit2: str
    v3_factory: str
    v3_quoter: str
    v4_quoter: str
    universal_router: str

    @property
    def dollar_pool_key(self) -> tuple[str, str, int, int, str]:
        """Return the wrapped native and dollar pool: (currency0, currency1, fee, tickSpacing, hooks)."""
        low, high = sorted((self.wrapped_native, self.usd), key=str.lower)
        return (low, high, _DOLLAR_POOL_FEE, _DOLLAR_POOL_SPACING, "0x" + "00" * 20)

    @property
    def dollar_pool_id(self) -> str:
        """Return the `dollar_pool_key` pool's id."""
        return "0x" + keccak(encode(["address", "address", "uint24", "int24", "address"], self.dollar_pool_key)).hex()


@dataclass(frozen=True, kw_only=True)
class _ContractCall:
    """One transaction by the owner; its position in the list is its nonce."""

    to: str | None
    data: str
    # Wei.
    value: int = 0


def deploy_contracts(rpc_url: str, *, chains_file: Path) -> DevelopmentContracts:
    """Deploy missing contracts, and write the chain's registry file; safe to repeat.

    Raises NotFreshError if the first account's early nonces were used otherwise.
    """
    web3 = node_client.connect(rpc_url)
    deployment = _describe(rpc_url, web3.eth.chain_id)
    steps = _steps(deployment)
    first = web3.eth.get_transaction_count(to_checksum_address(OWNER))
    hashes = [
        node_client.send_transaction(rpc_url, sender=OWNER, to=step.to, data=step.data, value=step.value, nonce=nonce)
        for nonce, step in enumerate(steps)
        if nonce >= first
    ]
    try:
        for transaction in hashes:
            node_client.wait_for_receipt(rpc_url, transaction)
        locate_contracts(rpc_url)
    except (node_client.TransactionRevertedError, NotDeployedError) as error:
        raise NotFreshError(f"{error}: start with an empty chain") from error
    _write(chains_file, deployment)
    return deployment


def locate_contracts(rpc_url: str) -> DevelopmentContracts:
    """Return the contracts of `deploy_contracts`. Raises NotDeployedError if one is missing."""
    web3 = node_client.connect(rpc_url)
    for field, address in _addresses().items():
        if not web3.eth.get_code(Web3.to_checksum_address(address)):
            raise NotDeployedError(f"no {(_CONTRACTS | _UNISWAP)[field]} at {address}")
    return _describe(rpc_url, web3.eth.chain_id)


def _addresses() -> dict[str, str]:
    nonces = {field: nonce for nonce, field in enumerate(_CONTRACTS)}
    nonces |= {field: nonce for nonce, field in enumerate(_UNISWAP, _FIRST_UNISWAP_NONCE)}
    return {field: _created_address(nonce) for field, nonce in nonces.items()}


def _created_address(nonce: int) -> str:
    # RLP of [sender, nonce], written out for nonces below 128; zero is encoded as 0x80.
    coded = b"\xd6\x94" + to_canonical_address(OWNER) + bytes([nonce or 0x80])
    return to_checksum_address(keccak(coded)[12:])


def _describe(rpc_url: str, chain_id: int) -> DevelopmentContracts:
    return DevelopmentContracts(rpc_url=rpc_url, chain_id=chain_id, **_addresses())


def _steps(at: DevelopmentContracts) -> list[_ContractCall]:
    modules = [at.static_hook, at.dynamic_hook, at.locker, at.vault, at.airdrop, at.dev_buy, at.mev_module]
    arguments: dict[str, tuple[list[str], list[Any]]] = {
        "PoolManager": (["address"], [at.locker]),
        "PositionManager": (["address"], [at.pool_manager]),
        "Factory": (["address", "address[]"], [OWNER, modules]),
        "FeeLocker": (["address", "address[]"], [OWNER, [at.locker]]),
        "Locker": (
            ["address"] * 6,
            [
                at.factory,
                at.fee_locker,
                at.pool_manager,
                at.position_manager,
                at.wrapped_native,
                at.swap_router,
            ],
        ),
        "Vault": (["address"], [at.factory]),
        "Airdrop": (["address"], [at.factory]),
        "DevBuy": (["address"] * 3, [at.factory, at.pool_manager, at.wrapped_native]),
        "StaticHook": (["address"] * 2, [at.factory, at.pool_manager]),
        "DynamicHook": (["address"] * 2, [at.factory, at.pool_manager]),
        "MevModule": (["address"], [at.factory]),
        "Presale": (["address"] * 3, [OWNER, at.factory, OWNER]),
        "PresaleAllowlist": (["address"], [at.presale]),
        "SwapRouter": (["address"] * 2, [at.pool_manager, at.wrapped_native]),
        "CurveLaunchpad": (["address"] * 2, [at.pool_manager, at.wrapped_native]),
        "PlainLaunchpad": (["address"], [at.pool_manager]),
    }
    creations = [_creation(name, *arguments.get(name, ([], []))) for name in _CONTRACTS.values()]
    # A follower that starts at the newest final block reads the last swap.
    return [*creations, *_dollar_pool(at), *_presale(at), *_uniswap(at), _dollar_swap(at)]


def _uniswap(at: DevelopmentContracts) -> list[_ContractCall]:
    """Return the creations of Uniswap's contracts. The router can't reach Uniswap v2 or position managers here."""
    none = "0x" + "00" * 20
    digests = [bytes(32), bytes.fromhex(V3_POOL_CODE)]
    router = (at.permit2, at.wrapped_native, none, at.v3_factory, *digests, at.pool_manager, none, none)
    arguments: dict[str, tuple[list[str], list[Any]]] = {
        "QuoterV2": (["address"] * 2, [at.v3_factory, at.wrapped_native]),
        "V4Quoter": (["address"], [at.pool_manager]),
        "UniversalRouter": (
            ["(address,address,address,address,bytes32,bytes32,address,address,address)"],
            [router],
        ),
    }
    return [_creation(name, *arguments.get(name, ([], []))) for name in _UNISWAP.values()]


def _creation(name: str, types: list[str], values: list[Any]) -> _ContractCall:
    return _ContractCall(to=None, data=load_artifact(name).bytecode + encode(types, values).hex())


def _dollar_pool(at: DevelopmentContracts) -> list[_ContractCall]:
    """Return the calls that open the wrapped native and dollar pool, with liquidity on both sides of the price."""
    native = node_client.bind_contract(at.rpc_url, "WrappedNative", at.wrapped_native)
    usd = node_client.bind_contract(at.rpc_url, "UsdStandIn", at.usd)
    pools = node_client.bind_contract(at.rpc_url, "PoolManager", at.pool_manager)
    key = at.dollar_pool_key
    is_native_first = key[0] == at.wrapped_native
    tick = _DOLLAR_TICK if is_native_first else -_DOLLAR_TICK
    above, below = (_NATIVE_RESERVE, _DOLLAR_RESERVE) if is_native_first else (_DOLLAR_RESERVE, _NATIVE_RESERVE)
    positions = (
        [key, tick, tick + _DOLLAR_REACH, above, 0, 0],
        [key, tick - _DOLLAR_REACH, tick, 0, below, 0],
    )
    return [
        _ContractCall(to=at.wrapped_native, data=native.encode_abi("deposit", []), value=_NATIVE_RESERVE),
        _ContractCall(to=at.wrapped_native, data=native.encode_abi("approve", [at.pool_manager, _NATIVE_RESERVE])),
        _ContractCall(to=at.usd, data=usd.encode_abi("mint", [OWNER, _DOLLAR_RESERVE])),
        _ContractCall(to=at.usd, data=usd.encode_abi("approve", [at.pool_manager, _DOLLAR_RESERVE])),
        _ContractCall(to=at.pool_manager, data=pools.encode_abi("initialize", [key, tick])),
        *(_ContractCall(to=at.pool_manager, data=pools.encode_abi("modifyLiquidity", each)) for each in positions),
        _dollar_swap(at),
    ]


def _dollar_swap(at: DevelopmentContracts) -> _ContractCall:
    """Return a swap in that pool: from it on, swap readers have the pool's price."""
    router = node_client.bind_contract(at.rpc_url, "SwapRouter", at.swap_router)
    arguments = [at.dollar_pool_key, at.wrapped_native, _SWAPPED, 0]
    return _ContractCall(to=at.swap_router, data=router.encode_abi("swap", arguments), value=_SWAPPED)


def _presale(at: DevelopmentContracts) -> list[_ContractCall]:
    """Return the calls that allow presales, and allow one account beside the owner to start them."""
    factory = node_client.bind_contract(at.rpc_url, "Factory", at.factory)
    presale = node_client.bind_contract(at.rpc_url, "Presale", at.presale)
    return [
        _ContractCall(to=at.factory, data=factory.encode_abi("setEnabled", [at.presale, True])),
        _ContractCall(to=at.presale, data=presale.encode_abi("setAllowlist", [at.presale_allowlist, True])),
        _ContractCall(to=at.presale, data=presale.encode_abi("setAdmin", [OWNER, True])),
        _ContractCall(to=at.presale, data=presale.encode_abi("setAdmin", [DEPLOYER, True])),
    ]


def _write(chains_file: Path, at: DevelopmentContracts) -> None:
    """Replace the file atomically, because the service may read it at any moment."""
    addresses = _addresses()
    contracts = [
        f'  {{ role = "{role}", generation = "v4", address = "{addresses[role]}"'
        + (f', deploy = "{layout}" }},' if layout else " },")
        for role, layout in _LAYOUTS.items()
    ]
    lines = [
        "# Written by development.devchain.deploy_contracts; changes are lost.",
        f"[chains.{at.chain_id}]",
        'name = "Development chain"',
        'native = "ETH"',
        "# Only tests reorganise this chain.",
        "finality_depth = 5",
        "# Only the market-data stand-in serves it.",
        f'market_network = "{MARKET_NETWORK}"',
        f'wrapped_native = "{at.wrapped_native}"',
        f'v4_pool_manager = "{at.pool_manager}"',
        f'v4_position_manager = "{at.position_manager}"',
        "# The stand-in of the pool manager has the getters of both.",
        f'v4_state_view = "{at.pool_manager}"',
        *(f'{field} = "{addresses[field]}"' for field in _UNISWAP),
        "quote_tokens = [",
        f'  {{ symbol = "WETH", address = "{at.wrapped_native}", decimals = 18, tick = -230400 }},',
        f'  {{ symbol = "USDC", address = "{at.usd}", decimals = 6, tick = -424400, stable = true }},',
        "]",
        f'reference_pools = [{{ pool = "{at.dollar_pool_id}", stable = "{at.usd}" }}]',
        "contracts = [",
        *contracts,
        "]",
    ]
    chains_file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = chains_file.with_name(f"{chains_file.name}.{os.getpid()}")
    unfinished.write_text("\n".join(lines) + "\n", encoding="utf-8")
    unfinished.replace(chains_file)


def main() -> None:
    rpc_url, chains_file = sys.argv[1:]
    try:
        deploy_contracts(rpc_url, chains_file=Path(chains_file))
    except NotFreshError as error:
        sys.exit(f"{error}: remove the chain's file in the local directory")


if __name__ == "__main__":
    main()
