"""Launchpads that are declared as data: the events of their launches, and where each value of a launch comes from."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from tokens.chains.abi.codec import AbiEvent, AbiFunction
from tokens.chains.abi.paths import Path

PoolKind = Literal["v2", "v3", "v4", "curve"]
# Fields of a launch with the starting price of its curve: amounts of the quote token and of the launched one.
RESERVES = ("quote_reserve", "token_reserve")
ChangedField = Literal["creator", "uri", "image", "name", "symbol", "pool"]
# What an argument of an event after launch has: the token, the id of one of its pools, or that of its NFT.
EventKey = Literal["token", "pool_id", "nft_id"]
# Who emits it: the token, one of its pools, the hook of one, the launch's contracts, or that of its NFT.
EventEmitter = Literal["token", "pool", "hook", "launch", "nft"]
# Amount of a claim, by its key in a file: of the pool's currencies in their order, of the launched token, of its quote
# token, or of a currency that an argument has.
ClaimedAmount = Literal["amount0", "amount1", "token_amount", "quote_amount", "amount"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Argument:
    """An argument of the launch's event, or a part of it."""

    path: Path


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """The result of a view function at the launch's block, or a part of it.

    A contract or an argument is an address (EIP-55), or what the launch's event has.
    """

    function: AbiFunction
    contract: Argument | str
    arguments: tuple[Argument | str, ...]
    result: Path


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherLog:
    """An argument of another log in the launch's transaction, by an emitter that the declaration names.

    Of several logs that one counts whose argument `having` is the launched token. None where the token's own contract,
    which the launch names, emits it.
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
    """An address that is the same for each launch (EIP-55), or the amount of the token that a price is for."""

    value: str | int


Value = Argument | View | OtherLog | Sender | Constant


@dataclass(frozen=True, kw_only=True, slots=True)
class Condition:
    """A value that must be one of these; texts of addresses are EIP-55."""

    value: Value
    expected: frozenset[object]


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchNft:
    """The ERC-721 token that a launch mints for its token."""

    # Of the argument that has its id.
    id: Path
    # Lower-case address of a contract that launches -> EIP-55 address of the contract of its NFTs, which count from 1
    # each.
    contracts: Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchDeclaration:
    """A launch event, and the values of its launches. The first usable one of several counts: an address not zero."""

    event: AbiEvent
    # Chain -> EIP-55 addresses of the event's emitters.
    contracts: Mapping[int, tuple[str, ...]]
    conditions: tuple[Condition, ...]
    # Of the argument that has the launched token.
    token: Path
    pool: PoolKind
    # Name of another field, one of launchpad_rules.FIELDS or RESERVES -> its values.
    fields: Mapping[str, tuple[Value, ...]]
    nft: LaunchNft | None = None

    @property
    def other_logs(self) -> tuple[OtherLog, ...]:
        """The values in other logs of a launch's transaction."""
        values = (
            *(each.value for each in self.conditions),
            *(value for all_ in self.fields.values() for value in all_),
        )
        return tuple(value for value in values if isinstance(value, OtherLog))

    @property
    def other_emitters(self) -> tuple[str, ...]:
        """The emitters of these logs that are the same for each launch."""
        return tuple(value.emitter for value in self.other_logs if isinstance(value.emitter, str))


