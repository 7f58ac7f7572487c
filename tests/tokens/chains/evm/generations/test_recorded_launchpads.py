"""The built-in launchpads' launches: their real contracts' recorded transactions, read from a node.

The truth is in the recordings: the contracts' own view results.
"""

import re
import threading
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from development.standins.loopback import RefusedError
from tests.nodes.launchpad_recordings import CHAIN, RECORDINGS, hold_view, load_recording, name_of, write_registry
from tests.nodes.recorded_node import Node
from tests.nodes.recordings import Json
from tokens.chains.addresses import checksum_address
from tokens.chains.errors import LaunchNotFoundError, NodeUnavailableError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.evm.logs.pool_logs import decode_pool_logs, pool_topics
from tokens.chains.evm.logs.swap_fees import attach_reports, report_topics
from tokens.chains.evm.transactions.transaction_receipts import read_transaction
from tokens.chains.pool_types import EVERY_POOL
from tokens.chains.registry.chains import ChainInfo, load_registry
from tokens.chains.rpc.block_ranges import RangeSize
from tokens.chains.rpc.client import RpcClient
from tokens.chains.types import TransactionFacts
from tokens.trades.pool_tokens import PoolToken
from tokens.trades.protocol_fees import paid_quote, paid_token
from tokens.trades.quote_rates import QuoteRates
from tokens.trades.trade_rows import make_trade_rows

BANKR = "0xF60633D02690e2A15A54AB919925F3d038Df163e"
# The most that is taken from a trader's amounts and that no declared event has; all others are the trader's to the wei.
UNREPORTED = {"doppler-rehype": Fraction(1, 2), "virtuals": Fraction(1, 98)}


def recorded_registry(recording: Json, place: Path, *names: str) -> ChainInfo:
    """Return a chain with the recording's contracts, and only its launchpad without other names."""
    file = write_registry(recording, place)
    return load_registry(file, launchpads={CHAIN: names or (name_of(recording),)}).chain(CHAIN)


def reading(info: ChainInfo, node: Node) -> Chain:
    rpc = RpcClient(chain_id=CHAIN, urls=(node.url,), timeout=5.0, attempts=1)
    return Chain(info=info, rpc=rpc, ranges=RangeSize(2000, longest=20_000))


def read_one_by_one(chain: Chain, recording: Json) -> list[TransactionFacts]:
    """Return the facts from the recording's transactions, each read in full by its hash."""
    found = []
    for entry in recording["transactions"]:
        try:
            found.append(read_transaction(chain.rpc, chain.info, entry["transaction"]["hash"]))
        except LaunchNotFoundError:
            continue
    return found


def recorded_trades(recording, launch, chain):
    """Return the rows from the recording's transactions, each with its hash, and the trades as balances show them."""
    pool = launch.pool
    token = PoolToken(
        token_id=1,
        address=launch.token,
        decimals=launch.decimals,
        pool=pool.address,
        quote=pool.paired_token,
        quote_decimals=18,
        locker="",
        is_currency0=bool(launch.curve_config) or launch.token.lower() < pool.paired_token.lower(),
        internal_senders=chain.internal_senders(launch.generation, pool.hook),
    )
    logs = [log for entry in recording["transactions"] for log in entry["receipt"]["logs"]]
    of_pools = [log for log in logs if log["topics"] and log["topics"][0] in pool_topics(chain)]
    found = decode_pool_logs(of_pools, chain=chain, times={}, senders={}, any_v3=True)
    beside = [log for log in logs if log["topics"] and log["topics"][0] in report_topics(chain)]
    return make_trade_rows(attach_reports(found, beside, chain=chain).swaps, {pool.address: token}, QuoteRates({}))


