"""Rows that differ from the chain: verification writes them again or removes them, and alarms name the differences."""

from datetime import UTC, datetime

import pytest

from tests.nodes.following_chain import final, install, wrong_rows
from tests.simulator import SimulatedChain, serve
from tests.tokens.following.test_verified_completeness import BUSY, check, read
from tests.tokens.following.verifying.test_second_reading import read_again
from tokens.chains.evm.generations.event_decoding import decode_event
from tokens.indexing.fact_json import event_facts
from tokens.models import (
    Coverage,
    CoverageAlarm,
    LaunchFacts,
    PoolLiquidityChange,
    PoolTrade,
    RollingSum,
    Token,
    TokenEvent,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def chain(module_world, tmp_path_factory):
    """Read a chain's final blocks, once for all tests, as two honest nodes return them."""
    grown = SimulatedChain(21, traffic=BUSY)
    grown.mine(26)
    settings, forget = module_world
    with serve(grown, seed=1) as first, serve(grown, seed=2) as second:
        directory = tmp_path_factory.mktemp("chain")
        install(grown, first.url, second.url, settings=settings, forget=forget, directory=directory)
        read(grown)
        yield grown


@pytest.fixture
def run(chain):
    return Coverage.objects.get()


def test_altered_trades_are_written_again_with_an_alarm(chain, run):
    first, second = PoolTrade.objects.order_by("position")[:2]
    PoolTrade.objects.filter(position=first.position).update(amount_token=first.amount_token + 1)
    PoolTrade.objects.filter(position=second.position).update(price=second.price * 2)
    other = PoolTrade.objects.exclude(token_id__in=(first.token_id, second.token_id)).last()
    RollingSum.objects.create(
        token_id=other.token_id, seconds=3600, volume_quote=1, volume_usd=1, buys=1, sells=1, traders=1
    )
    check(run)
    # A token without a repaired trade was not counted again.
    assert RollingSum.objects.get().token_id == other.token_id
    assert wrong_rows(chain, to=final(chain)) == []
    alarms = CoverageAlarm.objects.all()
    assert sum(alarm.corrected for alarm in alarms) == 2 and all(alarm.repaired for alarm in alarms)
    assert sum(alarm.missing + alarm.invented for alarm in alarms) == 0
    assert {f"0x{bytes(trade.tx_hash).hex()}" for trade in (first, second)} == {
        tx_hash for alarm in alarms for tx_hash in alarm.tx_hashes
    }


def test_a_fee_that_stored_trades_lack_is_filled_in_without_an_alarm(chain, run):
    # As versions stored them that did not decode hook fees.
    assert PoolTrade.objects.exclude(protocol_fee=None).update(protocol_fee=None) > 1
    assert wrong_rows(chain, to=final(chain))
    check(run)
    assert wrong_rows(chain, to=final(chain)) == []
    assert not CoverageAlarm.objects.exists()


def test_a_trade_of_a_version_with_other_conversions_is_corrected_without_an_alarm(chain, run):
    trade = PoolTrade.objects.earliest("position")
    # That version stored no index.
    PoolTrade.objects.filter(position=trade.position).update(is_conversion=not trade.is_conversion, tx_index=None)
    check(run)
    assert wrong_rows(chain, to=final(chain)) == []
    assert not CoverageAlarm.objects.exists()


def test_another_fee_of_a_stored_trade_is_corrected_with_an_alarm(chain, run):
    trade = PoolTrade.objects.exclude(protocol_fee=None).earliest("position")
    PoolTrade.objects.filter(position=trade.position).update(protocol_fee=trade.protocol_fee + 1)
    check(run)
    assert wrong_rows(chain, to=final(chain)) == []
    assert sum(alarm.corrected for alarm in CoverageAlarm.objects.all()) == 1


def test_rows_that_differ_from_the_chain_are_written_again_with_an_alarm(chain, run):
    token = Token.objects.filter(generation="v4").first()
    event = TokenEvent.objects.filter(token__isnull=False, kind="image_updated").first()
    LaunchFacts.objects.filter(token=token).update(facts={"name": "Altered"})
    Token.objects.filter(pk=token.pk).update(name="Altered")
    TokenEvent.objects.filter(pk=event.pk).update(arguments={"image": "altered"})
    assert len(wrong_rows(chain, to=final(chain))) >= 2
    check(run)
    assert wrong_rows(chain, to=final(chain)) == []
    assert LaunchFacts.objects.get(token=token).facts["name"] != "Altered"
    alarms = CoverageAlarm.objects.all()
    assert {tx_hash for alarm in alarms for tx_hash in alarm.tx_hashes} == {token.tx_hash, event.tx_hash}
    assert sum(alarm.corrected for alarm in alarms) == len({token.tx_hash, event.tx_hash})


def copied(row, **changes):
    """Store a row's copy with other values."""
    for name, value in changes.items():
        setattr(row, name, value)
    row.save(force_insert=True)


def test_a_trade_in_the_place_of_a_liquidity_change_is_removed(chain, run):
    change, trade = PoolLiquidityChange.objects.earliest("position"), PoolTrade.objects.earliest("position")
    copied(trade, position=change.position, at=change.at)
    assert wrong_rows(chain, to=final(chain)) != []
    check(run, once=True)
    assert wrong_rows(chain, to=final(chain)) == []
    assert CoverageAlarm.objects.get().corrected == 1


def find_logs_without_row(run, chain):
    """Return the logs that look like events but have no indexed token, with their transactions."""
    stored = set(TokenEvent.objects.filter(token__isnull=False).values_list("tx_hash", "log_index"))
    return [
        (facts, log)
        for facts in read_again(run, chain).transactions
        for log in facts.event_logs
        if (facts.tx_hash, log.log_index) not in stored
    ]


def store_event_at(facts, log, **changes):
    """Store an event's copy with a log's position."""
    copied(
        TokenEvent.objects.filter(token__isnull=False).earliest("pk"),
        pk=None,
        tx_hash=facts.tx_hash,
        log_index=log.log_index,
        block_number=facts.block_number,
        block_hash=facts.block_hash,
        at=datetime.fromtimestamp(facts.block_time, UTC),
        **changes,
    )


def test_an_event_in_the_place_of_a_foreign_contract_s_log_is_removed(chain, run):
    facts, log = find_logs_without_row(run, chain)[0]
    event = decode_event(log)
    store_event_at(facts, log, kind=event.kind.value, arguments=event_facts(event.arguments))
    assert wrong_rows(chain, to=final(chain)) != []
    check(run, once=True)
    assert wrong_rows(chain, to=final(chain)) == []
    assert CoverageAlarm.objects.get().invented == 1


def test_an_event_in_the_place_of_its_contract_s_log_about_an_unknown_token_is_removed(chain, run):
    facts, log = find_logs_without_row(run, chain)[0]
    store_event_at(facts, log, emitter=log.emitter)
    assert wrong_rows(chain, to=final(chain)) != []
    check(run, once=True)
    assert wrong_rows(chain, to=final(chain)) == []
    assert CoverageAlarm.objects.get().invented == 1
