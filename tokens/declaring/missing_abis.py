"""Events about a drafted launch that no ABI file has, by emitter: a curve is often a contract of its own. Pure."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from tokens.chains.addresses import checksum_address
from tokens.chains.evm.generations.mined_transactions import MinedTransaction
from tokens.declaring.abi_files import FileEvent
from tokens.declaring.declared_sources import source_of
from tokens.declaring.later_drafts import STANDARD_TOPICS, DraftedLaunch
from tokens.declaring.made_pools import POOL_EVENTS, find_made_pools

_HOW = (
    "No ABI has these events about the token. If one is a trade, a change or a claim, add its emitter's ABI to the"
    " command: --abi FACTORY.json --abi EMITTER.json"
)


def find_missing_abis(
    launch: DraftedLaunch, transactions: Sequence[MinedTransaction], events: Sequence[FileEvent], own: Collection[str]
) -> Iterator[str]:
    """Yield how to pass missing ABIs, and a line for each emitter; nothing if no ABI is missing.

    `own` are contracts that the launch event names (EIP-55): a token's own curve does not name it. Events of the token
    itself, and of the chain's own Uniswap contracts and pools, are left out.
    """
    pool_events = POOL_EVENTS.values()
    known_topics = STANDARD_TOPICS | {each.event.topic0 for each in events}
    known_topics |= {each.event.topic0 for each in pool_events}
    known_emitters = {each.trusted(launch.chain) for each in pool_events} | {launch.token}
    known_emitters |= {pool.id for mined in transactions for pool in find_made_pools(mined) if pool.is_trusted}
    ids = [each[2:].lower() for each in (launch.token, launch.pool) if each]
    # Emitter -> topic0 -> its first log.
    logs = defaultdict[str, dict[str, str]](dict)
    for mined in transactions:
        for log in mined.logs:
            emitter, topic0 = checksum_address(log["address"]), source_of(log)[1]
            words = "".join((*log["topics"][1:], log["data"]))
            is_about = emitter in own or any(each in words for each in ids)
            if is_about and topic0 and topic0 not in known_topics and emitter not in known_emitters:
                logs[emitter].setdefault(topic0, f"log {int(log['logIndex'], 16)} of {mined.hash}")
    if logs:
        yield _HOW
    for emitter, log_label_by_topic in logs.items():
        # The last one is most likely that of a further transaction.
        topics = ", ".join(topic0[:10] for topic0 in log_label_by_topic)
        yield f"{emitter}: topic0 {topics}, {list(log_label_by_topic.values())[-1]}"
