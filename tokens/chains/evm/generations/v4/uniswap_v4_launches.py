"""Decoder for v4 launches: TokenCreated names pool, hook, locker, MEV module and extensions; their logs have the rest.

Filtered logs suffice if the registry has all of these contracts and each has emitted its event.
"""

from typing import Any

from tokens.chains.abi import codec
from tokens.chains.abi.codec import AbiEvent, Log
from tokens.chains.addresses import checksum_address
from tokens.chains.evm.generations.mined_transactions import MinedTransaction
from tokens.chains.registry.chains import Generation, Position
from tokens.chains.types import (
    Airdrop,
    DevBuy,
    FeeCurrency,
    FeeRecipient,
    Launch,
    LiquidityFees,
    Lockup,
    Pool,
    SniperTax,
    Vault,
    fee_currency,
    to_bps,
)

_ABI = codec.load_abi("v4")
_REWARD_ADDED = _ABI.event("TokenRewardAdded")
_FEE_PREFERENCES = _ABI.event("InitialFeePreferences")
_POOL_CREATED = _ABI.event("PoolCreatedFactory")
_POOL_STATIC, _POOL_DYNAMIC = _ABI.events["PoolInitialized"]
_VAULT_CREATED = _ABI.event("AllocationCreated")
_AIRDROP_CREATED = _ABI.events["AirdropCreated"]
_DEV_BUY = _ABI.event("EthDevBuy")
_SNIPER_FEES = _ABI.event("FeeConfigSet")
_PRESALE_DEPLOYED = _ABI.event("PresaleDeployed")
# Each extension emits one of these in the launch, a presale as the factory's caller.
_EXTENDED = (_VAULT_CREATED, *_AIRDROP_CREATED, _DEV_BUY, _PRESALE_DEPLOYED)
_DEPLOY = _ABI.function("deployToken")


def decode_v4(mined: MinedTransaction, log: Log, event: AbiEvent, generation: Generation) -> Launch:
    """Decode a v4 launch.

    event TokenCreated(address msgSender, address indexed tokenAddress, address indexed tokenAdmin,
    string tokenImage, string tokenName, string tokenSymbol, string tokenMetadata, string tokenContext,
    int24 startingTick, address poolHook, bytes32 poolId, address pairedToken, address locker, address mevModule,
    uint256 extensionsSupply, address[] extensions). Raises LogDecodingError.
    """
    created = event.decode(log)
    token = created["tokenAddress"]
    reward = _find(mined, _REWARD_ADDED, by=created["locker"], token=token)
    extended = _read_extensions(mined, created)
    return Launch(
        chain_id=mined.chain.chain_id,
        generation=generation.name,
        token=token,
        tx_hash=mined.hash,
        log_index=int(log["logIndex"], 16),
        block_number=mined.block_number,
        block_hash=mined.block_hash,
        block_time=mined.block_time,
        factory=checksum_address(log["address"]),
        name=created["tokenName"],
        symbol=created["tokenSymbol"],
        supply=_supply(mined, created, reward),
        extensions_supply=created["extensionsSupply"],
        admin=created["tokenAdmin"],
        msg_sender=created["msgSender"],
        image=created["tokenImage"],
        metadata=created["tokenMetadata"],
        context=created["tokenContext"],
        locker=created["locker"],
        first_position_id=reward["positionId"] if reward else None,
        presale_id=_presale_id(mined, created),
        pool=_pool(mined, created, reward),
        fees=_fees(mined, created),
        fee_recipients=_recipients(mined, created, reward),
        vault=_vault(mined, extended),
        airdrop=_airdrop(mined, extended),
        dev_buy=_dev_buy(extended),
        sniper_tax=_sniper_tax(mined, created, log["address"]),
        positions=_positions(reward),
    )


# The events that a log filter has to include. `PoolCreatedFactory` is read only if there is no reward, and then the
# full transaction is required anyway.
LAUNCH_EVENTS = (_REWARD_ADDED, _FEE_PREFERENCES, _POOL_STATIC, _POOL_DYNAMIC, *_EXTENDED, _SNIPER_FEES)


