"""Block range size for `eth_getLogs`, which adapts to the limits that nodes report in their errors.

Pure. Every provider limits `eth_getLogs` differently, by blocks, logs, bytes or time, with an error text of its own.
`parse_range_limit` recognises texts that providers have sent; its tests list them.
"""

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# Fewer logs leave room for a longer range; more are heavy for both sides.
FEW_LOGS = 3_000
MANY_LOGS = 10_000
# After this many accepted ranges in a row, the size that was rejected last is tried again.
_FORGIVING = 64

# Errors that mention ranges or limits but that no shorter range cures: rate limits and missing blocks.
_OTHERWISE = re.compile(
    r"rate.?limit|too many requests|requests? (?:count|limit|quota)|per second|/second|/sec\b|compute units|"
    r"invalid block range|beyond current head|extends beyond|no backend is currently healthy"
)
# Providers' texts for a range that is too long or holds too much.
_TOO_MUCH = re.compile(
    r"range (?:is )?(?:too|bigger|larger|greater|exceed|limit)|max(?:imum)? (?:block )?range|"
    r"limited to .*(?:range|blocks?)\b|block range|ranges over|requested range|range \d+ .*(?:bigger|exceeds)|"
    r"range \d+ ?- ?\d+ exceeds|exceeds the range|blocks? distance|too many blocks|requested blocks|"
    r"smaller than size|query (?:to )?at most|limit the query to|"
    r"returned more than|returns? too many|too many (?:results|logs)|max(?:imum)? (?:results|logs)|"
    r"matched by query exceeds|length limit exceeded|"
    r"response (?:size|is too|too)|entity too large|"
    r"query time(?:d )?-?out|timeout (?:limit )?exceeded|deadline exceeded|request timed? ?out|timeout ="
)
# QuickNode's and Ankr's error codes for it.
_CODES = frozenset({-32614, -32062})

_NUMBER = r"(\d[\d,.]*k?)"
# A suggested range: Alchemy, Infura and zkSync in hex; geth and reth in decimals.
_RANGES = (
    (re.compile(r"\[\s*(0x[0-9a-f]{1,16})\s*,\s*(0x[0-9a-f]{1,16})\s*\]"), 16),
    (re.compile(r"with the range (\d{1,18})\s*-\s*(\d{1,18})"), 10),
)
# A maximum number of blocks.
_COUNTS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"limited to (?:an? )?(?:0 ?- ?)?{_NUMBER} ?(?:blocks?|range)",
        rf"up to an? {_NUMBER} block",
        rf"max(?:imum)? (?:block )?range(?: is| of|:| =)? ?{_NUMBER}",
        rf"maximum (?:is set to|allowed is|allowed number of requested blocks is) {_NUMBER}",
        rf"\(maximum {_NUMBER}\)",
        rf"at most {_NUMBER} blocks",
        rf"ranges over {_NUMBER} blocks",
        rf"range [\d -]+ exceeds limit of {_NUMBER}",
        rf"range limit {_NUMBER}",
        rf"range allowed for your plan \(\d+ > {_NUMBER}\)",
        rf"max is {_NUMBER} blocks",
        rf"range greater than {_NUMBER} max",
        rf"block range exceeds {_NUMBER}",
        rf"smaller than size {_NUMBER}",
        rf"blocks distance: {_NUMBER}",
    )
)
# Characters in an error text that are searched.
_LONGEST_TEXT = 2_000


@dataclass(frozen=True, slots=True)
class RangeLimit:
    """A node's limit on a log range; `blocks` is the length that it would accept, None if unspecified."""

    blocks: int | None


def parse_range_limit(error: Mapping[str, Any]) -> RangeLimit | None:
    """Return the range limit in a JSON-RPC error for `eth_getLogs`; None if the error has another cause."""
    data = error.get("data")
    text = f"{error.get('message')} {data if isinstance(data, str | dict) else ''}"[:_LONGEST_TEXT].lower()
    if _OTHERWISE.search(text):
        return None
    code = error.get("code")
    if not _TOO_MUCH.search(text) and not (type(code) is int and code in _CODES):
        return None
    return RangeLimit(_read_suggestion(text, data))


def _read_suggestion(text: str, data: object) -> int | None:
    if isinstance(data, dict) and isinstance(data.get("from"), str) and isinstance(data.get("to"), str):
        text = f"[{data['from'].lower()}, {data['to'].lower()}] {text}"
    for pattern, base in _RANGES:
        if match := pattern.search(text):
            blocks = int(match[2], base) - int(match[1], base) + 1
            return blocks if blocks > 0 else None
    for pattern in _COUNTS:
        if match := pattern.search(text):
            digits, thousands = re.sub("[,.k]", "", match[1]), match[1].rstrip(",.").endswith("k")
            return min(int(digits[:18]) * (1000 if thousands else 1), 10**18) or None
    return None


class RangeSize:
    """The length of the next block range, from 1 to the maximum. Shared by the threads that read one chain."""

    def __init__(self, blocks: int, *, longest: int) -> None:
        self._longest = longest
        self._blocks = min(blocks, longest)
        # The length rejected last, and how many ranges in a row were accepted since.
        self._refused: int | None = None
        self._accepted = 0
        self._lock = threading.Lock()

    @property
    def blocks(self) -> int:
        """Return the next range's length."""
        return self._blocks

    def shrink(self, refused: int, *, suggested: int | None = None) -> None:
        """Halve the length after a rejected range, or take the node's suggestion.

        If several threads are rejected at one length, the first one halves it and the others change nothing.
        """
        shorter = suggested if suggested is not None and suggested < refused else refused // 2
        with self._lock:
            self._blocks = max(1, min(self._blocks, shorter))
            # A limit that the node names is fixed; lengths between it and the rejected one are not tried.
            self._refused = min(refused, shorter + 1) if shorter == suggested else refused
            self._accepted = 0

    def record_range(self, blocks: int, *, logs: int) -> None:
        """Record an accepted range and its number of logs: few logs lengthen the next range by half, many halve it."""
        with self._lock:
            self._accepted += 1
            if self._accepted >= _FORGIVING:
                self._refused = None
            if logs > MANY_LOGS:
                self._blocks = max(1, min(self._blocks, blocks // 2))
            elif logs < FEW_LOGS and blocks >= self._blocks:
                limit = self._longest if self._refused is None else min(self._longest, self._refused - 1)
                self._blocks = max(self._blocks, min(self._blocks + self._blocks // 2 + 1, limit))