@dataclass(frozen=True, kw_only=True, slots=True)
class SwapPart:
    """Event of a hook about a swap: the part that it fills itself, beside the pool, and what it takes of the trader.

    Amounts have the signs of v4's `Swap`; of fees the size counts, and each is a sum. None, or nothing, of what the
    event does not have.
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
    """Event about a trade with a bonding curve. Amounts are those that the curve received (in) and paid (out)."""

    launchpad: str
    event: AbiEvent
    # Of the traded token, in events of contracts that launch; None where the emitter is the token's own curve.
    token: Path | None
    # None where the transaction's sender counts.
    trader: Path | None
    # False has the amounts of a purchase are those of a sale. None where the amounts have sides of their own.
    is_buy: Path | None
    token_in: Path | None
    token_out: Path | None
    quote_in: Path | None
    quote_out: Path | None
    # Of the quote token: what the trader paid besides, or got less.
    fee: Path | None
    # After the trade; None where the trade's average counts.
    price: CurvePrice | None


@dataclass(frozen=True, kw_only=True, slots=True)
class EventSubject:
    """The token that an event after launch is about, and the contracts that may emit the event."""

    # None where the emitter is the token, or its pool.
    key: EventKey | None
    # Of the argument that has it; empty without one.
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
    # Of the new value. None of a pair that was created with the token: its curve graduates into it.
    value: Path | None
    # Of a pool.
    pool: PoolKind | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenClaim:
    """Event about fees of a launched token that are paid to a recipient."""

    launchpad: str
    event: AbiEvent
    subject: EventSubject
    recipient: Path
    amounts: Mapping[ClaimedAmount, Path]
    # Of "amount".
    currency: Path | None


TokenEventDeclaration = TokenChange | TokenClaim
Declared = TypeVar("Declared", SwapPart, CurveTrade, TokenEventDeclaration)


def by_source(emitted: Iterable[tuple[str, Declared]]) -> Mapping[tuple[str, str], tuple[Declared, ...]]:
    """Return lower-case address and topic0 -> the declarations of its event; launchpads may share both."""
    found = defaultdict[tuple[str, str], list[Declared]](list)
    for address, declared in emitted:
        found[address, declared.event.topic0].append(declared)
    return {source: tuple(of_source) for source, of_source in found.items()}


@dataclass(frozen=True, kw_only=True, slots=True)
class Launchpad:
    """A launchpad: a declared one, or the title of one that has compiled generations."""

    name: str
    title: str
    # None of a launchpad with compiled generations.
    launches: tuple[LaunchDeclaration, ...] = ()
    # Accounts whose swaps are no trades, besides the pool's own hook if `hook_swaps`; EIP-55.
    internal_senders: frozenset[str] = frozenset()
    hook_swaps: bool = False
    # Of the contracts that emit its launches.
    swap_parts: tuple[SwapPart, ...] = ()
    trades: tuple[CurveTrade, ...] = ()
    changes: tuple[TokenChange, ...] = ()
    claims: tuple[TokenClaim, ...] = ()

    @property
    def later_events(self) -> tuple[TokenEventDeclaration, ...]:
        """The events of its tokens after their launch, without trades."""
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
        """Return the kinds of pools that its launches on a chain have."""
        kinds = {launch.pool for launch in self.launches if launch.contracts.get(chain_id)}
        return frozenset(kinds).union(change.pool for change in self.changes if kinds and change.pool)

    def launch_contracts(self, chain_id: int) -> frozenset[str]:
        """Return the lower-case addresses of a chain's contracts that emit its launches."""
        return frozenset(address.lower() for launch in self.launches for address in launch.contracts.get(chain_id, ()))

    def emitters(self, chain_id: int) -> frozenset[str]:
        """Return the lower-case addresses of a chain's contracts that emit launches, their values, or later events."""
        others = (
            address.lower()
            for launch in self.launches
            if launch.contracts.get(chain_id)
            for address in launch.other_emitters
        )
        later = (self.event_emitters(declared.subject, chain_id) for declared in self.later_events)
        return self.launch_contracts(chain_id).union(others, *later) - {""}

    def event_emitters(self, subject: EventSubject, chain_id: int) -> frozenset[str]:
        """Return the lower-case addresses of a chain's contracts that may emit an event; an empty one for any."""
        if not isinstance(subject.emitter, str):
            return frozenset(map(str.lower, subject.emitter.get(chain_id, ())))
        if subject.emitter == "launch":
            return self.launch_contracts(chain_id)
        if subject.emitter == "nft":
            of_launches = (launch.nft.contracts for launch in self.launches if launch.nft)
            launching = self.launch_contracts(chain_id)
            return frozenset(nft.lower() for nfts in of_launches for by, nft in nfts.items() if by in launching)
        return frozenset({""})
