"""Trades on declared launchpads, from their real contracts' recorded transactions to the token's page."""

import html
import re
from datetime import UTC, datetime
from fractions import Fraction
from io import StringIO

import pytest
from django.core.management import call_command
from django.db.models import F
from django.test import Client

from config.redis.connection import redis_client
from tests.nodes.launchpad_recordings import CHAIN, RECORDINGS, hold_view, load_recording, name_of, write_registry
from tokens.chains.abi import codec
from tokens.feeds.checking.feed_check import FeedCheck
from tokens.feeds.daily_sums import sum_up_blocks
from tokens.feeds.event_answers import describe_priced_events
from tokens.feeds.pool_events import read_pool_events
from tokens.installation.installed_chains import installed_chain
from tokens.installation.installed_registry import registry
from tokens.models import Market, MinuteCandle, PoolTrade, Token
from tokens.trades import trade_writing
from tokens.trades.pool_tokens import find_pool_tokens

pytestmark = pytest.mark.django_db(transaction=True)

# Sales, after which the pool's hook swaps collected fees itself.
RECORDING = next(path for path in RECORDINGS if path.stem == "zora-creator_coin_1")
_SWAP = codec.load_abi("uniswap_v4").event("Swap")
V3_SWAP, POOL_CREATED = (codec.load_abi("uniswap_v3").event(name) for name in ("Swap", "PoolCreated"))
PAIR_SYNC, PAIR_SWAP = (codec.load_abi("uniswap_v2").event(name) for name in ("Sync", "Swap"))
# Calldata for decimals().
_DECIMALS = "0x313ce567"


@pytest.fixture
def recording(request):
    return load_recording(getattr(request, "param", RECORDING))


@pytest.fixture
def install(recording, recorded_node, settings, forget_chains, tmp_path):
    """Return a function that installs the recorded chain, whose quote token is worth a dollar, and its node."""
    redis_client().flushdb()
    settings.RATE_LIMIT_PUBLIC, settings.FEEDS = 0, ("dexscreener", "udf")
    # The recording has no certain time.
    settings.CANDLE_MINUTE_DAYS = settings.TRADE_DAYS = 100_000
    node = recorded_node(recording)
    expected = recording["expected"]
    address = expected.get("launches", [expected])[0]["quote"]
    quote = f'{{ symbol = "ZORA", address = "{address}", decimals = 18, stable = true }}'

    def installed(*launchpads: str):
        file = write_registry(recording, tmp_path, more=f"quote_tokens = [{quote}]")
        settings.CHAINS_FILES, settings.RPC_URLS = (str(file),), {CHAIN: (node.url,)}
        settings.LAUNCHPADS = {CHAIN: launchpads}
        forget_chains()
        return node

    return installed


def blocks_of(recording) -> list[int]:
    return [int(entry["block"]["number"], 16) for entry in recording["transactions"]]


def backfill(recording) -> str:
    first, *_, last = blocks_of(recording)
    output = StringIO()
    call_command("backfill", f"--chain={CHAIN}", f"--from={first}", f"--to={last - 1}", "--verify", stdout=output)
    return output.getvalue()


def swaps_of(recording):
    """Return the pool's swaps in the blocks that are read: block, log index, and the event's arguments."""
    logs = [log for entry in recording["transactions"][:-1] for log in entry["receipt"]["logs"]]
    pool = recording["expected"]["pool_id"]
    return [
        (int(log["blockNumber"], 16), int(log["logIndex"], 16), _SWAP.decode(log))
        for log in logs
        if log["topics"][:2] == [_SWAP.topic0, pool]
    ]


def get(path: str):
    answer = Client().get(path)
    assert answer.status_code == 200, answer.content
    return answer


def test_a_backfill_reads_launches_of_a_launchpad_that_was_switched_on_later(install, recording):
    install("doppler")
    assert backfill(recording).startswith("launches: 0, ")
    install("doppler", "zora")
    assert backfill(recording).startswith("launches: 1, ")
    token = Token.objects.get()
    assert (token.generation, token.contract_address) == ("zora", recording["expected"]["token"])
    assert PoolTrade.objects.count() == len(swaps_of(recording))


