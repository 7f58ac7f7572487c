"""Launches in generations v0 and v3.1, which require reading their transactions in full and calling their tokens."""

from tests.nodes.contract_events import TRANSFER, V0_CREATED, V31_CREATED, V31_REWARD_ADDED
from tests.nodes.launch_builder import FACTORY_V31, WETH, ZERO, uniswap_v3_logs
from tests.nodes.log_encoding import emit
from tests.simulator import addresses
from tests.simulator.launches import BPS, SUPPLY, Launched, LaunchMaker, columns
from tests.simulator.truth import Json, LiquidityTruth, Share

_TICK = -230_400
# The fee percentage that a v3.1 token's creator gets; creator and interface share 80.
_CREATOR_REWARD = 40


def v31(maker: LaunchMaker, *, sender: str) -> Launched:
    """Build a v3.1 launch through an unregistered contract, so that there is no call to read."""
    token, admin, creator, interface = (maker.address() for _ in range(4))
    name, read_name, symbol, read_symbol = maker.name()
    position_id, pool = maker.rng.randrange(1, 2**60), maker.address()
    image = f"ipfs://{token[2:12]}"
    description = f"Asked about {read_symbol}"
    created = emit(
        FACTORY_V31, V31_CREATED, token, admin, admin, creator, interface, position_id, name, symbol, _TICK,
        description, 0, 0, 0, sender,
    )  # fmt: skip
    reward = emit(addresses.LOCKER_V31, V31_REWARD_ADDED, position_id, _CREATOR_REWARD, admin, admin)
    return Launched(
        address=token,
        logs=(
            emit(token, TRANSFER, ZERO, FACTORY_V31, SUPPLY),
            *uniswap_v3_logs(
                token, pool=pool, factory=FACTORY_V31, locker=addresses.LOCKER_V31, position_id=position_id
            ),
            reward,
            created,
        ),
        columns=columns(
            generation="v3.1",
            name=read_name,
            symbol=read_symbol,
            img_url=image,
            description=description,
            admin=admin,
            factory_address=FACTORY_V31,
            locker_address=addresses.LOCKER_V31,
            **_position(sender, pool, position_id),
        ),
        shares=(
            Share(admin=admin, recipient=creator, bps=_CREATOR_REWARD * 100),
            Share(admin=admin, recipient=interface, bps=(80 - _CREATOR_REWARD) * 100),
        ),
        extensions=_extensions(),
        minted=(_minted(token),),
        views={(token.lower(), "imageUrl()"): ("string", image), (token.lower(), "context()"): ("string", "")},
        position_id=position_id,
    )


def v0(maker: LaunchMaker, *, sender: str) -> Launched:
    """Build a v0 launch with a new locker, through an unregistered contract."""
    token, locker, pool = (maker.address() for _ in range(3))
    name, read_name, symbol, read_symbol = maker.name()
    position_id = maker.rng.randrange(1, 2**60)
    factory = addresses.FACTORY_V0
    created = emit(factory, V0_CREATED, token, position_id, sender, name, symbol, SUPPLY, SUPPLY, locker)
    return Launched(
        address=token,
        logs=(
            emit(token, TRANSFER, ZERO, factory, SUPPLY),
            *uniswap_v3_logs(token, pool=pool, factory=factory, locker=locker, position_id=position_id),
            created,
        ),
        columns=columns(
            generation="v0",
            name=read_name,
            symbol=read_symbol,
            admin=sender,
            factory_address=factory,
            locker_address=locker,
            **_position(sender, pool, position_id),
        ),
        shares=(),
        extensions=_extensions(),
        minted=(_minted(token),),
        position_id=position_id,
    )


def _minted(token: str) -> tuple[int, LiquidityTruth]:
    """Return the `uniswap_v3_logs` liquidity, with its log index behind the mint's."""
    is_first = token.lower() < WETH.lower()
    lower, upper = (_TICK, 887_200) if is_first else (-887_200, -_TICK)
    amounts = (SUPPLY, 0) if is_first else (0, SUPPLY)
    return 3, LiquidityTruth(token=token, tick_lower=lower, tick_upper=upper, liquidity=10**24, amounts=amounts)


def _position(sender: str, pool: str, position_id: int) -> Json:
    pair = {"paired_token": WETH, "pair": "WETH"}
    return {"msg_sender": sender, "pool_address": pool, "position_id": str(position_id)} | pair


def _extensions() -> Json:
    fees = {"type": "static", "clankerFee": 100, "pairedFee": 100, "baseFee": None, "maxFee": None}
    # The positions' ticks are written as if the token were token0, whichever it is.
    position = {"tickLower": _TICK, "tickUpper": 887_200, "positionBps": BPS}
    return {
        "fees": fees | {"hook_address": None},
        "vault": None,
        "airdrop": None,
        "devBuy": None,
        "sniperTax": None,
        "positions": [position],
    }
