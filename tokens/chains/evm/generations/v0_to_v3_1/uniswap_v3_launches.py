"""Decoder for v0 to v3.1 launches, which have a Uniswap v3 pool: most fields come from the pool's logs."""

from dataclasses import dataclass
from typing import Any

from tokens.chains.abi import codec
from tokens.chains.abi.codec import AbiEvent, Log
from tokens.chains.addresses import checksum_address
from tokens.chains.evm.generations.mined_transactions import MinedTransaction
from tokens.chains.registry.chains import Generation, Position
from tokens.chains.types import DevBuy, FeeRecipient, Launch, LiquidityFees, Lockup, Pool, Vault, to_bps

_UNISWAP = codec.load_abi("uniswap_v3")
_POOL_CREATED = _UNISWAP.event("PoolCreated")
_POOL_INITIALIZED = _UNISWAP.event("Initialize")
_POSITION_MINTED = _UNISWAP.event("Mint")
_POSITION_TRANSFER = _UNISWAP.event("Transfer")
_TOKEN_TRANSFER = codec.load_abi("token").event("Transfer")
_V3_1 = codec.load_abi("v3_1")
_REWARD_ADDED = _V3_1.event("TokenRewardAdded")
_VAULT_CREATED = _V3_1.event("AllocationCreated")

# All launch functions from v0 to v3.1; their selectors differ.
_DEPLOYS = tuple(
    function for name in ("v0", "v1", "v2", "v3", "v3_1") for function in codec.load_abi(name).deploy_functions()
)

# In v3.1 the launchpad's team gets a fifth of the fees; creator and interface share the rest.
_SHARED_PERCENT = 80


@dataclass(frozen=True, kw_only=True, slots=True)
class _Trading:
    """Launch fields that come from Uniswap v3 logs."""

    pool: Pool
    fees: LiquidityFees
    positions: tuple[Position, ...]
    dev_buy: DevBuy | None


def decode_v0(mined: MinedTransaction, log: Log, event: AbiEvent, generation: Generation) -> Launch:
    """Decode a v0 launch; its `deployer` is the factory's caller.

    event TokenCreated(address tokenAddress, uint256 lpNftId, address deployer, string name, string symbol,
    uint256 supply, uint256 _supply, address lockerAddress). Raises LogDecodingError.
    """
    created = event.decode(log)
    call = _launch_arguments(mined, log)
    return _legacy(
        mined,
        log,
        generation,
        created | {"positionId": created["lpNftId"]},
        call,
        admin=call.get("deployer", created["deployer"]),
        msg_sender=created["deployer"],
    )


def decode_v1_to_v3(mined: MinedTransaction, log: Log, event: AbiEvent, generation: Generation) -> Launch:
    """Decode a v1 to v3.0 launch, where only the launchpad calls the factory, for a social protocol user.

    event TokenCreated(address tokenAddress, uint256 positionId, address deployer, uint256 fid, string name,
    string symbol, uint256 supply, address lockerAddress, string castHash); without the locker in v3.0.
    Raises LogDecodingError.
    """
    created, call = event.decode(log), _launch_arguments(mined, log)
    return _legacy(
        mined,
        log,
        generation,
        created,
        # v3.0 wraps v2's arguments in one struct.
        call.get("config", call),
        admin=created["deployer"],
        # These events omit the factory's caller; the transaction has it if it calls the factory directly.
        msg_sender=mined.call.sender if mined.is_call_to(log["address"]) else None,
        requestor_address=created["deployer"],
        # FIDs are 64-bit numbers; 0 means no user.
        requestor_fid=created["fid"] if 0 < created["fid"] < 2**63 else None,
        cast_hash=created["castHash"] or None,
    )


