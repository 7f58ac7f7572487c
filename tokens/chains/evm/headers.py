"""Block headers from untrusted nodes, validated field by field."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from config.http.errors import RetryableError
from tokens.chains.errors import BlockNotCanonicalError
from tokens.chains.rpc.client import RpcClient
from tokens.chains.rpc.quantities import (
    MalformedResponseError,
    parse_block_number,
    parse_bloom,
    parse_hash,
    parse_object,
    parse_quantity,
    validate_block_time,
)
from tokens.chains.rpc.responses import Call, require_results
from tokens.chains.types import BlockHeader


def read_header(block: object, *, number: int | None = None) -> BlockHeader:
    """Parse the header of a JSON-RPC block, which must have this number. Raises MalformedResponseError."""
    fields = parse_object(block, of="a block")
    header = BlockHeader(
        number=(own := parse_block_number(fields.get("number"))),
        hash=parse_hash(fields.get("hash")),
        parent_hash=parse_hash(fields.get("parentHash")),
        time=validate_block_time(parse_quantity(fields.get("timestamp")), block=own),
        logs_bloom=parse_bloom(fields.get("logsBloom")),
        receipts_root="" if fields.get("receiptsRoot") is None else parse_hash(fields["receiptsRoot"]),
    )
    if number is not None and header.number != number:
        raise MalformedResponseError("another block than the requested one")
    return header


def block_call(number: int) -> Call:
    """Return the call for a block by number, without its transactions."""
    return ("eth_getBlockByNumber", (hex(number), False))


def read_newest_header(rpc: RpcClient) -> BlockHeader:
    """Implement `Chain.read_newest_header`."""

    def parse(blocks: list[Any]) -> BlockHeader:
        require_results(blocks)
        return read_header(blocks[0])

    return rpc.query([("eth_getBlockByNumber", ("latest", False))], parse=parse)


def read_headers(rpc: RpcClient, numbers: Collection[int]) -> dict[int, BlockHeader]:
    """Implement `Chain.read_headers`.

    All blocks in one HTTP request come from one node; several requests may use several nodes.
    """

    def parse(number: int, blocks: list[Any]) -> BlockHeader | None:
        return None if blocks[0] is None else read_header(blocks[0], number=number)

    return rpc.query_each(sorted(set(numbers)), calls=lambda number: [block_call(number)], parse=parse)


def read_times(rpc: RpcClient, hashes: Mapping[int, str]) -> dict[str, int]:
    """Return block hash -> Unix seconds. `hashes` are the expected block hashes by number.

    Raises NodeUnavailableError.
    """

    def parse(number: int, blocks: list[Any]) -> int:
        header = read_header(blocks[0], number=number)
        if header.hash != hashes[number]:
            raise RetryableError("a block with another hash than its logs have")
        return header.time

    times = rpc.query_each(sorted(hashes), calls=lambda number: [block_call(number)], parse=parse)
    return {hashes[number]: time for number, time in times.items()}


def require_on_chain(rpc: RpcClient, headers: Sequence[BlockHeader]) -> None:
    """Raise BlockNotCanonicalError if the chain has another block, or none, at a header's number.

    Raises NodeUnavailableError.
    """
    canonical = read_headers(rpc, [header.number for header in headers])
    for header in headers:
        current = canonical.get(header.number)
        if current is None or current.hash != header.hash:
            other = "no block" if current is None else "another block"
            raise BlockNotCanonicalError(f"chain {rpc.chain_id} has {other} at number {header.number}")


def read_highest_head(rpc: RpcClient) -> int | None:
    """Implement `Chain.read_highest_head`."""
    heads = []
    for results in rpc.call_all([("eth_blockNumber", ())]):
        try:
            heads.append(parse_block_number(results and results[0]))
        except MalformedResponseError:
            continue
    return max(heads, default=None)


def read_times_by_provider(rpc: RpcClient, headers: Sequence[BlockHeader]) -> dict[int, list[int]]:
    """Return block number -> the Unix seconds that each provider returns for these blocks. Raises nothing."""
    times: dict[int, list[int]] = {header.number: [] for header in headers}
    for start in range(0, len(headers), rpc.batch_size):
        batch = headers[start : start + rpc.batch_size]
        answers = rpc.call_all([block_call(header.number) for header in batch])
        # A provider has one vote, even with several URLs.
        for blocks in dict(zip(rpc.providers, answers, strict=True)).values():
            for header, block in zip(batch, blocks or (), strict=False):
                try:
                    own_header = read_header(block, number=header.number)
                except MalformedResponseError:
                    continue
                if own_header.hash == header.hash:
                    times[header.number].append(own_header.time)
    return times


def count_nodes_with(rpc: RpcClient, header: BlockHeader) -> tuple[int, int]:
    """Implement `Chain.count_nodes_with`."""
    have, differ = 0, 0
    for results in rpc.call_all([block_call(header.number)]):
        try:
            node_header = read_header(results and results[0], number=header.number)
        except MalformedResponseError:
            continue
        have += node_header.hash == header.hash
        differ += node_header.hash != header.hash
    return have, differ
