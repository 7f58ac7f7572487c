"""Routes between a payment currency and a token's own pool, and the contracts that they need. Pure.

A route is one swap in one pool: no other pool is entered.
"""

from dataclasses import dataclass

from sha3 import keccak_256

from tokens.chains.abi import codec
from tokens.chains.addresses import ZERO_ADDRESS
from tokens.chains.errors import SwapUnavailableError, UnknownContractError
from tokens.chains.pool_types import is_v4_pool, order_currencies
from tokens.chains.registry.chains import ChainInfo

# The zero address, as in v4 pools.
NATIVE_COIN = ZERO_ADDRESS
# A v4 pool id is the digest of these: currency0, currency1, fee, tickSpacing, hooks.
POOL_KEY_TYPES = ("address", "address", "uint24", "int24", "address")
# "The hook sets the fee": the key of each pool that a generation launches. Source: v4-core, LPFeeLibrary.
DYNAMIC_FEE = 0x800000
# Fixed fees in declared launchpads' v4 pools, in parts per million: Uniswap's usual ones.
_FIXED_FEES = (100, 500, 3_000, 10_000)

PoolKey = tuple[str, str, int, int, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class SwapPool:
    """A token's own pool; addresses are EIP-55."""

    # As `Token.pool_address`.
    pool: str
    # In pool order. Zero is the native coin, which only v4 pools hold.
    currencies: tuple[str, str]
    # The key of a v4 pool; None for a v3 pool.
    key: PoolKey | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SwapRoute:
    """One swap between two currencies in a pool; the payer may wrap or unwrap the native coin on either side."""

    pool: SwapPool
    # The payer's currencies; NATIVE_COIN is the native coin.
    currency_in: str
    currency_out: str
    # The pool's currencies for them.
    pool_in: str
    pool_out: str

    @property
    def zero_for_one(self) -> bool:
        """Whether the pool receives its currency 0."""
        return self.pool_in == self.pool.currencies[0]

    @property
    def wraps(self) -> bool:
        """Whether the router wraps what the payer pays."""
        return self.currency_in != self.pool_in

    @property
    def unwraps(self) -> bool:
        """Whether the router unwraps what the pool pays."""
        return self.currency_out != self.pool_out

    @property
    def pays_native(self) -> bool:
        """Whether the payer pays in the native coin, as the value of the call."""
        return self.currency_in == NATIVE_COIN


@dataclass(frozen=True, kw_only=True, slots=True)
class SwapContracts:
    """Uniswap's contracts on a chain that a route needs; EIP-55."""

    router: str
    permit2: str
    quoter: str


def find_contracts(info: ChainInfo, pool: SwapPool) -> SwapContracts:
    """Return the registry's contracts for swaps in a pool. Raises UnknownContractError where one is missing."""
    quoter = "v4_quoter" if pool.key else "v3_quoter"
    addresses = {key: getattr(info, key) for key in ("universal_router", "permit2", quoter)}
    missing = next((key for key, address in addresses.items() if address is None), None)
    if missing:
        raise UnknownContractError(missing)
    return SwapContracts(router=addresses["universal_router"], permit2=addresses["permit2"], quoter=addresses[quoter])


def describe_pool(
    pool: str, *, token: str, paired: str, tick_spacing: int | None, hook: str | None, wrapped_native: str | None
) -> SwapPool:
    """Return a token's pool from its stored facts; `paired` is zero for the native coin.

    Raises SwapUnavailableError where the facts don't determine the pool's key.
    """
    currencies = order_currencies(token, paired, pool=pool, wrapped_native=wrapped_native)
    if not is_v4_pool(pool):
        return SwapPool(pool=pool, currencies=currencies)
    for fee in (DYNAMIC_FEE, *_FIXED_FEES) if tick_spacing is not None else ():
        key = (*currencies, fee, tick_spacing or 0, hook or ZERO_ADDRESS)
        if "0x" + keccak_256(codec.encode_values(POOL_KEY_TYPES, key)).hexdigest() == pool:
            return SwapPool(pool=pool, currencies=currencies, key=key)
    raise SwapUnavailableError("the key of the token's pool is unknown")


def find_route(
    pool: SwapPool, *, token: str, is_purchase: bool, is_native: bool, wrapped_native: str | None
) -> SwapRoute:
    """Return the route for a purchase or a sale of the token, paid or paid out in the pool's other currency.

    With `is_native`, the native coin takes that currency's place. Raises SwapUnavailableError where the pool holds
    neither the coin nor its wrapped form.
    """
    paired = next(each for each in pool.currencies if each != token)
    if is_native and paired not in (NATIVE_COIN, wrapped_native):
        raise SwapUnavailableError(f"the token's pool takes {paired}, not the native coin")
    currency = NATIVE_COIN if is_native else paired
    if is_purchase:
        return SwapRoute(pool=pool, currency_in=currency, currency_out=token, pool_in=paired, pool_out=token)
    return SwapRoute(pool=pool, currency_in=token, currency_out=currency, pool_in=token, pool_out=paired)
