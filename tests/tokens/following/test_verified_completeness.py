"""Nodes that leave out or make up logs: the rows are right in the end, and alarms name the affected ranges."""

import logging
import random
from dataclasses import replace

import pytest
from eth_utils.crypto import keccak

from tests.nodes.following_chain import control, final, install, launched, wrong_rows
from tests.nodes.log_encoding import emit
from tests.rows.factories import TokenFactory
from tests.simulator import Faults, SimulatedChain, Traffic, serve
from tests.simulator.addresses import FACTORY
from tests.simulator.chain import Block, bloom
from tests.simulator.trade_comparing import trade_differences
from tests.simulator.transactions import TransactionMaker
from tokens.chains.evm.logs.blooms import BITS
from tokens.following import coverage
from tokens.following.followed_pools import MAX_NAMED_POOLS
from tokens.following.history import read_history, sum_up
from tokens.following.verifying.verification import VerifiedRun, verify_coverage
from tokens.installation.installed_chains import installed_chain, installed_chain_second_node_first
from tokens.models import Coverage, CoverageAlarm, PoolTrade, Token, TokenEvent

pytestmark = pytest.mark.django_db

# The simulated chains' id.
CHAIN = 8453
BUSY = Traffic(launches=0.8, events=0.6, noise=0.1, swaps=1.0)
# Some launches lose every log that would reveal them.
FORGETFUL = Faults(omitted_for_good=0.03, forgotten=0.08)


@pytest.fixture(scope="module")
def chain():
    grown = SimulatedChain(21, traffic=BUSY)
    grown.mine(36)
    return grown


@pytest.fixture
def node(chain, settings, forget_chains, tmp_path):
    with serve(chain, seed=1) as running:
        install(chain, running.url, settings=settings, forget=forget_chains, directory=tmp_path)
        yield running


@pytest.fixture
def honest(chain, node, settings, forget_chains):
    """Run a second node, which leaves nothing out."""
    with serve(chain, seed=2) as running:
        settings.RPC_URLS = {CHAIN: (node.url, running.url)}
        forget_chains()
        yield running


def read(chain: SimulatedChain, *, first: int = 0) -> Coverage:
    """Read the chain's final blocks as the first node returns them."""
    installed = installed_chain(CHAIN)
    run = coverage.open_run_coverage(installed.info, first=first, last=final(chain))
    for _ in read_history(run, chain=installed, target=lambda: final(chain), control=control()):
        pass
    sum_up(run, chain=installed.info, stop=control().stop)
    return run


def check(run: Coverage, *, to: int | None = None, once: bool = False) -> list[VerifiedRun]:
    """Verify a run up to a block, its last one by default; with `once`, stop at the first failure."""
    to, retries = to or run.last_block or 0, control()

    def stop(_error: Exception) -> float:
        retries.stop.set()
        return 0.0

    if once:
        retries = replace(retries, record=stop)
    chain, alternate = installed_chain(CHAIN), installed_chain_second_node_first(CHAIN)
    return list(verify_coverage(run, chain=chain, alternate=alternate, target=lambda: to, control=retries))


def all_launches(chain: SimulatedChain) -> int:
    return len(chain.truth(blocks=chain.blocks[: final(chain) + 1]).tokens)


def test_a_run_is_not_checked_while_no_node_returns_it(chain, node, settings, forget_chains):
    settings.RPC_PATIENCE_SECONDS = 0.1
    forget_chains()
    run = read(chain)
    node.faults = Faults(lacking=frozenset({"eth_getBlockByNumber"}))
    assert not check(run, to=20, once=True)
    run.refresh_from_db()
    assert run.verified_to == -1


@pytest.mark.parametrize("method", ["logs", "bloom", "receipts"])
def test_an_honest_chain_raises_no_alarm_and_costs_no_write(chain, honest, settings, method):
    settings.FOLLOW_VERIFY = method
    run = read(chain)
    written = dict(Token.objects.values_list("pk", "last_indexed"))
    checked = check(run)
    assert run.verified_to == checked[-1].to == final(chain)
    assert sum(step.blocks for step in checked) == final(chain) + 1
    # Nor is anything written again.
    assert dict(Token.objects.values_list("pk", "last_indexed")) == written
    assert not CoverageAlarm.objects.exists()
    assert wrong_rows(chain, to=final(chain)) == []


