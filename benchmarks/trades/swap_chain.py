"""The chain that trades are read from: swaps in the `traded_tokens` pools, and a node's responses about them.

The chain ends now, so that no candle is after its retention. Half the swaps are in some 400 pools among 200,000. One in
a hundred is by the locker; one block in ten begins with a swap in a reference pool, which gives all others a price in
USD. A log is rendered once, at the start.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from random import Random
from typing import Any

from benchmarks.backfill.backfill_answers import BLOCKS_BEHIND, Answers, first_topics, one_or_many
from benchmarks.backfill.backfill_chain import BLOCK_SECONDS, block_hash, make_block, make_transaction, transaction_hash
from benchmarks.trades.traded_tokens import LOWER_TICK, address, pool_id
from development.standins.loopback import RefusedError
from tests.simulator.chain import Block
from tokens.chains.abi import codec

# On Base: the PoolManager, a reference pool with wrapped ether (currency 0) and USDC, and v4's locker.
_MANAGER, _REFERENCE = "0x498581ff718922c3f8e6a244956af099b2652b2b", "0xd0b53d9277642d899df5c87a3966a349a798f224"
_LOCKER, _ROUTER = "63d2dfea64b3433f4071a98665bcd7ca14d93496", "6ff5693b99212da76ad316178a184ab56d299b43"
_V4_SWAP = codec.load_abi("uniswap_v4").event("Swap").topic0
_V3_SWAP = codec.load_abi("uniswap_v3").event("Swap").topic0
_REPORT = codec.load_abi("v4_fees").event("FeesSwapped").topic0
_CONVERSION_EVERY, _REFERENCE_EVERY = 100, 10
# Square roots of prices as pools have them: currency 1's smallest unit per currency 0's.
_UNIT = 2**96
_STARTING_PRICE = int(1.0001 ** (LOWER_TICK / 2) * _UNIT)
_ETHER_PRICE = int((3_500 * 10**6 / 10**18) ** 0.5 * _UNIT)


@dataclass(frozen=True)
class SwapChain:
    """So many swaps in the first tokens' pools, as many in each block."""

    swaps: int
    pools: int
    blocks: int
    # Unix seconds.
    first_time: int

    @property
    def per_block(self) -> int:
        return self.swaps // self.blocks

    def block_time(self, number: int) -> int:
        return self.first_time + BLOCK_SECONDS * number

    def block(self, number: int) -> Block:
        """Return a block with as many transactions as it has swaps and a reference swap."""
        count = self.per_block + 1 if number < self.blocks else 0
        transactions = [make_transaction(number, index) for index in range(count)]
        return make_block(number, transactions, time=self.block_time(number), logs_bloom=2**2048 - 1)

    @cached_property
    def reports(self) -> dict[int, list[bytes]]:
        """Return block -> conversion reports; known once all logs were rendered."""
        return {}

    @cached_property
    def totals(self) -> dict[str, int]:
        """Return counts and sums over all swaps; known once all logs were rendered."""
        return dict.fromkeys(("buys", "conversions", "amount_token", "amount_quote"), 0)

    def render_logs(self) -> list[bytes]:
        """Return each block's swaps as JSON, without the reference pool's."""
        random = Random("swaps")
        weights = list(accumulate(1 / rank for rank in range(1, self.pools + 1)))
        # Popular pools have any number.
        ids = random.sample([pool_id(number) for number in range(1, self.pools + 1)], self.pools)
        texts = []
        for block in range(self.blocks):
            pools = random.choices(ids, cum_weights=weights, k=self.per_block)
            logs = [self._render(random, pool, block, index) for index, pool in enumerate(pools, start=1)]
            texts.append(",".join(logs).encode())
        return texts

    def _render(self, random: Random, pool: str, block: int, index: int) -> str:
        """Return a swap: as in v4, amounts are the swapper's, and what was paid is negative."""
        is_buy, token, quote = (
            random.random() < 0.55,
            random.randrange(10**22, 10**26),
            random.randrange(10**14, 10**18),
        )
        is_conversion = self._is_conversion(block, index)
        price = int(_STARTING_PRICE * random.uniform(1, 4))
        for name, value in zip(self.totals, (is_buy, is_conversion, token, quote), strict=True):
            self.totals[name] += value
        amounts = (token, -quote) if is_buy else (-token, quote)
        if int(pool[-1], 16) % 2:
            amounts, price = (amounts[1], amounts[0]), _UNIT * _UNIT // price
        words = (*amounts, price, 10**24, -200_000, 10_000)
        data = _words(*words)
        topics = f'"{_V4_SWAP}","{pool}","0x{_ROUTER:0>64}"'
        text = self._log_text(_MANAGER, topics, data, block, index)
        if is_conversion:
            self.reports.setdefault(block, []).append(self._report(pool, block, index))
        return text

    def _is_conversion(self, block: int, index: int) -> bool:
        return (block * self.per_block + index) % _CONVERSION_EVERY == 0

    def _report(self, pool: str, block: int, index: int) -> bytes:
        """Return the locker's report about a conversion, as the log after the swap's."""
        token = f"0x{address(int(pool[34:], 16))[2:]:0>64}"
        topics = f'"{_REPORT}","{token}","{token}","0x{"0" * 64}"'
        return self._log_text(f"0x{_LOCKER}", topics, _words(1, 1), block, index, is_report=True).encode()

    def reference_log(self, block: int) -> bytes:
        """Return the swap in the reference pool with which a block begins."""
        price = _ETHER_PRICE + block * _ETHER_PRICE // 10 // self.blocks
        data = _words(-(10**18), 3_500 * 10**6, price, 10**18, -194_000)
        topics = f'"{_V3_SWAP}","0x{_ROUTER:0>64}","0x{_ROUTER:0>64}"'
        return self._log_text(_REFERENCE, topics, data, block, 0).encode()

    def _log_text(
        self, emitter: str, topics: str, data: str, block: int, index: int, *, is_report: bool = False
    ) -> str:
        return (
            f'{{"address":"{emitter}","topics":[{topics}],"data":"0x{data}","blockHash":"{block_hash(block)}",'
            f'"blockNumber":"{block:#x}","transactionHash":"{transaction_hash(block, index)}",'
            f'"transactionIndex":"{index:#x}","logIndex":"{2 * index + is_report:#x}","removed":false,'
            f'"blockTimestamp":"{self.block_time(block):#x}"}}'
        )


