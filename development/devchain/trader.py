"""Sample token traders on the development chain: a few wallets per token, popular tokens, and a wash trader.

Usage: `python -m development.devchain.trader --rpc-url URL --every SECONDS [--count N]`.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from random import Random, SystemRandom

from development.devchain import node_client
from development.devchain.anvil import TRADERS
from development.devchain.deploy_contracts import DevelopmentContracts, locate_contracts
from development.devchain.sample_loop import NotReadyError, exit_on_signals, repeat_sample
from development.devchain.sample_swaps import ETHER, buy, graduate, sell, swap, value_in
from development.devchain.traded_samples import TradedSample, describe_sample, read_pools

# Trades without delay at the start, so that a fresh installation has data at once.
_AT_ONCE = 20
# Trades per output line.
_A_LINE = 50
# Popular tokens are traded more frequently. So are the newest ones.
_POPULAR_WEIGHT = 30
_NEWEST, _NEWEST_WEIGHT = 3, 15
# Exponents of the smallest and the largest purchase, in wei: 10 to these powers.
_PURCHASES = (15.7, 18.0)
# Percent of all trades.
_KINDS = {
    "purchases": 50,
    "sales": 28,
    "swaps of ether": 8,
    "wash trades": 5,
    "fee collections": 5,
    "graduations": 4,
}


class SampleTraders:
    """Traders on a node's chain, and the tokens launched on it so far."""

    def __init__(self, rpc_url: str, *, random: Random) -> None:
        self._rpc_url, self._random = rpc_url, random
        self._at: DevelopmentContracts | None = None
        self._wallets: Sequence[str] = ()
        self._tokens: dict[str, TradedSample] = {}
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
        token = self._draw_token(kind)
        wallet = self._random.choice(token.wallets)
        if kind == "sales":
            share = self._random.uniform(0.2, 1)
            # By the first wallet that has some.
            any(sell(at, token, owner, share=share) for owner in (wallet, *token.wallets))
        elif kind == "swaps of ether":
            currency = self._random.choice((at.wrapped_native, at.usd))
            swap(at, at.dollar_pool_key, wallet, currency=currency, amount=value_in(at, currency, self._draw_wei()))
        elif kind == "wash trades" and token.key:
            buy(at, token, self._wallets[-1], wei=ETHER)
            sell(at, token, self._wallets[-1], share=1)
        elif kind == "fee collections" and token.has_locker:
            locker = node_client.bind_contract(at.rpc_url, "Locker", at.locker)
            node_client.transact(at.rpc_url, locker.functions.collectRewards(token.address), sender=wallet)
        elif kind == "graduations" and token.key is None:
            graduate(at, token, wallet)
        else:
            buy(at, token, wallet, wei=self._draw_wei())

    def _draw_token(self, kind: str) -> TradedSample:
        """Draw a token that has this kind of trade, or any token if none has."""
        tokens = list(self._tokens.values())
        if kind == "wash trades":
            # One quiet token, with much volume by a single wallet; the `make run` greeting names an older one.
            tokens = [token for token in tokens if token.has_locker and not token.is_popular][:2][-1:] or tokens
        elif kind == "fee collections":
            tokens = [token for token in tokens if token.has_locker] or tokens
        elif kind == "graduations":
            tokens = [token for token in tokens if token.key is None] or tokens
        older = len(tokens) - _NEWEST
        weights = [
            _POPULAR_WEIGHT if token.is_popular else _NEWEST_WEIGHT if number >= older else 1
            for number, token in enumerate(tokens)
        ]
        [token] = self._random.choices(tokens, weights)
        return token

    def _draw_wei(self) -> int:
        return int(10 ** self._random.uniform(*_PURCHASES))

    def _read_launches(self, at: DevelopmentContracts) -> None:
        """Add tokens launched since the last call, and graduated tokens' pools."""
        head = node_client.connect(self._rpc_url).eth.block_number
        if head < self._read_to:
            # The node has restarted from an older state.
            self._tokens, self._read_to = {}, -1
        if head > self._read_to:
            pools = read_pools(at, self._read_to + 1, head)
            self._tokens |= {token: describe_sample(token, key, self._wallets[:-1]) for token, key in pools.items()}
            self._read_to = head


def main() -> None:
    """Trade until the count is reached, or until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(prog="development.devchain.trader", description="Trade samples.")
    parser.add_argument("--rpc-url", required=True, help="the development node")
    parser.add_argument("--every", required=True, type=float, help="seconds between two trades")
    parser.add_argument("--count", type=int, help="stop after so many trades")
    options = parser.parse_args()
    exit_on_signals()
    traders = SampleTraders(options.rpc_url, random=SystemRandom())
    repeat_sample(
        traders.trade_once, rpc_url=options.rpc_url, every=options.every, at_once=_AT_ONCE, count=options.count
    )


if __name__ == "__main__":
    main()