def _find(mined: MinedTransaction, event: AbiEvent, *, by: str, **argument: str) -> dict[str, Any] | None:
    """Return the first log of the event with this argument: a transaction may contain several launches."""
    ((name, value),) = argument.items()
    decoded = map(event.decode, mined.emitted(event, by=by))
    return next((values for values in decoded if values[name] == value), None)


def _read_extensions(mined: MinedTransaction, created: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return topic0 -> the first event about the token that an extension of the launch emitted.

    Requires the full transaction if an extension emitted none.
    """
    extended: dict[str, dict[str, Any]] = {}
    for extension in created["extensions"]:
        own = {
            event.topic0: values
            for event in _EXTENDED
            if (values := _find(mined, event, by=extension, token=created["tokenAddress"]))
        }
        if not own:
            mined.require_full_transaction(f"a log of the extension {extension}")
        extended = own | extended
    return extended


def _supply(mined: MinedTransaction, created: dict[str, Any], reward: dict[str, Any] | None) -> int | None:
    """Return the total minted supply in wei, which is split between pool and extensions."""
    if reward is None:
        return mined.minted_amount(created["tokenAddress"])
    return int(reward["poolSupply"] + created["extensionsSupply"])


def _pool(mined: MinedTransaction, created: dict[str, Any], reward: dict[str, Any] | None) -> Pool:
    if reward:
        tick_spacing = reward["poolKey"]["tickSpacing"]
    else:
        # event PoolCreatedFactory(address indexed pairedToken, address indexed clanker, bytes32 poolId,
        #   int24 tickIfToken0IsClanker, int24 tickSpacing, address locker, address mevModule)
        pool = _find(mined, _POOL_CREATED, by=created["poolHook"], poolId=created["poolId"])
        tick_spacing = pool and pool["tickSpacing"]
    quote = mined.chain.quote_tokens.get(created["pairedToken"].lower())
    return Pool(
        address=created["poolId"],
        paired_token=created["pairedToken"],
        pair_symbol=quote.symbol if quote else None,
        pair_decimals=quote.decimals if quote else None,
        tick=created["startingTick"],
        tick_spacing=tick_spacing,
        hook=created["poolHook"],
    )


def _fees(mined: MinedTransaction, created: dict[str, Any]) -> LiquidityFees | None:
    hook, pool_id = created["poolHook"], created["poolId"]
    # event PoolInitialized(bytes32 poolId, uint24 clankerFee, uint24 pairedFee)
    if static := _find(mined, _POOL_STATIC, by=hook, poolId=pool_id):
        return LiquidityFees(
            type="static", clanker_fee=to_bps(static["clankerFee"]), paired_fee=to_bps(static["pairedFee"]), hook=hook
        )
    # event PoolInitialized(bytes32 poolId, uint24 baseFee, uint24 maxLpFee, uint256 referenceTickFilterPeriod,
    #   uint256 resetPeriod, int24 resetTickFilter, uint256 feeControlNumerator, uint24 decayFilterBps)
    if dynamic := _find(mined, _POOL_DYNAMIC, by=hook, poolId=pool_id):
        return LiquidityFees(
            type="dynamic", base_fee=to_bps(dynamic["baseFee"]), max_fee=to_bps(dynamic["maxLpFee"]), hook=hook
        )
    mined.require_full_transaction("the pool's fees")
    return None


def _recipients(
    mined: MinedTransaction, created: dict[str, Any], reward: dict[str, Any] | None
) -> tuple[FeeRecipient, ...]:
    if reward is None:
        return ()
    # event InitialFeePreferences(address indexed token, uint8[] feePreference); the older locker has no preferences
    # and pays both currencies.
    initial = _find(mined, _FEE_PREFERENCES, by=created["locker"], token=created["tokenAddress"])
    if initial is None:
        mined.require_full_transaction("the fee preferences")
    preferences = initial["feePreference"] if initial else ()
    return tuple(
        FeeRecipient(admin=admin, recipient=recipient, bps=bps, token=_currency(preferences, index))
        for index, (admin, recipient, bps) in enumerate(
            zip(reward["rewardAdmins"], reward["rewardRecipients"], reward["rewardBps"], strict=False)
        )
    )


def _currency(preferences: tuple[int, ...], index: int) -> FeeCurrency:
    return fee_currency(preferences[index]) if index < len(preferences) else "Both"


def _positions(reward: dict[str, Any] | None) -> tuple[Position, ...]:
    if reward is None:
        return ()
    return tuple(
        Position(tick_lower=lower, tick_upper=upper, bps=bps)
        for lower, upper, bps in zip(reward["tickLower"], reward["tickUpper"], reward["positionBps"], strict=False)
    )


def _vault(mined: MinedTransaction, extended: dict[str, dict[str, Any]]) -> Vault | None:
    # event AllocationCreated(address indexed token, address indexed admin, uint256 supply, uint256 lockupDuration,
    #   uint256 vestingDuration)
    allocation = extended.get(_VAULT_CREATED.topic0)
    return Vault(amount=allocation["supply"], lockup=_lockup(mined, allocation)) if allocation else None


def _airdrop(mined: MinedTransaction, extended: dict[str, dict[str, Any]]) -> Airdrop | None:
    # event AirdropCreated(address indexed token, [address indexed admin,] bytes32 merkleRoot, uint256 supply,
    #   uint256 lockupDuration, uint256 vestingDuration); the first version has no admin.
    for event in _AIRDROP_CREATED:
        if airdrop := extended.get(event.topic0):
            return Airdrop(
                amount=airdrop["supply"],
                merkle_root=airdrop["merkleRoot"],
                admin=airdrop.get("admin"),
                lockup=_lockup(mined, airdrop),
            )
    return None


def _lockup(mined: MinedTransaction, values: dict[str, Any]) -> Lockup:
    return Lockup(
        started_at=mined.block_time, lock_duration=values["lockupDuration"], vest_duration=values["vestingDuration"]
    )


def _dev_buy(extended: dict[str, dict[str, Any]]) -> DevBuy | None:
    # event EthDevBuy(address indexed token, address indexed user, uint256 ethAmount, uint256 tokenAmount)
    purchase = extended.get(_DEV_BUY.topic0)
    if purchase is None:
        return None
    return DevBuy(amount=purchase["tokenAmount"], amount_eth=purchase["ethAmount"], recipient=purchase["user"])


def _sniper_tax(mined: MinedTransaction, created: dict[str, Any], factory: str) -> SniperTax | None:
    # event FeeConfigSet(bytes32 poolId, uint24 startingFee, uint24 endingFee, uint256 secondsToDecay)
    config = _find(mined, _SNIPER_FEES, by=created["mevModule"], poolId=created["poolId"])
    fees: tuple[int, ...] | None
    if config:
        fees = (config["startingFee"], config["endingFee"], config["secondsToDecay"])
    else:
        # For a module that emits nothing, the call contains its fees as abi.encode((uint24, uint24, uint256)).
        call = _DEPLOY.decode_input(mined.call.calldata) if mined.is_call_to(factory) else None
        data = call["deploymentConfig"]["mevModuleConfig"]["mevModuleData"] if call else "0x"
        fees = codec.decode_words(("uint24", "uint24", "uint256"), data)
    return SniperTax(starting_fee=fees[0], ending_fee=fees[1], seconds_to_decay=fees[2]) if fees else None


def _presale_id(mined: MinedTransaction, created: dict[str, Any]) -> int | None:
    # event PresaleDeployed(uint256 indexed presaleId, address token), by the contract that called the factory.
    if mined.chain.role(created["msgSender"].lower()) != "presale":
        return None
    presale = _find(mined, _PRESALE_DEPLOYED, by=created["msgSender"], token=created["tokenAddress"])
    if presale is None:
        mined.require_full_transaction("the presale")
    return int(presale["presaleId"]) if presale else None