@pytest.mark.parametrize("method", ["bloom", "receipts"])
def test_what_the_only_node_leaves_out_for_good_is_found_by_filters_and_receipts(chain, node, settings, method, caplog):
    settings.FOLLOW_VERIFY, node.faults = method, FORGETFUL
    run = read(chain)
    lacking = wrong_rows(chain, to=final(chain))
    checked = check(run)
    assert wrong_rows(chain, to=final(chain)) == []
    assert launched() == all_launches(chain)
    # Claims are parts of events, and candles come from trades.
    rows = [line for line in lacking if " is missing" in line and not line.startswith(("claim", "candle"))]
    assert sum(step.missing for step in checked) == len(rows) > 0
    assert_alarms_name(chain, caplog, lacking)


def test_what_one_node_leaves_out_another_one_returns(chain, node, honest, settings, caplog):
    settings.FOLLOW_VERIFY, node.faults = "logs", FORGETFUL
    run = read(chain)
    lacking = wrong_rows(chain, to=final(chain))
    check(run)
    assert wrong_rows(chain, to=final(chain)) == []
    assert launched() == all_launches(chain)
    assert_alarms_name(chain, caplog, lacking)


def assert_alarms_name(chain: SimulatedChain, caplog: pytest.LogCaptureFixture, lacking: list[str]) -> None:
    """Assert that each missing log is in an alarm's range, and that an error in the log names chain and range."""
    alarms = list(CoverageAlarm.objects.all())
    truth = chain.truth(blocks=chain.blocks[: final(chain) + 1])
    for token in truth.tokens.values():
        if any(f"token {token.address} is missing" in line for line in lacking):
            (alarm,) = [one for one in alarms if one.first_block <= token.at.block_number <= one.last_block]
            assert token.at.tx_hash in alarm.tx_hashes
    errors = [record.message for record in caplog.records if record.levelno == logging.ERROR]
    for alarm in alarms:
        assert alarm.repaired and alarm.missing and not alarm.invented
        assert any(f"chain={CHAIN} blocks={alarm.first_block}-{alarm.last_block}" in error for error in errors)


def test_a_node_without_block_receipts_is_checked_by_its_transactions(chain, node, settings):
    settings.FOLLOW_VERIFY = "bloom"
    node.faults = replace(FORGETFUL, lacking=frozenset({"eth_getBlockReceipts"}))
    check(read(chain))
    assert wrong_rows(chain, to=final(chain)) == []


def made_up(chain: SimulatedChain) -> tuple[list[Block], int]:
    """Return the chain as from a node that makes up a launch, events and swaps; and how many rows these have."""
    maker, blocks = TransactionMaker(random.Random(5)), list(chain.blocks)
    alive = [token for block in blocks[:14] for entry in block.transactions for _, token in entry.launches]
    invented = {
        15: maker.launch(Traffic(legacy=0, several=0, reverted=0)),
        19: next(found for found in iter(lambda: maker.event(alive), None) if len(found.happenings) > 1),
        25: next(found for found in iter(lambda: maker.swaps(alive), None) if len(found.pool_logs) > 1),
    }
    for number, transaction in invented.items():
        transactions = (*blocks[number].transactions, transaction)
        filled = bloom(log for entry in transactions for log in entry.logs)
        blocks[number] = replace(blocks[number], transactions=transactions, logs_bloom=filled)
    return blocks, sum(
        len(entry.launches) + len(entry.happenings) + len(entry.pool_logs) for entry in invented.values()
    )


@pytest.mark.parametrize("method", ["logs", "bloom", "receipts"])
def test_what_a_node_made_up_is_undone_with_an_alarm(chain, node, honest, settings, method):
    settings.FOLLOW_VERIFY = method
    node.pinned, count = made_up(chain)
    run = read(chain)
    assert launched() == all_launches(chain) + 1
    checked = check(run)
    assert wrong_rows(chain, to=final(chain)) == []
    assert sum(step.invented for step in checked) == count
    assert sum(alarm.invented for alarm in CoverageAlarm.objects.all()) == count
    assert sum(alarm.missing for alarm in CoverageAlarm.objects.all()) == 0


def test_what_the_only_node_made_up_once_is_undone(chain, node, settings):
    node.pinned, count = made_up(chain)
    run = read(chain)
    node.pinned = None
    assert sum(step.invented for step in check(run)) == count
    assert wrong_rows(chain, to=final(chain)) == []


def test_rows_that_another_node_merely_leaves_out_stay(chain, node, honest, settings):
    """Check a second opinion that is the poorer one."""
    settings.FOLLOW_VERIFY, honest.faults = "logs", Faults(omitted_for_good=0.2)
    run = read(chain)
    checked = check(run)
    assert sum(step.invented + step.missing for step in checked) == 0
    assert not CoverageAlarm.objects.exists()
    assert wrong_rows(chain, to=final(chain)) == []


