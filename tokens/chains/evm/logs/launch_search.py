"""Launch transaction search by token address, in few requests even on a long chain.

The result is a candidate: `Chain.read_transaction` verifies it by transaction, receipt and block.
"""

import logging
from typing import Any

from tokens.chains.abi.codec import Log
from tokens.chains.abi.paths import part_at
from tokens.chains.errors import LogDecodingError, NodeUnavailableError
from tokens.chains.evm.generations.launch_layouts import LaunchLayout, LaunchLayouts, launch_layouts
from tokens.chains.evm.logs.log_filters import source_filter
from tokens.chains.evm.logs.log_validation import validate_logs
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.rpc.client import ONE_ROUND, RpcClient
from tokens.chains.rpc.quantities import parse_block_number, parse_data
from tokens.chains.rpc.responses import Call, require_results

logger = logging.getLogger(__name__)

# Blocks probed per request: each request narrows the search to an eighth of the blocks.
_PROBES = 7
_WORD_DIGITS = 64


def find_launch(rpc: RpcClient, chain: ChainInfo, token: str) -> str | None:
    """Implement `Chain.find_launch`."""
    layouts = launch_layouts(chain)
    if not layouts:
        return None
    head = rpc.query([("eth_blockNumber", ())], parse=lambda results: parse_block_number(results[0]))
    try:
        block = _find_creation(rpc, token, head=head)
    except NodeUnavailableError as error:
        logger.info("chain %s: the launch of %s is searched in all logs: %s", chain.chain_id, token, error)
        searchable = {source: events for source, events in layouts.items() if all(map(_is_first_topic, events))}
        topics = frozenset({f"0x{token[2:].lower():0>{_WORD_DIGITS}}"})
        return _find_in_logs(rpc, searchable, token, first=0, last=head, topics=topics) if searchable else None
    return None if block is None else _find_in_logs(rpc, layouts, token, first=block, last=block)


def _is_first_topic(layout: LaunchLayout) -> bool:
    """Return whether the launched token is the first indexed argument."""
    return bool(layout.event.indexed) and layout.event.layout.names[:1] == layout.token


def _find_creation(rpc: RpcClient, address: str, *, head: int) -> int | None:
    """Return the first block after which the address has code; None without code at the head.

    Tokens never lose their code. Raises NodeUnavailableError, also where no node has old block states.
    """

    def have_code(blocks: list[int]) -> list[bool]:
        def parse(results: list[Any]) -> list[bool]:
            require_results(results)
            return [parse_data(code) != "0x" for code in results]

        calls: list[Call] = [("eth_getCode", (address, hex(block))) for block in blocks]
        return rpc.query(calls, parse=parse, policy=ONE_ROUND)

    if not have_code([head])[0]:
        return None
    # The block is between `first` and `last`, both included.
    first, last = 0, head
    while first < last:
        span = last - first
        probes = sorted({first + span * step // (_PROBES + 1) for step in range(1, _PROBES + 1)})
        with_code = [block for block, has_code in zip(probes, have_code(probes), strict=True) if has_code]
        last = with_code[0] if with_code else last
        without = [block for block in probes if block < last and block not in with_code]
        first = without[-1] + 1 if without else first
    return first


def _find_in_logs(
    rpc: RpcClient,
    layouts: LaunchLayouts,
    token: str,
    *,
    first: int,
    last: int,
    topics: frozenset[str] | None = None,
) -> str | None:
    """Return the hash of the token's first launch transaction in a block range; None without one.

    Raises NodeUnavailableError, also where all nodes refuse the range.
    """
    requested = source_filter(layouts, second_topics=topics)

    def parse(results: list[Any]) -> str | None:
        require_results(results)
        for log in validate_logs([(requested, results[0])], first=first, last=last):
            for layout in layouts.get((log["address"].lower(), log["topics"][0]), ()):
                if _launched_token(layout, log) == token:
                    return str(log["transactionHash"])
        return None

    query = requested.query(fromBlock=hex(first), toBlock=hex(last))
    return rpc.query([("eth_getLogs", (query,))], parse=parse, policy=ONE_ROUND)


def _launched_token(layout: LaunchLayout, log: Log) -> str | None:
    """Return a launch event's token; None for a log with another layout and the same topic0."""
    try:
        token: str = part_at(layout.event.decode(log), layout.token)
    except LogDecodingError:
        return None
    return token
