"""Contents of the newest blocks, read again if a block's bloom filter contradicts an empty response."""

import logging
from collections.abc import Sequence

from config.http.errors import RetryableError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.pool_types import PoolSelection
from tokens.chains.types import BlockHeader, RangeFacts
from tokens.following.block_contents import pool_logs, replace_blocks
from tokens.following.followed_pools import FollowedPools

logger = logging.getLogger(__name__)


def read_head_blocks(
    headers: Sequence[BlockHeader], *, chain: Chain, alternate: Chain, pools: PoolSelection | None
) -> RangeFacts:
    """Return the blocks' contents in chain order.

    A block with a matching bloom filter and an empty response is read again from its receipts, by another node if
    there is one. Raises BlockNotCanonicalError, NodeUnavailableError.
    """
    reading = chain.read_blocks(headers, pools=pools)
    # The receipts of suspects lack launches in the other blocks: the pools of these launches have to be named.
    selected = FollowedPools(pools)
    selected.add_launched(reading.transactions)
    with_events = {facts.block_number for facts in reading.transactions}
    with_any = with_events | {log.block_number for log in pool_logs(reading)}
    suspects = [
        header
        for header in headers
        if (header.number not in with_events and chain.may_contain_events(header))
        or (header.number not in with_any and chain.may_contain_events(header, pools=selected.selection))
    ]
    again = _read_again(suspects, chain=chain, alternate=alternate, pools=selected.selection) if suspects else None
    if again is None:
        return reading
    omitted = {facts.block_number for facts in again.transactions} - with_events
    for number in sorted(omitted | {log.block_number for log in pool_logs(again)} - with_any):
        # Nothing is lost, but the log shows operators that the node is unreliable.
        logger.warning("chain=%s block=%s a node had omitted its logs", chain.info.chain_id, number)
    # Receipts without a proof may lack what the logs have.
    return replace_blocks(reading, again, numbers={header.number for header in suspects} - again.unproven)


def _read_again(
    suspects: Sequence[BlockHeader], *, chain: Chain, alternate: Chain, pools: PoolSelection | None
) -> RangeFacts | None:
    for source in (alternate, chain):
        try:
            return source.read_receipts(suspects, pools=pools)
        except RetryableError as error:
            logger.info("chain=%s receipts of a block are unavailable: %s", chain.info.chain_id, error)
    # Lagging nodes must not delay the head. Omitted logs are found by the verification, once the block is final.
    return None
