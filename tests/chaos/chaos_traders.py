"""Wallets that trade in a chaos run's pools: several transactions a block, some reverted."""

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

from development.devchain import node_client
from development.devchain.anvil import TRADERS
from tests.nodes.devchain_launches import Launchpad

_GAS = 2_000_000
_MOST_TRADES = 5
# Exponents of a purchase in wei, to the base 10.
_PURCHASES = (14.0, 17.7)
_ETHER, _DOLLARS_PER_ETHER = 10**18, 3_000 * 10**6
# Wallets that trade a token, so that some have it to sell.
_WALLETS = 3
# So many of the newest tokens are traded more than others; so are the oldest, which are later tokens' quotes.
_NEWEST, OLDEST = 12, 6
_KINDS = {"purchase": 45, "sale": 30, "swap of ether": 12, "fee collection": 12, "dust": 1}


class TradedPool(NamedTuple):
    """A launched token and its pool's key."""

    token: str
    key: tuple[str, str, int, int, str]

    @property
    def paired(self) -> str:
        """Return the paired token."""
        return self.key[1] if self.key[0] == self.token else self.key[0]


class ChaosTraders:
    """A chain's traders; the dollars that they need are in blocks that stay."""

    def __init__(self, launchpad: Launchpad, rng: random.Random) -> None:
        self._launchpad, self._at, self._rng = launchpad, launchpad.deployment, rng
        self._wallets = node_client.connect(self._at.rpc_url).eth.accounts[-TRADERS:]
        usd = self._bind("UsdStandIn", self._at.usd)
        for wallet in self._wallets:
            for call in (usd.functions.mint(wallet, 10**15), usd.functions.approve(self._at.swap_router, 10**15)):
                node_client.transact(self._at.rpc_url, call, sender=wallet)

    def trade(self, pools: Sequence[TradedPool]) -> None:
        """Mine a block with some trades in these pools."""
        launched = [pool for pool in pools if self._is_launched(pool.paired)]
        groups = (pools, pools[-_NEWEST:], pools[:OLDEST], launched or pools)
        self._launchpad.rpc("evm_setAutomine", False)
        for _ in range(self._rng.randint(1, _MOST_TRADES)):
            [kind] = self._rng.choices(list(_KINDS), list(_KINDS.values()))
            self._send_trade(kind, self._rng.choice(self._rng.choice(groups)))
        self._launchpad.mine()
        self._launchpad.rpc("evm_setAutomine", True)

    def _send_trade(self, kind: str, pool: TradedPool) -> None:
        # Those who have the paired token, where it is a launched one.
        number = int(pool.paired if self._is_launched(pool.paired) else pool.token, 16)
        wallet = self._wallets[(number + self._rng.randrange(_WALLETS)) % len(self._wallets)]
        if kind == "swap of ether":
            self._swap(wallet, self._at.dollar_pool_key, self._rng.choice((self._at.wrapped_native, self._at.usd)))
        elif kind == "fee collection":
            # The locker swaps what recipients want in the other currency.
            self._send(wallet, "Locker", self._at.locker, "collectRewards", [pool.token])
        elif kind == "dust":
            self._send_swap(wallet, pool.key, pool.paired, 1)
        else:
            self._swap(wallet, pool.key, pool.paired if kind == "purchase" else pool.token)

    def _is_launched(self, token: str) -> bool:
        return token not in (self._at.wrapped_native, self._at.usd)

    def _swap(self, wallet: str, key: Any, currency: str) -> None:
        wei = int(10 ** self._rng.uniform(*_PURCHASES))
        if currency == self._at.usd:
            self._send_swap(wallet, key, currency, wei * _DOLLARS_PER_ETHER // _ETHER)
        elif currency == self._at.wrapped_native:
            self._send_swap(wallet, key, currency, wei)
        elif balance := self._balance(wallet, currency):
            amount = max(1, int(balance * self._rng.uniform(0.1, 1)))
            self._send(wallet, "Token", currency, "approve", [self._at.swap_router, amount])
            self._send_swap(wallet, key, currency, amount)

    def _balance(self, wallet: str, token: str) -> int:
        # A paired token may have been orphaned, and its launch have not come back: no code is no balance.
        data = self._bind("Token", token).encode_abi("balanceOf", [wallet])
        return int.from_bytes(node_client.connect(self._at.rpc_url).eth.call({"to": token, "data": data}))

    def _send_swap(self, wallet: str, key: Any, currency: str, amount: int) -> None:
        value = amount if currency == self._at.wrapped_native else 0
        self._send(wallet, "SwapRouter", self._at.swap_router, "swap", [key, currency, amount, 0], value=value)

    def _send(self, wallet: str, name: str, to: str, function: str, arguments: list[Any], *, value: int = 0) -> None:
        data = self._bind(name, to).encode_abi(function, arguments)
        node_client.send_transaction(self._at.rpc_url, sender=wallet, to=to, data=data, value=value, gas=_GAS)

    def _bind(self, name: str, address: str) -> Any:
        return node_client.bind_contract(self._at.rpc_url, name, address)
