"""tokens/chains/solana: facts of recorded transactions, from a node on loopback."""

import pytest

from tests.nodes.solana import recorded
from tests.nodes.solana.recorded import allow_list, solana_chain
from tokens.chains.errors import LaunchNotFoundError
from tokens.chains.registry.chains import load_registry
from tokens.chains.types import Launch, Pool, PoolClaim, TransactionFacts

RECORDED_LAUNCH = Launch(
    chain_id=101,
    generation="solana",
    token=recorded.MINT,
    tx_hash=recorded.LAUNCH,
    log_index=0,
    block_number=1003,
    block_hash="",
    block_time=1795228411,
    factory=recorded.PROGRAM,
    name="Launch Sol",
    symbol="LSOL",
    supply=1_000_000_000_000_000,
    decimals=6,
    uri="https://example.org/lsol.json",
    admin=recorded.CREATOR,
    msg_sender=recorded.PARTNER,
    requestor_address=recorded.CREATOR,
    pool=Pool(
        address=recorded.POOL,
        paired_token=recorded.WRAPPED_SOL,
        pair_symbol="SOL",
        pair_decimals=9,
        tick=None,
        tick_spacing=None,
        hook=None,
    ),
    curve_config=recorded.CONFIG,
)
RECORDED_FACTS = TransactionFacts(
    tx_hash=recorded.LAUNCH,
    block_number=1003,
    block_hash="",
    block_time=1795228411,
    launches=(RECORDED_LAUNCH,),
    event_logs=(),
    pool_claims=(),
    final=True,
)
RECORDED_CLAIM = PoolClaim(
    program=recorded.PROGRAM,
    pool=recorded.POOL,
    log_index=10,
    paid_to="creator",
    claimer=recorded.CREATOR,
    amounts={recorded.MINT: 0, recorded.WRAPPED_SOL: 4_000_000},
)


def test_it_reads_every_field_of_a_launch(solana):
    assert solana.read_transaction(recorded.LAUNCH) == RECORDED_FACTS


@pytest.mark.parametrize(
    ("role", "address"),
    [("launch_creator", recorded.CREATOR), ("launch_creator", recorded.PARTNER), ("launch_config", recorded.CONFIG)],
)
def test_it_recognises_a_launch_by_its_config_its_creator_or_its_payer(solana_node, tmp_path, role, address):
    info = load_registry(allow_list(tmp_path / "chains.toml", role=role, address=address)).solana
    assert solana_chain(info, solana_node.url).read_transaction(recorded.LAUNCH) == RECORDED_FACTS


def test_it_refuses_a_launch_of_an_unregistered_config(solana_node):
    with pytest.raises(LaunchNotFoundError, match="known config or creator"):
        solana_chain(load_registry().solana, solana_node.url).read_transaction(recorded.LAUNCH)


@pytest.mark.parametrize("signature", [recorded.SPL_MINT, recorded.CREATE_CONFIG, recorded.SWAP])
def test_it_refuses_what_is_no_launch(solana, signature):
    with pytest.raises(LaunchNotFoundError, match="known config or creator"):
        solana.read_transaction(signature)


def test_it_reads_a_claim_of_the_creator(solana):
    facts = solana.read_transaction(recorded.CLAIM)
    assert (facts.launches, facts.pool_claims, facts.final) == ((), (RECORDED_CLAIM,), True)
    assert (facts.block_number, facts.block_time) == (1005, 1795228413)


def test_it_reads_many_at_once_and_leaves_out_what_holds_nothing(solana, solana_node):
    signatures = [recorded.SPL_MINT, recorded.LAUNCH, recorded.SWAP, recorded.CLAIM, recorded.LAUNCH]
    found = solana.read_transactions(signatures)
    assert list(found) == [recorded.LAUNCH, recorded.CLAIM]
    assert found[recorded.LAUNCH] == RECORDED_FACTS
    # The genesis hash, all transactions in both forms, and the accounts of the mint.
    assert len(solana_node.received) == 3


def test_it_reads_nothing_of_no_transactions(solana, solana_node):
    assert solana.read_transactions([]) == {}
    assert not solana_node.received
