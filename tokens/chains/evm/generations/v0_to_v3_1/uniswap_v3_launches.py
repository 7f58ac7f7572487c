"""Generations v0 to v3.1, with a Uniswap v3 pool: TokenCreated says little, the pool's logs say the rest."""

from dataclasses import dataclass
from typing import Any

from tokens.chains.abi import codec
from tokens.chains.abi.codec import Event, Log
from tokens.chains.evm.generations.mined_transactions import MinedTransaction
from tokens.chains.registry.chains import Generation, Position
from tokens.chains.types import DevBuy, FeeRecipient, Fees, Launch, Lockup, Pool, Vault, bps

_UNISWAP = codec.load("uniswap_v3")
_POOL_CREATED = _UNISWAP.event("PoolCreated")
_POOL_INITIALIZED = _UNISWAP.event("Initialize")
_POSITION_MINTED = _UNISWAP.event("Mint")
_POSITION_MOVED = _UNISWAP.event("Transfer")
_TOKEN_MOVED = codec.load("token").event("Transfer")
_V3_1 = codec.load("v3_1")
_REWARD_ADDED = _V3_1.event("TokenRewardAdded")
_VAULT_CREATED = _V3_1.event("AllocationCreated")

# Every way in which these generations were launched; selectors tell them apart.
_DEPLOYS = tuple(function for name in ("v0", "v1", "v2", "v3", "v3_1") for function in codec.load(name).deploys())

# v3.1 keeps a fifth of the fees for the launchpad's team; creator and interface share the rest.
_SHARED_PERCENT = 80


@dataclass(frozen=True, kw_only=True, slots=True)
class _Trading:
    """What the Uniswap v3 logs of a launch say."""

    pool: Pool
    fees: Fees
    positions: tuple[Position, ...]
    dev_buy: DevBuy | None


def decode_v0(mined: MinedTransaction, log: Log, event: Event, generation: Generation) -> Launch:
    """event TokenCreated(address tokenAddress, uint256 lpNftId, address deployer, string name, string symbol,
    uint256 supply, uint256 _supply, address lockerAddress). `deployer` is the factory's caller. Raises LogUndecodable.
    """
    created = event.decode(log)
    call = _call(mined, log)
    return _legacy(
        mined,
        log,
        generation,
        created | {"positionId": created["lpNftId"]},
        call,
        admin=call.get("deployer", created["deployer"]),
        msg_sender=created["deployer"],
    )


def decode_v1(mined: MinedTransaction, log: Log, event: Event, generation: Generation) -> Launch:
    """event TokenCreated(address tokenAddress, uint256 positionId, address deployer, uint256 fid, string name,
    string symbol, uint256 supply, address lockerAddress, string castHash), of v1 and v2. Raises LogUndecodable.
    """
    return _requested(mined, log, event, generation)


def decode_v3(mined: MinedTransaction, log: Log, event: Event, generation: Generation) -> Launch:
    """event TokenCreated(address tokenAddress, uint256 positionId, address deployer, uint256 fid, string name,
    string symbol, uint256 supply, string castHash): as v2 without a locker. Raises LogUndecodable.
    """
    return _requested(mined, log, event, generation)


def decode_v3_1(mined: MinedTransaction, log: Log, event: Event, generation: Generation) -> Launch:
    """event TokenCreated(address indexed tokenAddress, address indexed creatorAdmin, address indexed interfaceAdmin,
    address creatorRewardRecipient, address interfaceRewardRecipient, uint256 positionId, string name, string symbol,
    int24 startingTickIfToken0IsNewToken, string metadata, uint256 amountTokensBought, uint256 vaultDuration,
    uint8 vaultPercentage, address msgSender). No pair, locker, image or context. Raises LogUndecodable.
    """
    created = event.decode(log)
    token = created["tokenAddress"]
    trading = _trading(mined, token, log["address"])
    locker = _position_owner(mined, created["positionId"])
    asked = _call(mined, log).get("config", {}).get("tokenConfig", {})
    return _launch(
        mined,
        log,
        generation,
        token=token,
        name=created["name"],
        symbol=created["symbol"],
        supply=mined.minted(token),
        admin=created["creatorAdmin"],
        msg_sender=created["msgSender"],
        image=asked.get("image"),
        metadata=created["metadata"],
        context=asked.get("context"),
        locker=locker,
        position_id=created["positionId"],
        trading=trading,
        fee_recipients=_recipients(mined, created, locker),
        vault=_vault(mined, created, generation),
    )


