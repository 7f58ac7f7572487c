"""Builder for transactions without a recording, from the events' published signatures.

The product's own ABI files are not used here, so that tests find mistakes in them.
"""

from typing import Any

from tests.nodes import contract_events as abi
from tests.nodes.log_encoding import LogEntry, call, emit, log_json
from tests.nodes.recordings import Json, Mined
from tokens.trades.pool_prices import tick_root

ZERO = "0x" + "00" * 20
WETH = "0x4200000000000000000000000000000000000006"
USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
V3_FACTORY = "0x33128a8fC17869897dcE68Ed026d694621f6FDfD"
POSITION_MANAGER = "0x03a520b32C04BF3bEEf7BEb72E919cf822Ed34f1"

FACTORY_V1 = "0x9B84fcE5Dcd9a38d2D01d5D72373F6b6b067c3e1"
FACTORY_V2 = "0x732560fa1d1A76350b1A500155BA978031B53833"
FACTORY_V3 = "0x375C15db32D28cEcdcAB5C03Ab889bf15cbD2c5E"
FACTORY_V31 = "0x2A787b2362021cC3eEa3C24C4748a6cD5B687382"
FACTORY_V4 = "0xE85A59c628F7d27878ACeB4bf3b35733630083a9"
LOCKER_V3 = "0x5eC4f99F342038c67a312a166Ff56e6D70383D86"
LOCKER_V4 = "0x63D2DfEA64b3433F4071A98665bcD7Ca14d93496"
HOOK_V4 = "0xb429d62f8f3bFFb98CdB9569533eA23bF0Ba28CC"
MEV_MODULE_V4 = "0xebB25BB797D82CB78E1bc70406b13233c0854413"

# Not in the registry.
SENDER = "0x1111111111111111111111111111111111111111"
DEPLOYER = "0x2222222222222222222222222222222222222222"
STRANGER = "0x9999999999999999999999999999999999999999"
TOKEN = "0x3333333333333333333333333333333333333333"
LOCKER = "0x4444444444444444444444444444444444444444"
POOL = "0x5555555555555555555555555555555555555555"
POOL_ID = "0x" + "77" * 32

SUPPLY = 10**29
BLOCK_TIME = 1_735_689_600
TX_HASH = "0x" + "ab" * 32
BLOCK_HASH = "0x" + "cd" * 32

V1_DEPLOY = "deployToken(string,string,uint256,int24,uint24,bytes32,address,uint256,string,string)"
V3_DEPLOY = "deployToken((string,string,uint256,uint24,bytes32,address,uint256,string,string,(int24,address,uint24)))"


def event(address: str, declaration: str, *arguments: Any) -> Json:
    """Build a log by an event's declaration. Texts may be given as bytes."""
    return log_json(emit(address, declaration, *arguments))


def transaction(*logs: Json, to: str | None, calldata: str = "0x", value: int = 0, succeeded: bool = True) -> Mined:
    """Build a mined transaction with these logs, by SENDER."""
    place = {"blockHash": BLOCK_HASH, "blockNumber": "0x64", "transactionHash": TX_HASH}
    numbered = [log | place | {"logIndex": hex(index), "removed": False} for index, log in enumerate(logs)]
    return Mined(
        transaction={
            "hash": TX_HASH,
            "blockHash": BLOCK_HASH,
            "blockNumber": "0x64",
            "from": SENDER,
            "to": to and to.lower(),
            "value": hex(value),
            "input": calldata,
        },
        receipt=place | {"status": hex(int(succeeded)), "logs": numbered},
        block={"hash": BLOCK_HASH, "number": "0x64", "timestamp": hex(BLOCK_TIME), "transactions": [TX_HASH]},
    )


def mint(token: str = TOKEN, *, supply: int = SUPPLY, to: str = FACTORY_V4) -> Json:
    """Build the log with which the token mints its supply."""
    return event(token, abi.TRANSFER, ZERO, to, supply)


def uniswap_v3_logs(
    token: str = TOKEN,
    *,
    paired: str = WETH,
    pool: str = POOL,
    factory: str,
    locker: str,
    position_id: int = 42,
    tick: int = -230_400,
) -> list[LogEntry]:
    """Return Uniswap v3's logs for a launch: pool, starting price, liquidity, and the LP NFT's transfers to its locker.

    `tick` is as if the token were token0, as in the launch's configuration.
    """
    first = token.lower() < paired.lower()
    token0, token1 = (token, paired) if first else (paired, token)
    lower, upper = (tick, 887_200) if first else (-887_200, -tick)
    return [
        emit(
            V3_FACTORY, abi.V3_POOL_CREATED, token0, token1, 10_000, 200, pool
        ),
        emit(pool, abi.V3_INITIALIZE, tick_root(tick if first else -tick), tick if first else -tick),
        emit(
            pool, abi.V3_MINT,
            POSITION_MANAGER, POSITION_MANAGER, lower, upper, 10**24, SUPPLY if first else 0, 0 if first else SUPPLY
        ),
        emit(POSITION_MANAGER, abi.NFT_TRANSFER, ZERO, factory, position_id),
        emit(POSITION_MANAGER, abi.NFT_TRANSFER, factory, locker, position_id),
    ]  # fmt: skip


