"""Swaps and liquidity changes in a simulated chain's pools, as logs with the expected trades."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from tests.nodes.contract_events import CLAIM_TRANSFER, FEES_SWAPPED, V3_BURN, V3_MINT, V3_SWAP, V4_LIQUIDITY, V4_SWAP
from tests.nodes.launch_builder import USDC
from tests.nodes.log_encoding import LogEntry, emit
from tests.simulator.launches import Launched, LaunchMaker
from tests.simulator.truth import LiquidityTruth, SwapTruth

# On chain 8453.
POOL_MANAGER = "0x498581fF718922c3f8e6A244956aF099B2652b2b"

_NOBODY = "0x" + "00" * 20
# The fee in all v4 pools here, and the launchpad's fifth of it, in parts per million.
_FEE, _SHARE, _MILLION, _SCALE = 10_000, 2_000, 10**6, 10**18


@dataclass(frozen=True)
class PoolEmitted:
    """A log and what it is expected to be; None for a foreign pool, and for a swap that exchanges nothing."""

    log: LogEntry
    truth: SwapTruth | LiquidityTruth | None
    # The hook's logs, and the locker's beside it.
    before: tuple[LogEntry, ...] = ()
    after: tuple[LogEntry, ...] = ()


class PoolTrafficMaker:
    """Generator for swaps and liquidity changes; the same seed makes the same ones."""

    def __init__(self, rng: random.Random, maker: LaunchMaker) -> None:
        self.rng, self.maker = rng, maker

    def of(self, token: Launched) -> PoolEmitted:
        """Return a swap in the token's pool, or now and then a change in its liquidity."""
        return self.liquidity(token) if self.rng.random() < 0.1 else self.swap(token)

    def foreign(self) -> PoolEmitted:
        """Return a swap or liquidity change in a pool without a launched token."""
        pool, someone = self.rng.randbytes(32), self.maker.address()
        swapped = (self.rng.randrange(1, 10**20), -self.rng.randrange(1, 10**20), 2**96, 10**18, 0)
        looks: list[Callable[[], LogEntry]] = [
            lambda: emit(POOL_MANAGER, V4_SWAP, pool, someone, *swapped, 3000),
            lambda: emit(POOL_MANAGER, V4_LIQUIDITY, pool, someone, -200, 200, 10**9, bytes(32)),
            lambda: emit(self.maker.address(), V3_SWAP, someone, someone, *swapped),
        ]
        return PoolEmitted(self.rng.choice(looks)(), None)

    def swap(self, token: Launched) -> PoolEmitted:
        """Return a swap in the token's pool: with any size, by anyone, or by a locker or hook that converts fees."""
        rng = self.rng
        is_v4 = len(token.columns["pool_address"]) == 66
        is_buy, is_conversion, is_nothing = rng.random() < 0.6, is_v4 and rng.random() < 0.1, rng.random() < 0.03
        amount_token = rng.randrange(1, 10 ** rng.randrange(1, 28))
        amount_quote = 0 if is_nothing else rng.randrange(1, 10 ** rng.randrange(1, 21))
        protocol_fee, is_taken_before = None, False
        # No hook from v4's launchpad takes a part in a declared launchpad's swaps.
        if is_v4 and token.hook is None:
            is_taken_before = rng.random() < (0.8 if is_buy else 0.2)
            amount_quote, protocol_fee = _take_fee(amount_quote, is_buy=is_buy, is_before=is_taken_before)
        # What the pool received, and paid.
        in_token, in_quote = (-amount_token, amount_quote) if is_buy else (amount_token, -amount_quote)
        is_first = _is_currency0(token)
        amounts = (in_token, in_quote) if is_first else (in_quote, in_token)
        sqrt_price = rng.randrange(2**60, 2**130)
        # A locker swaps itself, or has a router swap.
        by_itself = is_conversion and (token.hook is not None or rng.random() < 0.5)
        sender = (token.hook or token.columns["locker_address"]) if by_itself else self.maker.address()
        pool = token.columns["pool_address"]
        if is_v4:
            # The swapper's amounts.
            swapper = (-amounts[0], -amounts[1])
            log = emit(POOL_MANAGER, V4_SWAP, bytes.fromhex(pool[2:]), sender, *swapper, sqrt_price, 10**18, -5, _FEE)
        else:
            log = emit(pool, V3_SWAP, sender, self.maker.address(), *amounts, sqrt_price, 10**18, -5)
        truth = SwapTruth(
            token=token.address,
            is_buy=is_buy,
            is_conversion=is_conversion,
            amount_token=amount_token,
            amount_quote=amount_quote,
            sqrt_price=sqrt_price,
            is_currency0=is_first,
            quote=token.columns["paired_token"],
            quote_decimals=6 if token.columns["paired_token"] == USDC else 18,
            protocol_fee=protocol_fee,
        )
        fees = (_hook_fee(token, protocol_fee),) if protocol_fee is not None else ()
        before, after = (fees, ()) if is_taken_before else ((), fees)
        reports = (_report(token, truth),) if is_conversion and token.hook is None else ()
        return PoolEmitted(log, None if is_nothing else truth, before, (*after, *reports))

    def liquidity(self, token: Launched) -> PoolEmitted:
        """Return liquidity that someone adds to the token's pool, or removes."""
        rng, someone = self.rng, self.maker.address()
        lower = 200 * rng.randrange(-1_000, 1_000)
        upper, amount = lower + 200 * rng.randrange(1, 50), rng.randrange(1, 10**24)
        is_removed, pool = rng.random() < 0.4, token.columns["pool_address"]
        change = -amount if is_removed else amount
        amounts = (rng.randrange(10**24), rng.randrange(10**24))
        if len(pool) == 66:
            log = emit(POOL_MANAGER, V4_LIQUIDITY, bytes.fromhex(pool[2:]), someone, lower, upper, change, bytes(32))
        elif is_removed:
            log = emit(pool, V3_BURN, someone, lower, upper, amount, *amounts)
        else:
            log = emit(pool, V3_MINT, someone, someone, lower, upper, amount, *amounts)
        truth = LiquidityTruth(
            token=token.address,
            tick_lower=lower,
            tick_upper=upper,
            liquidity=change,
            amounts=(None, None) if len(pool) == 66 else amounts,
        )
        return PoolEmitted(log, truth)


