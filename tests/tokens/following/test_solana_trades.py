"""Trades in Solana's pools: written by the follower with a config's signatures, or with a creator's own pools."""

import base64
import time
from decimal import Decimal

import pytest
from django.core.management import call_command
from solders.pubkey import Pubkey
from solders.signature import Signature

from tests.nodes.solana.forms import EVENT_MARK, base58, inner, keys_of, mark, outer, parsed_of, raw_of
from tests.nodes.solana.recorded import CLAIM, CREATOR, LAUNCH, MINT, POOL, PROGRAM, SWAP, WRAPPED_SOL, allow_list
from tokens.chains.addresses import decode_base58
from tokens.chains.pool_types import chain_position
from tokens.following.leader_loops import LeaderSession
from tokens.following.solana.account_loop import AccountRounds
from tokens.following.solana.pool_loop import PoolWatch
from tokens.installation.installed_chains import installed_solana
from tokens.models import (
    Candle,
    FeeClaim,
    FollowedAccount,
    IndexRequest,
    ListedSignature,
    Market,
    PoolTrade,
    RollingSum,
    Token,
)
from tokens.models.candle import DAY

pytestmark = pytest.mark.django_db(transaction=True)

SOLANA = 101
BUYER = "FezWPm3UEFa4nbF76D45V3gg9eZzhSxfw3tUES1Gr3o1"
PAID, BOUGHT = 1_000_000_000, 36_012_275_919_071
SQRT_PRICE = 0x015D911465CA05DD
# SOL for a token, with 9 and 6 decimals.
PRICE = (Decimal(SQRT_PRICE) ** 2).scaleb(-3) / Decimal(2) ** 128
DOLLARS = f'quote_tokens = [ {{ symbol = "SOL", address = "{WRAPPED_SOL}", decimals = 9, stable = true }} ]\n'


@pytest.fixture
def node(faulty_solana):
    return faulty_solana


@pytest.fixture(autouse=True)
def _few_at_once(settings):
    settings.RPC_BATCH_SIZE, settings.FOLLOW_CONCURRENCY = 4, 2
    settings.RPC_ATTEMPTS, settings.RPC_PATIENCE_SECONDS = 1, 5.0


def take_rounds():
    """Follow until nothing is left to be done at once."""
    for _ in range(100):
        if not AccountRounds(installed_solana()).run_once(LeaderSession(SOLANA)):
            return
    raise AssertionError("there is always more to be done")


def traded():
    return {str(Signature(bytes(tx_hash))) for tx_hash in PoolTrade.objects.values_list("tx_hash", flat=True)}


def blocks(node):
    return [call["params"][0] for call in node.calls if call["method"] == "getBlock"]


def test_a_swap_of_a_configs_pool_is_a_trade(node):
    take_rounds()
    trade = PoolTrade.objects.get()
    assert trade.token.contract_address == MINT
    assert (trade.position, trade.at.timestamp()) == (chain_position(1004, 12), 1795228412)
    assert (bytes(trade.tx_hash), bytes(trade.trader or b"")) == (
        bytes(Signature.from_string(SWAP)),
        bytes(Pubkey.from_string(BUYER)),
    )
    assert (trade.is_buy, trade.is_conversion) == (True, False)
    assert (trade.amount_token, trade.amount_quote) == (BOUGHT, PAID)
    assert (round(trade.price, 20), trade.quote_usd) == (round(PRICE, 20), None)
    assert Candle.objects.get(seconds=DAY).volume_quote == PAID


def test_its_market_has_the_price_and_no_dollars_of_an_unpriced_quote(node):
    take_rounds()
    market = Market.objects.get()
    assert market.price_quote == PoolTrade.objects.get().price
    assert (market.price_usd, market.market_cap, market.liquidity_usd) == (None, None, None)


