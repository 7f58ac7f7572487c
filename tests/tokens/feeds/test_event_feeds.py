"""Event feed endpoints: DEX Screener's and DEXTools' adapters."""

import re
from decimal import Decimal

import pytest
from django.test import Client

from tests.tokens.feeds.feed_worlds import (
    CHAIN,
    FACTORY,
    FINAL,
    FIRST,
    POOL,
    SENDER,
    TOKEN,
    WETH,
    add_change,
    add_swap,
    block_time,
    follow_chain,
    make_pair,
    unix,
)
from tokens.feeds.event_answers import decimal_text
from tokens.models import ChainHead, LaunchFacts, Token

pytestmark = pytest.mark.django_db

# For every number in DEXTools' schemas.
NUMBER = r"\d+\.\d+"
ZORA = "0x777777751622c0d3258f214F9DF38E35BF45baF3"


def fetch(path, **parameters):
    return Client().get(f"/api/feeds/{path}", parameters)


def answer_of(path, **parameters):
    answer = fetch(path, **parameters)
    assert answer.status_code == 200, answer.content
    return answer.json()


def assert_rule(answer, field, rule):
    assert answer.status_code == 400
    assert answer.json()["details"] == [{"field": field, "message": rule}]
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.fixture
def pair():
    follow_chain()
    return make_pair()


@pytest.mark.parametrize(
    "path", ["dexscreener/8453/latest-block", "dextools/8453/latest-block", "udf/config", "daily/8453"]
)
def test_a_feed_that_is_not_named_is_off_before_its_parameters_are_read(pair, settings, path):
    name = path.partition("/")[0]
    settings.FEEDS = tuple(feed for feed in settings.FEEDS if feed != name)
    answer = fetch(path)
    assert answer.status_code == 404
    assert answer.json()["error"] == "This feed is off: the operator enables it by FEEDS"