def test_trades_of_a_switched_off_launchpad_go_on_without_those_of_its_hook(install, recording):
    node = install("zora")
    first, *_, last = blocks_of(recording)
    node.answers["eth_blockNumber"] = lambda: hex(first + 1)
    call_command("backfill", f"--chain={CHAIN}", f"--from={first}", f"--to={first}", stdout=StringIO())
    del node.answers["eth_blockNumber"]
    node.answers["eth_blockNumber"] = lambda: hex(last)
    install("doppler")
    backfill(recording)
    (token,) = find_pool_tokens(registry().chain(CHAIN), [recording["expected"]["pool_id"]]).values()
    hooks = [swap["sender"] in token.internal_senders for _, _, swap in swaps_of(recording)]
    assert any(hooks) and not all(hooks)
    assert list(PoolTrade.objects.order_by("position").values_list("is_conversion", flat=True)) == hooks


CURVE = next(path for path in RECORDINGS if path.stem == "virtuals-launch_1_graduates")


@pytest.mark.parametrize("recording", [CURVE], indirect=True, ids=["curve"])
def test_trades_with_the_curve_of_a_switched_off_launchpad_stay(install, recording):
    install("virtuals")
    backfill(recording)
    before = list(PoolTrade.objects.order_by("position").values_list("position", flat=True))
    install("doppler")
    backfill(recording)
    assert before and list(PoolTrade.objects.order_by("position").values_list("position", flat=True)) == before
    assert Token.objects.on_chain().get().generation == "virtuals"


@pytest.mark.parametrize("decimals", [0, 6, 77])
def test_decimals_reach_the_page(decimals, install, recording):
    """Check prices, amounts and supply by fractions from the pool's own numbers."""
    node, expected = install("zora"), recording["expected"]
    hold_view(node, expected["token"], _DECIMALS, f"0x{decimals:064x}")
    assert backfill(recording).endswith("repaired: 0 missing, 0 invented\n")
    token = Token.objects.get()
    assert token.decimals == decimals
    is_currency0 = int(expected["token"], 16) < int(expected["quote"], 16)

    def price(swap) -> Fraction:
        square = Fraction(swap["sqrtPriceX96"], 2**96) ** 2
        return (square if is_currency0 else 1 / square) * Fraction(10) ** (decimals - 18)

    swaps = swaps_of(recording)
    stored = list(PoolTrade.objects.order_by("position").values_list("price", "amount_token", "quote_usd"))
    side = "amount0" if is_currency0 else "amount1"
    for (found, amount, usd), (_, _, swap) in zip(stored, swaps, strict=True):
        assert abs(Fraction(found) / price(swap) - 1) < Fraction(1, 10**20)
        assert (amount, usd) == (abs(swap[side]), 1)
    (candle, *_) = MinuteCandle.objects.order_by("-at")
    assert candle.close_usd == pytest.approx(float(price(swaps[-1][2])), rel=1e-12)

    path = f"/api/tokens/{CHAIN}/{token.contract_address}"
    trade, *_ = get(f"{path}/trades").json()["data"]
    last = swaps[-1][2]
    in_token, in_quote = (last["amount0"], last["amount1"]) if is_currency0 else (last["amount1"], last["amount0"])
    paid = abs(Fraction(in_quote, 10**18) / Fraction(in_token, 10**decimals))
    assert trade["priceQuote"] == trade["priceUsd"] == pytest.approx(float(paid), rel=1e-12)
    assert trade["amountToken"] == str(abs(in_token))
    bars = get(f"{path}/candles?interval=1h&currency=quote").json()["data"]
    assert bars[-1]["c"] == pytest.approx(float(price(swaps[-1][2])), rel=1e-12)
    (record,) = get("/api/tokens").json()["data"]
    assert record["supply"] == expected["total_supply"]
    symbol = f"{CHAIN}:{token.contract_address}"
    assert get(f"/api/feeds/udf/symbols?symbol={symbol}").json()["pricescale"] > 1
    history = get(f"/api/feeds/udf/history?symbol={symbol}.QUOTE&resolution=60&from=0&to=4000000000").json()
    assert history["c"][-1] == pytest.approx(float(price(swaps[-1][2])), rel=1e-12)
    first, *_, last = blocks_of(recording)
    events = describe_priced_events(read_pool_events(registry().chain(CHAIN), first, last))
    sides = ("asset0In", "asset0Out")
    amounts = [Fraction(event[side]) for event in events for side in sides if event.get(side)]
    traded = [Fraction(abs(swap[side]), 10**decimals) for _, _, swap in swaps]
    assert amounts and set(amounts) <= set(traded)
    page = html.unescape(re.sub(r"<[^>]*>", " ", get(f"/tokens/{CHAIN}/{token.contract_address}").content.decode()))
    whole, rest = divmod(int(expected["total_supply"]), 10**decimals)
    shown = f"{whole:,}" + (f".{rest:0{decimals}}".rstrip("0") if rest else "")
    assert shown in page