def test_its_market_has_dollars_where_the_quote_does(node, settings, tmp_path, forget_chains):
    file = allow_list(tmp_path / "dollars.toml")
    file.write_text(file.read_text() + DOLLARS)
    settings.CHAINS_FILES = (str(file),)
    forget_chains()
    recent = int(time.time())
    for encoding in ("json", "jsonParsed"):
        node.transactions[SWAP][encoding]["blockTime"] = recent
    take_rounds()
    market = Market.objects.get()
    assert market.price_usd == pytest.approx(float(PRICE))
    # A billion tokens.
    assert market.market_cap == pytest.approx(float(PRICE * 10**9))
    assert (market.volume_24h, market.tx_count_24h) == (1.0, 1)
    assert RollingSum.objects.get(seconds=DAY).traders == 1


def test_a_chain_with_the_providers_market_data_has_no_trades_and_no_further_calls(node, settings):
    settings.MARKET_PROVIDER_CHAINS = (SOLANA,)
    take_rounds()
    assert not PoolTrade.objects.exists()
    assert not blocks(node)
    assert not ListedSignature.objects.filter(read=False).exists()


def test_swaps_of_a_slot_are_trades_in_its_order(node):
    made = [node.swap(f"swap {number}", slot=2000) for number in range(9)]
    take_rounds()
    stored = PoolTrade.objects.filter(position__gte=chain_position(2000, 0)).order_by("position")
    assert [str(Signature(bytes(trade.tx_hash))) for trade in stored] == made
    assert [trade.log_index for trade in stored] == [number * 128 + 12 for number in range(9)]


