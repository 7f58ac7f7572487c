"""Swaps in pools of Meteora's Dynamic Bonding Curve, decoded from its instructions and their events. Pure.

The program emits each swap twice, in an older and a newer layout, before version 0.1.6 only in the older, and for mints
with a transfer hook only in the newer one. Version 0.2.2 has a third layout, with the fees that mints keep. All events
for an instruction must agree.

Source: https://github.com/MeteoraAg/dynamic-bonding-curve (event.rs, state/virtual_pool.rs, params/swap.rs and
instructions/swap; scripts/idl for older versions).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from tokens.chains.errors import LogDecodingError
from tokens.chains.pool_types import Swap
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.solana.borsh import BorshError, BorshReader
from tokens.chains.solana.program_steps import DISCRIMINATOR_SIZE, ProgramStep, discriminator, read_steps
from tokens.chains.solana.transaction_forms import SolanaTransaction

_SWAPS = {discriminator("global", name) for name in ("swap", "swap2", "swap2_with_transfer_hook")}
# Account indexes, the same in all swap instructions.
_CONFIG, _POOL, _PAYER = 1, 2, 9
# Trade directions: from the base mint to the quote, and back.
_SELL, _BUY = 0, 1
# The program's prices have 64 binary digits behind the point, and prices in `Swap` have 96.
_MORE_DIGITS = 32


class _SwapEvent(NamedTuple):
    """Values that a swap event has in all layouts, in smallest units."""

    pool: str
    config: str
    direction: int
    # The pool received `amount_in` with its fees, and paid `amount_out` without them. A mint may keep fees from both.
    amount_in: int
    amount_out: int
    sqrt_price: int


def decode_swaps(chain: ChainInfo, transaction: SolanaTransaction) -> list[Swap]:
    """Return a transaction's swaps through the registry's programs, in any launchpad's pools.

    Their `log_index` is the instruction's index in its transaction. Raises LogDecodingError.
    """
    if transaction.failed:
        return []
    return [
        _make_swap(step, transaction)
        for program in chain.addresses("launch_program")
        for step in read_steps(transaction.instructions, program=program)
        if _is_swap(step)
    ]


def _is_swap(step: ProgramStep) -> bool:
    if step.discriminator in _SWAPS:
        return True
    if any(event[:DISCRIMINATOR_SIZE] in _EVENTS for event in step.events):
        raise LogDecodingError("the program emits an event of a swap that no known instruction made")
    return False


def _make_swap(step: ProgramStep, transaction: SolanaTransaction) -> Swap:
    accounts = step.instruction.accounts
    if len(accounts) <= _PAYER:
        raise LogDecodingError("an instruction that swaps has too few accounts")
    try:
        events = set(_read_events(step))
    except BorshError as error:
        raise LogDecodingError(f"the event of a swap can't be decoded: {error}") from error
    if len(events) != 1:
        raise LogDecodingError("an instruction that swaps has no event, or events that differ")
    (event,) = events
    if (event.pool, event.config) != (accounts[_POOL], accounts[_CONFIG]) or event.direction not in (_SELL, _BUY):
        raise LogDecodingError("an instruction that swaps has an event that contradicts it")
    paid_base = event.direction == _SELL
    return Swap(
        pool=event.pool,
        block_number=transaction.slot,
        block_time=transaction.block_time or 0,
        tx_hash=transaction.signature,
        log_index=step.instruction.index,
        amount0=event.amount_in if paid_base else -event.amount_out,
        amount1=-event.amount_out if paid_base else event.amount_in,
        sqrt_price=event.sqrt_price << _MORE_DIGITS,
        sender=accounts[_PAYER],
        trader=transaction.signers[0],
    )


def _read_events(step: ProgramStep) -> Iterator[_SwapEvent]:
    """Yield the step's swap events. Raises BorshError."""
    for event in step.events:
        read = _EVENTS.get(event[:DISCRIMINATOR_SIZE])
        if read:
            yield read(BorshReader(event[DISCRIMINATOR_SIZE:]))


def _read_older(reader: BorshReader) -> _SwapEvent:
    """Read EvtSwap.

    {pool: Pubkey, config: Pubkey, trade_direction: u8, has_referral: bool,
    params: {amount_in: u64, minimum_amount_out: u64},
    swap_result: {actual_input_amount: u64, output_amount: u64, next_sqrt_price: u128, trading_fee: u64,
    protocol_fee: u64, referral_fee: u64}, amount_in: u64, current_timestamp: u64}
    """
    pool, config, direction = reader.read_key(), reader.read_key(), reader.read_integer(1)
    # Also the amount without the fees on it.
    reader.read_bytes(1 + 2 * 8 + 8)
    amount_out, sqrt_price = reader.read_integer(8), reader.read_integer(16)
    reader.read_bytes(3 * 8)
    amount_in = reader.read_integer(8)
    reader.read_bytes(8)
    return _SwapEvent(pool, config, direction, amount_in, amount_out, sqrt_price)


def _read_newer(reader: BorshReader) -> _SwapEvent:
    """Read EvtSwap2.

    {pool: Pubkey, config: Pubkey, trade_direction: u8, has_referral: bool,
    swap_parameters: {amount_0: u64, amount_1: u64, swap_mode: u8},
    swap_result: {included_fee_input_amount: u64, excluded_fee_input_amount: u64, amount_left: u64, output_amount: u64,
    next_sqrt_price: u128, trading_fee: u64, protocol_fee: u64, referral_fee: u64},
    quote_reserve_amount: u64, migration_threshold: u64, current_timestamp: u64}
    """
    pool, config, direction = reader.read_key(), reader.read_key(), reader.read_integer(1)
    reader.read_bytes(1 + 2 * 8 + 1)
    amount_in = reader.read_integer(8)
    # The amount without the fees on it, and the rest of the payer's offer that the curve did not take.
    reader.read_bytes(2 * 8)
    amount_out, sqrt_price = reader.read_integer(8), reader.read_integer(16)
    reader.read_bytes(3 * 8 + 3 * 8)
    return _SwapEvent(pool, config, direction, amount_in, amount_out, sqrt_price)


def _read_newest(reader: BorshReader) -> _SwapEvent:
    """Read EvtSwap3.

    {pool: Pubkey, config: Pubkey, trade_direction: u8, swap_mode: u8, has_referral: bool, fee_on_base_token: bool,
    included_transfer_fee_amount_in: u64, excluded_transfer_fee_amount_in: u64, included_transfer_fee_amount_out: u64,
    excluded_transfer_fee_amount_out: u64, trading_fee: u64, protocol_fee: u64, referral_fee: u64,
    next_sqrt_price: u128, quote_reserve: u64, current_timestamp: u64}
    """
    pool, config, direction = reader.read_key(), reader.read_key(), reader.read_integer(1)
    reader.read_bytes(3 + 8)
    amount_in, amount_out = reader.read_integer(8), reader.read_integer(8)
    reader.read_bytes(8 + 3 * 8)
    sqrt_price = reader.read_integer(16)
    reader.read_bytes(2 * 8)
    return _SwapEvent(pool, config, direction, amount_in, amount_out, sqrt_price)


_EVENTS: Mapping[bytes, Callable[[BorshReader], _SwapEvent]] = {
    discriminator("event", "EvtSwap"): _read_older,
    discriminator("event", "EvtSwap2"): _read_newer,
    discriminator("event", "EvtSwap2WithTransferHook"): _read_newer,
    discriminator("event", "EvtSwap3"): _read_newest,
    discriminator("event", "EvtSwap3WithTransferHook"): _read_newest,
}
