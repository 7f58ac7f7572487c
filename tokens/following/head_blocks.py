"""What the newest blocks hold, asked a second time where the first answer is hard to believe."""

import logging
from collections.abc import Sequence

from config.http.json_client import Retryable
from tokens.chains.protocols import Chain
from tokens.chains.types import BlockHeader, TransactionFacts

logger = logging.getLogger(__name__)


def read(headers: Sequence[BlockHeader], *, chain: Chain, otherwise: Chain) -> tuple[TransactionFacts, ...]:
    """The transactions of these blocks, in the chain's order.

    A block whose filter promises something for us, and whose logs came back empty, is read once more from its receipts,
    by another node where there is one. Raises BlockGone, NodeUnavailable.
    """
    found = chain.read_blocks(headers).transactions
    holding = {facts.block_hash for facts in found}
    suspects = [header for header in headers if header.hash not in holding and chain.may_hold(header)]
    if suspects:
        found += _read_again(suspects, chain=chain, otherwise=otherwise)
    return tuple(sorted(found, key=_number))


def _read_again(suspects: Sequence[BlockHeader], *, chain: Chain, otherwise: Chain) -> tuple[TransactionFacts, ...]:
    for asked in (otherwise, chain):
        try:
            found = asked.read_receipts(suspects).transactions
        except Retryable as error:
            logger.info("chain=%s receipts of a block are not to be had: %s", chain.info.chain_id, error)
            continue
        for number in sorted({facts.block_number for facts in found}):
            # Nothing is lost for it; whoever pays for the node should know all the same.
            logger.warning("chain=%s block=%s a node had left its logs out", chain.info.chain_id, number)
        return found
    # Nodes that lag must not hold up the head. What is left out is found when the block is checked, once it is final.
    return ()


def _number(facts: TransactionFacts) -> int:
    return facts.block_number
