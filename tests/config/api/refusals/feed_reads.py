"""Refusals of the feeds for aggregators."""

from tests.config.api.refusals.refusal_rows import (
    ADDRESS,
    EVM_ADDRESS,
    POOL,
    UNIX_SECONDS,
    Rows,
    number,
    required,
    unknown,
    wrong,
)

_BLOCK = number(0, 2**43 - 2)
_SYMBOL = "must be <chain id>:<address>, in USD, or <chain id>:<address>.QUOTE, in the paired token"
_NO_CHAIN = (
    *wrong("chainId", "must be an EVM chain of this installation, with market data from its own trades", 101, 7),
    *wrong("chainId", number(1, 2**63 - 1), "nonsense"),
)
_BLOCKS: Rows = (
    *_NO_CHAIN,
    *required("fromBlock", "toBlock"),
    *wrong("fromBlock", _BLOCK, "x", "-1", "1.0"),
    *wrong("toBlock", _BLOCK, "x", "-1", "1.0"),
    *wrong("toBlock", "must be at least fromBlock", 1),
)


def _by_id(name: str, rule: str = EVM_ADDRESS) -> Rows:
    return (
        *_NO_CHAIN,
        *required("id"),
        *wrong("id", rule, "nonsense", ADDRESS + "0"),
        *unknown(f"{name} not found", id=ADDRESS),
    )


REFUSALS = {
    "screenerLatestBlock": _NO_CHAIN,
    "screenerAsset": _by_id("Asset"),
    "screenerPair": _by_id("Pair", POOL),
    "screenerEvents": _BLOCKS,
    "toolsLatestBlock": _NO_CHAIN,
    "toolsAsset": _by_id("Asset"),
    "toolsPair": _by_id("Pair", POOL),
    "toolsExchange": _by_id("Exchange"),
    "toolsEvents": _BLOCKS,
    "toolsBlock": (
        *_NO_CHAIN,
        *wrong("number", "must be given, or timestamp", ""),
        *wrong("number", _BLOCK, "x", "-1"),
        *wrong("timestamp", UNIX_SECONDS, "x", "-1"),
    ),
    "toolsHolders": (
        *_NO_CHAIN,
        *required("id"),
        *wrong("id", EVM_ADDRESS, "nonsense"),
        *wrong("page", number(0, 10_000), -1, 10_001),
        *wrong("pageSize", number(10, 50), 9, 51, "ten"),
    ),
    "udfSymbol": (
        *required("symbol"),
        *wrong("symbol", _SYMBOL, "DOGE", f"8453:{ADDRESS}.USD", ADDRESS, f"08453:{ADDRESS}", f" 8453:{ADDRESS}"),
        *wrong("symbol", _SYMBOL, f"8453:{ADDRESS}\n"),
        *unknown("unknown_symbol", symbol=f"7:{ADDRESS}"),
        *unknown("unknown_symbol", symbol=f"8453:{ADDRESS}"),
        *unknown("unknown_symbol", symbol=f"101:{ADDRESS}"),
    ),
    "udfSearch": (
        *wrong("limit", number(1, 50), "nonsense", -1, 51),
        *wrong("query", "must have at most 100 characters", "a" * 101),
        *wrong("type", "must be crypto", "stock"),
        *wrong("exchange", number(1, 2**63 - 1), "x"),
    ),
    "udfHistory": (
        *required("symbol", "resolution", "to"),
        *wrong("symbol", _SYMBOL, "DOGE"),
        *wrong("resolution", "must be one of 1, 5, 15, 60, 240, 1D, D", "2"),
        *wrong("to", UNIX_SECONDS, "x"),
        *wrong("from", "must be Unix seconds, a whole number from -253402300799 to 253402300799", "x", "--1"),
        *wrong("from", "must be at most to, unless countback is given", 1_767_571_201),
        *wrong("countback", number(1, 100_000), 0),
        *unknown("unknown_symbol", symbol=f"7:{ADDRESS}"),
    ),
    "dailySums": (
        *_NO_CHAIN,
        *required("day"),
        *wrong("day", "must be a day as YYYY-MM-DD, from 2010 to 2099", "x", "2026-13-01", "2999-01-01"),
    ),
}
