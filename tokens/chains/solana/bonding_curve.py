"""Meteora's Dynamic Bonding Curve: which pools its instructions made, and which fees they paid out. Pure.

Instructions and events are named by the first eight bytes of a hash of their name, as Anchor has it. What an
instruction did, the program tells by calling itself, under an authority that it alone can sign for; so an event is
known from one that another program made up. Each instruction is read with its event, and both must agree.

Source: https://github.com/MeteoraAg/dynamic-bonding-curve (instructions and events of the program).
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from solders.pubkey import Pubkey

from tokens.chains.solana.borsh import BorshError, BorshReader
from tokens.chains.solana.transaction_forms import Instruction
from tokens.chains.types import LogUndecodable

# Anchor's mark of an instruction by which a program calls itself to tell of an event.
_EVENT_MARK = bytes.fromhex("e445a52e51cb9a1d")
_MARK_SIZE = 8


def _mark(kind: Literal["global", "event"], name: str) -> bytes:
    return hashlib.sha256(f"{kind}:{name}".encode()).digest()[:_MARK_SIZE]


# An instruction that makes a pool -> which of its accounts pays; the accounts before are the same in all.
_LAUNCHES = {
    _mark("global", "initialize_virtual_pool_with_spl_token"): 10,
    _mark("global", "initialize_virtual_pool_with_spl_token2"): 11,
    _mark("global", "initialize_virtual_pool_with_token2022"): 8,
    _mark("global", "initialize_virtual_pool_with_token2022_2"): 9,
    _mark("global", "initialize_virtual_pool_with_token2022_transfer_hook"): 9,
}
_CONFIG, _CREATOR, _BASE_MINT, _QUOTE_MINT, _POOL = 0, 2, 3, 4, 5
# {pool: Pubkey, config: Pubkey, creator: Pubkey, base_mint: Pubkey, pool_type: u8, activation_point: u64}
_LAUNCH_EVENTS = {_mark("event", "EvtInitializePool"), _mark("event", "EvtInitializePoolWithTransferHook")}


@dataclass(frozen=True, kw_only=True, slots=True)
class _ClaimLayout:
    """Where an instruction that pays out fees has its accounts, and by which events it tells of it."""

    paid_to: Literal["creator", "partner"]
    pool: int
    base_mint: int
    quote_mint: int
    claimer: int
    # {pool: Pubkey, token_base_amount: u64, token_quote_amount: u64}
    events: frozenset[bytes]


_OF_CREATOR = _ClaimLayout(
    paid_to="creator",
    pool=1,
    base_mint=6,
    quote_mint=7,
    claimer=8,
    events=frozenset(
        {_mark("event", "EvtClaimCreatorTradingFee"), _mark("event", "EvtClaimCreatorTradingFeeWithTransferHook")}
    ),
)
_OF_PARTNER = _ClaimLayout(
    paid_to="partner",
    pool=2,
    base_mint=7,
    quote_mint=8,
    claimer=9,
    events=frozenset({_mark("event", "EvtClaimTradingFee"), _mark("event", "EvtClaimTradingFeeWithTransferHook")}),
)
_CLAIMS = {
    _mark("global", "claim_creator_trading_fee"): _OF_CREATOR,
    _mark("global", "claim_creator_trading_fee2"): _OF_CREATOR,
    _mark("global", "claim_trading_fee"): _OF_PARTNER,
    _mark("global", "claim_trading_fee2"): _OF_PARTNER,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class MadePool:
    """A pool that an instruction made, with the mint whose supply it sells."""

    index: int
    pool: str
    config: str
    creator: str
    base_mint: str
    quote_mint: str
    name: str
    symbol: str
    uri: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PaidFees:
    """Fees that an instruction paid out of a pool, in smallest units of its two mints."""

    index: int
    paid_to: Literal["creator", "partner"]
    pool: str
    claimer: str
    base_mint: str
    quote_mint: str
    base_amount: int
    quote_amount: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Step:
    """An instruction of the program, with the events that it told of."""

    instruction: Instruction
    mark: bytes
    # Without the mark of events: each begins with the mark of its own name.
    events: tuple[bytes, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Launchpad:
    """By what a launchpad's own pools are told from all others."""

    configs: frozenset[str]
    # Those who create pools, or pay for them. The program makes no pool unless both have signed, which an account of a
    # launchpad's own program does without being a signer of the transaction.
    creators: frozenset[str]


def read_pools(instructions: Sequence[Instruction], *, program: str, launchpad: Launchpad) -> list[MadePool]:
    """The pools of the launchpad that a transaction made.

    Raises LogUndecodable where one of them has another layout than known, or its event is missing or contradicts it.
    """
    made = []
    for step in _steps(instructions, program=program):
        if step.mark in _LAUNCHES:
            pool = _read_pool(step, launchpad)
            if pool is not None:
                made.append(pool)
        elif any(_is_launch_of(event, launchpad) for event in step.events):
            raise LogUndecodable("the program tells of a pool that no known instruction made")
    return made


