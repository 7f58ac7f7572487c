"""Launchpads that are declared as data: their launch events, and the source for each launch value."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from tokens.chains.abi.codec import AbiEvent, AbiFunction
from tokens.chains.abi.paths import Path

PoolKind = Literal["v2", "v3", "v4", "curve"]
# Launch fields with the curve's starting price: quote token amount and launched token amount.
RESERVES = ("quote_reserve", "token_reserve")
# Amounts of a trade with a curve, which received the `in` amounts and paid the `out` amounts.
FLOWS = ("token_in", "token_out", "quote_in", "quote_out")
ChangedField = Literal["creator", "uri", "image", "name", "symbol", "pool"]
# How an argument identifies the token in an event after launch: by its address, its pool's id, or its NFT's id.
EventKey = Literal["token", "pool_id", "nft_id"]
# The event's emitter: the token, its pool, a pool's hook, the launch's contracts, or its NFT's contract.
EventEmitter = Literal["token", "pool", "hook", "launch", "nft"]
# Claim amount, by its key in a file: in the pool's currencies by their order, in the launched token, in its quote
# token, or in a currency that an argument has.
ClaimedAmount = Literal["amount0", "amount1", "token_amount", "quote_amount", "amount"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Argument:
    """An argument in the launch event, or a member of it."""

    path: Path


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """A view function's result at the launch's block, or a member of it.

    A contract or an argument is an address (EIP-55), or an argument in the launch event.
    """

    function: AbiFunction
    contract: Argument | str
    arguments: tuple[Argument | str, ...]
    result: Path


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherLog:
    """An argument in another log in the launch's transaction, by an emitter that the declaration names.

    Among several logs, the one whose argument `having` is the launched token counts. `having` is None if the token's
    own contract, which the launch event has, emits the log.
    """

    event: AbiEvent
    emitter: Argument | str
    having: Path | None
    result: Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Sender:
    """The account that sent the launch's transaction."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Constant:
    """An address that is the same for each launch (EIP-55), or the token amount that a price is for."""

    value: str | int


Value = Argument | View | OtherLog | Sender | Constant


@dataclass(frozen=True, kw_only=True, slots=True)
class Condition:
    """A value that must be in `expected`; address texts are EIP-55."""

    value: Value
    expected: frozenset[object]


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchNft:
    """The ERC-721 token that a launch mints for its token."""

    # Path to the argument that has its id.
    id: Path
    # Lower-case launching contract -> its NFT contract (EIP-55). Each NFT contract counts from 1.
    contracts: Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchDeclaration:
    """A launch event, and its launches' values. In each field, the first usable value counts: an address not zero."""

    event: AbiEvent
    # Chain -> EIP-55 addresses of the event's emitters.
    contracts: Mapping[int, tuple[str, ...]]
    conditions: tuple[Condition, ...]
    # Path to the argument that has the launched token.
    token: Path
    pool: PoolKind
    # Another field's name, in launchpad_rules.FIELDS or RESERVES -> its values.
    fields: Mapping[str, tuple[Value, ...]]
    nft: LaunchNft | None = None

    @property
    def other_logs(self) -> tuple[OtherLog, ...]:
        """The values in a launch transaction's other logs."""
        values = (
            *(each.value for each in self.conditions),
            *(value for all_ in self.fields.values() for value in all_),
        )
        return tuple(value for value in values if isinstance(value, OtherLog))

    @property
    def other_emitters(self) -> tuple[str, ...]:
        """The other logs' emitters that are the same for each launch."""
        return tuple(value.emitter for value in self.other_logs if isinstance(value.emitter, str))


