"""Headers of blocks, from nodes of which none is trusted: each is checked before anybody sees it."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from config.http.json_client import Retryable
from tokens.chains.rpc.client import RpcClient
from tokens.chains.rpc.quantities import YEAR_10000, Malformed, read_bloom, read_hash, read_number, read_object
from tokens.chains.rpc.responses import Call, refuse_failures
from tokens.chains.types import BlockGone, BlockHeader


def read_header(block: object, *, number: int | None = None) -> BlockHeader:
    """The header in a JSON-RPC block; `number` is the one asked for. Raises Malformed."""
    told = read_object(block, of="a block")
    header = BlockHeader(
        number=read_number(told.get("number")),
        hash=read_hash(told.get("hash")),
        parent_hash=read_hash(told.get("parentHash")),
        time=read_number(told.get("timestamp"), below=YEAR_10000),
        logs_bloom=read_bloom(told.get("logsBloom")),
    )
    if number is not None and header.number != number:
        raise Malformed("another block than the one asked for")
    return header


def block_call(number: int) -> Call:
    """The call for a block by its number, without its transactions."""
    return ("eth_getBlockByNumber", (hex(number), False))


def read_newest(rpc: RpcClient) -> BlockHeader:
    """The newest block of the first node that answers. Raises NodeUnavailable."""

    def read(blocks: list[Any]) -> BlockHeader:
        refuse_failures(blocks)
        return read_header(blocks[0])

    return rpc.ask([("eth_getBlockByNumber", ("latest", False))], read=read)


def read_headers(rpc: RpcClient, numbers: Collection[int]) -> dict[int, BlockHeader]:
    """Block number -> the block on the chain as it is now, without those that the node lacks. Raises NodeUnavailable.

    All that fit into one HTTP request are of one node; more may be of several.
    """
    wanted = sorted(set(numbers))
    found: dict[int, BlockHeader] = {}
    for start in range(0, len(wanted), rpc.batch_size):
        found |= _read_part(rpc, wanted[start : start + rpc.batch_size])
    return found


def _read_part(rpc: RpcClient, numbers: Sequence[int]) -> dict[int, BlockHeader]:
    def read(blocks: list[Any]) -> dict[int, BlockHeader]:
        refuse_failures(blocks)
        told = zip(numbers, blocks, strict=True)
        return {number: read_header(block, number=number) for number, block in told if block is not None}

    return rpc.ask([block_call(number) for number in numbers], read=read)


def read_times(rpc: RpcClient, hashes: Mapping[int, str]) -> dict[str, int]:
    """Block hash -> Unix seconds, of blocks by number that must have these hashes. Raises NodeUnavailable."""
    wanted = sorted(hashes)
    found: dict[str, int] = {}
    for start in range(0, len(wanted), rpc.batch_size):
        found |= _read_times_of_part(rpc, wanted[start : start + rpc.batch_size], hashes)
    return found


def _read_times_of_part(rpc: RpcClient, numbers: Sequence[int], hashes: Mapping[int, str]) -> dict[str, int]:
    def read(blocks: list[Any]) -> dict[str, int]:
        refuse_failures(blocks)
        found = {}
        for number, block in zip(numbers, blocks, strict=True):
            header = read_header(block, number=number)
            if header.hash != hashes[number]:
                raise Retryable("a block with another hash than its logs have")
            found[header.hash] = header.time
        return found

    return rpc.ask([block_call(number) for number in numbers], read=read)


def require_on_chain(rpc: RpcClient, headers: Sequence[BlockHeader]) -> None:
    """Raises BlockGone where the chain has another block, or none, in the place of one of these; NodeUnavailable."""
    canonical = read_headers(rpc, [header.number for header in headers])
    for header in headers:
        found = canonical.get(header.number)
        if found is None or found.hash != header.hash:
            other = "no block" if found is None else "another block"
            raise BlockGone(f"chain {rpc.chain_id} has {other} at number {header.number}")


def read_highest(rpc: RpcClient) -> int | None:
    """As `Chain.read_highest`."""
    told = []
    for answers in rpc.ask_every([("eth_blockNumber", ())]):
        try:
            told.append(read_number(answers and answers[0]))
        except Malformed:
            continue
    return max(told, default=None)


def count_nodes_with(rpc: RpcClient, header: BlockHeader) -> tuple[int, int]:
    """As `Chain.count_nodes_with`."""
    have, differ = 0, 0
    for answers in rpc.ask_every([block_call(header.number)]):
        try:
            found = read_header(answers and answers[0], number=header.number)
        except Malformed:
            continue
        have += found.hash == header.hash
        differ += found.hash != header.hash
    return have, differ
