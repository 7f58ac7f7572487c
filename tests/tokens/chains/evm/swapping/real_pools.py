"""Pools of Uniswap's own v3 and v4 contracts, the latter with the launchpad's own hooks, lockers and MEV modules.

SENDER, an account of the node, takes the launchpad factory's place: the hooks and lockers are created for it.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from eth_abi.abi import encode
from eth_utils.crypto import keccak
from sha3 import keccak_256

from development.devchain import node_client
from development.devchain.deploy_contracts import V3_POOL_CODE, DevelopmentContracts
from tests.nodes.devchain_tests import SENDER
from tokens.chains.abi import codec
from tokens.chains.addresses import ZERO_ADDRESS, checksum_address
from tokens.chains.evm.swapping.routes import DYNAMIC_FEE, SwapPool, describe_pool
from tokens.chains.registry.chains import ChainInfo

# Compiled contracts, each with its source and licence.
CONTRACTS = Path(__file__).parents[4] / "data" / "contracts"
SUPPLY = 10**29
TICK, LAST_TICK, SPACING = -230_400, -120_000, 200
V3_FEE = 10_000
# Anvil has it at genesis. Source: github.com/Arachnid/deterministic-deployment-proxy.
_CREATE2 = "0x4e59b44847b379578588920cA78FbF26c0B4956C"
# The lowest 14 bits of a hook's address are its permissions: these are of the launchpad's hooks.
_HOOK_BITS, _ADDRESS_BITS = 0x28CC, 0x3FFF
_KEY = "(address,address,uint24,int24,address)"
_LOCKER_CONFIG = "(address,address[],address[],uint16[],int24[],int24[],uint16[],bytes)"
_POOL_CONFIG = "(address,address,int24,int24,bytes)"


def create(url: str, name: str, types: Sequence[str] = (), values: Sequence[Any] = ()) -> str:
    """Create a contract of `tests/data/contracts` or of the development chain; return its address."""
    data = _creation_code(name) + encode(types, values).hex()
    sent = node_client.send_transaction(url, sender=SENDER, to=None, data=data, gas=20_000_000)
    return str(node_client.wait_for_receipt(url, sent)["contractAddress"])


def call(url: str, contract: str, function: str, types: Sequence[str], *values: Any) -> None:
    """Have SENDER call a function, such as `approve`, with arguments of these types."""
    selector = keccak(f"{function}({','.join(types)})".encode())[:4]
    data = "0x" + (selector + encode(types, values)).hex()
    sent = node_client.send_transaction(url, sender=SENDER, to=contract, data=data, gas=20_000_000)
    node_client.wait_for_receipt(url, sent)


def _creation_code(name: str) -> str:
    path = CONTRACTS / f"{name}.json"
    if not path.exists():
        return node_client.load_artifact(name).bytecode
    code: str = json.loads(path.read_text(encoding="utf-8"))["bytecode"]
    return code


def _create_token(url: str) -> str:
    types = ["string", "string", "uint256", "address", "string", "string", "string", "uint256"]
    chain_id = node_client.connect(url).eth.chain_id
    return create(url, "Token", types, ["Real", "REAL", SUPPLY, SENDER, "", "", os.urandom(8).hex(), chain_id])


def open_v3_pool(at: DevelopmentContracts) -> tuple[SwapPool, str]:
    """Return a v3 pool with the whole supply of a token on one side, as generations up to v3.1 open it."""
    url, token = at.rpc_url, _create_token(at.rpc_url)
    positions = create(
        url, "NonfungiblePositionManager", ["address"] * 3, [at.v3_factory, at.wrapped_native, ZERO_ADDRESS]
    )
    low, high = sorted((token, at.wrapped_native), key=str.lower)
    is_first = low == token
    # A hundred ticks before the liquidity begins.
    root = int(1.0001 ** ((TICK - 100 if is_first else 100 - TICK) / 2) * 2**96)
    pool_types = ["address", "address", "uint24", "uint160"]
    call(url, positions, "createAndInitializePoolIfNecessary", pool_types, low, high, V3_FEE, root)
    call(url, token, "approve", ["address", "uint256"], positions, SUPPLY)
    ticks = (TICK, LAST_TICK) if is_first else (-LAST_TICK, -TICK)
    amounts = (SUPPLY, 0) if is_first else (0, SUPPLY)
    mint = (low, high, V3_FEE, *ticks, *amounts, 0, 0, SENDER, 2**40)
    mint_type = ("(address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256)",)
    call(url, positions, "mint", mint_type, mint)
    get_pool = codec.declared_function("getPool(address a, address b, uint24 fee) returns (address pool)")
    result = node_client.connect(url).eth.call(
        {"to": at.v3_factory, "data": get_pool.encode_input(low, high, V3_FEE)}  # type: ignore[typeddict-item]
    )
    values = get_pool.decode_output("0x" + result.hex().removeprefix("0x"))
    assert values
    pool = describe_pool(
        values["pool"], token=token, paired=at.wrapped_native, tick_spacing=None, hook=None, wrapped_native=None
    )
    return pool, token


@dataclass(frozen=True, kw_only=True)
class RealLaunchpad:
    """The launchpad's v4 contracts on Uniswap's own PoolManager."""

    at: DevelopmentContracts
    info: ChainInfo
    locker: str
    fee_locker: str
    static_hook: str
    dynamic_hook: str

    @property
    def url(self) -> str:
        return self.at.rpc_url

    def launch(
        self,
        *,
        mev_module: str,
        mev_data: bytes,
        is_dynamic: bool = False,
        preference: int = 0,
        fees: tuple[int, int] = (10_000, 10_000),
    ) -> tuple[SwapPool, str]:
        """Open a pool, lock the whole supply in it, and start its MEV module; `preference` is the locker's number."""
        url, token, paired = self.at.rpc_url, _create_token(self.at.rpc_url), self.at.wrapped_native
        hook = self.dynamic_hook if is_dynamic else self.static_hook
        low, high = sorted((token, paired), key=str.lower)
        key = (low, high, DYNAMIC_FEE, SPACING, hook)
        fee_data = (
            encode(["uint24", "uint24", "uint256", "uint256", "int24", "uint256", "uint24"],
                   [10_000, 50_000, 30, 120, 200, 500_000_000, 7_500])
            if is_dynamic
            else encode(["uint24", "uint24"], fees)
        )  # fmt: skip
        pool_data = encode(["(address,bytes,bytes)"], [(ZERO_ADDRESS, b"", fee_data)])
        types = ["address", "address", "int24", "int24", "address", "address", "bytes"]
        values = (token, paired, TICK, SPACING, self.locker, mev_module, pool_data)
        call(url, hook, "initializePool", types, *values)
        call(url, token, "approve", ["address", "uint256"], self.locker, SUPPLY)
        locker_data = encode(["(uint8[])"], [([preference],)])
        config = (self.locker, [SENDER], [SENDER], [10_000], [TICK], [LAST_TICK], [10_000], locker_data)
        pool_config = (hook, paired, TICK, SPACING, pool_data)
        types = [_LOCKER_CONFIG, _POOL_CONFIG, _KEY, "uint256", "address"]
        call(url, self.locker, "placeLiquidity", types, config, pool_config, key, SUPPLY, token)
        call(url, hook, "initializeMevModule", [_KEY, "bytes"], key, mev_data)
        pool_id = "0x" + keccak_256(encode([_KEY], [key])).hexdigest()
        pool = describe_pool(
            pool_id, token=token, paired=paired, tick_spacing=SPACING, hook=hook, wrapped_native=paired
        )
        return pool, token


