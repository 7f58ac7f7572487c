"""`manage.py check_feeds` on a development chain: the feeds have exactly the node's logged events."""

import re
from datetime import timedelta
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db.models import F
from eth_utils.address import to_canonical_address

from development.devchain import node_client
from development.devchain.anvil import CHAIN_ID, TRADERS
from development.devchain.launch_transactions import Recipient
from development.devchain.sample_swaps import buy, sell
from development.devchain.trader import SampleTraders
from tests.simulator import SimulatedChain
from tests.tokens.feeds.feed_worlds import compare_feeds as compare
from tests.tokens.feeds.feed_worlds import follow_to_final
from tokens.feeds.pool_events import UNKNOWN_MAKER
from tokens.feeds.served_blocks import find_feed_chain, read_served_blocks
from tokens.models import LaunchFacts, PoolLiquidityChange, PoolTrade, Token

pytestmark = pytest.mark.django_db


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
def converted(traded):
    """Launch a token with a recipient for the paired token only, trade it, and collect its fees, as anybody may."""
    at = traded.deployment
    anybody = node_client.connect(at.rpc_url).eth.accounts[-TRADERS]
    shares = (Recipient(admin=anybody, recipient=anybody, bps=10_000, wants="Paired"),)
    traded.launch(recipients=shares)
    traders = SampleTraders(at.rpc_url, random=SimulatedChain(7).rng)
    traders.trade_once()
    sample = list(traders._tokens.values())[-1]
    buy(at, sample, anybody, wei=10**17)
    sell(at, sample, anybody, share=1)
    locker = node_client.bind_contract(at.rpc_url, "Locker", at.locker)
    node_client.transact(at.rpc_url, locker.functions.collectRewards(sample.address), sender=anybody)
    follow_to_final(traded)
    return traded, sample, anybody


def test_a_conversion_through_a_router_that_is_stored_as_a_trade_is_named(converted):
    assert compare().differences == []
    conversion = PoolTrade.objects.filter(is_conversion=True).latest("position")
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
    follow_to_final(launchpad)
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


def test_payments_that_differ_from_lockers_reports_and_transfers_are_named(converted):
    found = compare()
    assert (found.differences, found.unpaid) == ([], 0)
    conversion = PoolTrade.objects.filter(is_conversion=True).latest("position")
    trade = PoolTrade.objects.filter(is_conversion=False).latest("position")
    for row, fees, text in (
        (conversion, (None, F("protocol_fee") + 1), f"log {conversion.log_index}: the conversion paid "),
        (trade, (None, 0, F("protocol_fee") + 1), f"transaction {trade.tx_index}: its trades paid "),
    ):
        for fee in fees:
            PoolTrade.objects.filter(pk=row.pk).update(protocol_fee=fee)
            (difference,) = compare().differences
            assert difference.startswith(f"block {row.block_number}, {text}")
            PoolTrade.objects.filter(pk=row.pk).update(protocol_fee=row.protocol_fee)


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
    follow_to_final(launchpad)
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
    for _ in range(15):
        traders.trade_once()
    follow_to_final(traded)
    for row in LaunchFacts.objects.all():
        row.facts["fees"] |= {"clanker_fee": "30", "paired_fee": "30"}
        row.save(update_fields=["facts"])
    lines = [line for line in compare().differences if ": its fee is 3000 in the feed, and 10000 on the chain" in line]
    # Once for each.
    assert len(lines) == len({line.split(", ")[1] for line in lines}) > 1


def test_liquidity_that_differs_is_named(traded):
    change = PoolLiquidityChange.objects.order_by("position").first()
    PoolLiquidityChange.objects.filter(pk=change.pk).update(liquidity=F("liquidity") * 2)
    assert any("amount0 is" in difference for difference in compare().differences)


def test_the_command_passes_and_fails(traded):
    def run(**options):
        output = StringIO()
        call_command("check_feeds", chain=CHAIN_ID, stdout=output, **options)
        return output.getvalue()

    blocks = read_served_blocks(find_feed_chain(CHAIN_ID))
    assert "0 differ" in run()
    assert f"blocks {blocks.last} to {blocks.last}: 0 events" in run(**{"from": blocks.last})
    with pytest.raises(CommandError, match=f"blocks {blocks.first} to {blocks.last} are served"):
        run(to=blocks.last + 1)
    PoolTrade.objects.filter(pk=PoolTrade.objects.first().pk).update(is_buy=~F("is_buy"))
    with pytest.raises(CommandError, match="differ from the chain"):
        run()
    with pytest.raises(CommandError, match="--chain 101: must be an EVM chain"):
        call_command("check_feeds", chain=101)
