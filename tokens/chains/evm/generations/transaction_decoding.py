"""Decoder from a transaction, its receipt and its block to launches and candidate token events: pure, no I/O.

A log counts as a launch by (chain, emitting address, topic0): the registry lists each factory's address, and the layout
that its launch event has. Every other launch field comes from logs of trusted emitters, which the launch event or the
registry names: any contract can emit any log in the same transaction.
"""

from collections.abc import Iterator

from tokens.chains.abi.codec import Log
from tokens.chains.addresses import checksum_address
from tokens.chains.errors import LaunchNotFoundError, LogDecodingError
from tokens.chains.evm.generations.event_decoding import find_event_logs
from tokens.chains.evm.generations.launch_layouts import LaunchLayout, launch_layouts
from tokens.chains.evm.generations.mined_transactions import MinedTransaction
from tokens.chains.pool_types import UndecodableLog
from tokens.chains.types import Launch, TransactionFacts


def decode_mined(mined: MinedTransaction) -> TransactionFacts:
    """Decode a mined transaction's launches, and collect logs that may be token events, not yet verified.

    The result has neither where a launch event meets no layout's conditions. A malformed factory log costs only its own
    launch. Raises LaunchNotFoundError without such logs, LogDecodingError if all of them are malformed, and
    FullTransactionRequiredError if the available logs are insufficient.
    """
    if not mined.succeeded:
        raise LaunchNotFoundError("the transaction was reverted")
    layouts = launch_layouts(mined.chain)
    created, event_logs = mined.from_sources(layouts.keys()), find_event_logs(mined)
    if not created and not event_logs:
        raise LaunchNotFoundError("the transaction holds no launch by a known factory")
    decoded = [each for source, log in created for each in _decode(mined, log, layouts[source])]
    undecodable = tuple(each for each in decoded if isinstance(each, UndecodableLog))
    if undecodable and len(undecodable) == len(decoded) and not event_logs:
        raise LogDecodingError(undecodable[0].reason, log=undecodable[0])
    return TransactionFacts(
        tx_hash=mined.hash,
        block_number=mined.block_number,
        block_hash=mined.block_hash,
        block_time=mined.block_time,
        launches=tuple(each for each in decoded if isinstance(each, Launch)),
        event_logs=event_logs,
        undecodable=undecodable,
    )


def _decode(mined: MinedTransaction, log: Log, layouts: tuple[LaunchLayout, ...]) -> Iterator[Launch | UndecodableLog]:
    """Yield the launch by the first layout whose conditions hold, after launches whose conditions still need a view.

    A log with another layout and the same topic0 has other indexed arguments. It is undecodable if no layout fits.
    Raises FullTransactionRequiredError.
    """
    errors = []
    for layout in layouts:
        try:
            launch = layout.decode(mined, log)
        except LogDecodingError as error:
            errors.append(error)
            continue
        if launch:
            yield launch
            if not launch.is_conditional:
                return
    if len(errors) == len(layouts):
        yield UndecodableLog(
            block_number=mined.block_number,
            tx_hash=mined.hash,
            log_index=int(log["logIndex"], 16),
            emitter=checksum_address(log["address"]),
            launchpad=layouts[0].launchpad,
            reason=str(errors[0]),
        )
