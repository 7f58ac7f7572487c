"""Verification where headers prove nothing: by the receipts' root, by two providers, or with rows that stay."""

from dataclasses import replace

import pytest

from tests.nodes.following_chain import control, final, install, wrong_rows
from tests.simulator import Faults, SimulatedChain, serve
from tests.simulator.addresses import FACTORY
from tests.tokens.following.test_verified_completeness import BUSY, CHAIN, check, read
from tokens.chains.evm.logs.blooms import BITS, bloom_mask
from tokens.following.verifying.verification import verify_coverage
from tokens.installation.installed_chains import installed_chain, installed_chain_second_node_first
from tokens.models import Coverage, CoverageAlarm, Token, TokenEvent

pytestmark = pytest.mark.django_db
ZERO_ROOT = "0x" + "00" * 32


@pytest.fixture
def chain():
    grown = SimulatedChain(21, traffic=BUSY)
    for number in range(26):
        grown.mine(1, transactions=() if number % 10 == 5 else None)
    return grown


@pytest.fixture
def nodes(chain, settings, forget_chains, tmp_path):
    settings.RPC_PATIENCE_SECONDS = 1.0
    with serve(chain, seed=1) as first, serve(chain, seed=2) as second:
        install(chain, first.url, second.url, settings=settings, forget=forget_chains, directory=tmp_path)
        yield first, second


def add_bits(chain: SimulatedChain, *, root: str = "") -> int:
    """Add a launch log's bits to each block's filter, as if a system contract had emitted such a log.

    Return how many final blocks did not have these bits.
    """
    logs = [log for block in chain.blocks for entry in block.transactions for log in entry.logs]
    topic = next(log.topics[0] for log in logs if log.address == FACTORY.lower())
    more = bloom_mask(FACTORY.lower()) | bloom_mask(topic)
    blocks = {
        block.number: replace(block, logs_bloom=block.logs_bloom | more, receipts_root=root) for block in chain.blocks
    }
    odd = [block for block in chain.blocks[: final(chain) + 1] if block.logs_bloom | more != block.logs_bloom]
    chain.replace_blocks(blocks)
    return len(odd)


def alone(nodes, settings, forget_chains) -> None:
    """Leave the first node only."""
    settings.RPC_URLS = {CHAIN: (nodes[0].url,)}
    forget_chains()


def give_up(run: Coverage) -> None:
    """Verify a run, and give up at once where no proof is found."""
    chain, alternate = installed_chain(CHAIN), installed_chain_second_node_first(CHAIN)
    retries = replace(control(), record=lambda _error: 0.0)
    for _ in verify_coverage(
        run, chain=chain, alternate=alternate, target=lambda: run.last_block, control=retries, undecided_seconds=0.0
    ):
        pass


@pytest.mark.parametrize("root", ["", ZERO_ROOT], ids=["root of the receipts", "constant root"])
@pytest.mark.parametrize("method", ["bloom", "receipts"])
def test_filters_with_other_bits_are_one_alarm_and_no_obstacle(chain, nodes, settings, root, method):
    settings.FOLLOW_VERIFY = method
    odd = add_bits(chain, root=root)
    run = read(chain)
    check(run, once=True)
    assert run.verified_to == final(chain) and wrong_rows(chain, to=final(chain)) == []
    (alarm,) = CoverageAlarm.objects.all()
    assert (alarm.missing, alarm.invented, alarm.corrected, alarm.kept) == (0, 0, 0, 0)
    assert (alarm.first_block, alarm.last_block, alarm.unproven) == (0, final(chain), odd)


@pytest.mark.parametrize("root", ["", ZERO_ROOT], ids=["root of the receipts", "two providers"])
def test_what_a_node_omits_is_found_where_filters_have_other_bits(chain, nodes, root):
    add_bits(chain, root=root)
    nodes[0].faults = Faults(forgotten=0.2)
    run = read(chain)
    assert wrong_rows(chain, to=final(chain))
    check(run, once=True)
    assert run.verified_to == final(chain) and wrong_rows(chain, to=final(chain)) == []


@pytest.mark.parametrize("seed", [35, 43, 45])
def test_receipts_show_a_launch_that_both_readings_lacked_and_its_trades(settings, forget_chains, tmp_path, seed):
    """Check chains whose launch is known by receipts only, with a trade in the last block of a step."""
    settings.FOLLOW_VERIFY = "logs"
    chain = SimulatedChain(seed, traffic=BUSY)
    chain.mine(26)
    with serve(chain, seed=1) as first, serve(chain, seed=2) as second:
        install(chain, first.url, second.url, settings=settings, forget=forget_chains, directory=tmp_path)
        first.faults = Faults(forgotten=0.5)
        run = read(chain)
        first.faults, second.faults = Faults(), Faults(forgotten=1.0)
        check(run, once=True)
    assert run.verified_to == final(chain) and wrong_rows(chain, to=final(chain)) == []