def test_a_node_on_another_branch_is_not_counted(chain, node, honest, settings):
    """Check a second node whose blocks differ from some number on, also where they are final to us."""
    honest.pinned = other_branch(chain, after=20)
    run = read(chain)
    assert sum(step.invented + step.missing for step in check(run)) == 0
    assert wrong_rows(chain, to=final(chain)) == []


def other_branch(chain: SimulatedChain, *, after: int) -> list[Block]:
    """Return the chain with other, empty blocks after this one."""
    blocks = list(chain.blocks[: after + 1])
    for block in chain.blocks[after + 1 :]:
        digest = keccak(text=f"other {block.number}").hex()
        blocks.append(replace(block, hash="0x" + digest, parent_hash=blocks[-1].hash, transactions=(), logs_bloom=0))
    return blocks


@pytest.fixture
def untraded(node, honest):
    """Let both nodes serve a chain without swaps: pool logs would cause receipt requests where tests change filters."""
    grown = SimulatedChain(22, traffic=replace(BUSY, swaps=0, legacy=0))
    grown.mine(36)
    node.chain = honest.chain = grown
    return grown


def with_full_filters(chain: SimulatedChain) -> list[Block]:
    """Return the chain as one so busy that its filters exclude nothing."""
    return [replace(block, logs_bloom=2**BITS - 1) for block in chain.blocks]


def test_logs_decide_where_filters_are_too_full(untraded, node, honest, caplog):
    node.pinned = honest.pinned = with_full_filters(untraded)
    node.faults = FORGETFUL
    run = read(untraded)
    lacking = wrong_rows(untraded, to=final(untraded))
    check(run)
    assert lacking and wrong_rows(untraded, to=final(untraded)) == []
    assert_alarms_name(untraded, caplog, lacking)
    assert not node.received.keys() & {"eth_getBlockReceipts"}


def test_logs_of_another_branch_decide_nothing_where_filters_are_too_full(untraded, node, honest):
    """Check logs from the only node that serves them; one log block is on another branch than the headers.

    The block has no rows: otherwise its receipts would be read, too, and be refused for this test's filter.
    """
    run = read(untraded)
    # Without launches, which are completed by calls at the block's hash.
    foreign = next(
        block.number
        for block in untraded.blocks
        if any(entry.happenings for entry in block.transactions)
        and not any(entry.launches for entry in block.transactions)
    )
    TokenEvent.objects.filter(block_number=foreign).delete()
    honest.pinned, honest.faults = with_full_filters(untraded), Faults(lacking=frozenset({"eth_getLogs"}))
    node.pinned = with_full_filters(untraded)
    node.pinned[foreign] = replace(node.pinned[foreign], hash="0x" + keccak(text="another").hex())
    check(run, once=True)
    assert run.verified_to < foreign and not CoverageAlarm.objects.exists()
    assert not TokenEvent.objects.filter(block_number=foreign).exists()
    node.pinned = None
    check(run)
    assert run.verified_to == final(untraded) and wrong_rows(untraded, to=final(untraded)) == []
    assert [alarm.first_block <= foreign <= alarm.last_block for alarm in CoverageAlarm.objects.all()] == [True]


def crowded(chain: SimulatedChain) -> list[Block]:
    """Return the chain with so many foreign logs in each block that its filters really exclude nothing."""
    rng = random.Random(3)
    others = [emit("0x" + rng.randbytes(20).hex(), "Poked(uint256)", number) for number in range(700)]
    blocks = list[Block]()
    for block in chain.blocks:
        other = replace(TransactionMaker(rng).noise(()), logs=tuple(others))
        transactions = (*block.transactions, other)
        filled = bloom(log for entry in transactions for log in entry.logs)
        blocks.append(replace(block, transactions=transactions, logs_bloom=filled))
    return blocks


@pytest.mark.parametrize("method", ["logs", "bloom"])
def test_receipts_decide_about_trades_where_the_logs_of_two_nodes_differ(chain, node, honest, settings, method, caplog):
    """Check two nodes that both leave out some logs for good, and filters that exclude nothing."""
    settings.FOLLOW_VERIFY = method
    node.pinned = honest.pinned = crowded(chain)
    node.faults = honest.faults = Faults(omitted_for_good=0.02)
    run = read(chain)
    truth = chain.truth(blocks=chain.blocks[: final(chain) + 1])
    lacking = [line for line in trade_differences(truth, chain_id=CHAIN) if "is missing" in line]
    assert any(line.startswith("trade") for line in lacking)
    check(run)
    assert trade_differences(truth, chain_id=CHAIN) == []
    assert any("missing=" in record.message for record in caplog.records if record.levelno == logging.ERROR)
    assert (node.received | honest.received)["eth_getBlockReceipts"] > 0