def read_claims(instructions: Sequence[Instruction], *, program: str) -> list[PaidFees]:
    """The fees that a transaction had pools pay out. Raises LogUndecodable, as `read_pools` does."""
    return [
        _read_claim(step, _CLAIMS[step.mark]) for step in _steps(instructions, program=program) if step.mark in _CLAIMS
    ]


def _steps(instructions: Sequence[Instruction], *, program: str) -> Iterator[_Step]:
    """The program's instructions, each with the events that came before the next one.

    They are its own: a program can't be entered again while it runs, but by itself.
    """
    authority = event_authority(program)
    ours = [instruction for instruction in instructions if instruction.program == program]
    starts = [number for number, instruction in enumerate(ours) if not _is_event(instruction, authority)]
    for start, end in pairwise([*starts, len(ours)]):
        events = tuple(
            caused.data[_MARK_SIZE:] for caused in ours[start + 1 : end] if caused.outer == ours[start].outer
        )
        yield _Step(instruction=ours[start], mark=ours[start].data[:_MARK_SIZE], events=events)


def _is_event(instruction: Instruction, authority: str) -> bool:
    return instruction.data.startswith(_EVENT_MARK) and instruction.accounts == (authority,)


@lru_cache(maxsize=16)
def event_authority(program: str) -> str:
    """The account under whose signature a program calls itself to tell of an event."""
    return str(Pubkey.find_program_address([b"__event_authority"], Pubkey.from_string(program))[0])


def _read_pool(step: _Step, launchpad: Launchpad) -> MadePool | None:
    payer = _LAUNCHES[step.mark]
    accounts = step.instruction.accounts
    if len(accounts) <= payer:
        raise LogUndecodable("an instruction that makes a pool has too few accounts")
    made_by = {accounts[_CREATOR], accounts[payer]}
    if accounts[_CONFIG] not in launchpad.configs and launchpad.creators.isdisjoint(made_by):
        return None
    reader = BorshReader(step.instruction.data[_MARK_SIZE:])
    try:
        # What comes after them the program ignores, too.
        name, symbol, uri = reader.text(), reader.text(), reader.text()
        told = [_read_launch_event(event) for event in step.events if event[:_MARK_SIZE] in _LAUNCH_EVENTS]
    except BorshError as error:
        raise LogUndecodable(f"an instruction that makes a pool, or its event, can't be decoded: {error}") from error
    if told != [tuple(accounts[number] for number in (_POOL, _CONFIG, _CREATOR, _BASE_MINT))]:
        raise LogUndecodable("an instruction that makes a pool does not have one event that says the same")
    return MadePool(
        index=step.instruction.index,
        pool=accounts[_POOL],
        config=accounts[_CONFIG],
        creator=accounts[_CREATOR],
        base_mint=accounts[_BASE_MINT],
        quote_mint=accounts[_QUOTE_MINT],
        name=name,
        symbol=symbol,
        uri=uri,
    )


def _read_launch_event(event: bytes) -> tuple[str, str, str, str]:
    """Pool, config, creator and base mint. Raises BorshError."""
    reader = BorshReader(event[_MARK_SIZE:])
    keys = (reader.key(), reader.key(), reader.key(), reader.key())
    reader.take(1 + 8)
    reader.end()
    return keys


def _is_launch_of(event: bytes, launchpad: Launchpad) -> bool:
    if event[:_MARK_SIZE] not in _LAUNCH_EVENTS:
        return False
    try:
        _, config, creator, _ = _read_launch_event(event)
    except BorshError as error:
        raise LogUndecodable(f"the program tells of a pool, and that can't be decoded: {error}") from error
    return config in launchpad.configs or creator in launchpad.creators


def _read_claim(step: _Step, layout: _ClaimLayout) -> PaidFees:
    accounts = step.instruction.accounts
    if len(accounts) <= layout.claimer:
        raise LogUndecodable("an instruction that pays out fees has too few accounts")
    try:
        told = [_read_claim_event(event) for event in step.events if event[:_MARK_SIZE] in layout.events]
    except BorshError as error:
        raise LogUndecodable(f"the event of fees that were paid out can't be decoded: {error}") from error
    if len(told) != 1 or told[0][0] != accounts[layout.pool]:
        raise LogUndecodable("an instruction that pays out fees does not have one event of its pool")
    _, base_amount, quote_amount = told[0]
    return PaidFees(
        index=step.instruction.index,
        paid_to=layout.paid_to,
        pool=accounts[layout.pool],
        claimer=accounts[layout.claimer],
        base_mint=accounts[layout.base_mint],
        quote_mint=accounts[layout.quote_mint],
        base_amount=base_amount,
        quote_amount=quote_amount,
    )


def _read_claim_event(event: bytes) -> tuple[str, int, int]:
    """Pool, and the amounts of its base and quote mints. Raises BorshError."""
    reader = BorshReader(event[_MARK_SIZE:])
    told = reader.key(), reader.number(8), reader.number(8)
    reader.end()
    return told
