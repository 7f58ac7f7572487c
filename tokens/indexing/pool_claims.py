"""Which claims of Solana's pools are kept: those that the launch program told, of pools of tokens that are known."""

from collections.abc import Iterable

from tokens.chains.evm.generations.event_decoding import DecodedEvent, EventKind, Source
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import PoolClaim, TransactionFacts
from tokens.indexing.event_sources import BelievedEvent
from tokens.models import Token
from tokens.models.querysets import one_of


def believe_claims(transactions: Iterable[TransactionFacts], *, chain: ChainInfo) -> list[BelievedEvent]:
    """The claims of transactions as events of their pools' tokens, in order; a pool that is nobody's of ours has none.

    One query.
    """
    programs = chain.addresses("launch_program")
    claims = [
        (facts.tx_hash, claim) for facts in transactions for claim in facts.pool_claims if claim.program in programs
    ]
    if not claims:
        return []
    pools = {claim.pool for _, claim in claims}
    launched = Token.objects.launched_on(chain.chain_id).exclude(pool_address="").filter(one_of("pool_address", pools))
    tokens = {token.pool_address: token for token in launched.only("contract_address", "pool_address", "paired_token")}
    return [
        BelievedEvent(tx_hash=tx_hash, event=_event(claim), token=tokens[claim.pool])
        for tx_hash, claim in claims
        if claim.pool in tokens
    ]


def _event(claim: PoolClaim) -> DecodedEvent:
    return DecodedEvent(
        kind=EventKind.FEES_CLAIMED,
        source=Source.POOL,
        emitter=claim.program,
        log_index=claim.log_index,
        arguments={
            "pool": claim.pool,
            "paid_to": claim.paid_to,
            "claimer": claim.claimer,
            "amounts": dict(claim.amounts),
        },
    )