def open_coin_pool(launchpad: RealLaunchpad) -> tuple[SwapPool, str]:
    """Open a v4 pool of the coin itself and a token, without a hook and with a fixed fee."""
    url, info, token = launchpad.url, launchpad.info, _create_token(launchpad.url)
    manager, positions = info.v4_pool_manager or "", info.v4_position_manager or ""
    key = (ZERO_ADDRESS, token, V3_FEE, SPACING, ZERO_ADDRESS)
    lower, upper = (int(1.0001 ** (tick / 2) * 2**96) for tick in (-LAST_TICK, -TICK))
    call(url, manager, "initialize", [_KEY, "uint160"], key, int(1.0001 ** ((100 - TICK) / 2) * 2**96))
    call(url, token, "approve", ["address", "uint256"], launchpad.at.permit2, SUPPLY)
    types = ["address", "address", "uint160", "uint48"]
    call(url, launchpad.at.permit2, "approve", types, token, positions, SUPPLY, 2**40)
    liquidity = SUPPLY * 2**96 // (upper - lower) * 999 // 1000
    mint = encode(
        [_KEY, "int24", "int24", "uint256", "uint128", "uint128", "address", "bytes"],
        [key, -LAST_TICK, -TICK, liquidity, 0, SUPPLY, SENDER, b""],
    )
    # MINT_POSITION and SETTLE_PAIR.
    actions = encode(["bytes", "bytes[]"], [b"\x02\x0d", [mint, encode(["address", "address"], key[:2])]])
    call(url, positions, "modifyLiquidities", ["bytes", "uint256"], actions, 2**40)
    pool_id = "0x" + keccak_256(encode([_KEY], [key])).hexdigest()
    pool = describe_pool(
        pool_id, token=token, paired=ZERO_ADDRESS, tick_spacing=SPACING, hook=None, wrapped_native=None
    )
    return pool, token


