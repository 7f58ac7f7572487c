"""Trial of a declared launchpad on one transaction: the rows that would be stored, by the decoder of live sync."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tokens.chains.abi.codec import Log
from tokens.chains.errors import LaunchNotFoundError, LogDecodingError, TransactionNotFoundError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.evm.generations.declared_launches import DeclaredLaunch
from tokens.chains.evm.generations.launch_completion import complete_launches
from tokens.chains.evm.generations.launch_views import missing_values
from tokens.chains.evm.generations.mined_transactions import MinedTransaction
from tokens.chains.evm.generations.transaction_decoding import decode_mined
from tokens.chains.evm.transactions.transaction_receipts import read_undecoded
from tokens.chains.types import Launch, TransactionFacts
from tokens.declaring.declared_sources import (
    count_unnamed,
    declarations_of,
    declared_for,
    find_value_events,
    launch_sources,
    named_events,
    own_contracts,
    source_of,
)
from tokens.declaring.event_mistakes import find_layout_mistake, find_similar_events, find_topic_mistakes
from tokens.declaring.later_events import find_event_mistakes, find_moved_pools, try_events
from tokens.declaring.launch_mistakes import (
    find_condition_mistakes,
    find_decimals_mistake,
    find_launch_mistakes,
    find_token_mistake,
)
from tokens.declaring.pool_trades import TriedLog, try_swaps
from tokens.declaring.recorded_calls import RecordingClient, call_text, recording_client
from tokens.declaring.trade_mistakes import find_start_price_mistakes, find_trade_mistakes, why_no_trade
from tokens.declaring.value_origins import TriedValue, ValueTracer


@dataclass(frozen=True, kw_only=True, slots=True)
class TriedLaunch:
    """A launch as it would be stored."""

    # The declaration's place in the file, such as `launchpads.zora.launch[0]`.
    key_path: str
    declared: DeclaredLaunch
    launch: Launch
    values: tuple[TriedValue, ...]
    swaps: tuple[TriedLog, ...]
    events: tuple[TriedLog, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class UnnamedLog:
    """The first log with an emitter and a topic0 that no declaration names."""

    log: Log
    # How many logs have the same emitter and topic0.
    count: int
    # The declared event that it resembles, and the difference; empty without one.
    similar: str


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchTrial:
    """A trial's result."""

    mined: MinedTransaction
    launches: tuple[TriedLaunch, ...]
    # Views that were called, each with its result, or the reason for none.
    calls: tuple[tuple[str, str], ...]
    # By trusted emitters or the launches' own curves, and in no declaration.
    unnamed: tuple[UnnamedLog, ...]
    mistakes: tuple[str, ...]


def try_transaction(chain: Chain, tx_hash: str, *, trades: Collection[str] = ()) -> LaunchTrial:
    """Return the launches that the chain's launchpads would store from a transaction. Nothing is stored.

    `trades` are hashes of further transactions: their swaps in the launched pools, changes, claims and mistakes are
    part of the result. A launch whose token has no code is a mistake.

    Raises TransactionNotFoundError, NodeUnavailableError.
    """
    rpc = recording_client(chain.rpc)
    mined = read_undecoded(rpc, chain.info, tx_hash)
    traded = [mined, *(_read_trade(rpc, chain, trade) for trade in trades)]
    decoded, refused = _decode(mined)
    decoded_launches = [launch for _, launch in decoded]
    mistakes = [mistake for each in traded for mistake in _layout_mistakes(each, decoded_launches)]
    token_mistakes = {launch.token: find_token_mistake(launch, rpc=rpc) for launch in decoded_launches}
    mistakes += [*refused, *filter(None, token_mistakes.values())]
    # Each by itself, because only the first complete launch by a log is stored.
    completed = complete_launches(rpc, chain.info, [replace(facts, launches=(launch,)) for facts, launch in decoded])
    launches: dict[int, TriedLaunch] = {}
    for (_, before), facts in zip(decoded, completed, strict=True):
        key_path, declared, log = _declaration_of(mined, before)
        mistakes += find_decimals_mistake(before, rpc=rpc)
        mistakes += (
            f"it is not stored: {log.reason}. `token` names no contract, or other arguments are indexed"
            for log in facts.undecodable
            if log.log_index == before.log_index
        )
        for launch in facts.launches:
            if launch.log_index not in launches and not token_mistakes[launch.token]:
                launches[launch.log_index] = _try_launch(key_path, declared, traded, log, before, launch, rpc)
                mistakes += find_launch_mistakes(declared, mined, before, launch, rpc=rpc)
    trade_mistakes = [
        mistake for each in traded for mistake in _trade_mistakes(each, launches.values(), is_further=each is not mined)
    ]
    # Wrong amounts have a wrong average.
    mistakes += trade_mistakes or _start_price_mistakes(launches.values())
    mistakes += _unmet_conditions(mined, launches, rpc)
    if mined.succeeded and not _launch_logs(mined):
        mistakes += _why_no_event(mined)
    return LaunchTrial(
        mined=mined,
        launches=tuple(launches.values()),
        calls=tuple(_calls(rpc, decoded_launches)),
        unnamed=tuple(_unnamed_logs(traded, decoded_launches)),
        mistakes=tuple(dict.fromkeys(mistakes)),
    )