def test_two_nodes_that_agree_about_the_trades_of_many_pools_need_no_receipts(chain, node, honest):
    for number in range(MAX_NAMED_POOLS + 1):
        TokenFactory(chain_id=CHAIN, pool_address=f"0x{number:064x}")
    run = read(chain)
    node.received.clear()
    honest.received.clear()
    check(run)
    events = {
        event.at.block_number
        for event in (*chain.truth().events, *chain.truth().tokens.values())
        if event.at.block_number <= final(chain)
    }
    # Receipts only for blocks with launches and events; blocks that have only swaps are compared by logs.
    assert 0 < honest.received["eth_getBlockReceipts"] < final(chain)
    assert honest.received["eth_getBlockReceipts"] >= len(events)
    assert not CoverageAlarm.objects.exists()


def test_trades_that_a_node_leaves_out_among_many_pools_are_found(chain, node, honest):
    for number in range(MAX_NAMED_POOLS + 1):
        TokenFactory(chain_id=CHAIN, pool_address=f"0x{number:064x}", factory_address=FACTORY)
    node.faults = honest.faults = Faults(omitted_for_good=0.02)
    run = read(chain)
    check(run)
    truth = chain.truth(blocks=chain.blocks[: final(chain) + 1])
    assert trade_differences(truth, chain_id=CHAIN) == []


def test_trades_of_a_token_that_became_known_later_are_written_without_an_alarm(chain, node):
    """Check a launch before the run: when the run was read, the pool was foreign."""
    half = final(chain) // 2
    late = read(chain, first=half)
    early = coverage.open_run_coverage(installed_chain(CHAIN).info, first=0, last=half - 1)
    for _ in read_history(early, chain=installed_chain(CHAIN), target=lambda: half - 1, control=control()):
        pass
    sum_up(early, chain=installed_chain(CHAIN).info, stop=control().stop)
    before = PoolTrade.objects.count()
    assert sum(step.missing for step in check(late)) == 0
    assert PoolTrade.objects.count() > before
    assert not CoverageAlarm.objects.exists()


@pytest.mark.parametrize("every", [1, 2])
def test_an_empty_filter_is_no_proof_that_rows_are_made_up(chain, node, honest, every):
    """Check chains that leave some filters empty: logs that another node leaves out may be there all the same."""
    run = read(chain)
    before = set(TokenEvent.objects.values_list("pk", flat=True)), launched()
    # A simulated node selects blocks by the filters, too: it leaves out all logs of these blocks.
    node.pinned = honest.pinned = [
        block if block.number % every else replace(block, logs_bloom=0) for block in chain.blocks
    ]
    assert sum(step.invented for step in check(run, once=True)) == 0
    assert (set(TokenEvent.objects.values_list("pk", flat=True)), launched()) == before
    # The receipts' root proves the rows, and the filters can't.
    assert run.verified_to == final(chain)
    (alarm,) = CoverageAlarm.objects.all()
    assert alarm.unproven and not alarm.missing + alarm.invented + alarm.corrected + alarm.kept


def test_an_event_of_a_factory_that_the_registry_gained_later_is_written_without_an_alarm(chain, node):
    """Check tokens launched within the run: when the run was read, their events were not looked up."""
    installed = installed_chain(CHAIN)
    addresses = sorted(installed.info.emitters - {FACTORY.lower()})
    run = Coverage.objects.create(
        chain_id=CHAIN, addresses=addresses, address_set="", first_block=0, followed_to=-1, verified_to=-1
    )
    half = coverage.open_run_coverage(installed.info, first=0, last=final(chain) // 2)
    for row, last in ((run, final(chain)), (half, final(chain) // 2)):
        for _ in read_history(row, chain=installed, target=lambda last=last: last, control=control()):
            pass
    events = TokenEvent.objects.count()
    steps = check(run, to=final(chain))
    assert TokenEvent.objects.count() > events
    assert sum(step.missing for step in steps) == 0
    assert not CoverageAlarm.objects.exists()


def test_an_event_of_a_token_that_became_known_later_is_written_without_an_alarm(chain, node):
    """Check a launch before the run: when the run was read, the event was not trusted."""
    half = final(chain) // 2
    late = read(chain, first=half)
    early = coverage.open_run_coverage(installed_chain(CHAIN).info, first=0, last=half - 1)
    for _ in read_history(early, chain=installed_chain(CHAIN), target=lambda: half - 1, control=control()):
        pass
    sum_up(early, chain=installed_chain(CHAIN).info, stop=control().stop)
    assert any("event" in line and "is missing" in line for line in wrong_rows(chain, to=final(chain)))
    assert sum(step.missing for step in check(late)) == 0
    assert wrong_rows(chain, to=final(chain)) == []
    assert not CoverageAlarm.objects.exists()
