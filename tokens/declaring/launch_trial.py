"""Trial of a declared launchpad on one transaction: what would be stored, by the decoder of every other reading."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tokens.chains.abi.codec import Log
from tokens.chains.errors import LaunchNotFoundError, LogDecodingError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.evm.generations.declared_launches import DeclaredLaunch
from tokens.chains.evm.generations.launch_completion import complete_launches
from tokens.chains.evm.generations.launch_views import missing_values
from tokens.chains.evm.generations.mined_transactions import MinedTransaction
from tokens.chains.evm.generations.transaction_decoding import decode_mined
from tokens.chains.evm.transactions.transaction_receipts import read_undecoded
from tokens.chains.types import Launch, TransactionFacts
from tokens.declaring.declared_sources import (
    launch_sources,
    named_events,
    placed_declarations,
    source_of,
    unnamed_logs,
)
from tokens.declaring.event_mistakes import find_layout_mistake, find_topic_mistakes
from tokens.declaring.later_events import try_events
from tokens.declaring.launch_mistakes import find_condition_mistakes, find_decimals_mistake, find_launch_mistakes
from tokens.declaring.pool_trades import TriedLog, try_swaps
from tokens.declaring.recorded_calls import RecordingClient, call_text, recording_client
from tokens.declaring.value_origins import TriedValue, ValueTracer


@dataclass(frozen=True, kw_only=True, slots=True)
class TriedLaunch:
    """A launch as it would be stored."""

    # Of the declaration in the file, such as `launchpads.zora.launch[0]`.
    place: str
    launch: Launch
    values: tuple[TriedValue, ...]
    swaps: tuple[TriedLog, ...]
    events: tuple[TriedLog, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchTrial:
    """The result of a trial."""

    mined: MinedTransaction
    launches: tuple[TriedLaunch, ...]
    # Views that were called, each with its result, or the reason for none.
    calls: tuple[tuple[str, str], ...]
    # Of trusted emitters, and in no declaration.
    unnamed: tuple[Log, ...]
    mistakes: tuple[str, ...]


def try_transaction(chain: Chain, tx_hash: str, *, trades: Collection[str] = ()) -> LaunchTrial:
    """Return what the launchpads of the chain's entry would store of a transaction. Nothing is stored.

    `trades` are hashes of further transactions, whose swaps in the launched pools, changes and claims are part of the
    result.

    Raises TransactionNotFoundError, NodeUnavailableError.
    """
    rpc = recording_client(chain.rpc)
    mined = read_undecoded(rpc, chain.info, tx_hash)
    traded = [mined, *(read_undecoded(rpc, chain.info, trade) for trade in trades)]
    mistakes = [mistake for each in traded for mistake in _layout_mistakes(each)]
    decoded = _decode(mined, mistakes)
    # Each by itself, because of several by one log the first complete one is stored.
    parts = complete_launches(rpc, chain.info, [replace(facts, launches=(launch,)) for facts, launch in decoded])
    launches: dict[int, TriedLaunch] = {}
    for (_, before), facts in zip(decoded, parts, strict=True):
        place, declared, log = _declaration_of(mined, before)
        mistakes += find_decimals_mistake(before, rpc=rpc)
        mistakes += (
            f"it is not stored: {log.reason}. `token` names no contract, or other arguments are indexed"
            for log in facts.undecodable
            if log.log_index == before.log_index
        )
        for launch in facts.launches:
            if launch.log_index not in launches:
                launches[launch.log_index] = _try_launch(place, declared, traded, log, before, launch, rpc)
                mistakes += find_launch_mistakes(declared, mined, before, launch, rpc=rpc)
    mistakes += _unmet_conditions(mined, launches, rpc)
    if mined.succeeded and not _launch_logs(mined):
        mistakes += _why_no_event(mined)
    return LaunchTrial(
        mined=mined,
        launches=tuple(launches.values()),
        calls=tuple(_calls(rpc, (launch for _, launch in decoded))),
        unnamed=tuple(unnamed_logs(chain.info, mined.logs)),
        mistakes=tuple(dict.fromkeys(mistakes)),
    )


def _launch_logs(mined: MinedTransaction) -> list[Log]:
    """Return the logs of declared launch events by the contracts that may emit them."""
    sources = launch_sources(mined.chain)
    return [log for log in mined.logs if source_of(log) in sources]


def _layout_mistakes(mined: MinedTransaction) -> Iterator[str]:
    """Yield which logs of declared events are not what their declarations describe."""
    launches, named = launch_sources(mined.chain), named_events(mined.chain)
    for log in mined.logs:
        source = source_of(log)
        declared = [each.declaration.event for _, each in _declarations_of(mined, log)] if source in launches else []
        for event in declared or [named[source]] if source in named else []:
            if mistake := find_layout_mistake(event, log):
                yield mistake


def _decode(mined: MinedTransaction, mistakes: list[str]) -> list[tuple[TransactionFacts, Launch]]:
    """Return the launches before views are called, each with its transaction."""
    try:
        facts = decode_mined(mined)
    except LogDecodingError as error:
        mistakes.append(f"the transaction can't be decoded, and none of its launches is stored: {error}")
        return []
    except LaunchNotFoundError as error:
        if not mined.succeeded:
            mistakes.append(str(error))
        return []
    return [(facts, launch) for launch in facts.launches]


def _declaration_of(mined: MinedTransaction, launch: Launch) -> tuple[str, DeclaredLaunch, Log]:
    """Return the declaration that a decoded launch is of: decoding is pure, so it makes the same one again."""
    log = next(log for log in mined.logs if int(log["logIndex"], 16) == launch.log_index)
    return next(
        (place, declared, log)
        for place, declared in _declarations_of(mined, log)
        if declared.decode(mined, log) == launch
    )


def _declarations_of(mined: MinedTransaction, log: Log) -> Iterator[tuple[str, DeclaredLaunch]]:
    emitter, topic0 = source_of(log)
    for place, declared in placed_declarations(mined.chain):
        contracts = declared.declaration.contracts[mined.chain.chain_id]
        if topic0 == declared.declaration.event.topic0 and emitter in map(str.lower, contracts):
            yield place, declared


def _try_launch(
    place: str,
    declared: DeclaredLaunch,
    traded: Sequence[MinedTransaction],
    log: Log,
    decoded: Launch,
    launch: Launch,
    rpc: RecordingClient,
) -> TriedLaunch:
    tracer = ValueTracer(
        scope=declared.scope(traded[0], log),
        declaration=declared.declaration,
        decoded=decoded,
        launch=launch,
        rpc=rpc,
    )
    swaps = [swap for mined in traded for swap in try_swaps(mined, launch, declared.launchpad)]
    events = [event for mined in traded for event in try_events(mined, launch)]
    return TriedLaunch(
        place=place, launch=launch, values=tuple(tracer.values()), swaps=tuple(swaps), events=tuple(events)
    )


def _unmet_conditions(mined: MinedTransaction, launches: Collection[int], rpc: RecordingClient) -> Iterator[str]:
    """Yield why logs of declared events are no launches, of those that decode; `launches` are by log index."""
    for log in _launch_logs(mined):
        if int(log["logIndex"], 16) not in launches:
            for place, declared in _declarations_of(mined, log):
                if not find_layout_mistake(declared.declaration.event, log):
                    yield from find_condition_mistakes(declared, mined, log, place=place, rpc=rpc)


def _why_no_event(mined: MinedTransaction) -> Iterator[str]:
    chain = mined.chain
    for pad in chain.launchpads:
        launches = [launch for launch in pad.launches if chain.chain_id in launch.contracts]
        contracts = [address for launch in launches for address in launch.contracts[chain.chain_id]]
        events = [launch.event for launch in launches]
        yield from find_topic_mistakes(events, list(dict.fromkeys(contracts)), mined.logs)


def _calls(rpc: RecordingClient, launches: Iterable[Launch]) -> Iterator[tuple[str, str]]:
    views = dict.fromkeys(missing._replace(field="") for launch in launches for missing in missing_values(launch))
    for missing in views:
        if answer := rpc.answer(missing):
            yield call_text(missing, answer.block), answer.problem or repr(answer.value)
