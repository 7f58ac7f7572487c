"""`manage.py check_feeds` on a development chain: the feeds have exactly the node's logged events."""

import re
from datetime import timedelta
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Case, F, When
from eth_utils.address import to_canonical_address

from development.devchain import node_client
from development.devchain.anvil import CHAIN_ID, LAUNCHPADS_FILE, TRADERS
from development.devchain.declared_samples import launch_on_curve, launch_plain
from development.devchain.launch_transactions import Recipient
from development.devchain.sample_swaps import buy, sell
from development.devchain.trader import SampleTraders
from tests.nodes.followed import Followed
from tests.simulator import SimulatedChain
from tokens.feeds.checking.feed_check import FeedCheck
from tokens.feeds.pool_events import UNKNOWN_MAKER, read_pool_events
from tokens.feeds.served_blocks import find_feed_chain, read_served_blocks
from tokens.following.coverage import open_live_coverage
from tokens.installation.installed_chains import installed_chain
from tokens.models import Coverage, LaunchFacts, PoolLiquidityChange, PoolTrade, Token, TokenPool

pytestmark = pytest.mark.django_db


def served():
    return read_served_blocks(find_feed_chain(CHAIN_ID))


def compare(**options):
    blocks = served()
    check = FeedCheck(installed_chain(CHAIN_ID), blocks.first, verified=blocks.verified, **options)
    while check.next <= blocks.last:
        check.compare(blocks.last)
    return check.comparison


def test_the_feeds_have_the_events_of_the_logs(traded):
    found = compare()
    assert found.differences == []
    trades, changes = PoolTrade.objects.count(), PoolLiquidityChange.objects.count()
    assert found.events == trades + changes
    assert trades > 30
    assert changes >= 4
    # The range has each pool's first price.
    assert (found.unpriced, found.unreserved) == (0, 0)


def test_events_that_are_missing_invented_or_different_are_named(traded):
    trade = PoolTrade.objects.order_by("-position").first()
    PoolTrade.objects.filter(pk=trade.pk).update(amount_quote=F("amount_quote") + 1)
    (difference, payment) = compare().differences
    assert difference.startswith(f"block {trade.block_number}, log {trade.log_index}: asset1")
    # They differ in the last digit alone.
    shown, on_chain = map(Decimal, re.findall(r"is ([0-9.]+) in the feed, and ([0-9.]+) on the chain", difference)[0])
    assert (shown - on_chain).as_tuple().digits == (1,)
    assert payment.startswith(f"block {trade.block_number}, transaction 0: its trades paid")
    PoolTrade.objects.filter(pk=trade.pk).update(amount_quote=F("amount_quote") - 1, tx_index=9)
    (difference,) = compare().differences
    assert "txnIndex is 9 in the feed, and 0 on the chain" in difference
    PoolTrade.objects.filter(pk=trade.pk).update(tx_index=0, position=trade.position + 1)
    assert compare().differences == [
        f"block {trade.block_number}, log {trade.log_index}: the feed lacks it",
        f"block {trade.block_number}, log {trade.log_index + 1}: the chain does not have it",
    ]


@pytest.fixture
def converted(followed_launchpad):
    """Launch a token with a recipient for the paired token only, trade it, and collect its fees, as anybody may."""
    at = followed_launchpad.deployment
    anybody = node_client.connect(at.rpc_url).eth.accounts[-TRADERS]
    shares = (Recipient(admin=anybody, recipient=anybody, bps=10_000, wants="Paired"),)
    followed_launchpad.launch(recipients=shares)
    traders = SampleTraders(at.rpc_url, random=SimulatedChain(7).rng)
    traders.trade_once()
    sample = list(traders._tokens.values())[-1]
    buy(at, sample, anybody, wei=10**17)
    sell(at, sample, anybody, share=1)
    locker = node_client.bind_contract(at.rpc_url, "Locker", at.locker)
    node_client.transact(at.rpc_url, locker.functions.collectRewards(sample.address), sender=anybody)
    followed_launchpad.mine(6)
    Followed(CHAIN_ID).catch_up()
    return followed_launchpad, sample, anybody


def test_a_conversion_through_a_router_that_is_stored_as_a_trade_is_named(converted):
    assert compare().differences == []
    (conversion,) = PoolTrade.objects.filter(is_conversion=True)
    trade = PoolTrade.objects.filter(is_conversion=False, token=conversion.token).latest("position")
    for wrong in (conversion, trade):
        rows = PoolTrade.objects.filter(pk=wrong.pk)
        rows.update(is_conversion=not wrong.is_conversion)
        (difference,) = compare().differences
        assert difference.startswith(f"block {wrong.block_number}, log {wrong.log_index}: maker is")
        # A trade's sender may be unknown, and a conversion's locker is not.
        rows.update(is_conversion=False, trader=None)
        assert len(compare().differences) == wrong.is_conversion
        rows.update(is_conversion=wrong.is_conversion, trader=wrong.trader)