def check_feeds(recording):
    first, *_, last = blocks_of(recording)
    check = FeedCheck(installed_chain(CHAIN), first, verified=last - 1)
    while check.next < last:
        check.compare(last - 1)
    return check.comparison


def test_the_feed_check_finds_a_hooks_swap_that_was_counted_as_a_trade(install, recording):
    install("zora")
    backfill(recording)
    found = check_feeds(recording)
    assert (found.differences, found.events > 0) == ([], True)
    conversion = PoolTrade.objects.filter(is_conversion=True).order_by("position").first()
    PoolTrade.objects.filter(pk=conversion.pk).update(is_conversion=False)
    place = f"block {conversion.block_number}, log {conversion.log_index}"
    assert [each for each in check_feeds(recording).differences if each.startswith(place)]
    PoolTrade.objects.filter(pk=conversion.pk).update(is_conversion=True)
    trade = PoolTrade.objects.filter(is_conversion=False).order_by("position").first()
    PoolTrade.objects.filter(pk=trade.pk).update(is_conversion=True, amount_quote=F("amount_quote"))
    place = f"block {trade.block_number}, log {trade.log_index}"
    assert [each for each in check_feeds(recording).differences if each.startswith(place)]


TRADED = [path for path in RECORDINGS if "batch" not in path.stem]


@pytest.mark.parametrize("recording", TRADED, indirect=True, ids=lambda path: path.stem)
def test_feeds_of_a_declared_launchpad_are_those_of_the_chain(install, recording):
    install(name_of(recording))
    backfill(recording)
    found = check_feeds(recording)
    assert (found.differences, found.events > 0) == ([], True)


def stored_graduation():
    return Market.objects.values_list("graduated_at", "curve_progress").get()


GRADUATED = ("virtuals-launch_1_graduates", "doppler-v3_to_v2_1")


@pytest.mark.parametrize(
    "recording", [path for path in RECORDINGS if path.stem in GRADUATED], indirect=True, ids=lambda path: path.stem
)
def test_feeds_have_both_pools_of_a_graduated_token_in_time(install, recording):
    install(name_of(recording))
    backfill(recording)
    token = Token.objects.get()
    change = token.events.get(kind="pool_changed")
    pools = list(token.pools.order_by("is_currency0").values_list("pool_address", flat=True))
    later = next(pool for pool in pools if pool == token.pool_address)
    (former,) = {*pools} - {later}
    first, *_, last = blocks_of(recording)
    events = describe_priced_events(read_pool_events(registry().chain(CHAIN), first, last))
    moving = {event["eventType"]: event["pairId"] for event in events if event["txnId"] == change.tx_hash}
    # The change's transaction moves the liquidity before its event.
    assert (moving["join"], moving.get("exit", former), moving.get("swap", former)) == (later, former, former)
    places = [(event["block"]["blockNumber"], event["pairId"]) for event in events if event["txnId"] != change.tx_hash]
    assert {pool for block, pool in places if block < change.block_number} == {former}
    assert {pool for block, pool in places if block > change.block_number} == {later}
    for pool, tx_hash in ((former, token.tx_hash), (later, change.tx_hash)):
        (pair,) = get(f"/api/feeds/dexscreener/{CHAIN}/pair?id={pool}").json().values()
        assert (pair["id"], pair["createdAtTxnId"]) == (pool, tx_hash)
        assert (pair["asset0Id"], pair["asset1Id"]) == (token.contract_address, token.paired_token)

    ledger = get(f"/api/creators/{token.admin}").json()["data"]
    # Doppler's tokens begin in an ordinary pool.
    had_curve = token.generation == "virtuals"
    (launch,) = ledger["launches"]
    assert (launch["outcome"]["graduated"], ledger["totals"]["graduated"]) == (had_curve or None, had_curve)
    # The launch pool's fee differs from the later pool's.
    page = get(f"/tokens/{CHAIN}/{token.contract_address}").content.decode()
    assert "A purchase costs" not in page and "Rules of the pool" not in page
    assert page.count('<span class="chip good">Graduated</span>') == 2 * had_curve
    assert "Sniper protection" not in page and "does not apply" not in page
    graduation = (change.at, 100) if had_curve else (None, None)
    assert stored_graduation() == graduation
    trade_writing.recount_tokens(CHAIN, [token.pk])
    assert stored_graduation() == graduation

    # Each wrong position for the change is found.
    faults = (
        # A later one: the trades in the new pool would belong to the former one.
        {"block_number": last},
        {"tx_hash": token.tx_hash, "block_number": token.block_number},
        {"tx_hash": "0x" + "1" * 64},
    )
    for fault in faults:
        token.events.filter(pk=change.pk).update(**fault)
        assert check_feeds(recording).differences
        change.save()
    assert check_feeds(recording).differences == []


