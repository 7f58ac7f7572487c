"""A chain that is followed with trades, as rows, and a pool with liquidity and trades."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from development.devchain.anvil import CHAIN_ID
from tests.nodes.devchain_launches import Launchpad
from tests.nodes.followed import Followed
from tests.rows.factories import ChainHeadFactory
from tests.tokens.market.stored_trades import WEEK, make_trade, make_traded_token, make_weeks
from tokens.chains.pool_types import chain_position
from tokens.feeds.checking.feed_check import FeedCheck, FeedComparison
from tokens.feeds.served_blocks import find_feed_chain, read_served_blocks
from tokens.following.coverage import followed_makers
from tokens.installation.installed_chains import installed_chain
from tokens.installation.installed_registry import registry
from tokens.models import ChainHead, Coverage, FollowedBlock, PoolLiquidityChange, Token

CHAIN = 8453
WETH = "0x4200000000000000000000000000000000000006"
# Below WETH, so that the token is currency 0.
TOKEN = "0x1111111111111111111111111111111111111111"
POOL = "0x" + "5e" * 32
FACTORY = "0xE85A59c628F7d27878ACeB4bf3b35733630083a9"
SENDER = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
FIRST, FINAL, HEAD = 100, 200, 208
# The pool's first tick: a token is worth 1.0001^-230400 WETH.
TICK = -230_400


def follow_chain(*, first: int = FIRST, final: int = FINAL, followed_to: int = HEAD, **columns: Any) -> Coverage:
    """Store a followed chain's rows; its final block is FINAL, at the block's second of WEEK."""
    info = registry().chains[CHAIN]
    if not ChainHead.objects.exists():
        ChainHeadFactory(chain_id=CHAIN, head=HEAD, final=final, followed=followed_to)
        hashes = {"hash": "0x" + "b1" * 32, "parent_hash": "0x" + "b0" * 32}
        FollowedBlock.objects.create(chain_id=CHAIN, number=final, at=block_time(final), **hashes)
    values = {"verified_to": min(final, followed_to), "last_block": None} | columns
    return Coverage.objects.create(
        chain_id=CHAIN,
        addresses=sorted(info.emitters | followed_makers(info)),
        address_set=f"{Coverage.objects.count():064x}",
        first_block=first,
        followed_to=followed_to,
        **values,
    )


def follow_to_final(launchpad: Launchpad) -> None:
    """Follow a development chain until its present blocks are final."""
    Followed(CHAIN_ID).catch_up()
    launchpad.mine(6)
    Followed(CHAIN_ID).catch_up()


def compare_feeds(**options: Any) -> FeedComparison:
    """Compare the development chain's served blocks with their logs."""
    blocks = read_served_blocks(find_feed_chain(CHAIN_ID))
    check = FeedCheck(installed_chain(CHAIN_ID), blocks.first, verified=blocks.verified, **options)
    while check.next <= blocks.last:
        check.compare(blocks.last)
    return check.comparison


def block_time(number: int) -> datetime:
    """Return a block's time, as `make_trade` has it."""
    return WEEK + timedelta(seconds=number)


def make_pair(**columns: Any) -> Token:
    """Create a token in a v4 pool, with liquidity in one range above the first tick."""
    make_weeks(2)
    token = make_traded_token(
        **{
            "chain_id": CHAIN,
            "contract_address": TOKEN,
            "name": "Doge",
            "symbol": "DOGE",
            "supply": 10**29,
            "paired_token": WETH,
            "pair": "WETH",
            "pool_address": POOL,
            "factory_address": FACTORY,
            "msg_sender": SENDER,
            "block_number": FIRST + 1,
            "tx_hash": "0x" + "11" * 32,
        }
        | columns
    )
    add_change(token, block=FIRST + 1, log_index=3)
    return token


def add_change(token: Token, *, block: int, log_index: int, liquidity: int = 10**24, **columns: Any) -> None:
    """Store a liquidity change between the first tick and one that no trade reaches."""
    values: dict[str, Any] = {
        "at": block_time(block),
        "tick_lower": TICK,
        "tick_upper": -120_000,
        "tx_hash": block.to_bytes(32, "big"),
        "tx_index": 4,
        "trader": bytes.fromhex(SENDER[2:]),
    }
    position = chain_position(block, log_index)
    PoolLiquidityChange.objects.create(token=token, position=position, liquidity=liquidity, **values | columns)


def add_swap(token: Token, *, block: int, log_index: int = 5, **columns: Any) -> None:
    """Store a purchase: 1,000 tokens for 0.0000002 WETH."""
    values: dict[str, Any] = {
        "tx_index": 7,
        "fee": 10_000,
        "amount_token": 10**21,
        "amount_quote": 2 * 10**11,
        "price": Decimal("0.000000000123456789012345"),
    }
    make_trade(token, block=block, log_index=log_index, **values | columns)


def unix(at: datetime) -> int:
    """Return Unix seconds."""
    return int(at.astimezone(UTC).timestamp())
