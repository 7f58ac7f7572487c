"""Pool launches and fee claims in Meteora's Dynamic Bonding Curve, decoded from its instructions. Pure.

Each instruction is decoded together with its event, and both must agree.

Source: https://github.com/MeteoraAg/dynamic-bonding-curve (the program's instructions and events).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tokens.chains.errors import LogDecodingError
from tokens.chains.solana.borsh import BorshError, BorshReader
from tokens.chains.solana.program_steps import DISCRIMINATOR_SIZE, ProgramStep, discriminator, read_steps
from tokens.chains.solana.transaction_forms import Instruction

# An instruction that creates a pool -> its payer account's index; the accounts before are the same in all.
_LAUNCHES = {
    discriminator("global", "initialize_virtual_pool_with_spl_token"): 10,
    discriminator("global", "initialize_virtual_pool_with_spl_token2"): 11,
    discriminator("global", "initialize_virtual_pool_with_token2022"): 8,
    discriminator("global", "initialize_virtual_pool_with_token2022_2"): 9,
    discriminator("global", "initialize_virtual_pool_with_token2022_transfer_hook"): 9,
}
_CONFIG, _CREATOR, _BASE_MINT, _QUOTE_MINT, _POOL = 0, 2, 3, 4, 5
# {pool: Pubkey, config: Pubkey, creator: Pubkey, base_mint: Pubkey, pool_type: u8, activation_point: u64}
_LAUNCH_EVENTS = {
    discriminator("event", "EvtInitializePool"),
    discriminator("event", "EvtInitializePoolWithTransferHook"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class _ClaimLayout:
    """Account indexes in an instruction that pays out fees, and the events that it emits."""

    paid_to: Literal["creator", "partner"]
    pool: int
    base_mint: int
    quote_mint: int
    claimer: int
    # {pool: Pubkey, token_base_amount: u64, token_quote_amount: u64}
    events: frozenset[bytes]


_CREATOR_CLAIM = _ClaimLayout(
    paid_to="creator",
    pool=1,
    base_mint=6,
    quote_mint=7,
    claimer=8,
    events=frozenset(
        {
            discriminator("event", "EvtClaimCreatorTradingFee"),
            discriminator("event", "EvtClaimCreatorTradingFeeWithTransferHook"),
        }
    ),
)
_PARTNER_CLAIM = _ClaimLayout(
    paid_to="partner",
    pool=2,
    base_mint=7,
    quote_mint=8,
    claimer=9,
    events=frozenset(
        {discriminator("event", "EvtClaimTradingFee"), discriminator("event", "EvtClaimTradingFeeWithTransferHook")}
    ),
)
_CLAIMS = {
    discriminator("global", "claim_creator_trading_fee"): _CREATOR_CLAIM,
    discriminator("global", "claim_creator_trading_fee2"): _CREATOR_CLAIM,
    discriminator("global", "claim_trading_fee"): _PARTNER_CLAIM,
    discriminator("global", "claim_trading_fee2"): _PARTNER_CLAIM,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class CreatedPool:
    """A pool that an instruction created, with the mint that it sells."""

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
class ClaimedPoolFees:
    """Fees that an instruction paid from a pool, in smallest units for its two mints."""

    index: int
    paid_to: Literal["creator", "partner"]
    pool: str
    claimer: str
    base_mint: str
    quote_mint: str
    base_amount: int
    quote_amount: int


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchpadAccounts:
    """The accounts that identify a launchpad's own pools."""

    configs: frozenset[str]
    # Pool creators, or their payers. The program requires both to sign. An account that a launchpad's own program owns
    # can do so without being a signer in the transaction.
    creators: frozenset[str]


def read_pools(instructions: Sequence[Instruction], *, program: str, launchpad: LaunchpadAccounts) -> list[CreatedPool]:
    """Return the launchpad's pools that a transaction created.

    Raises LogDecodingError if an instruction has an unknown layout, or its event is missing or contradicts it.
    """
    pools = []
    for step in read_steps(instructions, program=program):
        if step.discriminator in _LAUNCHES:
            pool = _read_pool(step, launchpad)
            if pool is not None:
                pools.append(pool)
        elif any(_is_launch_of(event, launchpad) for event in step.events):
            raise LogDecodingError("the program emits an event of a pool that no known instruction created")
    return pools


def read_claims(instructions: Sequence[Instruction], *, program: str) -> list[ClaimedPoolFees]:
    """Return the fees that a transaction claimed from pools. Raises LogDecodingError, as `read_pools` does."""
    return [
        _read_claim(step, _CLAIMS[step.discriminator])
        for step in read_steps(instructions, program=program)
        if step.discriminator in _CLAIMS
    ]


def _read_pool(step: ProgramStep, launchpad: LaunchpadAccounts) -> CreatedPool | None:
    payer = _LAUNCHES[step.discriminator]
    accounts = step.instruction.accounts
    if len(accounts) <= payer:
        raise LogDecodingError("an instruction that creates a pool has too few accounts")
    creators = {accounts[_CREATOR], accounts[payer]}
    if accounts[_CONFIG] not in launchpad.configs and launchpad.creators.isdisjoint(creators):
        return None
    reader = BorshReader(step.instruction.data[DISCRIMINATOR_SIZE:])
    try:
        name, symbol, uri = reader.read_text(), reader.read_text(), reader.read_text()
        decoded = [_read_launch_event(event) for event in step.events if event[:DISCRIMINATOR_SIZE] in _LAUNCH_EVENTS]
    except BorshError as error:
        raise LogDecodingError(
            f"an instruction that creates a pool, or its event, can't be decoded: {error}"
        ) from error
    if decoded != [tuple(accounts[number] for number in (_POOL, _CONFIG, _CREATOR, _BASE_MINT))]:
        raise LogDecodingError("an instruction that creates a pool does not have exactly one matching event")
    return CreatedPool(
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
    """Return pool, config, creator and base mint. Raises BorshError."""
    reader = BorshReader(event[DISCRIMINATOR_SIZE:])
    keys = (reader.read_key(), reader.read_key(), reader.read_key(), reader.read_key())
    reader.read_bytes(1 + 8)
    return keys


def _is_launch_of(event: bytes, launchpad: LaunchpadAccounts) -> bool:
    if event[:DISCRIMINATOR_SIZE] not in _LAUNCH_EVENTS:
        return False
    try:
        _, config, creator, _ = _read_launch_event(event)
    except BorshError as error:
        raise LogDecodingError(f"the event of a new pool can't be decoded: {error}") from error
    return config in launchpad.configs or creator in launchpad.creators


def _read_claim(step: ProgramStep, layout: _ClaimLayout) -> ClaimedPoolFees:
    accounts = step.instruction.accounts
    if len(accounts) <= layout.claimer:
        raise LogDecodingError("an instruction that pays out fees has too few accounts")
    try:
        decoded = [_read_claim_event(event) for event in step.events if event[:DISCRIMINATOR_SIZE] in layout.events]
    except BorshError as error:
        raise LogDecodingError(f"the event of a fee claim can't be decoded: {error}") from error
    if len(decoded) != 1 or decoded[0][0] != accounts[layout.pool]:
        raise LogDecodingError("an instruction that pays out fees does not have exactly one event of its pool")
    _, base_amount, quote_amount = decoded[0]
    return ClaimedPoolFees(
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
    """Return the pool, its base mint amount and its quote mint amount. Raises BorshError."""
    reader = BorshReader(event[DISCRIMINATOR_SIZE:])
    return reader.read_key(), reader.read_integer(8), reader.read_integer(8)
