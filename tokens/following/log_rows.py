"""Which logs of blocks there are rows of, and which ones blocks hold: compared by what tells a log from all others."""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from tokens.chains.evm.generations.event_decoding import decode
from tokens.chains.types import EventLog, LogUndecodable, TransactionFacts
from tokens.indexing.fact_json import Json, event_facts, launch_facts
from tokens.installation.installed_chains import registry
from tokens.models import Coverage, LaunchFacts, Token, TokenEvent


class LogId(NamedTuple):
    """One log of one block; a block that takes another one's place has none of its logs."""

    tx_hash: str
    log_index: int
    block_hash: str


def log_ids(transactions: Iterable[TransactionFacts]) -> set[LogId]:
    """The logs of launches and of what may be events."""
    return {
        LogId(facts.tx_hash, log_index, facts.block_hash)
        for facts in transactions
        for log_index in (
            *(launch.log_index for launch in facts.launches),
            *(log.log_index for log in facts.event_logs),
        )
    }


def find_rows(coverage: Coverage, first: int, last: int) -> Mapping[LogId, int]:
    """The logs of these blocks of which there are rows, and their blocks' numbers.

    Those of the registry's contracts that the coverage does not have are left out.
    """
    of_blocks = {"chain_id": coverage.chain_id, "block_number__range": (first, last)}
    names = ("tx_hash", "log_index", "block_hash", "block_number")
    launches = Token.objects.filter(**of_blocks, unindexed=False).values_list(*names, "factory_address")
    events = TokenEvent.objects.filter(**of_blocks).values_list(*names, "emitter")
    left_out = set(registry().chain(coverage.chain_id).contracts).difference(coverage.addresses)
    return {
        LogId(tx_hash, log_index, block_hash): number
        for tx_hash, log_index, block_hash, number, emitter in (*launches, *events)
        if emitter.lower() not in left_out
    }


def find_altered(coverage: Coverage, transactions: Collection[TransactionFacts]) -> set[str]:
    """Transactions whose rows say otherwise than these what a launch or an event was."""
    launches = {launch.token: launch for facts in transactions for launch in facts.launches}
    written = LaunchFacts.objects.filter(token__chain_id=coverage.chain_id, token__contract_address__in=launches)
    altered = {
        launches[address].tx_hash
        for address, facts in written.values_list("token__contract_address", "facts")
        if facts != launch_facts(launches[address])
    }
    logs = {(facts.tx_hash, log.log_index): log for facts in transactions for log in facts.event_logs}
    events = TokenEvent.objects.filter(chain_id=coverage.chain_id, tx_hash__in={tx_hash for tx_hash, _ in logs})
    return altered | {
        tx_hash
        for tx_hash, log_index, arguments in events.values_list("tx_hash", "log_index", "arguments")
        if (log := logs.get((tx_hash, log_index))) and arguments != _arguments(log)
    }


def _arguments(log: EventLog) -> Json | None:
    """What the log says; None of one that is malformed, which has no row."""
    try:
        return event_facts(decode(log).arguments)
    except LogUndecodable:
        return None


def was_learned(coverage: Coverage, log: LogId) -> bool:
    """Whether nobody could have written the log when its block was followed: its token became known only later.

    Such a token was launched before the coverage begins, or by a factory that it does not have, and its launch was
    indexed since.
    """
    of_new_token = TokenEvent.objects.filter(
        chain_id=coverage.chain_id,
        tx_hash=log.tx_hash,
        log_index=log.log_index,
        token__created_at__gt=coverage.created_at,
    )
    return any(
        block_number < coverage.first_block or factory.lower() not in coverage.addresses
        for block_number, factory in of_new_token.values_list("token__block_number", "token__factory_address")
    )
