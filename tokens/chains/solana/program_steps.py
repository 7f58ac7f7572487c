"""An Anchor program's instructions in a transaction, each with the events that it emitted. Pure.

The first eight bytes of a name's hash identify an instruction or event. The program emits an event by calling itself
under an authority that only it can sign for, which distinguishes the event from one that another program made up.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from solders.pubkey import Pubkey

from tokens.chains.solana.transaction_forms import Instruction

# Anchor's discriminator for an instruction with which a program calls itself to emit an event.
_EVENT_DISCRIMINATOR = bytes.fromhex("e445a52e51cb9a1d")
DISCRIMINATOR_SIZE = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class ProgramStep:
    """An instruction of the program, with the events that it emitted."""

    instruction: Instruction
    discriminator: bytes
    # Without the discriminator for self-calls: each begins with its own name's discriminator.
    events: tuple[bytes, ...]


def discriminator(kind: Literal["global", "event"], name: str) -> bytes:
    """Return the first bytes in an instruction (`global`) or an event with this name."""
    return hashlib.sha256(f"{kind}:{name}".encode()).digest()[:DISCRIMINATOR_SIZE]


def read_steps(instructions: Sequence[Instruction], *, program: str) -> Iterator[ProgramStep]:
    """Return the program's instructions, each with the events that precede the next one.

    The events are its own: a running program can't be re-entered, except by itself. Raises LogDecodingError.
    """
    authority = event_authority(program)
    ours = [instruction for instruction in instructions if instruction.program == program]
    starts = [number for number, instruction in enumerate(ours) if not _is_event(instruction, authority)]
    for start, end in pairwise([*starts, len(ours)]):
        events = tuple(
            caused.data[DISCRIMINATOR_SIZE:] for caused in ours[start + 1 : end] if caused.outer == ours[start].outer
        )
        yield ProgramStep(instruction=ours[start], discriminator=ours[start].data[:DISCRIMINATOR_SIZE], events=events)


@lru_cache(maxsize=16)
def event_authority(program: str) -> str:
    """Return the account that signs when a program calls itself to emit an event."""
    return str(Pubkey.find_program_address([b"__event_authority"], Pubkey.from_string(program))[0])


def _is_event(instruction: Instruction, authority: str) -> bool:
    return instruction.data.startswith(_EVENT_DISCRIMINATOR) and instruction.accounts == (authority,)
