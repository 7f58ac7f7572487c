"""Decoder from a block range's filtered logs to facts, equal to reading each transaction in full. Pure.

Logs with `launch_topics` and `own_topics` suffice for most transactions. The decoder returns the hashes of the others,
which must be fetched in full.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from tokens.chains.abi.codec import Log
from tokens.chains.errors import LaunchNotFoundError, LogDecodingError
from tokens.chains.evm.generations.event_decoding import SOURCES_BY_TOPIC, UNREGISTERED_SOURCES
from tokens.chains.evm.generations.launch_layouts import launch_layouts
from tokens.chains.evm.generations.mined_transactions import (
    POOL_INITIALIZED,
    FullTransactionRequiredError,
    mined_from_logs,
)
from tokens.chains.evm.generations.transaction_decoding import decode_mined
from tokens.chains.evm.generations.v4.uniswap_v4_launches import LAUNCH_EVENTS
from tokens.chains.evm.logs.log_places import undecodable_log
from tokens.chains.pool_types import UndecodableLog
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import TransactionFacts


@dataclass(frozen=True, kw_only=True, slots=True)
class DecodedLogs:
    """Decoded logs. No transaction is in two of the fields; each field is in chain order.

    A transaction without a launch or a relevant event is in no field.
    """

    # Complete from the logs, except for paired tokens that the registry lacks: they must be read from a node.
    transactions: tuple[TransactionFacts, ...]
    # Hashes of transactions to fetch in full, because the logs show a launch only in part.
    incomplete: tuple[str, ...]
    # From transactions without anything else. Fetching them in full would fail the same way.
    undecodable: tuple[UndecodableLog, ...]


@cache
def launch_topics(chain: ChainInfo) -> frozenset[str]:
    """Return the topic0 values to request from a chain's `emitters`: launches, and later events.

    They are disjoint from `own_topics`, so that no log is requested twice.
    """
    created = {topic0 for _, topic0 in launch_layouts(chain)}
    launches = (launch for pad in chain.launchpads for launch in pad.launches if chain.chain_id in launch.contracts)
    events = {value.event.topic0 for launch in launches for value in launch.other_logs}
    events.update(event.topic0 for event in LAUNCH_EVENTS)
    if chain.pools_of_launches:
        events.add(POOL_INITIALIZED.topic0)
    later = {topic0 for address, topic0 in chain.token_events if address}
    return frozenset(created | events | later | SOURCES_BY_TOPIC.keys()) - own_topics(chain)


@cache
def own_topics(chain: ChainInfo) -> frozenset[str]:
    """Return the topic0 values of events that tokens and their own lockers emit, to request from any address."""
    compiled = (topic0 for topic0, source in SOURCES_BY_TOPIC.items() if source in UNREGISTERED_SOURCES)
    return frozenset((*compiled, *(topic0 for address, topic0 in chain.token_events if not address)))


def decode_logs(
    chain: ChainInfo,
    logs: Sequence[Log],
    *,
    times: Mapping[str, int],
    senders: Mapping[str, str] = MappingProxyType({}),
) -> DecodedLogs:
    """Decode a block range's logs, each transaction as `Chain.read_transaction` would.

    The logs are validated, in chain order, and for each transaction complete: all logs with `launch_topics` from
    `chain.emitters`, and with `own_topics` from any address. A filter with fewer addresses leaves more transactions
    incomplete. `times` are Unix seconds by block hash; `senders` are known senders by transaction hash. A malformed
    factory launch is left out; a malformed event after launch is decoded later, and fails there.
    """
    by_transaction: defaultdict[str, list[Log]] = defaultdict(list)
    for log in logs:
        by_transaction[log["transactionHash"]].append(log)
    transactions: list[TransactionFacts] = []
    incomplete: list[str] = []
    undecodable: list[UndecodableLog] = []
    topics = launch_topics(chain)
    for tx_hash, own in by_transaction.items():
        mined = mined_from_logs(
            chain, own, block_time=times[own[0]["blockHash"]], topics=topics, sender=senders.get(tx_hash)
        )
        try:
            transactions.append(decode_mined(mined))
        except LaunchNotFoundError:
            continue
        except FullTransactionRequiredError:
            incomplete.append(tx_hash)
        except LogDecodingError as error:
            undecodable.append(error.log or undecodable_log(own[0], launchpad="", reason=str(error)))
    return DecodedLogs(transactions=tuple(transactions), incomplete=tuple(incomplete), undecodable=tuple(undecodable))
