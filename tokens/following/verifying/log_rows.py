"""Comparison of stored logs with logs in blocks, by log identity."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

import orjson
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast

from tokens.chains.errors import LogDecodingError
from tokens.chains.evm.generations.event_decoding import decode_event
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import EventLog, Launch, TransactionFacts
from tokens.following.coverage import event_contracts
from tokens.indexing.backlogs.known_decimals import complete_from_rows
from tokens.indexing.fact_json import Json, event_facts, launch_facts
from tokens.indexing.relaunches import StoredLaunch, first_launches
from tokens.installation.installed_launchpads import read_generations
from tokens.installation.installed_registry import registry
from tokens.models import Coverage, LaunchFacts, Token, TokenEvent


class LogId(NamedTuple):
    """Log identity within one block, which no competing block shares.

    It includes the emitter (EIP-55): two contracts' logs with the same index have two identities.
    """

    tx_hash: str
    log_index: int
    block_hash: str
    emitter: str


def log_ids(transactions: Iterable[TransactionFacts]) -> set[LogId]:
    """Return the ids of launch logs and of logs that may be events."""
    return {
        LogId(facts.tx_hash, log_index, facts.block_hash, emitter)
        for facts in transactions
        for log_index, emitter in (
            *((launch.log_index, launch.factory) for launch in facts.launches),
            *((log.log_index, log.emitter) for log in facts.event_logs),
        )
    }


def find_log_rows(coverage: Coverage, first: int, last: int) -> Mapping[LogId, int]:
    """Return the blocks' stored logs with their block numbers.

    Rows that a reading lacks are left out: launches and logs by contracts that are not read, or that the registry no
    longer has, and events about tokens whose declared launchpad is switched off.
    """
    in_blocks = {"chain_id": coverage.chain_id, "block_number__range": (first, last)}
    names = ("tx_hash", "log_index", "block_hash", "block_number")
    launches = Token.objects.filter(**in_blocks, unindexed=False).values_list(*names, "factory_address")
    chain = registry().chain(coverage.chain_id)
    contracts = event_contracts(coverage, chain)
    events = _read_events(chain).filter(**in_blocks).values_list(*names, "emitter")
    left_out = chain.known_emitters - contracts
    read = (
        *(row for row in launches if row[-1].lower() in contracts),
        *(row for row in events if row[-1].lower() not in left_out),
    )
    return {
        LogId(tx_hash, log_index, block_hash, emitter): number
        for tx_hash, log_index, block_hash, number, emitter in read
    }


def _read_events(chain: ChainInfo) -> QuerySet[TokenEvent]:
    """Return a chain's stored events, without tokens whose launchpad is switched off."""
    is_read = Q(token=None) | Q(token__generation__in=read_generations(chain))
    return TokenEvent.objects.filter(is_read, chain_id=chain.chain_id)


def find_altered_transactions(coverage: Coverage, transactions: Collection[TransactionFacts]) -> set[str]:
    """Return the hashes of transactions whose stored launches or events differ."""
    launches = first_launches(transactions)
    launches |= complete_from_rows(launches.values(), chain_id=coverage.chain_id)
    written = LaunchFacts.objects.filter(token__chain_id=coverage.chain_id, token__contract_address__in=launches)
    # As text, because orjson parses it several times as fast as the field does.
    as_text = written.values_list("token__contract_address", Cast("facts", TextField()))
    altered = {
        launches[address].tx_hash for address, facts in as_text if _is_altered(orjson.loads(facts), launches[address])
    }
    return altered | set(find_altered_events(coverage, transactions).values())


def _is_altered(stored: Json, launch: Launch) -> bool:
    """Return whether a launch was stored with other facts. An earlier launch's token does not count as altered."""
    if stored == launch_facts(launch):
        return False
    if any(stored.get(name) is None for name in StoredLaunch._fields):
        return True
    hashes, numbers = (stored["tx_hash"], stored["block_hash"]), (stored["block_number"], stored["log_index"])
    return not StoredLaunch(*hashes, *map(int, numbers)).precedes(launch)


def find_altered_events(coverage: Coverage, transactions: Collection[TransactionFacts]) -> Mapping[int, str]:
    """Return stored events that differ from these transactions' logs with the same index: event id -> hash."""
    # Launchpads that share an emitter each read its log, so one log may have several readings.
    logs = defaultdict[tuple[str, int], list[tuple[EventLog, int]]](list)
    for facts in transactions:
        for log in facts.event_logs:
            logs[facts.tx_hash, log.log_index].append((log, facts.block_time))
    chain = registry().chain(coverage.chain_id)
    # If a launchpad with a shared emitter is switched off, its log is read as the other launchpad's.
    events = _read_events(chain).filter(tx_hash__in={tx_hash for tx_hash, _ in logs})
    columns = ("pk", "tx_hash", "log_index", "kind", "arguments", "at")
    return {
        event_id: tx_hash
        for event_id, tx_hash, log_index, kind, arguments, at in events.values_list(*columns)
        if (read := logs.get((tx_hash, log_index)))
        and ((kind, arguments), int(at.timestamp())) not in [(_event_of(log), time) for log, time in read]
    }


def _event_of(log: EventLog) -> tuple[str, Json] | None:
    """Return a log's kind and arguments; None for a malformed log, which has no row."""
    try:
        event = decode_event(log)
    except LogDecodingError:
        return None
    return event.kind.value, event_facts(event.arguments)


def is_of_later_token(coverage: Coverage, log: LogId) -> bool:
    """Return whether the log's token was indexed only after its block was followed.

    Such a token was launched before the coverage begins, or by a factory that it lacks, and was indexed since.
    """
    new_token_events = TokenEvent.objects.filter(
        chain_id=coverage.chain_id,
        tx_hash=log.tx_hash,
        log_index=log.log_index,
        token__created_at__gt=coverage.created_at,
    )
    return any(
        block_number < coverage.first_block or factory.lower() not in coverage.addresses
        for block_number, factory in new_token_events.values_list("token__block_number", "token__factory_address")
    )