@dataclass(frozen=True, kw_only=True, slots=True)
class SwapPart:
    """A hook's event about a swap: the part that the hook fills itself beside the pool, and its fees from the trader.

    Amounts are signed as in v4's `Swap`. Each fee is a sum whose sign does not count. A value that the event lacks is
    None or empty.
    """

    launchpad: str
    event: AbiEvent
    pool: Path
    amount0: Path | None
    amount1: Path | None
    fee0: tuple[Path, ...]
    fee1: tuple[Path, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class CurvePrice:
    """The quote token's smallest units for one of the launched token: `quote` divided by `token`, or by 10^decimals."""

    quote: Path
    token: Path | None
    decimals: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class CurveTrade:
    """Event about a trade with a bonding curve, which received the `in` amounts and paid the `out` amounts."""

    launchpad: str
    event: AbiEvent
    # Path to the traded token in a launching contract's event; None if the emitter is the token's own curve.
    token: Path | None
    # None if the transaction's sender counts.
    trader: Path | None
    # If its value is False, a purchase's amounts belong to a sale. None if each side has its own amounts.
    is_buy: Path | None
    token_in: Path | None
    token_out: Path | None
    quote_in: Path | None
    quote_out: Path | None
    # Quote token amount that the trader paid on top, or received less.
    fee: Path | None
    # After the trade; None if the trade's average counts.
    price: CurvePrice | None


@dataclass(frozen=True, kw_only=True, slots=True)
class EventSubject:
    """The token that an event after launch is about, and the contracts that may emit the event."""

    # None if the emitter is the token, or its pool.
    key: EventKey | None
    # Path to the argument that has the key's value; empty without a key.
    path: Path
    # Or chain -> EIP-55 addresses.
    emitter: EventEmitter | Mapping[int, tuple[str, ...]]


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenChange:
    """Event that changes a launched token after its launch."""

    launchpad: str
    event: AbiEvent
    subject: EventSubject
    field: ChangedField
    # Path to the new value. None for a pair that was created with the token: its curve graduates into it.
    value: Path | None
    # The new pool's kind.
    pool: PoolKind | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenClaim:
    """Event about a launched token's fees that are paid to a recipient."""

    launchpad: str
    event: AbiEvent
    subject: EventSubject
    recipient: Path
    amounts: Mapping[ClaimedAmount, Path]
    # For "amount".
    currency: Path | None


TokenEventDeclaration = TokenChange | TokenClaim
Declared = TypeVar("Declared", SwapPart, CurveTrade, TokenEventDeclaration)


def by_source(emitted: Iterable[tuple[str, Declared]]) -> Mapping[tuple[str, str], tuple[Declared, ...]]:
    """Return lower-case address and topic0 -> declarations with that event; launchpads may share both."""
    sources = defaultdict[tuple[str, str], list[Declared]](list)
    for address, declared in emitted:
        sources[address, declared.event.topic0].append(declared)
    return {source: tuple(declarations) for source, declarations in sources.items()}


@dataclass(frozen=True, kw_only=True, slots=True)
class Launchpad:
    """A declared launchpad, or the title for a launchpad with compiled generations."""

    name: str
    title: str
    # Empty for a launchpad with compiled generations.
    launches: tuple[LaunchDeclaration, ...] = ()
    # Accounts whose swaps are no trades, besides the pool's own hook if `hook_swaps`; EIP-55.
    internal_senders: frozenset[str] = frozenset()
    hook_swaps: bool = False
    # Events by the contracts that emit its launches.
    swap_parts: tuple[SwapPart, ...] = ()
    trades: tuple[CurveTrade, ...] = ()
    changes: tuple[TokenChange, ...] = ()
    claims: tuple[TokenClaim, ...] = ()

    @property
    def later_events(self) -> tuple[TokenEventDeclaration, ...]:
        """Its tokens' events after their launch, without trades."""
        return (*self.changes, *self.claims)

    @property
    def graduates_into_pair(self) -> bool:
        """Whether its curves graduate into pairs that are created with the tokens."""
        return any(change.field == "pool" and change.value is None for change in self.changes)

    def senders_in(self, hook: str | None) -> frozenset[str]:
        """Return the accounts whose swaps in a pool with this hook are no trades."""
        return self.internal_senders | {hook} if hook and self.hook_swaps else self.internal_senders

    def is_on(self, chain_id: int) -> bool:
        """Return whether the launchpad has contracts on a chain."""
        return bool(self.launch_contracts(chain_id))

    def pool_kinds(self, chain_id: int) -> frozenset[PoolKind]:
        """Return the kinds of pools that its launches on a chain begin in and move to."""
        kinds = {launch.pool for launch in self.launches if launch.contracts.get(chain_id)}
        return frozenset(kinds).union(change.pool for change in self.changes if kinds and change.pool)

    def launch_contracts(self, chain_id: int) -> frozenset[str]:
        """Return the lower-case addresses at which a chain's contracts emit its launches."""
        return frozenset(address.lower() for launch in self.launches for address in launch.contracts.get(chain_id, ()))

    def emitters(self, chain_id: int) -> frozenset[str]:
        """Return a chain's contracts that emit launches, launch values, or later events, in lower case."""
        others = (
            address.lower()
            for launch in self.launches
            if launch.contracts.get(chain_id)
            for address in launch.other_emitters
        )
        later = (self.event_emitters(declared.subject, chain_id) for declared in self.later_events)
        return self.launch_contracts(chain_id).union(others, *later) - {""}

    def event_emitters(self, subject: EventSubject, chain_id: int) -> frozenset[str]:
        """Return a chain's contracts that may emit an event, in lower case; an empty text stands for any."""
        if not isinstance(subject.emitter, str):
            return frozenset(map(str.lower, subject.emitter.get(chain_id, ())))
        if subject.emitter == "launch":
            return self.launch_contracts(chain_id)
        if subject.emitter == "nft":
            mappings = (launch.nft.contracts for launch in self.launches if launch.nft)
            launching = self.launch_contracts(chain_id)
            return frozenset(nft.lower() for nfts in mappings for by, nft in nfts.items() if by in launching)
        return frozenset({""})
