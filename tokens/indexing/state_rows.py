"""Token states read from contracts. Stored with the launch; dropped with the block they were read at."""

from collections.abc import Iterable, Mapping, Sequence

from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import Launch, StateAtBlock, TokenState, TransactionFacts
from tokens.indexing.fact_json import state_facts
from tokens.models import StoredState, Token
from tokens.models.expressions import equals_any


def store_states(transactions: Iterable[TransactionFacts], *, chain: ChainInfo) -> set[int]:
    """Store the transactions' token states; their launches are written before. Return the token ids.

    A state that was read at a later block stays. The caller refreshes the tokens. Call it in a database transaction
    that holds the chain's lock exclusively.
    """
    read = {state.token: (facts.state, state) for facts in transactions if facts.state for state in facts.state.tokens}
    if not read:
        return set()
    tokens = Token.objects.filter(equals_any("contract_address", read), chain_id=chain.chain_id)
    rows = [
        _row(pk, *read[address], chain_id=chain.chain_id)
        for pk, address, stored_at in tokens.values_list("pk", "contract_address", "state__block_number")
        if stored_at is None or stored_at <= read[address][0].block_number
    ]
    columns = ["chain_id", "block_number", "block_hash", "facts"]
    StoredState.objects.bulk_create(rows, update_conflicts=True, unique_fields=["token"], update_fields=columns)
    return {row.token_id for row in rows}


def _row(token_id: int, read: StateAtBlock, state: TokenState, *, chain_id: int) -> StoredState:
    return StoredState(
        token_id=token_id,
        chain_id=chain_id,
        block_number=read.block_number,
        block_hash=read.block_hash,
        facts=state_facts(state),
    )


def drop_relaunched_states(before: Sequence[Token], *, launches: Mapping[str, Launch]) -> None:
    """Delete states of tokens that are launched in another block now: they were read after the former block.

    `before` are the tokens before their launches were written; `launches` are by contract address.
    """
    moved = [token.pk for token in before if token.block_hash != launches[token.contract_address].block_hash]
    if moved:
        StoredState.objects.filter(token__in=moved).delete()
