"""Node values that are valid JSON and impossible as data: each is the node's fault, and the next node is used."""

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.nodes.following_chain import install
from tests.simulator import Faults, SimulatedChain, serve
from tokens.chains.evm.headers import read_header
from tokens.chains.pool_types import LOG_INDEX_LIMIT, chain_position, split_position
from tokens.chains.rpc.quantities import (
    BLOCK_LIMIT,
    FIRST_TIME,
    MalformedResponseError,
    parse_block_number,
    parse_integer,
    parse_quantity,
    validate_block_time,
)
from tokens.chains.solana.transaction_forms import parse_transaction

# Numbers around the ends of the types that hold them, on both sides.
EDGES = [2**bits + step for bits in (0, 8, 16, 31, 32, 42, 43, 52, 53, 62, 63, 64, 128, 256) for step in (-1, 0, 1)]
numbers = st.one_of(st.sampled_from(EDGES), st.integers(0, 2**64), st.integers(0, 2**257))
# Other types instead of a number.
others = st.one_of(st.none(), st.booleans(), st.floats(), st.text(max_size=20), st.lists(st.integers(), max_size=2))


@given(numbers)
@example(BLOCK_LIMIT - 1)
@example(BLOCK_LIMIT)
def test_a_block_number_makes_positions_that_the_database_holds(number):
    try:
        parsed = parse_block_number(hex(number))
    except MalformedResponseError:
        assert number >= BLOCK_LIMIT
        return
    position = chain_position(parsed, LOG_INDEX_LIMIT - 1)
    assert 0 <= position < 2**63 and split_position(position) == (number, LOG_INDEX_LIMIT - 1)


@given(numbers)
@example(253_402_300_799)
@example(0)
def test_a_block_time_is_a_date_in_every_time_zone_with_room_for_sums(seconds):
    try:
        parsed = validate_block_time(seconds, block=1)
    except MalformedResponseError:
        assert seconds < FIRST_TIME or seconds > time.time()
        return
    at = datetime.fromtimestamp(parsed, UTC)
    # Rows, candles and pages compute such times.
    assert (at + timedelta(days=3660)).astimezone(timezone(timedelta(hours=14))).year < 9999


@given(st.one_of(numbers.map(hex), numbers, others))
def test_a_quantity_is_an_integer_in_range_or_refused(value):
    for parse in (parse_quantity, parse_block_number, parse_integer):
        try:
            parsed = parse(value)
        except MalformedResponseError:
            continue
        assert type(parsed) is int and 0 <= parsed < 2**63


@given(st.fixed_dictionaries({}, optional={name: st.one_of(numbers.map(hex), others) for name in (
    "number", "hash", "parentHash", "timestamp", "logsBloom", "receiptsRoot"
)}))  # fmt: skip
def test_a_header_is_whole_or_refused(changed):
    block = {
        "number": "0x64",
        "hash": "0x" + "11" * 32,
        "parentHash": "0x" + "22" * 32,
        "timestamp": hex(1_760_000_000),
        "logsBloom": "0x" + "00" * 256,
    }
    try:
        header = read_header(block | changed)
    except MalformedResponseError:
        return
    assert 0 <= header.number < BLOCK_LIMIT and datetime.fromtimestamp(header.time, UTC).year < 2100


@given(slot=st.one_of(numbers, others), at=st.one_of(numbers, others), place=st.one_of(numbers, others))
def test_a_solana_transaction_is_whole_or_refused(slot, at, place):
    form = {
        "slot": slot,
        "blockTime": at,
        "transactionIndex": place,
        "version": 0,
        "meta": {"err": None, "innerInstructions": [], "loadedAddresses": None},
        "transaction": {
            "signatures": ["1" * 64],
            "message": {"header": {"numRequiredSignatures": 1}, "accountKeys": ["payer"], "instructions": []},
        },
    }
    parsed = form | {
        "transaction": form["transaction"]
        | {"message": {"accountKeys": [{"pubkey": "payer", "signer": True}], "instructions": []}}
    }
    try:
        transaction = parse_transaction("1" * 64, raw=form, parsed=parsed)
    except MalformedResponseError:
        return
    assert transaction.slot < BLOCK_LIMIT and (transaction.tx_index or 0) < LOG_INDEX_LIMIT
    assert transaction.block_time is None or datetime.fromtimestamp(transaction.block_time, UTC).year < 2100


@pytest.fixture
def chain():
    grown = SimulatedChain(3)
    grown.mine(30)
    return grown


@pytest.mark.parametrize("seconds", [2**32, 253_402_300_799 - 1_735_689_600, 2**62, -1_735_689_600])
def test_the_next_node_is_used_for_impossible_times(chain, settings, forget_chains, tmp_path, seconds):
    with serve(chain, faults=Faults(time_shift=seconds)) as lying, serve(chain) as honest:
        installed = install(chain, lying.url, honest.url, settings=settings, forget=forget_chains, directory=tmp_path)
        header = installed.read_newest_header()
        assert header.time == chain.head.time
        headers = installed.read_headers(range(10, 20))
        assert [headers[number].time for number in range(10, 20)] == [block.time for block in chain.blocks[10:20]]
        facts = installed.read_range(0, 25)
        assert {(one.block_number, one.block_time) for one in facts.transactions} <= {
            (block.number, block.time) for block in chain.blocks
        }
        tx_hash = next(entry.hash for block in chain.blocks for entry in block.transactions if entry.launches)
        (block,) = chain.places[tx_hash]
        assert installed.read_transaction(tx_hash).block_time == block.time


def test_the_next_node_is_used_for_logs_with_another_time_than_their_header(chain, settings, forget_chains, tmp_path):
    with serve(chain, faults=Faults(log_time_shift=3600)) as lying, serve(chain) as honest:
        headers = install(chain, honest.url, settings=settings, forget=forget_chains, directory=tmp_path).read_headers(
            range(10, 20)
        )
        installed = install(chain, lying.url, honest.url, settings=settings, forget=forget_chains, directory=tmp_path)
        facts = installed.read_blocks([headers[number] for number in range(10, 20)])
        assert {one.block_time for one in facts.transactions} <= {block.time for block in chain.blocks[10:20]}
        assert facts.transactions and lying.received["eth_getLogs"] and honest.received["eth_getLogs"]


def test_the_time_of_the_header_counts_where_every_node_reports_another_one_of_logs(
    chain, settings, forget_chains, tmp_path
):
    with serve(chain, faults=Faults(log_time_shift=3600)) as only:
        installed = install(chain, only.url, settings=settings, forget=forget_chains, directory=tmp_path)
        headers = installed.read_headers(range(10, 20))
        facts = installed.read_blocks([headers[number] for number in range(10, 20)])
    assert facts.transactions
    assert {one.block_time for one in facts.transactions} <= {block.time for block in chain.blocks[10:20]}