def _words(*values: int) -> str:
    return "".join(f"{value % 2**256:064x}" for value in values)


class SwapAnswers(Answers):
    """A node's responses with these swaps, and without launches or anything else."""

    def __init__(self, chain: SwapChain) -> None:
        self._chain = chain
        self.head = chain.blocks - 1 + BLOCKS_BEHIND
        self._logs_of_blocks = chain.render_logs()

    def logs(self, wanted: Mapping[str, Any], *, stamped: bool, most: int) -> bytes:
        first, last = self.number(wanted["fromBlock"]), self.number(wanted["toBlock"])
        blocks = range(first, min(last + 1, self._chain.blocks))
        addresses, topics = one_or_many(wanted.get("address")), first_topics(wanted) or frozenset()
        has_pools = _V4_SWAP in topics and (addresses is None or _MANAGER in addresses)
        has_reference = _V3_SWAP in topics and (addresses is None or _REFERENCE in addresses)
        if has_pools and len(blocks) * (self._chain.per_block + 1) > most:
            raise RefusedError(-32005, f"query returned more than {most} results")
        texts = []
        for number in blocks:
            if has_reference and number % _REFERENCE_EVERY == 0:
                texts.append(self._chain.reference_log(number))
            if has_pools:
                texts.append(self._logs_of_blocks[number])
            if _REPORT in topics and addresses is None:
                texts += self._chain.reports.get(number, ())
        return b"[" + b",".join(texts) + b"]"