def _read_trade(rpc: RecordingClient, chain: Chain, tx_hash: str) -> MinedTransaction:
    try:
        return read_undecoded(rpc, chain.info, tx_hash)
    except TransactionNotFoundError as error:
        raise TransactionNotFoundError(f"--trade {tx_hash}: {error}") from error


def _launch_logs(mined: MinedTransaction) -> list[Log]:
    """Return logs with a declared launch event, by contracts that may emit it."""
    sources = launch_sources(mined.chain)
    return [log for log in mined.logs if source_of(log) in sources]


def _layout_mistakes(mined: MinedTransaction, launches: Sequence[Launch]) -> Iterator[str]:
    """Yield mistakes about logs that differ from their events' declarations."""
    named, own = named_events(mined.chain), own_contracts(launches)
    values = list(find_value_events(mined))
    for log in mined.logs:
        events = [each.declaration.event for _, each in declarations_of(mined, log)]
        events += [event for source, event in values if source == source_of(log)]
        if event := declared_for(log, named, own=own):
            events = events or [event]
        yield from filter(None, (find_layout_mistake(event, log) for event in events))


def _trade_mistakes(mined: MinedTransaction, launches: Collection[TriedLaunch], *, is_further: bool) -> Iterator[str]:
    """Yield mistakes about a transaction's trades; a further transaction must have a log about one of the launches."""
    is_about = False
    for tried in launches:
        logs = [log for log in (*tried.swaps, *tried.events) if log.tx_hash == mined.hash]
        is_about |= bool(logs)
        prefix = f"{mined.hash} " if is_further else ""
        mistakes = (
            *find_trade_mistakes(mined, tried.launch, [log for log in tried.swaps if log.tx_hash == mined.hash]),
            *find_event_mistakes(mined, tried.launch, tried.declared.launchpad),
        )
        yield from (f"{prefix}{mistake}" for mistake in mistakes)
    if is_further and not is_about:
        for tried in launches:
            for reason in why_no_trade(mined, tried.launch, tried.declared.launchpad):
                yield f"{mined.hash} has no trade, change or claim of {tried.launch.token}: {reason}"


def _start_price_mistakes(launches: Iterable[TriedLaunch]) -> Iterator[str]:
    for tried in launches:
        trades = [log.trade for log in tried.swaps if log.trade]
        yield from find_start_price_mistakes(tried.declared.declaration, tried.launch, trades)


def _unnamed_logs(traded: Sequence[MinedTransaction], launches: Sequence[Launch]) -> Iterator[UnnamedLog]:
    chain = traded[0].chain
    if counts := count_unnamed(chain, traded, launches):
        similar = find_similar_events(dict.fromkeys(named_events(chain).values()))
        for log, count in counts:
            yield UnnamedLog(log=log, count=count, similar=similar.get(source_of(log)[1], ""))


def _decode(mined: MinedTransaction) -> tuple[list[tuple[TransactionFacts, Launch]], list[str]]:
    """Return the launches before views are called, each with its transaction, or why there are none."""
    try:
        facts = decode_mined(mined)
    except LogDecodingError as error:
        return [], [f"the transaction can't be decoded, and none of its launches is stored: {error}"]
    except LaunchNotFoundError as error:
        return [], [] if mined.succeeded else [str(error)]
    return [(facts, launch) for launch in facts.launches], []


def _declaration_of(mined: MinedTransaction, launch: Launch) -> tuple[str, DeclaredLaunch, Log]:
    """Return the declaration that decodes to this launch. Decoding is pure, so decoding again finds it."""
    log = next(log for log in mined.logs if int(log["logIndex"], 16) == launch.log_index)
    return next(
        (key_path, declared, log)
        for key_path, declared in declarations_of(mined, log)
        if declared.decode(mined, log) == launch
    )


def _try_launch(
    key_path: str,
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
    moved = [pool for mined in traded for pool in find_moved_pools(mined, launch)]
    swaps = [swap for mined in traded for swap in try_swaps(mined, launch, declared.launchpad, moved=moved)]
    events = [event for mined in traded for event in try_events(mined, launch)]
    return TriedLaunch(
        key_path=key_path,
        declared=declared,
        launch=launch,
        values=tuple(tracer.values()),
        swaps=tuple(swaps),
        events=tuple(events),
    )


def _unmet_conditions(mined: MinedTransaction, launches: Collection[int], rpc: RecordingClient) -> Iterator[str]:
    """Yield why decodable logs with a declared event are no launches; `launches` are log indexes."""
    for log in _launch_logs(mined):
        if int(log["logIndex"], 16) not in launches:
            for key_path, declared in declarations_of(mined, log):
                if not find_layout_mistake(declared.declaration.event, log):
                    yield from find_condition_mistakes(declared, mined, log, key_path=key_path, rpc=rpc)


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