def purchases_at_launch(recording: Json) -> Iterator[dict[str, str]]:
    """Yield the first purchase as a two-step launch's event reports it: with the launchpad's tax."""
    bought = recording["expected"].get("launch_event", {})
    if "initialPurchasedAmount" in bought:
        (launched,) = [entry for entry in recording["transactions"] if entry["label"] == "launch"]
        yield {
            "label": "launch",
            "side": "buy",
            "tx_hash": launched["transaction"]["hash"],
            "token_amount_of_trader": bought["initialPurchasedAmount"],
            "quote_amount_of_trader": bought["initialPurchase"],
        }


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_each_trade_counts_once(path, recorded_node, tmp_path):
    recording = load_recording(path)
    chain = recorded_registry(recording, tmp_path)
    (facts, *_) = read_one_by_one(reading(chain, recorded_node(recording)), recording)
    rows = [row for row in recorded_trades(recording, facts.launches[0], chain) if not row.is_conversion]
    trades = [*purchases_at_launch(recording), *recording["expected"].get("trades", ())]
    in_first_pool = [trade for trade in trades if not trade["label"].endswith("_after_graduation")]
    sides = [(f"0x{row.tx_hash.hex()}", "buy" if row.is_buy else "sell") for row in rows]
    assert sides == [(trade["tx_hash"], trade["side"].split("_")[0]) for trade in in_first_pool]
    unreported = next((most for name, most in UNREPORTED.items() if path.stem.startswith(name)), 0)
    for row, trade in zip(rows, in_first_pool, strict=True):
        for amount, of_trader in (
            (paid_token(row.amount_token, row.token_fee, is_buy=row.is_buy), int(trade["token_amount_of_trader"])),
            (paid_quote(row.amount_quote, row.protocol_fee, is_buy=row.is_buy), int(trade["quote_amount_of_trader"])),
        ):
            assert abs(amount - of_trader) <= amount * unreported


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_each_value_of_a_launch_is_that_of_the_contracts_views(path, recorded_node, tmp_path):
    recording = load_recording(path)
    chain = recorded_registry(recording, tmp_path)
    (facts, *_) = read_one_by_one(reading(chain, recorded_node(recording)), recording)
    expected = recording["expected"].get("launches") or [recording["expected"]]
    assert len(facts.launches) == len(expected)
    for launch, of_views in zip(facts.launches, expected, strict=True):
        assert launch.generation == name_of(recording)
        assert launch.token == of_views["token"]
        assert (launch.name, launch.symbol) == (of_views["name"], of_views["symbol"])
        # An empty URI is stored as none.
        assert (launch.uri or "") == of_views.get("uri", of_views.get("token_uri", ""))
        assert launch.image == of_views.get("image", launch.image)
        # Recordings with several launches lack some views.
        assert launch.decimals == of_views.get("decimals", launch.decimals)
        assert str(launch.supply) == of_views.get("total_supply", str(launch.supply))
        assert launch.pool is not None and launch.pool.paired_token == checksum_address(of_views["quote"])
        if reserves := of_views.get("reserves_after_prelaunch"):
            of_token, of_quote = map(int, reserves)
            assert 1.0001**launch.pool.tick == pytest.approx(of_quote / of_token, rel=5.1e-5)
        assert launch.pool.address == next(
            of_views[key] for key in ("pool_id", "pool", "bonding_pair") if key in of_views
        )


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (
            '{ log = "Mint(uint256 reserve0, uint256 reserve1)", by = "pair", result = "reserve1" }',
            lambda expected: expected["reserves_after_prelaunch"][1],
        ),
        ('"initialPurchase"', lambda expected: expected["launch_event"]["initialPurchase"]),
    ],
    ids=["of another log", "of an argument"],
)
def test_a_launch_may_have_its_price_as_one_value(value, read, recorded_node, tmp_path):
    recording = load_recording(next(path for path in RECORDINGS if path.stem == "virtuals-launch_1_graduates"))
    file, node = write_registry(recording, tmp_path), recorded_node(recording)
    # For a whole billion tokens with 18 decimals, which is what its curve held.
    text, replaced = re.subn(
        r"(?m)^price = .*Mint.*$", f"price = {{ value = {value}, decimals = 27 }}", file.read_text()
    )
    assert replaced == 1
    file.write_text(text)
    chain = load_registry(file, launchpads={CHAIN: ("virtuals",)}).chain(CHAIN)
    (launch,) = read_one_by_one(reading(chain, node), recording)[0].launches
    assert 1.0001**launch.pool.tick == pytest.approx(int(read(recording["expected"])) / 10**27, rel=5.1e-5)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_filtered_logs_have_the_facts_of_whole_transactions(path, recorded_node, tmp_path):
    recording = load_recording(path)
    chain = reading(recorded_registry(recording, tmp_path), recorded_node(recording))
    whole = tuple(read_one_by_one(chain, recording))
    numbers = [int(entry["block"]["number"], 16) for entry in recording["transactions"]]
    headers = [header for _, header in sorted(chain.read_headers(numbers).items())]
    ranged = chain.read_range(0, numbers[-1], pools=EVERY_POOL)
    single = chain.read_blocks(headers, pools=EVERY_POOL)
    of_receipts = chain.read_receipts(headers, pools=EVERY_POOL)
    assert whole and whole[0].launches
    assert ranged.transactions == single.transactions == of_receipts.transactions == whole
    assert single.swaps == of_receipts.swaps and (single.swaps or not recording["expected"].get("trades"))
    assert ranged.swaps == tuple(swap._replace(trader=None) for swap in single.swaps)