def deploy_launchpad(at: DevelopmentContracts, info: ChainInfo) -> RealLaunchpad:
    """Create Uniswap v4 and the launchpad's contracts beside the development contracts."""
    url = at.rpc_url
    manager = create(url, "UniswapV4PoolManager", ["address"], [SENDER])
    positions = create(
        url,
        "UniswapV4PositionManager",
        ["address", "address", "uint256", "address", "address"],
        [manager, at.permit2, 100_000, ZERO_ADDRESS, at.wrapped_native],
    )
    none = ZERO_ADDRESS
    digests = (bytes(32), bytes.fromhex(V3_POOL_CODE))
    router_values = (at.permit2, at.wrapped_native, none, at.v3_factory, *digests, manager, none, positions)
    router = create(
        url,
        "UniversalRouter",
        ["(address,address,address,address,bytes32,bytes32,address,address,address)"],
        [router_values],
    )
    fee_locker = create(url, "ClankerFeeLocker", ["address"], [SENDER])
    locker = create(
        url,
        "ClankerLpLockerFeeConversion",
        ["address"] * 7,
        [SENDER, SENDER, fee_locker, positions, at.permit2, router, manager],
    )
    call(url, fee_locker, "addDepositor", ["address"], locker)
    hook_values = [manager, SENDER, ZERO_ADDRESS, at.wrapped_native]
    return RealLaunchpad(
        at=at,
        info=replace(
            info,
            v4_pool_manager=manager,
            v4_position_manager=positions,
            v4_state_view=create(url, "StateView", ["address"], [manager]),
            v4_quoter=create(url, "V4Quoter", ["address"], [manager]),
            universal_router=router,
        ),
        locker=locker,
        fee_locker=fee_locker,
        static_hook=_create_hook(url, "ClankerHookStaticFeeV2", hook_values),
        dynamic_hook=_create_hook(url, "ClankerHookDynamicFeeV2", hook_values),
    )


def _create_hook(url: str, name: str, values: Sequence[str]) -> str:
    """Create a hook at an address that has its permissions; 2^14 salts are tried on average."""
    code = bytes.fromhex(_creation_code(name)[2:]) + encode(["address"] * 4, values)
    prefix, digest = bytes.fromhex("ff" + _CREATE2[2:]), keccak_256(code).digest()
    for number in range(2**20):
        salt = number.to_bytes(32)
        address = keccak_256(prefix + salt + digest).digest()[12:]
        if int.from_bytes(address[-2:]) & _ADDRESS_BITS == _HOOK_BITS:
            break
    sent = node_client.send_transaction(
        url, sender=SENDER, to=_CREATE2, data="0x" + (salt + code).hex(), gas=20_000_000
    )
    node_client.wait_for_receipt(url, sent)
    return checksum_address("0x" + address.hex())