def decode_v3_1(mined: MinedTransaction, log: Log, event: AbiEvent, generation: Generation) -> Launch:
    """Decode a v3.1 launch; its event has no pair, locker, image or context.

    event TokenCreated(address indexed tokenAddress, address indexed creatorAdmin, address indexed interfaceAdmin,
    address creatorRewardRecipient, address interfaceRewardRecipient, uint256 positionId, string name, string symbol,
    int24 startingTickIfToken0IsNewToken, string metadata, uint256 amountTokensBought, uint256 vaultDuration,
    uint8 vaultPercentage, address msgSender). Raises LogDecodingError.
    """
    created = event.decode(log)
    token = created["tokenAddress"]
    trading = _trading(mined, token, log["address"])
    locker = _position_owner(mined, created["positionId"])
    token_config = _launch_arguments(mined, log).get("config", {}).get("tokenConfig", {})
    return _launch(
        mined,
        log,
        generation,
        token=token,
        name=created["name"],
        symbol=created["symbol"],
        supply=mined.minted_amount(token),
        admin=created["creatorAdmin"],
        msg_sender=created["msgSender"],
        image=token_config.get("image"),
        metadata=created["metadata"],
        context=token_config.get("context"),
        locker=locker,
        position_id=created["positionId"],
        trading=trading,
        fee_recipients=_recipients(mined, created, locker),
        vault=_vault(mined, created, generation),
    )


def _legacy(
    mined: MinedTransaction,
    log: Log,
    generation: Generation,
    created: dict[str, Any],
    call: dict[str, Any],
    **facts: Any,
) -> Launch:
    """Decode the fields that v0 to v3.0 have in common."""
    token = created["tokenAddress"]
    return _launch(
        mined,
        log,
        generation,
        token=token,
        name=created["name"],
        symbol=created["symbol"],
        supply=created["supply"],
        image=call.get("image"),
        locker=created.get("lockerAddress") or _position_owner(mined, created["positionId"]),
        position_id=created["positionId"],
        trading=_trading(mined, token, log["address"]),
        **facts,
    )


def _launch(
    mined: MinedTransaction, log: Log, generation: Generation, *, trading: _Trading | None, **facts: Any
) -> Launch:
    return Launch(
        chain_id=mined.chain.chain_id,
        generation=generation.name,
        tx_hash=mined.hash,
        log_index=int(log["logIndex"], 16),
        block_number=mined.block_number,
        block_hash=mined.block_hash,
        block_time=mined.block_time,
        factory=checksum_address(log["address"]),
        pool=trading.pool if trading else None,
        fees=trading.fees if trading else None,
        positions=trading.positions if trading else (),
        dev_buy=trading.dev_buy if trading else None,
        **facts,
    )


def _launch_arguments(mined: MinedTransaction, log: Log) -> dict[str, Any]:
    """Return the arguments of the launch call; empty if another contract called the factory."""
    if mined.is_call_to(log["address"]):
        for function in _DEPLOYS:
            arguments = function.decode_input(mined.call.calldata)
            if arguments is not None:
                return arguments
    return {}


def _trading(mined: MinedTransaction, token: str, factory: str) -> _Trading | None:
    # event PoolCreated(address indexed token0, address indexed token1, uint24 indexed fee, int24 tickSpacing,
    #   address pool)
    for log in mined.emitted(_POOL_CREATED, by=mined.chain.v3_factory):
        created = _POOL_CREATED.decode(log)
        if token in (created["token0"], created["token1"]):
            break
    else:
        return None
    is_token0 = created["token0"] == token
    paired = created["token1"] if is_token0 else created["token0"]
    quote = mined.chain.quote_tokens.get(paired.lower())
    fee = to_bps(created["fee"])
    return _Trading(
        pool=Pool(
            address=created["pool"],
            paired_token=paired,
            pair_symbol=quote.symbol if quote else None,
            pair_decimals=quote.decimals if quote else None,
            tick=_starting_tick(mined, created["pool"], is_token0=is_token0),
            tick_spacing=created["tickSpacing"],
            hook=None,
        ),
        fees=LiquidityFees(type="static", clanker_fee=fee, paired_fee=fee),
        positions=_positions(mined, created["pool"], is_token0=is_token0),
        dev_buy=_dev_buy(mined, token, created["pool"], factory),
    )