def test_each_swap_is_one_trade_however_often_it_is_read(node):
    made = {SWAP, *(node.swap(f"swap {number}", slot=2000 + number // 2) for number in range(7))}
    take_rounds()
    candle = Candle.objects.filter(seconds=DAY).values().get()
    assert candle["volume_quote"] == len(made) * PAID
    call_command("read_accounts_again")
    read = len(node.read())
    node.calls.clear()
    take_rounds()
    assert len(node.read()) == read
    assert traded() == made
    assert PoolTrade.objects.count() == len(made)
    assert Candle.objects.filter(seconds=DAY).values().get() == candle


def test_trades_of_the_time_before_they_were_read_are_found_when_accounts_are_read_again(node, settings):
    settings.MARKET_PROVIDER_CHAINS = (SOLANA,)
    take_rounds()
    settings.MARKET_PROVIDER_CHAINS = ()
    later = node.swap("later")
    take_rounds()
    assert traded() == {later}
    call_command("read_accounts_again")
    take_rounds()
    assert traded() == {SWAP, later}
    assert FollowedAccount.objects.get().complete_to == node.slot


def test_a_swap_in_an_unknown_pool_is_dropped(node):
    node.swap("of a stranger", of="stranger")
    take_rounds()
    assert traded() == {SWAP}
    assert not IndexRequest.objects.exists()


def test_a_purchase_of_another_pool_is_of_its_token(node):
    minted = node.launch("another")
    made = node.swap("of another", of="another")
    take_rounds()
    trade = PoolTrade.objects.get(token__contract_address=minted)
    assert (str(Signature(bytes(trade.tx_hash))), trade.amount_quote) == (made, PAID)


def test_swaps_wait_until_a_node_has_their_block(node):
    node.refused["getBlock"] = {"code": -32004, "message": "Block not available for slot 1004"}
    AccountRounds(installed_solana()).run_once(LeaderSession(SOLANA))
    AccountRounds(installed_solana()).run_once(LeaderSession(SOLANA))
    assert not PoolTrade.objects.exists()
    assert ListedSignature.objects.filter(signature=SWAP, read=False).exists()
    node.refused.clear()
    take_rounds()
    assert traded() == {SWAP}


def test_a_swap_that_can_not_be_decoded_is_noted_and_passed(node):
    broken = node.swap("broken")
    for form in node.transactions[broken].values():
        event = inner(form, 4)[-1]
        event["data"] = base58(decode_base58(event["data"])[:-1])
    made = {SWAP, node.swap("later")}
    take_rounds()
    assert traded() == made
    request = IndexRequest.objects.get()
    assert request.undecodable
    assert (request.tx_hash, request.status) == (broken, "failed")
    assert "swap" in request.last_error


def test_a_launch_is_indexed_although_a_swap_beside_it_can_not_be_decoded(node):
    raw = raw_of(node, LAUNCH)
    swap = {"programIdIndex": keys_of(raw).index(PROGRAM), "accounts": [], "data": base58(mark("global", "swap"))}
    outer(raw).append(swap)
    node.transactions[LAUNCH] = {"json": raw, "jsonParsed": parsed_of(raw)}
    take_rounds()
    assert traded() == {SWAP}
    assert IndexRequest.objects.get().tx_hash == LAUNCH


@pytest.fixture
def of_a_creator(node, settings, tmp_path, forget_chains):
    """Allow-list the recorded pool's creator, and not its config; index the launch."""
    settings.CHAINS_FILES = (str(allow_list(tmp_path / "creator.toml", role="launch_creator", address=CREATOR)),)
    forget_chains()
    take_rounds()
    assert not PoolTrade.objects.exists()
    node.calls.clear()
    return node


def walk():
    PoolWatch(installed_solana()).run_once(LeaderSession(SOLANA))


def listed(node):
    return len(node.signatures())


def test_trades_in_a_creators_pool_are_found_by_its_price(of_a_creator):
    walk()
    assert traded() == {SWAP}
    listings = listed(of_a_creator)
    assert listings
    walk()
    assert listed(of_a_creator) == listings


def test_later_trades_in_a_creators_pool_are_found_once(of_a_creator):
    walk()
    later = of_a_creator.swap("later")
    raise_price(of_a_creator, later)
    walk()
    assert traded() == {SWAP, later}
    listings = listed(of_a_creator)
    walk()
    assert listed(of_a_creator) == listings
    assert Market.objects.get().price_quote == PoolTrade.objects.latest("position").price


def test_a_creators_pool_is_not_listed_where_the_provider_has_its_trades(of_a_creator, settings):
    settings.MARKET_PROVIDER_CHAINS = (SOLANA,)
    walk()
    assert not listed(of_a_creator)


def test_a_creators_pool_is_read_again_from_its_launch(of_a_creator, settings):
    settings.MARKET_PROVIDER_CHAINS = (SOLANA,)
    # As if a claim had made the follower read the pool before.
    FeeClaim.objects.all().delete()
    walk()
    assert FollowedAccount.objects.filter(address=POOL, complete_to=of_a_creator.slot).exists()
    settings.MARKET_PROVIDER_CHAINS = ()
    call_command("read_accounts_again")
    walk()
    assert traded() == {SWAP}


def raise_price(node, signature):
    """Have a swap, and its pool's account, end at a higher price."""
    old, new = (price.to_bytes(16, "little") for price in (SQRT_PRICE, SQRT_PRICE + 10**9))
    for form in node.transactions[signature].values():
        for event in inner(form, 4)[-2:]:
            event["data"] = base58(decode_base58(event["data"]).replace(old, new))
    account = node.accounts[POOL]
    data = base64.b64decode(account["data"][0]).replace(old, new)
    node.accounts[POOL] = account | {"data": [base64.b64encode(data).decode(), "base64"]}


def grown(value):
    """Return a transaction's forms with eight more bytes at each event's end."""
    if isinstance(value, dict):
        return {
            name: _longer(part) if name == "data" and isinstance(part, str) else grown(part)
            for name, part in value.items()
        }
    return [grown(part) for part in value] if isinstance(value, list) else value


def _longer(text):
    data = decode_base58(text)
    return base58(data + bytes(8)) if data.startswith(EVENT_MARK) else text


@pytest.mark.parametrize("tx_hash", [LAUNCH, SWAP, CLAIM], ids=["launch", "swap", "claim"])
def test_fields_that_a_program_appends_to_its_events_lose_nothing(node, tx_hash):
    node.transactions[tx_hash] = grown(node.transactions[tx_hash])
    take_rounds()
    assert (Token.objects.get().contract_address, PoolTrade.objects.count()) == (MINT, 1)
    assert not IndexRequest.objects.exists()
