"""Contents of the newest blocks, read a second time if a block's bloom filter contradicts an empty response."""

import logging
from collections.abc import Sequence

from config.http.errors import RetryableError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.types import BlockHeader, TransactionFacts

logger = logging.getLogger(__name__)


def read_head_blocks(headers: Sequence[BlockHeader], *, chain: Chain, alternate: Chain) -> tuple[TransactionFacts, ...]:
    """Return the transactions of these blocks in chain order.

    A block with a matching bloom filter and an empty response is read again from its receipts, by another node if
    there is one. Raises BlockNotCanonicalError, NodeUnavailableError.
    """
    found = chain.read_blocks(headers).transactions
    holding = {facts.block_hash for facts in found}
    suspects = [header for header in headers if header.hash not in holding and chain.may_contain_events(header)]
    if suspects:
        found += _read_again(suspects, chain=chain, alternate=alternate)
    return tuple(sorted(found, key=_number))


def _read_again(suspects: Sequence[BlockHeader], *, chain: Chain, alternate: Chain) -> tuple[TransactionFacts, ...]:
    for source in (alternate, chain):
        try:
            found = source.read_receipts(suspects).transactions
        except RetryableError as error:
            logger.info("chain=%s receipts of a block are unavailable: %s", chain.info.chain_id, error)
            continue
        for number in sorted({facts.block_number for facts in found}):
            # Nothing is lost, but the log shows operators that the node is unreliable.
            logger.warning("chain=%s block=%s a node had omitted its logs", chain.info.chain_id, number)
        return found
    # Lagging nodes must not delay the head. Omitted logs are found by the verification, once the block is final.
    return ()


def _number(facts: TransactionFacts) -> int:
    return facts.block_number