def _starting_tick(mined: MinedTransaction, pool: str, *, is_token0: bool) -> int | None:
    # event Initialize(uint160 sqrtPriceX96, int24 tick): the tick of the actual pool, where the token may be token1.
    for log in mined.emitted(_POOL_INITIALIZED, by=pool):
        tick = int(_POOL_INITIALIZED.decode(log)["tick"])
        return tick if is_token0 else -tick
    return None


def _positions(mined: MinedTransaction, pool: str, *, is_token0: bool) -> tuple[Position, ...]:
    # event Mint(address sender, address indexed owner, int24 indexed tickLower, int24 indexed tickUpper,
    #   uint128 amount, uint256 amount0, uint256 amount1)
    for log in mined.emitted(_POSITION_MINTED, by=pool):
        minted = _POSITION_MINTED.decode(log)
        lower, upper = minted["tickLower"], minted["tickUpper"]
        if not is_token0:
            lower, upper = -upper, -lower
        return (Position(tick_lower=lower, tick_upper=upper, bps=10_000),)
    return ()


def _dev_buy(mined: MinedTransaction, token: str, pool: str, factory: str) -> DevBuy | None:
    # event Transfer(address indexed from, address indexed to, uint256 value): the pool pays tokens out to the buyer.
    for log in mined.emitted(_TOKEN_TRANSFER, by=token):
        transfer = _TOKEN_TRANSFER.decode(log)
        if transfer["from"] == pool:
            spent = mined.call.value if mined.is_call_to(factory) else None
            return DevBuy(amount=transfer["value"], amount_eth=spent, recipient=transfer["to"])
    return None


def _position_owner(mined: MinedTransaction, position_id: int) -> str | None:
    # event Transfer(address indexed from, address indexed to, uint256 indexed tokenId): in a launch, the last transfer
    # sends the LP NFT to its locker.
    transfers = [
        _POSITION_TRANSFER.decode(log) for log in mined.emitted(_POSITION_TRANSFER, by=mined.chain.v3_position_manager)
    ]
    owners = [transfer["to"] for transfer in transfers if transfer["tokenId"] == position_id]
    return owners[-1] if owners else None


def _recipients(mined: MinedTransaction, created: dict[str, Any], locker: str | None) -> tuple[FeeRecipient, ...]:
    # event TokenRewardAdded(uint256 lpTokenId, uint256 creatorReward, address indexed creator,
    #   address indexed interfacer); creatorReward is a percentage of all fees. By the locker's source both addresses
    #   are admins; the recipients are in TokenCreated.
    for log in mined.emitted(_REWARD_ADDED, by=locker):
        reward = _REWARD_ADDED.decode(log)
        if reward["lpTokenId"] == created["positionId"]:
            return (
                FeeRecipient(
                    admin=created["creatorAdmin"],
                    recipient=created["creatorRewardRecipient"],
                    bps=reward["creatorReward"] * 100,
                    token="Both",
                ),
                FeeRecipient(
                    admin=created["interfaceAdmin"],
                    recipient=created["interfaceRewardRecipient"],
                    bps=(_SHARED_PERCENT - reward["creatorReward"]) * 100,
                    token="Both",
                ),
            )
    return ()


def _vault(mined: MinedTransaction, created: dict[str, Any], generation: Generation) -> Vault | None:
    # event AllocationCreated(address indexed token, address indexed admin, uint256 amount, uint256 unlockTime)
    for address in mined.chain.addresses("vault", generation=generation.name):
        for log in mined.emitted(_VAULT_CREATED, by=address):
            allocation = _VAULT_CREATED.decode(log)
            if allocation["token"] == created["tokenAddress"]:
                return Vault(
                    amount=allocation["amount"],
                    lockup=Lockup(started_at=mined.block_time, lock_duration=created["vaultDuration"], vest_duration=0),
                )
    return None