def test_rows_that_pruned_nodes_lack_stay_with_an_alarm(chain, nodes):
    run = read(chain)
    chain.replace_blocks({block.number: replace(block, logs_bloom=2**BITS - 1) for block in chain.blocks})
    for node in nodes:
        node.faults = Faults(pruned_to=8, prunes_receipts=True)
    check(run, once=True)
    assert run.verified_to < 8 and wrong_rows(chain, to=final(chain)) == []
    assert not CoverageAlarm.objects.exists()
    give_up(run)
    assert run.verified_to == final(chain) and wrong_rows(chain, to=final(chain)) == []
    kept = [alarm for alarm in CoverageAlarm.objects.all() if alarm.kept]
    assert kept and not any(alarm.repaired or alarm.invented for alarm in kept)
    launched = set(Token.objects.filter(block_number__lte=8).values_list("tx_hash", flat=True))
    assert launched and launched <= {tx_hash for alarm in kept for tx_hash in alarm.tx_hashes}


def test_an_outage_is_no_reason_to_give_up_a_proof(chain, nodes):
    run = read(chain)
    chain.replace_blocks({block.number: replace(block, logs_bloom=2**BITS - 1) for block in chain.blocks})
    for node in nodes:
        node.faults = Faults(pruned_to=8, prunes_receipts=True, lacking=frozenset({"eth_getBlockByNumber"}))
    check(run, once=True)
    assert run.verified_to == -1 and not CoverageAlarm.objects.exists()


@pytest.mark.parametrize("method", ["logs", "bloom", "receipts"])
def test_a_second_node_with_wrong_times_changes_no_row(chain, nodes, settings, forget_chains, method):
    settings.FOLLOW_VERIFY = method
    # A provider has one vote, whatever its URLs.
    settings.RPC_URLS = {CHAIN: (nodes[0].url, nodes[1].url, nodes[1].url + "?key=2")}
    forget_chains()
    run = read(chain)
    nodes[1].faults = Faults(time_shift=1)
    give_up(run)
    assert run.verified_to == final(chain) and wrong_rows(chain, to=final(chain)) == []
    # With two nodes that differ, neither is proven right about the times.
    assert CoverageAlarm.objects.filter(kept__gt=0).exists()
    assert not CoverageAlarm.objects.filter(corrected__gt=0).exists()


@pytest.mark.parametrize("method", ["logs", "bloom", "receipts"])
def test_wrong_times_of_logs_are_corrected_with_an_alarm(chain, nodes, settings, method):
    settings.FOLLOW_VERIFY = method
    nodes[0].faults = Faults(log_time_shift=3600)
    run = read(chain)
    assert wrong_rows(chain, to=final(chain))
    check(run, once=True)
    assert run.verified_to == final(chain) and wrong_rows(chain, to=final(chain)) == []
    launched = Token.objects.filter(block_number__lte=final(chain)).count()
    assert sum(alarm.corrected for alarm in CoverageAlarm.objects.all()) > launched


def test_one_provider_verifies_nothing_where_filters_are_full(chain, nodes, settings, forget_chains):
    chain.replace_blocks({block.number: replace(block, logs_bloom=2**BITS - 1) for block in chain.blocks})
    nodes[0].faults = Faults(forgotten=0.2)
    alone(nodes, settings, forget_chains)
    run = read(chain)
    check(run)
    assert (run.verified_to, run.repeated_from) == (final(chain), 0)
    lacking = wrong_rows(chain, to=final(chain))
    assert lacking
    # Another provider verifies the same blocks once it responds.
    settings.RPC_URLS = {CHAIN: (nodes[0].url, nodes[1].url)}
    forget_chains()
    check(run)
    assert (run.verified_to, run.repeated_from) == (final(chain), None)
    assert wrong_rows(chain, to=final(chain)) == []


def test_another_url_of_the_same_provider_verifies_nothing(chain, nodes, settings, forget_chains):
    settings.FOLLOW_VERIFY = "logs"
    settings.RPC_URLS = {CHAIN: (nodes[0].url, nodes[0].url + "?key=2")}
    forget_chains()
    run = read(chain)
    check(run)
    assert (run.verified_to, run.repeated_from) == (final(chain), 0)


def test_a_second_provider_that_is_down_verifies_nothing(chain, nodes, settings):
    settings.FOLLOW_VERIFY = "logs"
    run = read(chain)
    nodes[1].faults = Faults(errors=1.0)
    check(run)
    assert (run.verified_to, run.repeated_from) == (final(chain), 0)
    check(run)
    assert run.repeated_from == 0
    assert TokenEvent.objects.exists()


def test_filters_and_receipts_verify_the_blocks_of_one_provider(chain, nodes, settings, forget_chains):
    alone(nodes, settings, forget_chains)
    run = read(chain)
    check(run)
    assert (run.verified_to, run.repeated_from) == (final(chain), None)