def v1_launch(*, factory: str = FACTORY_V1, to: str | None = None, fid: int = 3621, **texts: Any) -> Mined:
    """Build a v1 launch, or a v2 launch from its factory. `texts` are name, symbol, image and cast hash."""
    words = {"name": "First", "symbol": "ONE", "image": "ipfs://one", "cast_hash": "0xcast1"} | texts
    name, symbol, image, cast_hash = words.values()
    return transaction(
        mint(to=factory),
        *map(log_json, uniswap_v3_logs(factory=factory, locker=LOCKER)),
        event(factory, abi.V1_CREATED, TOKEN, 42, DEPLOYER, fid, name, symbol, SUPPLY, LOCKER, cast_hash),
        to=to or factory,
        calldata=call(
            V1_DEPLOY, name, symbol, SUPPLY, -230_400, 10_000, b"\1" * 32, DEPLOYER, fid, image, cast_hash
        ),
    )  # fmt: skip


def v3_launch(*, to: str = FACTORY_V3) -> Mined:
    """Build a v3.0 launch."""
    config = (
        "Third", "TRI", SUPPLY, 10_000, b"\1" * 32, DEPLOYER, 3621, "ipfs://three", "0xcast3", (-230_400, WETH, 10_000)
    )  # fmt: skip
    return transaction(
        mint(to=FACTORY_V3),
        *map(log_json, uniswap_v3_logs(factory=FACTORY_V3, locker=LOCKER_V3)),
        event(FACTORY_V3, abi.V3_CREATED, TOKEN, 42, DEPLOYER, 3621, "Third", "TRI", SUPPLY, "0xcast3"),
        to=to,
        calldata=call(V3_DEPLOY, config),
    )


# A v3.1 launch's reward recipients, whose admins are the deployer.
CREATOR_PAID, INTERFACE_PAID = "0x" + "C4" * 20, "0x" + "1F" * 20


def v31_launch(*extra: Json, token: str = TOKEN, paired: str = WETH, to: str = FACTORY_V31, **texts: Any) -> Mined:
    """Build a v3.1 launch without calldata. `texts` are name, symbol and metadata."""
    words = {"name": "Thirdly", "symbol": "TRI", "metadata": ""} | texts
    return transaction(
        mint(token, to=FACTORY_V31),
        *map(log_json, uniswap_v3_logs(token, paired=paired, factory=FACTORY_V31, locker=LOCKER)),
        event(
            FACTORY_V31, abi.V31_CREATED, token, DEPLOYER, DEPLOYER, CREATOR_PAID, INTERFACE_PAID, 42, words["name"],
            words["symbol"], -230_400, words["metadata"], 0, 0, 0, SENDER
        ),
        *extra,
        to=to,
    )  # fmt: skip


def v4_created(
    token: str = TOKEN,
    *,
    paired: str = WETH,
    tick: int = -230_400,
    extensions: tuple[str, ...] = (),
    extensions_supply: int = 0,
    **texts: Any,
) -> Json:
    """Build v4's TokenCreated. `texts` are image, name, symbol, metadata and context."""
    words = {"image": "ipfs://4", "name": "Fourth", "symbol": "FOUR", "metadata": "", "context": ""} | texts
    return event(
        FACTORY_V4, abi.V4_CREATED, SENDER, token, DEPLOYER, *words.values(), tick, HOOK_V4, bytes.fromhex(POOL_ID[2:]),
        paired, LOCKER_V4, MEV_MODULE_V4, extensions_supply, list(extensions),
    )  # fmt: skip


def v4_launch(*extra: Json, to: str = STRANGER, minted: int | None = SUPPLY, **created: Any) -> Mined:
    """Build a v4 launch with only the mint, `extra` and TokenCreated; through another contract by default."""
    token = created.get("token", TOKEN)
    mints = [] if minted is None else [mint(token, supply=minted)]
    return transaction(*mints, *extra, v4_created(**created), to=to)