def test_events_without_a_maker_are_counted_and_named_on_request(converted):
    launchpad, sample, anybody = converted
    # A few blocks are read by their hashes, with senders; the fixture's longer range by its logs, without.
    buy(launchpad.deployment, sample, anybody, wei=10**16)
    Followed(CHAIN_ID).catch_up()
    launchpad.mine(6)
    Followed(CHAIN_ID).catch_up()
    trades = PoolTrade.objects.filter(is_conversion=False)
    lacking = trades.filter(trader=None).count() + PoolLiquidityChange.objects.filter(trader=None).count()
    named = set(compare(makers=True).differences)
    assert (compare().without_maker, len(named)) == (lacking, lacking)
    trade = trades.exclude(trader=None).latest("position")
    trades.filter(pk=trade.pk).update(trader=None)
    comparison = compare()
    assert (comparison.without_maker, comparison.differences) == (lacking + 1, [])
    assert f" {lacking + 1} without a maker," in str(comparison)
    event = f"block {trade.block_number}, log {trade.log_index}"
    (added,) = set(compare(makers=True).differences) - named
    assert added == f"{event}: maker is {UNKNOWN_MAKER} in the feed, and {anybody} on the chain"
    # Another one differs in any case.
    trades.filter(pk=trade.pk).update(trader=bytes.fromhex(sample.address[2:]))
    assert compare().differences == [f"{event}: maker is {sample.address} in the feed, and {anybody} on the chain"]


@pytest.mark.parametrize("fee", [None, F("protocol_fee") + 1])
def test_a_conversion_that_paid_another_amount_than_its_locker_reports_is_named(converted, fee):
    conversion = PoolTrade.objects.get(is_conversion=True)
    PoolTrade.objects.filter(pk=conversion.pk).update(protocol_fee=fee)
    (difference,) = compare().differences
    assert difference.startswith(f"block {conversion.block_number}, log {conversion.log_index}: the conversion paid ")


@pytest.mark.parametrize("fee", [None, 0, F("protocol_fee") + 1])
def test_payments_that_differ_from_the_transfers_are_named(traded, fee):
    found = compare()
    assert (found.differences, found.unpaid) == ([], 0)
    trade = PoolTrade.objects.filter(is_conversion=False).order_by("position").last()
    PoolTrade.objects.filter(pk=trade.pk).update(protocol_fee=fee)
    (difference,) = compare().differences
    assert difference.startswith(f"block {trade.block_number}, transaction {trade.tx_index}: its trades paid ")


def caller_code(calls):
    """Return creation code that makes calls (target, data, wei) one after another, or reverts."""
    size = 61 * len(calls) + 1
    code, payloads = b"", b""
    for target, data, wei in calls:
        payload = bytes.fromhex(data.removeprefix("0x"))
        length = b"\x62" + len(payload).to_bytes(3)
        # CODECOPY, then CALL.
        code += length + b"\x62" + (size + len(payloads)).to_bytes(3) + b"\x5f\x39\x5f\x5f" + length + b"\x5f"
        code += b"\x6b" + wei.to_bytes(12) + b"\x73" + to_canonical_address(target) + b"\x5a\xf1"
        # JUMPI over a REVERT.
        code += b"\x61" + (len(code) + 7).to_bytes(2) + b"\x57\x5f\x5f\xfd\x5b"
        payloads += payload
    return "0x" + (code + b"\x00" + payloads).hex()


