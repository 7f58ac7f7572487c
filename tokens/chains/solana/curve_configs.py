"""Bonding curve terms, from config accounts of Meteora's Dynamic Bonding Curve. An account never changes.

Source: https://github.com/MeteoraAg/dynamic-bonding-curve (state/config.rs, curve.rs and
params/liquidity_distribution.rs).
"""

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from tokens.chains.errors import NodeUnavailableError, ProgramAccountError
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.rpc.client import RpcClient
from tokens.chains.solana.account_reading import read_accounts_by_node
from tokens.chains.solana.program_accounts import CONFIGS, account_reader

logger = logging.getLogger(__name__)

# Bytes before the quote threshold: discriminator; three accounts; fees; vesting; flags; the curve's base amount.
_BEFORE_THRESHOLD = 8 + 3 * 32 + 80 + 2 * 16 + 40 + 8
# Bytes between the migration price and the start: locked vesting, supplies, and terms for the next pool.
_BEFORE_START = 48 + 2 * 8 + 8 + 8 + 16
_SEGMENTS = 20
# Prices have 64 binary digits behind the point, and so has liquidity.
_DIGITS = 128


class CurveSegment(NamedTuple):
    """A price range up to `sqrt_price` with constant liquidity; it begins where the segment before ends."""

    sqrt_price: int
    liquidity: int


@dataclass(frozen=True, kw_only=True, slots=True)
class CurveConfig:
    """A curve's terms. Prices are square roots of quote per token, both in smallest units, times 2^64."""

    start_sqrt_price: int
    migration_sqrt_price: int
    # The quote reserve that completes the curve, in smallest units.
    migration_threshold: int
    segments: tuple[CurveSegment, ...]

    def reserve_at(self, sqrt_price: int) -> int:
        """Return a pool's quote reserve at this price, in smallest units, rounded down.

        As get_delta_amount_quote_unsigned in curve.rs. A pool's account may have a few units more, because the program
        rounds each swap in the pool's favour.
        """
        reserve, lower = 0, self.start_sqrt_price
        for segment in self.segments:
            reserve += max(min(sqrt_price, segment.sqrt_price) - lower, 0) * segment.liquidity
            lower = segment.sqrt_price
        return reserve >> _DIGITS


def read_curve_configs(rpc: RpcClient, chain: ChainInfo, configs: Sequence[str]) -> dict[str, CurveConfig]:
    """Return terms as `SolanaChain.read_curve_configs` does."""
    programs = chain.addresses("launch_program")

    def read(accounts: list[Any]) -> dict[str, CurveConfig]:
        terms = {}
        for config, account in zip(configs, accounts, strict=True):
            with suppress(ProgramAccountError):
                terms[config] = parse_curve_config(account, programs)
        return terms

    by_node = read_accounts_by_node(rpc, configs, read=read)
    valid = [terms for terms in by_node if terms is not None]
    required = 2 if len(by_node) > 1 else 1
    if len(valid) < required:
        raise NodeUnavailableError(f"chain {chain.chain_id}: configs are read from {len(valid)} of {required} nodes")
    agreed = {}
    for config in configs:
        versions = [terms[config] for terms in valid if config in terms]
        if len(versions) >= required and len(set(versions)) == 1:
            agreed[config] = versions[0]
        else:
            logger.warning("chain %s: no two nodes agree on the curve of config %s", chain.chain_id, config)
    return agreed


def parse_curve_config(account: Any, programs: Sequence[str]) -> CurveConfig:
    """Parse a config account from `getMultipleAccounts` in base64.

    The program computes the migration price from the threshold and the segments, so that wrong bytes contradict
    themselves. Raises ProgramAccountError, MalformedResponseError.
    """
    reader = account_reader(account, programs, sizes=CONFIGS, kind="config")
    reader.read_bytes(_BEFORE_THRESHOLD)
    threshold = reader.read_integer(8)
    reader.read_bytes(8)
    migration = reader.read_integer(16)
    reader.read_bytes(_BEFORE_START)
    start = reader.read_integer(16)
    points = [CurveSegment(reader.read_integer(16), reader.read_integer(16)) for _ in range(_SEGMENTS)]
    # Unused points are zero, behind those in use.
    config = CurveConfig(
        start_sqrt_price=start,
        migration_sqrt_price=migration,
        migration_threshold=threshold,
        segments=tuple(point for point in points if point.sqrt_price and point.liquidity),
    )
    prices = [start, *(segment.sqrt_price for segment in config.segments)]
    # The program rounds each segment up, and the price down by less than a reserve unit.
    missing = threshold - config.reserve_at(migration)
    if not threshold or prices != sorted(set(prices)) or not 0 <= missing <= len(config.segments) + 1:
        raise ProgramAccountError("the config's threshold, migration price and curve contradict each other")
    return config