def _requested(mined: MinedTransaction, log: Log, event: Event, generation: Generation) -> Launch:
    """v1 to v3.0: only the launchpad itself could call the factory, on behalf of a user of the social protocol."""
    created, call = event.decode(log), _call(mined, log)
    return _legacy(
        mined,
        log,
        generation,
        created,
        # v3.0 wraps the arguments of v2 in one struct.
        call.get("config", call),
        admin=created["deployer"],
        # These events don't say who called the factory; the transaction does where it calls the factory itself.
        msg_sender=mined.call.sender if mined.calls(log["address"]) else None,
        requestor_address=created["deployer"],
        # FIDs are numbers of 64 bits; 0 is nobody's.
        requestor_fid=created["fid"] if 0 < created["fid"] < 2**63 else None,
        cast_hash=created["castHash"] or None,
    )


def _legacy(
    mined: MinedTransaction,
    log: Log,
    generation: Generation,
    created: dict[str, Any],
    call: dict[str, Any],
    **facts: Any,
) -> Launch:
    """What v0 to v3.0 have in common."""
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
    unknown: dict[str, Any] = {
        "requestor_address": None,
        "requestor_fid": None,
        "cast_hash": None,
        "metadata": None,
        "context": None,
        "vault": None,
        "fee_recipients": (),
    }
    return Launch(
        chain_id=mined.chain.chain_id,
        generation=generation.name,
        tx_hash=mined.hash,
        log_index=int(log["logIndex"], 16),
        block_number=mined.block_number,
        block_hash=mined.block_hash,
        block_time=mined.block_time,
        factory=codec.checksum(log["address"]),
        extensions_supply=None,
        first_position_id=None,
        presale_id=None,
        pool=trading.pool if trading else None,
        fees=trading.fees if trading else None,
        positions=trading.positions if trading else (),
        dev_buy=trading.dev_buy if trading else None,
        airdrop=None,
        sniper_tax=None,
        **unknown | facts,
    )


def _call(mined: MinedTransaction, log: Log) -> dict[str, Any]:
    """The arguments of the launch call, empty where the factory was called by another contract."""
    if mined.calls(log["address"]):
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
    fee = bps(created["fee"])
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
        fees=Fees(type="static", clanker_fee=fee, paired_fee=fee),
        positions=_positions(mined, created["pool"], is_token0=is_token0),
        dev_buy=_dev_buy(mined, token, created["pool"], factory),
    )


def _starting_tick(mined: MinedTransaction, pool: str, *, is_token0: bool) -> int | None:
    # event Initialize(uint160 sqrtPriceX96, int24 tick): the tick of the real pool, where the token may be token1.
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
    for log in mined.emitted(_TOKEN_MOVED, by=token):
        moved = _TOKEN_MOVED.decode(log)
        if moved["from"] == pool:
            spent = mined.call.value if mined.calls(factory) else None
            return DevBuy(amount=moved["value"], amount_eth=spent, recipient=moved["to"])
    return None


def _position_owner(mined: MinedTransaction, position_id: int) -> str | None:
    # event Transfer(address indexed from, address indexed to, uint256 indexed tokenId): the last move of the LP NFT
    # in the launch puts it into its locker.
    moves = [_POSITION_MOVED.decode(log) for log in mined.emitted(_POSITION_MOVED, by=mined.chain.v3_position_manager)]
    owners = [move["to"] for move in moves if move["tokenId"] == position_id]
    return owners[-1] if owners else None


def _recipients(mined: MinedTransaction, created: dict[str, Any], locker: str | None) -> tuple[FeeRecipient, ...]:
    # event TokenRewardAdded(uint256 lpTokenId, uint256 creatorReward, address indexed creator,
    #   address indexed interfacer); creatorReward is a percentage of all fees. The two are the admins in the source of
    #   the locker: who is paid, TokenCreated tells.
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
