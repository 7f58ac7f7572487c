"""From the logs that a filter found in a run of blocks to facts, as reading each transaction would give them: pure.

Most transactions are told completely by the logs that `launch_topics` and `own_topics` ask for; the others are named,
so that they are read in full.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from tokens.chains.abi.codec import Log
from tokens.chains.evm.generations.event_decoding import SOURCES, TOKENS_OWN
from tokens.chains.evm.generations.mined_transactions import BeyondLogs, gather_mined
from tokens.chains.evm.generations.transaction_decoding import LAYOUTS, decode_mined
from tokens.chains.evm.generations.v4.uniswap_v4_launches import SOUGHT
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import LaunchNotFound, LogUndecodable, TransactionFacts


@dataclass(frozen=True, kw_only=True, slots=True)
class Undecodable:
    """A transaction in which a known factory's launch is malformed, and why it can't be read."""

    tx_hash: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class DecodedLogs:
    """What logs tell. No transaction is in two of the parts; each part is in the chain's order.

    A transaction that holds nothing for us is in none.
    """

    # What the logs alone tell completely. Pairs that the registry does not know are left for a node to name.
    transactions: tuple[TransactionFacts, ...]
    # Hashes of those that must be read in full, because they hold a launch of which the logs don't tell all.
    incomplete: tuple[str, ...]
    # Reading them in full would end the same way. Whoever reads should say so loudly, and go on.
    undecodable: tuple[Undecodable, ...]


@cache
def launch_topics(chain: ChainInfo) -> frozenset[str]:
    """topic0 of what is to be asked of a chain's `emitters`: launches, and events of roles of the registry after them.

    The two sets of topics share none: what anybody is asked for, nobody is asked for twice.
    """
    created = {LAYOUTS[generation.event][0].topic0 for generation in chain.factories.values()}
    return frozenset(created | {event.topic0 for event in SOUGHT} | SOURCES.keys()) - own_topics()


@cache
def own_topics() -> frozenset[str]:
    """topic0 of the events that tokens, and lockers which hold one token each, emit: to be asked of any address."""
    return frozenset(topic0 for topic0, source in SOURCES.items() if source in TOKENS_OWN)


def decode_logs(chain: ChainInfo, logs: Sequence[Log], *, times: Mapping[str, int]) -> DecodedLogs:
    """What the logs of a run of blocks tell, each transaction as `EvmChain.read_transaction` would.

    The logs are in the chain's order, checked already, and for each transaction all that `chain.emitters` emitted with
    `launch_topics`, and anybody with `own_topics`; of a filter with fewer addresses more transactions are incomplete.
    `times` are Unix seconds by block hash. A malformed launch of a factory makes its transaction undecodable, and none
    other; a malformed event after launch is decoded later, and its fault shows there.
    """
    by_transaction: defaultdict[str, list[Log]] = defaultdict(list)
    for log in logs:
        by_transaction[log["transactionHash"]].append(log)
    transactions: list[TransactionFacts] = []
    incomplete: list[str] = []
    undecodable: list[Undecodable] = []
    topics = launch_topics(chain)
    for tx_hash, own in by_transaction.items():
        mined = gather_mined(chain, own, block_time=times[own[0]["blockHash"]], topics=topics)
        try:
            transactions.append(decode_mined(mined))
        except LaunchNotFound:
            continue
        except BeyondLogs:
            incomplete.append(tx_hash)
        except LogUndecodable as error:
            undecodable.append(Undecodable(tx_hash=tx_hash, reason=str(error)))
    return DecodedLogs(transactions=tuple(transactions), incomplete=tuple(incomplete), undecodable=tuple(undecodable))
