"""Tests of `manage.py backfill`: a range of past blocks becomes rows, once, with any node faults."""

import logging
import threading
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from config.postgresql import advisory_locks
from tests.nodes.faulty_node import FaultyNode
from tests.nodes.following_chain import final, install, launched, wrong_rows
from tests.processes.waiting import wait_for
from tests.simulator import Faults, Limits, SimulatedChain, Traffic, serve
from tests.simulator.faults import ALL
from tests.simulator.trade_comparing import trade_differences
from tokens.following import coverage
from tokens.indexing import chain_lock
from tokens.installation.installed_chains import installed_chain
from tokens.models import Candle, Coverage, CoverageAlarm, MinuteCandle, PoolLiquidityChange, PoolTrade, Token

pytestmark = pytest.mark.django_db(transaction=True)

# The simulated chains' id.
CHAIN = 8453
BUSY = Traffic(launches=0.8, events=1.2, noise=0.4, swaps=1.0)


@pytest.fixture(scope="module")
def chain():
    grown = SimulatedChain(11, traffic=BUSY)
    grown.mine(60)
    return grown


@pytest.fixture
def node(chain, settings, forget_chains, tmp_path):
    with serve(chain) as running:
        install(chain, running.url, settings=settings, forget=forget_chains, directory=tmp_path)
        yield running


def backfill(first: int, last: int, *more: str) -> str:
    """Run the command and return its output."""
    return command(f"--from={first}", f"--to={last}", *more)


def command(*arguments: str) -> str:
    output = StringIO()
    call_command("backfill", f"--chain={CHAIN}", *arguments, stdout=output)
    return output.getvalue()


def refusal(*arguments: object) -> str:
    with pytest.raises(CommandError) as refused:
        backfill(*arguments)
    assert not Coverage.objects.exists()
    return str(refused.value)


def test_a_run_that_ends_before_it_begins_is_refused(node):
    assert refusal(20, 19) == "--to must be at least --from, which is 20"


def test_a_block_below_zero_is_refused(node):
    assert refusal(-1, 19) == "--from must be at least 0"


def test_a_block_that_is_not_final_is_refused(node, chain):
    newest = final(chain)
    expected = f"--to: block {newest + 1} is not final yet, the newest final block is {newest}"
    assert refusal(0, newest + 1) == expected


def test_a_chain_without_nodes_is_refused(node, settings, forget_chains):
    settings.RPC_URLS = {}
    forget_chains()
    assert refusal(0, 5) == f"--chain: RPC_URLS_{CHAIN} is not set"


def test_nodes_out_of_reach_are_reported_without_their_url(node, settings, forget_chains, unused_port):
    settings.RPC_URLS = {CHAIN: (f"http://127.0.0.1:{unused_port}/secret",)}
    settings.RPC_PATIENCE_SECONDS = 0.2
    forget_chains()
    output = refusal(0, 5)
    assert (
        output == f"chain {CHAIN} is out of reach (node 1: no response (ConnectionError)); is RPC_URLS_{CHAIN} right?"
    )


def test_blocks_that_another_process_reads_are_left_to_it(node):
    run = coverage.open_run_coverage(installed_chain(CHAIN).info, first=0, last=20)
    with (
        advisory_locks.session_lock(chain_lock.chain_lock_key(chain_lock.ChainLockPurpose.BACKFILLING, run.pk)),
        pytest.raises(CommandError, match="^another process reads the same blocks$"),
    ):
        backfill(0, 20)
    assert not Token.objects.exists()
    backfill(0, 20)
    assert Token.objects.exists()


@pytest.mark.parametrize("verified", [False, True])
def test_all_launches_and_events_of_a_run_become_rows(node, chain, verified):
    output = backfill(0, final(chain), *["--verify"] * verified)
    assert wrong_rows(chain, to=final(chain)) == []
    assert output.startswith(f"launches: {launched()}, ") and launched() > 25
    assert output.endswith("repaired: 0 missing, 0 invented\n")
    row = Coverage.objects.get()
    assert (row.first_block, row.last_block, row.followed_to) == (0, final(chain), final(chain))
    assert row.verified_to == (final(chain) if verified else -1)
    assert not CoverageAlarm.objects.exists()


def test_a_run_that_is_read_is_not_read_again(node, chain):
    backfill(0, 30)
    requested = node.received["eth_getLogs"]
    assert backfill(0, 30).startswith("launches: 0, ")
    assert node.received["eth_getLogs"] == requested


def test_what_happened_to_its_tokens_since_is_read_too(node, chain):
    backfill(0, 20)
    of_these = set(Token.objects.values_list("contract_address", flat=True))
    later = [
        event
        for event in chain.truth(blocks=chain.blocks[: final(chain) + 1]).events
        if event.at.block_number > 20 and event.happening.token in of_these
    ]
    assert later
    wanted = {(event.at.tx_hash, event.at.log_index) for event in later}
    from_rows = set()
    for token in Token.objects.all():
        from_rows |= set(token.events.filter(block_number__gt=20).values_list("tx_hash", "log_index"))
    assert from_rows == wanted
    assert not Token.objects.filter(block_number__gt=20).exists()


