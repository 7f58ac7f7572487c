"""Traders of sample tokens on the development chain: a few wallets a token, popular tokens, and a wash trader.

Usage: `python -m development.devchain.trader --rpc-url URL --every SECONDS [--count N]`.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from development.devchain import node_client
from development.devchain.anvil import TRADERS
from development.devchain.deploy_contracts import DevelopmentContracts, locate_contracts
from development.devchain.sample_loop import NotReadyError, exit_on_signals, repeat_sample

# Trades without delay at the start, so that a fresh installation has data at once.
_AT_ONCE = 20
# Trades per line of the output.
_A_LINE = 50
# One token in so many is popular: more wallets trade it, and more frequently. So are the newest tokens.
_POPULAR_ONE_IN, _POPULAR_WEIGHT, _POPULAR_WALLETS = 6, 30, 12
_NEWEST, _NEWEST_WEIGHT = 3, 15
# Wallets that trade one of the others, at least and at most.
_WALLETS = (2, 5)
# Powers of ten of the wei of the smallest and the largest purchase.
_PURCHASES = (15.7, 18.0)
_ETHER = 10**18
# Smallest units of the dollar for an ether.
_DOLLARS_PER_ETHER = 3_000 * 10**6
_UNLIMITED = 2**256 - 1
# Shares of all trades, in percent.
_KINDS = {"purchases": 50, "sales": 30, "swaps of ether": 8, "wash trades": 6, "fee collections": 6}

PoolKey = tuple[str, str, int, int, str]


@dataclass(frozen=True)
class TradedSample:
    """A launched token, its pool, and the wallets that trade it."""

    address: str
    key: PoolKey
    wallets: tuple[str, ...]
    is_popular: bool

    @property
    def paired(self) -> str:
        """Return the paired token."""
        return self.key[1] if self.key[0] == self.address else self.key[0]


class SampleTraders:
    """Traders of a node's chain, and the tokens launched on it so far."""

    def __init__(self, rpc_url: str, *, random: Random) -> None:
        self._rpc_url, self._random = rpc_url, random
        self._at: DevelopmentContracts | None = None
        self._wallets: Sequence[str] = ()
        self._tokens: list[TradedSample] = []
        self._read_to = -1
        self._done: Counter[str] = Counter()

    def trade_once(self) -> str:
        """Make one trade; return a line about the last ones if it is due, else nothing. Raises NotReadyError."""
        if self._at is None:
            self._at = locate_contracts(self._rpc_url)
            self._wallets = node_client.connect(self._rpc_url).eth.accounts[-TRADERS:]
        self._read_launches(self._at)
        if not self._tokens:
            raise NotReadyError("no token has been launched")
        [kind] = self._random.choices(list(_KINDS), list(_KINDS.values()))
        self._trade(self._at, kind)
        self._done[kind] += 1
        if self._done.total() % _A_LINE:
            return ""
        line = ", ".join(f"{count} {kind}" for kind, count in self._done.items())
        self._done.clear()
        return line

    def _trade(self, at: DevelopmentContracts, kind: str) -> None:
        token = self._draw_token()
        wallet = self._random.choice(token.wallets)
        if kind == "purchases":
            _buy(at, token, wallet, wei=self._draw_wei())
        elif kind == "sales":
            _sell(at, token, wallet, share=self._random.uniform(0.2, 1))
        elif kind == "swaps of ether":
            currency = self._random.choice((at.wrapped_native, at.usd))
            _swap(at, at.dollar_pool_key, wallet, currency=currency, amount=_worth(at, currency, self._draw_wei()))
        elif kind == "wash trades":
            # In one quiet token, with much volume of a single wallet; the greeting of `make run` has an older one.
            quiet = [token for token in self._tokens if not token.is_popular]
            washed = (quiet or [token])[:2][-1]
            _buy(at, washed, self._wallets[-1], wei=_ETHER)
            _sell(at, washed, self._wallets[-1], share=1)
        else:
            locker = node_client.bind_contract(at.rpc_url, "Locker", at.locker)
            node_client.transact(at.rpc_url, locker.functions.collectRewards(token.address), sender=wallet)

    def _draw_token(self) -> TradedSample:
        older = len(self._tokens) - _NEWEST
        weights = [
            _POPULAR_WEIGHT if token.is_popular else _NEWEST_WEIGHT if number >= older else 1
            for number, token in enumerate(self._tokens)
        ]
        [token] = self._random.choices(self._tokens, weights)
        return token

    def _draw_wei(self) -> int:
        return int(10 ** self._random.uniform(*_PURCHASES))

    def _read_launches(self, at: DevelopmentContracts) -> None:
        """Add the tokens launched since the last call."""
        head = node_client.connect(self._rpc_url).eth.block_number
        if head < self._read_to:
            # The node has restarted from an older state.
            self._tokens, self._read_to = [], -1
        placed = node_client.bind_contract(self._rpc_url, "Locker", at.locker).events.TokenRewardAdded()
        if head > self._read_to:
            logs = placed.get_logs(from_block=self._read_to + 1, to_block=head)
            self._tokens += [_describe(log["args"], self._wallets[:-1]) for log in logs]
            self._read_to = head