def test_a_trade_beside_a_collection_of_its_trader_is_compared_by_what_hooks_are_credited(converted):
    launchpad, sample, anybody = converted
    at, wei = launchpad.deployment, 10**16
    weth, router, locker = (
        node_client.bind_contract(at.rpc_url, name, address)
        for name, address in (
            ("WrappedNative", at.wrapped_native),
            ("SwapRouter", at.swap_router),
            ("Locker", at.locker),
        )
    )
    buy(at, sample, anybody, wei=10**17)
    sell(at, sample, anybody, share=0.5)
    purchase = router.encode_abi("swapTokens", [sample.key, at.wrapped_native, wei, anybody])
    code = caller_code(
        (
            (at.wrapped_native, weth.encode_abi("deposit"), wei),
            (at.wrapped_native, weth.encode_abi("approve", [at.swap_router, wei]), 0),
            (at.swap_router, purchase, 0),
            (at.locker, locker.encode_abi("collectRewards", [sample.address]), 0),
        )
    )
    sent = node_client.send_transaction(at.rpc_url, sender=anybody, to=None, data=code, value=wei)
    node_client.wait_for_receipt(at.rpc_url, sent)
    launchpad.mine(6)
    Followed(CHAIN_ID).catch_up()
    found = compare()
    assert (found.differences, found.unpaid) == ([], 0)
    trade, conversion = PoolTrade.objects.filter(tx_hash=bytes(sent)).order_by("position")
    assert (trade.is_conversion, conversion.is_conversion) == (False, True)
    PoolTrade.objects.filter(pk=trade.pk).update(protocol_fee=F("protocol_fee") + 1)
    (difference,) = compare().differences
    assert difference.startswith(f"block {trade.block_number}, transaction 0: fees of hooks are ")


def test_a_pair_that_was_launched_otherwise_is_named(traded):
    token, other = Token.objects.earliest("pk"), Token.objects.latest("pk")
    later = token.deployed_at + timedelta(seconds=60)
    for columns, text in (
        ({"tx_hash": "0x" + "1" * 64}, "createdAtTxnId is 0x1"),
        # Another token's launch.
        ({"tx_hash": other.tx_hash, "block_number": other.block_number}, f"createdAtTxnId is {other.tx_hash}"),
        ({"block_number": token.block_number + 1}, f"createdAtTxnId is {token.tx_hash}"),
        ({"deployed_at": later}, f"createdAtBlockTimestamp is {int(later.timestamp())}"),
    ):
        Token.objects.filter(pk=token.pk).update(**columns)
        assert any(f"pair {token.pool_address}: {text}" in line for line in compare().differences)
        token.save(update_fields=["tx_hash", "block_number", "deployed_at"])
    assert compare().differences == []


def test_a_pair_of_another_creator_or_factory_is_named(traded):
    single, of_batch = Token.objects.earliest("pk"), Token.objects.latest("pk")
    eth, factory = node_client.connect(traded.deployment.rpc_url).eth, traded.deployment.factory
    # The factory's caller: the sender, or the contract that launched the batch.
    sender, batch = eth.get_transaction(single.tx_hash)["from"], eth.get_transaction(of_batch.tx_hash)["to"]
    for token, column, wrong, text in (
        (single, "msg_sender", batch, f"creator is {batch} in the feed, and {sender} on the chain"),
        (single, "msg_sender", "", f"creator is  in the feed, and {sender} on the chain"),
        (of_batch, "msg_sender", sender, f"creator is {sender} in the feed, and {batch} on the chain"),
        (single, "factory_address", batch, f"factoryAddress is {batch} in the feed, and {factory} on the chain"),
    ):
        Token.objects.filter(pk=token.pk).update(**{column: wrong})
        (difference,) = compare().differences
        assert difference == f"block {token.block_number}, pair {token.pool_address}: {text}"
        token.save(update_fields=[column])


def test_a_pair_with_another_fee_than_its_swaps_is_named(traded):
    traded.rpc("evm_increaseTime", 180)
    traders = SampleTraders(traded.deployment.rpc_url, random=SimulatedChain(7).rng)
    for _ in range(30):
        traders.trade_once()
    traded.mine(6)
    Followed(CHAIN_ID).catch_up()
    for row in LaunchFacts.objects.all():
        row.facts["fees"] |= {"clanker_fee": "30", "paired_fee": "30"}
        row.save(update_fields=["facts"])
    lines = [line for line in compare().differences if ": its fee is 3000 in the feed, and 10000 on the chain" in line]
    # Once for each.
    assert len(lines) == len({line.split(", ")[1] for line in lines}) > 1


@pytest.fixture
def curves(own_launchpad, settings, forget_chains):
    """Follow all launchpads on the development chain, and trade curve tokens until some graduate, and on."""
    settings.CHAINS_FILES = (*settings.CHAINS_FILES, str(LAUNCHPADS_FILE))
    settings.LAUNCHPADS = {CHAIN_ID: ("clanker", "curve", "plain")}
    forget_chains()
    first, at = int(own_launchpad.rpc("eth_blockNumber"), 16), own_launchpad.deployment
    settings.FOLLOW_FROM = {CHAIN_ID: first}
    open_live_coverage(installed_chain(CHAIN_ID).info, final=first)
    Followed(CHAIN_ID).catch_up()
    sender, rng = node_client.connect(at.rpc_url).eth.accounts[1], SimulatedChain(7).rng
    # The same addresses, and so the same trades, in every run.
    own_launchpad.launch(salt=bytes(32))
    launch_plain(at, sender=sender)
    for _ in range(3):
        launch_on_curve(at, sender=sender, random=rng)
    traders = SampleTraders(at.rpc_url, random=rng)
    for _ in range(2):
        for _ in range(35):
            traders.trade_once()
        # Some one-minute bars end in every run, however fast it is.
        own_launchpad.rpc("evm_increaseTime", 120)
    Followed(CHAIN_ID).catch_up()
    own_launchpad.mine(6)
    Followed(CHAIN_ID).catch_up()
    # Bars in USD are compared up to the verified block.
    Coverage.objects.update(verified_to=served().last)
    return own_launchpad