def _is_currency0(token: Launched) -> bool:
    return token.address.lower() < token.columns["paired_token"].lower()


def _take_fee(amount: int, *, is_buy: bool, is_before: bool) -> tuple[int, int]:
    """Return the quote amount that the pool moves, and the hook's fee: of the specified amount, or of the result."""
    if not is_before:
        return amount, amount * _SHARE // _MILLION
    scaled = _SHARE * _SCALE // (_MILLION + _SHARE if is_buy else _MILLION - _SHARE)
    fee = amount * scaled // _SCALE
    return (amount - fee if is_buy else amount + fee), fee


def _hook_fee(token: Launched, fee: int) -> LogEntry:
    hook, quote = token.extensions["fees"]["hook_address"], token.columns["paired_token"]
    return emit(POOL_MANAGER, CLAIM_TRANSFER, hook, _NOBODY, hook, int(quote, 16), fee)


def _report(token: Launched, swap: SwapTruth) -> LogEntry:
    """Return the locker's conversion report."""
    sides = [(swap.quote, swap.amount_quote), (token.address, swap.amount_token)]
    (sold, paid), (bought, received) = sides if swap.is_buy else sides[::-1]
    if swap.is_buy:
        paid += swap.protocol_fee or 0
    else:
        received -= swap.protocol_fee or 0
    locker = token.columns["locker_address"]
    return emit(locker, FEES_SWAPPED, token.address, sold, paid, bought, received)