def test_every_row_is_right_whatever_the_node_does(node, chain, settings, forget_chains):
    settings.RPC_TIMEOUT_SECONDS = 2
    forget_chains()
    node.faults, node.limits = ALL, Limits(blocks=15, logs=60, batch=30, times=False)
    backfill(0, final(chain), "--verify")
    assert wrong_rows(chain, to=final(chain)) == []


@pytest.mark.parametrize("lacking", ["eth_getLogs", "eth_getBlockByNumber"])
def test_nodes_that_fail_after_the_start_are_retried_until_one_responds(
    node, chain, settings, forget_chains, caplog, lacking
):
    """Check failures while logs are read, and before the later events, for which the newest block is read again."""
    settings.RPC_ATTEMPTS = 1

    def fail_and_heal() -> None:
        gate.wait()
        node.faults = Faults(lacking=frozenset({lacking}))
        gate.open()
        wait_for(lambda: any("retrying in" in record.message for record in caplog.records))
        node.faults = Faults()

    with FaultyNode(node.url).running() as relayed, relayed.gate("eth_getLogs") as gate:
        settings.RPC_URLS = {CHAIN: (relayed.url,)}
        forget_chains()
        healer = threading.Thread(target=fail_and_heal)
        healer.start()
        backfill(0, 20)
        healer.join()
    assert set(Coverage.objects.values_list("first_block", "followed_to")) == {(0, 20), (21, final(chain))}


def test_progress_is_logged_in_one_line_of_names_and_values(node, chain, caplog):
    with caplog.at_level(logging.INFO, logger="config.processes.progress"):
        backfill(0, 30)
    (line, *_) = [record.message for record in caplog.records if record.name == "config.processes.progress"]
    values = dict(part.split("=") for part in line.split())
    assert values["chain"] == str(CHAIN) and values["blocks"] == "0-30" and values["percent"] == "100.0"
    assert values["launches"] == str(launched())


@pytest.fixture
def untraded(node, chain, settings):
    """Index the chain without trades, as an earlier version did; then switch them on."""
    settings.MARKET_PROVIDER_CHAINS = {CHAIN}
    backfill(0, final(chain))
    settings.MARKET_PROVIDER_CHAINS = set()
    assert Token.objects.exists() and not PoolTrade.objects.exists()


def test_a_run_is_named_by_its_blocks_except_with_trades(node):
    for arguments in ((), ("--from=1",), ("--to=5",)):
        with pytest.raises(CommandError, match="^--from and --to are required, except with --trades$"):
            command(*arguments)


def test_trades_of_a_chain_with_the_providers_data_are_refused(node, settings):
    settings.MARKET_PROVIDER_CHAINS = {CHAIN}
    with pytest.raises(CommandError, match=f"^--trades: the market data of chain {CHAIN} comes from the provider$"):
        command("--trades")


def test_trades_alone_are_read_from_the_first_launch_to_the_newest_final_block(node, chain, untraded):
    node.received.clear()
    output = command("--trades", "--verify")
    assert (
        output
        == f"launches: 0, transactions: 0, trades: {PoolTrade.objects.count()}, repaired: 0 missing, 0 invented\n"
    )
    assert wrong_rows(chain, to=final(chain)) == []
    row = Coverage.objects.order_by("-pk").first()
    first = Token.objects.order_by("block_number").values_list("block_number", flat=True).first()
    assert (row.first_block, row.last_block) == (first, final(chain))
    assert row.followed_to == row.verified_to == row.summed_to == final(chain)
    assert not CoverageAlarm.objects.exists()


def test_a_killed_backfill_of_trades_continues_where_it_was(node, chain, untraded):
    command("--trades")
    PoolTrade.objects.filter(position__gte=30 << 20).delete()
    PoolLiquidityChange.objects.filter(position__gte=30 << 20).delete()
    MinuteCandle.objects.all().delete()
    Candle.objects.all().delete()
    row = Coverage.objects.order_by("-pk").first()
    Coverage.objects.filter(pk=row.pk).update(followed_to=29, summed_to=row.first_block - 1)
    command("--trades")
    row.refresh_from_db()
    assert row.followed_to == row.summed_to == row.last_block == final(chain)
    truth = chain.truth(blocks=chain.blocks[: final(chain) + 1])
    assert [line for line in trade_differences(truth, chain_id=CHAIN) if not line.startswith("candle")] == []


def test_what_a_node_leaves_out_is_found_when_trades_alone_are_verified(node, chain, untraded):
    node.faults = Faults(omitted_for_good=0.05)
    command("--trades")
    assert wrong_rows(chain, to=final(chain))
    assert " 0 invented" in command("--trades", "--verify")
    assert wrong_rows(chain, to=final(chain)) == []
    assert CoverageAlarm.objects.exists()


def test_trades_are_the_same_after_any_sequence_of_backfills(node, chain):
    backfill(0, 30)
    command("--trades")
    backfill(15, final(chain))
    command("--trades")
    assert wrong_rows(chain, to=final(chain)) == []