@pytest.mark.parametrize("feed", ["dexscreener", "dextools"])
class TestBothFeeds:
    """What both formats have."""

    def test_the_latest_block_is_the_newest_that_events_are_served_of(self, pair, feed):
        block = {"blockNumber": FINAL, "blockTimestamp": unix(block_time(FINAL))}
        assert answer_of(f"{feed}/{CHAIN}/latest-block") == {"block": block}
        assert answer_of(f"{feed}/{CHAIN}/events", fromBlock=FINAL, toBlock=FINAL) == {"events": []}
        refused = fetch(f"{feed}/{CHAIN}/events", fromBlock=FINAL, toBlock=FINAL + 1)
        assert_rule(refused, "toBlock", f"must be at most {FINAL}, the newest block that is served")

    def test_a_range_begins_with_the_first_indexed_block_and_is_bounded(self, pair, feed):
        path = f"{feed}/{CHAIN}/events"
        rule = f"must be at least {FIRST}, the first block that is indexed with trades"
        assert_rule(fetch(path, fromBlock=FIRST - 1, toBlock=FIRST), "fromBlock", rule)
        assert_rule(fetch(path, fromBlock=9, toBlock=8), "toBlock", "must be at least fromBlock")
        rule = "must be less than 1000 blocks after fromBlock"
        assert_rule(fetch(path, fromBlock=0, toBlock=1000), "toBlock", rule)
        assert fetch(path, fromBlock=1).json()["error"] == "toBlock is required"

    def test_rows_without_transaction_indexes_are_refused(self, pair, feed):
        add_swap(pair, block=150, tx_index=None)
        refused = fetch(f"{feed}/{CHAIN}/events", fromBlock=FIRST, toBlock=FINAL)
        rule = "must be greater than 150, which was indexed without transaction indexes"
        assert_rule(refused, "fromBlock", rule)

    def test_an_asset_is_a_launched_token_or_a_quote_token(self, pair, feed):
        path = f"{feed}/{CHAIN}/asset"
        supply = "100000000000.0"
        token = {"id": TOKEN, "name": "Doge", "symbol": "DOGE", "totalSupply": supply, "circulatingSupply": supply}
        assert answer_of(path, id=TOKEN.upper().replace("X", "x")) == {"asset": token}
        assert answer_of(path, id=WETH) == {"asset": {"id": WETH, "name": "WETH", "symbol": "WETH"}}
        assert fetch(path, id=SENDER).json()["error"] == "Asset not found"
        assert fetch(path, id="nonsense").status_code == 400

    def test_a_supply_that_is_partly_locked_does_not_circulate(self, pair, feed):
        token = Token.objects.get(contract_address=TOKEN)
        locks = [{"extensions": token.extensions | {name: {"amount": "5"}}} for name in ("vault", "airdrop")]
        for lock in ({"presale_id": "7"}, *locks):
            Token.objects.filter(pk=token.pk).update(**{"presale_id": "", "extensions": token.extensions} | lock)
            asset = answer_of(f"{feed}/{CHAIN}/asset", id=TOKEN)["asset"]
            assert asset["totalSupply"] == "100000000000.0" and "circulatingSupply" not in asset

    def test_an_asset_without_a_name_has_its_symbol_or_address(self, pair, feed):
        Token.objects.update(name="", symbol="")
        asset = answer_of(f"{feed}/{CHAIN}/asset", id=TOKEN)["asset"]
        assert (asset["name"], asset["symbol"]) == (TOKEN, TOKEN)

    def test_only_chains_with_own_trades_have_a_feed(self, pair, feed, settings):
        for chain_id in ("101", "7"):
            answer = fetch(f"{feed}/{chain_id}/latest-block")
            assert answer.json()["details"][0]["field"] == "chainId"
        assert fetch(f"{feed}/nonsense/latest-block").json()["details"][0]["field"] == "chainId"
        ChainHead.objects.update(halted="x")
        assert fetch(f"{feed}/{CHAIN}/latest-block").status_code == 404

    def test_answers_are_cached_for_a_short_time(self, pair, feed):
        path = f"{feed}/{CHAIN}"
        assert fetch(f"{path}/latest-block").headers["Cache-Control"] == "public, s-maxage=1"
        events = fetch(f"{path}/events", fromBlock=FIRST, toBlock=FINAL)
        assert events.headers["Cache-Control"] == "public, s-maxage=60"

    def test_swaps_joins_and_exits_have_the_fields_of_the_format(self, pair, feed):
        add_swap(pair, block=110)
        add_swap(pair, block=111, is_buy=False)
        add_change(pair, block=112, log_index=1, liquidity=-(10**23))
        joined, bought, sold, exited = answer_of(f"{feed}/{CHAIN}/events", fromBlock=FIRST, toBlock=FINAL)["events"]
        assert bought["block"] == {"blockNumber": 110, "blockTimestamp": unix(block_time(110))}
        assert (bought["txnId"], bought["txnIndex"], bought["eventIndex"]) == (f"0x{110:064x}", 7, 5)
        assert (bought["maker"], bought["pairId"]) == (SENDER, POOL)
        amounts = {"asset1In": "0.0000002", "asset0Out": "1000.0"}
        assert bought.items() >= amounts.items()
        assert not {"asset0In", "asset1Out", "amount0", "amount1"} & bought.keys()
        assert sold.items() >= {"asset0In": "1000.0", "asset1Out": "0.0000002"}.items()
        assert [event["eventType"] for event in (joined, bought, sold, exited)] == ["join", "swap", "swap", "exit"]
        for event in (joined, exited):
            assert re.fullmatch(NUMBER, event["amount0"]) and re.fullmatch(NUMBER, event["amount1"])
        for event in (joined, bought, sold, exited):
            assert all(re.fullmatch(NUMBER, amount) for amount in event["reserves"].values())
        assert Decimal(joined["reserves"]["asset0"]) > Decimal(exited["reserves"]["asset0"]) > 0
        price = bought.get("priceNative")
        assert price == ("0.000000000123456789012345" if feed == "dexscreener" else None)
        assert "priceNative" not in joined


def test_a_pair_of_dex_screener_never_changes(pair, settings):
    settings.FEED_DEX_KEY = "pad"
    described = {
        "id": POOL,
        "dexKey": "pad",
        "asset0Id": TOKEN,
        "asset1Id": WETH,
        "createdAtBlockNumber": 101,
        "createdAtBlockTimestamp": unix(block_time(0)),
        "createdAtTxnId": "0x" + "11" * 32,
        "creator": SENDER,
        "metadata": {"launchpad": "clanker", "launchpadTitle": "Clanker"},
    }
    path = f"dexscreener/{CHAIN}/pair"
    assert answer_of(path, id=POOL) == {"pair": described}
    fees = {"type": "static", "clanker_fee": "100", "paired_fee": "100", "hook": None}
    LaunchFacts.objects.update(facts={"pool": {"pair_decimals": 18, "tick": 0}, "fees": fees})
    assert answer_of(path, id=POOL.upper().replace("X", "x")) == {"pair": described | {"feeBps": 100}}
    # A sale's fee is another one.
    LaunchFacts.objects.update(facts={"pool": {"pair_decimals": 18, "tick": 0}, "fees": fees | {"paired_fee": "90"}})
    assert answer_of(path, id=POOL) == {"pair": described}
    assert fetch(path, id="0x" + "00" * 32).json() == {"error": "Pair not found"}


