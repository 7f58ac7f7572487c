"""What the parts of a configuration must keep between them and on their chain: each raises ValueError with the rule."""

from decimal import Decimal

from tokens.chains.launching.launch_config import MAX_EXTENSION_BPS
from tokens.chains.launching.launch_ticks import BeyondTicks, shifted_positions, starting_tick
from tokens.chains.registry.chains import ChainInfo, Position, Preset
from tokens.deploying.rules import scalars

# Those of any wrapped native coin.
_NATIVE_DECIMALS = 18
WRAPPED_NATIVE = "WETH"


def paired_token(value: object) -> str:
    """An address, or the word for the chain's wrapped native coin, which stays a word until the chain is known."""
    if value == WRAPPED_NATIVE:
        return WRAPPED_NATIVE
    try:
        return scalars.address(value)
    except ValueError as error:
        raise ValueError(f"{error}, or {WRAPPED_NATIVE}") from error


def pair_address(paired: str, *, info: ChainInfo) -> str:
    """The address behind what `paired_token` took."""
    if paired != WRAPPED_NATIVE:
        return paired
    if info.wrapped_native is None:
        raise ValueError(f"must be an address: no wrapped native coin of {info.name} is known")
    return info.wrapped_native


def known_decimals(pair: str, *, info: ChainInfo) -> int | None:
    """The decimals of a paired token as the registry has them; None where the chain has to be asked."""
    quote = info.quote_tokens.get(pair.lower())
    if quote:
        return quote.decimals
    return _NATIVE_DECIMALS if pair == info.wrapped_native else None


def place(market_cap: Decimal, *, decimals: int, preset: Preset) -> tuple[int, tuple[Position, ...]]:
    """The starting tick and the positions of a market cap in whole units of a token with so many decimals."""
    try:
        tick = starting_tick(market_cap, decimals=decimals)
        return tick, shifted_positions(preset, tick=tick)
    except BeyondTicks as error:
        raise ValueError(f"must be a price that Uniswap has, in units of the paired token: {error}") from error


def check_supply(*bps: int) -> None:
    """The parts of the supply that don't go into the pool."""
    if sum(bps) > MAX_EXTENSION_BPS:
        raise ValueError(
            f"must leave a tenth to the pool: vault, airdrop and presale are {sum(bps) / 100:g} percent together,"
            f" of {MAX_EXTENSION_BPS // 100} at most"
        )


def check_goals(least: int, most: int) -> None:
    """The goals of a presale."""
    if least > most:
        raise ValueError("must be at most maxEthGoal, in ETH")


def check_own_buy(wei: int, *, most: Decimal) -> None:
    """What our wallet pays for within a launch; `most` is in native coins."""
    if wei > most * scalars.WEI_PER_COIN:
        raise ValueError(f"must be at most {most.normalize():f}, in ETH: this service pays no more for one launch")


def check_own_buy_now(*, presale: bool) -> None:
    """Whether there is a launch of ours to buy in."""
    if presale:
        raise ValueError("must not be given with a presale: nobody would pay for it when the sale ends in the launch")


def check_own_buy_pair(pair: str, *, info: ChainInfo) -> None:
    """A launch is paid in the native coin, and an order names no pool in which another token could be bought first."""
    if pair != info.wrapped_native:
        raise ValueError(f"needs a token that is paired with {WRAPPED_NATIVE}: no pool to buy another one in is given")


def check_offered(info: ChainInfo, *, role: str, what: str) -> None:
    """Whether the chain has the contract for a part of the launch."""
    if info.deploying(role) is None:
        raise ValueError(f"must not be given: {info.name} offers no {what}")
