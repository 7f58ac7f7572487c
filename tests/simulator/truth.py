"""A simulated chain's expected rows, recorded while it is built; no log is decoded for them."""

from dataclasses import dataclass, field, replace
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Share:
    """A fee recipient; `wants` is Both, Paired or Clanker."""

    admin: str
    recipient: str
    bps: int
    wants: str = "Both"

    def row(self) -> Json:
        """Return it as in the service's JSON."""
        return {"admin": self.admin, "recipient": self.recipient, "bps": self.bps, "token": self.wants}


@dataclass(frozen=True, kw_only=True)
class Happening:
    """An event after launch that counts, and its changes to the token.

    `changes` maps a token column to its value after the event; "recipient", "share_admin" and "wants" change one
    share of the fees, and are (index, value); "airdrop" holds keys of that extension. `claims` are (recipient,
    currency, amount).
    """

    kind: str
    emitter: str
    # None where fees were claimed in a currency.
    token: str | None
    # Numbers as decimal strings.
    arguments: Json
    changes: Json = field(default_factory=dict)
    claims: tuple[tuple[str, str, int], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Placed:
    """A position in the chain."""

    tx_hash: str
    tx_index: int
    log_index: int
    block_number: int
    block_hash: str
    # Unix seconds.
    block_time: int


@dataclass(frozen=True, kw_only=True)
class TokenTruth:
    """A launched token's current state."""

    at: Placed
    address: str
    # The row's columns by name, those that changed since the launch included.
    columns: Json
    shares: tuple[Share, ...]
    # Keys in `extensions` beside the fees, as the row has them; None where the launch has none.
    extensions: Json

    def after(self, happening: Happening) -> "TokenTruth":
        """Return the token after the event."""
        changes, shares = dict(happening.changes), list(self.shares)
        for name, attribute in (("recipient", "recipient"), ("share_admin", "admin"), ("wants", "wants")):
            if name in changes:
                index, value = changes.pop(name)
                shares[index] = replace(shares[index], **{attribute: value})
        extensions = self.extensions
        if "airdrop" in changes:
            extensions = extensions | {"airdrop": extensions["airdrop"] | changes.pop("airdrop")}
        return replace(self, columns=self.columns | changes, shares=tuple(shares), extensions=extensions)


@dataclass(frozen=True, kw_only=True)
class EventTruth:
    """An event that counts, with its position."""

    at: Placed
    happening: Happening


@dataclass(frozen=True, kw_only=True)
class SwapTruth:
    """A swap in a token's pool."""

    token: str
    is_buy: bool
    is_conversion: bool
    # Smallest units.
    amount_token: int
    amount_quote: int
    # Quote token per token, in smallest units: the square root times 2^96, inverted where the token is
    # currency 1.
    sqrt_price: int
    is_currency0: bool
    quote: str
    quote_decimals: int
    # What a v4 pool's hook took beside it, in the quote token.
    protocol_fee: int | None = None


@dataclass(frozen=True, kw_only=True)
class LiquidityTruth:
    """Liquidity that was added to a token's pool, or removed."""

    token: str
    tick_lower: int
    tick_upper: int
    liquidity: int
    # In currency 0 and currency 1, as v3's event has them.
    amounts: tuple[int | None, int | None] = (None, None)


@dataclass(frozen=True, kw_only=True)
class PoolLogTruth:
    """A swap or liquidity change with its position, and its transaction's sender."""

    at: Placed
    trader: str
    log: SwapTruth | LiquidityTruth


@dataclass(frozen=True, kw_only=True)
class Truth:
    """All rows expected for a chain: tokens by address, events and pool logs in the chain's sequence."""

    tokens: dict[str, TokenTruth]
    events: list[EventTruth]
    pool_logs: list[PoolLogTruth]