def test_a_pair_of_dextools_names_its_factory_and_the_factory_its_exchange(pair, settings):
    settings.FEED_DEX_NAME = "Pad"
    pair = answer_of(f"dextools/{CHAIN}/pair", id=POOL)["pair"]
    assert (pair["factoryAddress"], pair["asset0Id"], pair["createdAtBlockNumber"]) == (FACTORY, TOKEN, 101)
    exchange = {"factoryAddress": FACTORY, "name": "Pad"}
    assert answer_of(f"dextools/{CHAIN}/exchange", id=FACTORY) == {"exchange": exchange}
    assert fetch(f"dextools/{CHAIN}/exchange", id=WETH).status_code == 404


def test_declared_launchpads_are_named_in_feeds(pair, settings):
    settings.FEED_DEX_NAME = "Pad"
    settings.RPC_URLS = {CHAIN: ("http://127.0.0.1:9",)}
    settings.LAUNCHPADS = {CHAIN: ("clanker", "zora")}
    Token.objects.filter(pk=pair.pk).update(generation="zora", factory_address=ZORA)
    described = answer_of(f"dexscreener/{CHAIN}/pair", id=POOL)["pair"]
    assert described["metadata"] == {"launchpad": "zora", "launchpadTitle": "Zora"}
    path = f"dextools/{CHAIN}/exchange"
    assert answer_of(path, id=ZORA) == {"exchange": {"factoryAddress": ZORA, "name": "Zora"}}
    assert answer_of(path, id=FACTORY)["exchange"]["name"] == "Pad"
    # The only launchpad has the name that was agreed upon.
    settings.LAUNCHPADS = {CHAIN: ("zora",)}
    assert answer_of(path, id=ZORA)["exchange"]["name"] == "Pad"
    assert fetch(path, id=FACTORY).status_code == 404


def test_a_block_of_dextools_has_its_time(pair):
    block = {"blockNumber": FINAL, "blockTimestamp": unix(block_time(FINAL))}
    assert answer_of(f"dextools/{CHAIN}/block", number=FINAL) == {"block": block}
    assert fetch(f"dextools/{CHAIN}/block", number=FINAL + 1).status_code == 404
    assert fetch(f"dextools/{CHAIN}/block").status_code == 400


@pytest.mark.parametrize(
    ("amount", "decimals", "text"),
    [
        (0, 18, "0.0"),
        (1, 18, "0.000000000000000001"),
        (10**18, 18, "1.0"),
        (15, 1, "1.5"),
        (7, 0, "7.0"),
        (70, 0, "70.0"),
    ],
)
def test_amounts_have_a_point_and_no_exponent(amount, decimals, text):
    assert decimal_text(amount, decimals) == text


@pytest.mark.parametrize("empty", ["", " ", "\u200b\u202e", "\n"])
def test_an_asset_without_a_visible_name_has_its_symbol(pair, empty):
    # DEX Screener stops at an empty name.
    Token.objects.update(name=empty, symbol="DOGE")
    assert answer_of(f"dexscreener/{CHAIN}/asset", id=TOKEN)["asset"]["name"] == "DOGE"
    Token.objects.update(symbol=empty)
    assert answer_of(f"dexscreener/{CHAIN}/asset", id=TOKEN)["asset"]["symbol"] == TOKEN


def test_a_block_of_dextools_needs_a_number_or_a_time(pair):
    for parameters in ({}, {"number": ""}, {"timestamp": ""}):
        assert_rule(fetch(f"dextools/{CHAIN}/block", **parameters), "number", "must be given, or timestamp")
    refused = fetch(f"dextools/{CHAIN}/block", timestamp="-1")
    assert refused.json()["issues"][0]["param"] == "timestamp"
    for late in (unix(block_time(FINAL)), 253_402_300_799):
        answer = fetch(f"dextools/{CHAIN}/block", timestamp=late)
        assert answer.status_code == 404
        assert answer.json()["message"] == "No served block is younger than this time yet"
    both = answer_of(f"dextools/{CHAIN}/block", number=FINAL, timestamp=1)
    assert both["block"]["blockNumber"] == FINAL
