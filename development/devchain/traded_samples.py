"""Tokens that the sample traders trade, with their pools, read from the development chain's logs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from development.devchain import node_client
from development.devchain.deploy_contracts import DevelopmentContracts

# One token in six is popular: twelve wallets trade it.
_POPULAR_ONE_IN, _POPULAR_WALLETS = 6, 12
# Wallets that trade any other token: fewest and most.
_WALLETS = (2, 5)
_NO_HOOK = "0x" + "00" * 20

PoolKey = tuple[str, str, int, int, str]


@dataclass(frozen=True)
class TradedSample:
    """A launched token, its pool, and the wallets that trade it."""

    address: str
    # None while the token is sold on the bonding curve.
    key: PoolKey | None
    wallets: tuple[str, ...]
    is_popular: bool

    @property
    def has_locker(self) -> bool:
        """Return whether the locker has the pool's positions: the other launchpads use no hooks."""
        return self.key is not None and self.key[4] != _NO_HOOK


def read_pools(at: DevelopmentContracts, first: int, last: int) -> dict[str, PoolKey | None]:
    """Return the tokens that were launched or graduated in a block range, with their pools."""
    curves = node_client.bind_contract(at.rpc_url, "CurveLaunchpad", at.curve_launchpad)
    manager = node_client.bind_contract(at.rpc_url, "PoolManager", at.pool_manager)
    launched = curves.events.Launched().get_logs(from_block=first, to_block=last)
    opened = manager.events.Initialize().get_logs(from_block=first, to_block=last)
    pools: dict[str, PoolKey | None] = {log["args"]["token"]: None for log in launched}
    quotes = {at.wrapped_native, at.usd}
    for log in opened:
        key = _pool_key(log["args"])
        # The pool between both quote tokens has no launched token.
        if len(tokens := {*key[:2]} - quotes) == 1:
            pools[tokens.pop()] = key
    return pools


def _pool_key(opened: Mapping[str, Any]) -> PoolKey:
    names = ("currency0", "currency1", "fee", "tickSpacing", "hooks")
    currency0, currency1, fee, spacing, hooks = (opened[name] for name in names)
    return currency0, currency1, fee, spacing, hooks


def describe_sample(token: str, key: PoolKey | None, wallets: Sequence[str]) -> TradedSample:
    """Return a token with the wallets that trade it, the same ones in every run."""
    random = Random(token)
    is_popular = random.randrange(_POPULAR_ONE_IN) == 0
    count = _POPULAR_WALLETS if is_popular else random.randint(*_WALLETS)
    return TradedSample(token, key, tuple(random.sample(wallets, count)), is_popular)