def test_curves_and_the_pools_they_graduate_into_are_compared(curves, client):
    found = compare()
    assert found.differences == []
    assert found.events == PoolTrade.objects.count() + PoolLiquidityChange.objects.count()
    assert (found.unpriced, found.without_usd) == (0, 0)
    graduated = TokenPool.objects.exclude(is_currency0=None).select_related("token")
    assert graduated
    blocks = served()
    events = read_pool_events(find_feed_chain(CHAIN_ID), blocks.first, blocks.last)
    for pool in graduated:
        own = [event for event in events if event.pair.token_id == pool.token_id]
        change = pool.token.events.get(kind="pool_changed")
        later = [event.pair.pool == pool.pool_address for event in own]
        assert later == sorted(later) and {True, False} == {*later}
        # A curve has no reserves in the feed, and the pool has.
        assert [event.reserves is not None for event in own] == later
        joins = [event for event in own if event.kind == "join"]
        assert {event.tx_hash for event in joins} == {change.tx_hash} and len(joins) == 2
        (pair,) = client.get(f"/api/feeds/dexscreener/{CHAIN_ID}/pair?id={pool.pool_address}").json().values()
        assert (pair["createdAtTxnId"], pair["createdAtBlockNumber"]) == (change.tx_hash, change.block_number)
        assert client.get(f"/api/feeds/dexscreener/{CHAIN_ID}/asset?id={pair['asset1Id']}").status_code == 200


def test_seeded_faults_of_curves_and_graduated_pools_are_named(curves):
    graduated = TokenPool.objects.exclude(is_currency0=None)
    trades = PoolTrade.objects.filter(token__in=graduated.values("token")).order_by("position")
    for trade in (trades.first(), trades.last()):
        rows, where = PoolTrade.objects.filter(pk=trade.pk), f"block {trade.block_number}, log {trade.log_index}"
        for name, wrong in (
            ("amount_token", F("amount_token") * 2),
            ("amount_quote", F("amount_quote") + 1),
            ("price", F("price") * 2),
            ("trader", bytes(20)[:-1] + b"\1"),
        ):
            rows.update(**{name: wrong})
            assert any(text.startswith(where) for text in compare().differences), name
            rows.update(**{name: getattr(trade, name)})
    liquidity = PoolLiquidityChange.objects.filter(token__in=graduated.values("token")).first()
    PoolLiquidityChange.objects.filter(pk=liquidity.pk).update(liquidity=F("liquidity") * 2)
    assert any("amount0 is" in text for text in compare().differences)
    PoolLiquidityChange.objects.filter(pk=liquidity.pk).update(liquidity=liquidity.liquidity)
    graduated.update(is_currency0=Case(When(is_currency0=True, then=False), default=True))
    assert sum("its token is currency" in text for text in compare().differences) == graduated.count()


def test_liquidity_that_differs_is_named(traded):
    change = PoolLiquidityChange.objects.order_by("position").first()
    PoolLiquidityChange.objects.filter(pk=change.pk).update(liquidity=F("liquidity") * 2)
    assert any("amount0 is" in difference for difference in compare().differences)


def test_the_command_passes_and_fails(traded):
    def run(**options):
        output = StringIO()
        call_command("check_feeds", chain=CHAIN_ID, stdout=output, **options)
        return output.getvalue()

    blocks = served()
    assert "0 differ" in run()
    assert f"blocks {blocks.last} to {blocks.last}: 0 events" in run(**{"from": blocks.last})
    with pytest.raises(CommandError, match=f"blocks {blocks.first} to {blocks.last} are served"):
        run(to=blocks.last + 1)
    PoolTrade.objects.filter(pk=PoolTrade.objects.first().pk).update(is_buy=~F("is_buy"))
    with pytest.raises(CommandError, match="differ from the chain"):
        run()
    with pytest.raises(CommandError, match="--chain 101: must be an EVM chain"):
        call_command("check_feeds", chain=101)