CURVES = [path for path in RECORDINGS if path.stem.startswith(("virtuals", "flaunch-launch_1", "doppler-v3"))]


@pytest.mark.parametrize("recording", CURVES, indirect=True, ids=lambda path: path.stem)
def test_the_feed_check_names_seeded_faults_of_declared_launchpads(install, recording):
    """Alter each stored trade in turn: curve trades, swaps with parts, and swaps in both pools of graduated tokens."""
    install(name_of(recording))
    backfill(recording)
    for trade in PoolTrade.objects.order_by("position"):
        rows, where = PoolTrade.objects.filter(pk=trade.pk), f"block {trade.block_number}, log {trade.log_index}"
        for seeded, stored in (
            ({"amount_token": F("amount_token") + 1}, {"amount_token": trade.amount_token}),
            ({"amount_quote": F("amount_quote") + 1}, {"amount_quote": trade.amount_quote}),
            ({"is_buy": not trade.is_buy}, {"is_buy": trade.is_buy}),
            ({"price": F("price") * 2}, {"price": trade.price}),
        ):
            rows.update(**seeded)
            assert [text for text in check_feeds(recording).differences if text.startswith(where)], (seeded, trade)
            rows.update(**stored)
    assert check_feeds(recording).differences == []


def fees_of_recorded_swaps(recording) -> list[tuple[int, int]]:
    """Return quote amount and fee, in parts per million, for each swap in the v3 pool and in the pair.

    The v3 factory reports its pool's fee. The pair's is the fee with which its reserves allow exactly the output.
    """
    expected, found, reserves = recording["expected"], [], {}
    is_first = int(expected["token"], 16) < int(expected["quote"], 16)
    for log in (log for entry in recording["transactions"] for log in entry["receipt"]["logs"]):
        words = [int(log["data"][start : start + 64], 16) for start in range(2, len(log["data"]) - 63, 64)]
        signed = [word - (1 << 256 if word >= 1 << 255 else 0) for word in words]
        match log["topics"][0]:
            case POOL_CREATED.topic0:
                fee = int(log["topics"][3], 16)
            case V3_SWAP.topic0:
                found.append((abs(signed[1 if is_first else 0]), fee))
            case PAIR_SYNC.topic0:
                reserves[log["address"]] = words
            case PAIR_SWAP.topic0:
                in0, in1, out0, out1 = words
                after0, after1 = reserves[log["address"]]
                before = (after0 - in0 + out0, after1 - in1 + out1)
                (paid, got, *held) = (in0, out1, *before) if in0 else (in1, out0, *before[::-1])
                found.append((in1 + out1 if is_first else in0 + out0, implied_fee(paid, got, *held)))
    return found


def implied_fee(paid: int, got: int, held_in: int, held_out: int) -> int:
    """Return the only fee in multiples of 0.1 % with which the constant product pays this out."""
    exact = [
        fee
        for fee in range(0, 20_000, 500)
        if paid * (10**6 - fee) * held_out // (held_in * 10**6 + paid * (10**6 - fee)) == got
    ]
    (fee,) = exact
    return fee


MIGRATED = next(path for path in RECORDINGS if path.stem == "doppler-v3_to_v2_1")


@pytest.mark.parametrize("recording", [MIGRATED], indirect=True, ids=["v3 to v2"])
def test_daily_fees_are_those_of_the_pool_that_each_trade_is_in(install, recording):
    install("doppler")
    backfill(recording)
    swaps = fees_of_recorded_swaps(recording)[: PoolTrade.objects.count()]
    assert {fee for _, fee in swaps} == {3_000, recording["expected"]["fee"]} and recording["expected"]["fee"] != 3_000
    first, *_, last = blocks_of(recording)
    (row,) = sum_up_blocks(CHAIN, datetime(2000, 1, 1, tzinfo=UTC), datetime(3000, 1, 1, tzinfo=UTC), first, last)
    *_, trades, without_fee, _, volume, fees, _, _ = row
    assert (trades, without_fee, volume) == (len(swaps), 0, sum(amount for amount, _ in swaps))
    assert fees == sum(amount * fee for amount, fee in swaps) // 10**6