def _describe(added: Any, wallets: Sequence[str]) -> TradedSample:
    """Return a token, which has the same traders in every run."""
    random = Random(added["token"])
    is_popular = random.randrange(_POPULAR_ONE_IN) == 0
    count = _POPULAR_WALLETS if is_popular else random.randint(*_WALLETS)
    names = ("currency0", "currency1", "fee", "tickSpacing", "hooks")
    currency0, currency1, fee, spacing, hooks = (added["poolKey"][name] for name in names)
    return TradedSample(
        address=added["token"],
        key=(currency0, currency1, fee, spacing, hooks),
        wallets=tuple(random.sample(wallets, count)),
        is_popular=is_popular,
    )


def _buy(at: DevelopmentContracts, token: TradedSample, wallet: str, *, wei: int) -> None:
    _swap(at, token.key, wallet, currency=token.paired, amount=_worth(at, token.paired, wei))


def _sell(at: DevelopmentContracts, token: TradedSample, wallet: str, *, share: float) -> None:
    """Sell a share of the wallet's tokens, if it has some."""
    contract = node_client.bind_contract(at.rpc_url, "Token", token.address)
    balance: int = contract.functions.balanceOf(wallet).call()
    if balance:
        _swap(at, token.key, wallet, currency=token.address, amount=int(balance * share) if share < 1 else balance)


def _worth(at: DevelopmentContracts, currency: str, wei: int) -> int:
    """Return about as much of the dollar, or the wei for wrapped native."""
    return wei * _DOLLARS_PER_ETHER // _ETHER if currency == at.usd else wei


def _swap(at: DevelopmentContracts, key: PoolKey, wallet: str, *, currency: str, amount: int) -> None:
    """Swap an amount of the currency: native for its wrapped form, and dollars that are minted."""
    is_native = currency == at.wrapped_native
    if not is_native:
        _allow(at, currency, wallet)
    if currency == at.usd:
        usd = node_client.bind_contract(at.rpc_url, "UsdStandIn", at.usd)
        node_client.transact(at.rpc_url, usd.functions.mint(wallet, amount), sender=wallet)
    router = node_client.bind_contract(at.rpc_url, "SwapRouter", at.swap_router)
    call = router.functions.swap(key, currency, amount, 0)
    node_client.transact(at.rpc_url, call, sender=wallet, value=amount if is_native else 0)


def _allow(at: DevelopmentContracts, currency: str, wallet: str) -> None:
    contract = node_client.bind_contract(at.rpc_url, "Token", currency)
    if contract.functions.allowance(wallet, at.swap_router).call() < _UNLIMITED:
        approval = contract.functions.approve(at.swap_router, _UNLIMITED)
        node_client.transact(at.rpc_url, approval, sender=wallet)


def main() -> None:
    """Trade until the count is reached, or until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(prog="development.devchain.trader", description="Trade samples.")
    parser.add_argument("--rpc-url", required=True, help="the development node")
    parser.add_argument("--every", required=True, type=float, help="seconds between two trades")
    parser.add_argument("--count", type=int, help="stop after so many trades")
    options = parser.parse_args()
    exit_on_signals()
    traders = SampleTraders(options.rpc_url, random=Random())
    repeat_sample(
        traders.trade_once, rpc_url=options.rpc_url, every=options.every, at_once=_AT_ONCE, count=options.count
    )


if __name__ == "__main__":
    main()