# Calldata for decimals().
_DECIMALS = "0x313ce567"
LAUNCH = next(path for path in RECORDINGS if path.stem == "zora-creator_coin_1")


def held_launch(recorded_node, tmp_path, *, decimals: str | None, path=LAUNCH):
    """Return a recorded launch's chain, whose token returns these decimals, and its transaction and block."""
    recording = load_recording(path)
    node = recorded_node(recording)
    hold_view(node, recording["expected"]["token"], _DECIMALS, decimals)
    entry = recording["transactions"][0]
    chain = reading(recorded_registry(recording, tmp_path), node)
    return chain, node, entry["transaction"]["hash"], int(entry["block"]["number"], 16)


@pytest.mark.parametrize(("returned", "decimals"), [(0, 0), (6, 6), (77, 77), (None, 0)])
def test_decimals_are_those_of_the_contract(returned, decimals, recorded_node, tmp_path):
    view = None if returned is None else f"0x{returned:064x}"
    chain, _, tx_hash, number = held_launch(recorded_node, tmp_path, decimals=view)
    (launch,) = read_transaction(chain.rpc, chain.info, tx_hash).launches
    assert launch.decimals == decimals
    (ranged,) = chain.read_range(number, number).transactions
    assert ranged.launches == (launch,)


# The second one is read in full, and has no other relevant event.
@pytest.mark.parametrize("name", ["zora-creator_coin_1", "virtuals-launch_1_graduates"])
def test_a_token_with_more_decimals_than_a_number_has_digits_is_left_out(name, recorded_node, tmp_path, caplog):
    path = next(path for path in RECORDINGS if path.stem == name)
    chain, *_, number = held_launch(recorded_node, tmp_path, decimals=f"0x{78:064x}", path=path)
    assert [launch for facts in chain.read_range(number, number).transactions for launch in facts.launches] == []
    assert caplog.messages[-1].endswith("is left out: it has 78 decimals")
    assert not any(facts.launches for facts in read_one_by_one(chain, load_recording(path)))


def test_decimals_that_a_node_cannot_read_are_requested_again(recorded_node, tmp_path):
    chain, node, tx_hash, number = held_launch(recorded_node, tmp_path, decimals=f"0x{6:064x}")
    answer, has_state = node.answers["eth_call"], threading.Event()

    def fail(call: Json, block: str) -> str:
        if call["data"] == _DECIMALS and not has_state.is_set():
            raise RefusedError(-32000, "missing trie node")
        return answer(call, block)

    node.answers["eth_call"] = fail
    with pytest.raises(NodeUnavailableError):
        chain.read_range(number, number)
    with pytest.raises(NodeUnavailableError):
        read_transaction(chain.rpc, chain.info, tx_hash)
    has_state.set()
    (facts,) = chain.read_range(number, number).transactions
    assert facts.launches[0].decimals == 6


def test_a_launch_of_two_launchpads_is_that_with_more_conditions(recorded_node, tmp_path):
    """Check by the recorded integrator, with Airlock's view and without it."""
    recording = load_recording(next(path for path in RECORDINGS if path.stem == "doppler-multicurve_1_weth"))
    integrator = recording["expected"]["asset_data"]["integrator"]
    whole = {}
    for of_bankr in (True, False):
        node = recorded_node(recording)
        file = write_registry(recording, tmp_path)
        text = file.read_text()
        file.write_text(text.replace(BANKR, integrator) if of_bankr else text)
        for names in (("bankr", "doppler"), ("doppler", "bankr"), ("bankr",)):
            info = load_registry(file, launchpads={CHAIN: names}).chain(CHAIN)
            chain = reading(info, node)
            facts = read_one_by_one(chain, recording)
            first, last = (int(recording["transactions"][place]["block"]["number"], 16) for place in (0, -1))
            assert list(chain.read_range(first, last).transactions) == facts
            whole[of_bankr, names] = [launch.generation for each in facts for launch in each.launches]
    assert (
        whole[True, ("bankr", "doppler")] == whole[True, ("doppler", "bankr")] == whole[True, ("bankr",)] == ["bankr"]
    )
    assert whole[False, ("bankr", "doppler")] == whole[False, ("doppler", "bankr")] == ["doppler"]
    assert whole[False, ("bankr",)] == []
