"""A creator's launches with collected and claimed fees, as rows, and a ledger's amounts."""

from datetime import timedelta
from decimal import Decimal

from django.db import connection
from django.utils import timezone

from tests.nodes.recordings import base
from tests.rows.factories import CoverageFactory, FeeClaimFactory, TokenEventFactory, TokenFactory
from tokens.following.coverage import pool_makers
from tokens.models import Coverage, TokenEvent

FID = 977
CREATOR = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
ALICE = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
BOB = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
WETH, USDC = "0x4200000000000000000000000000000000000006", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
# Addresses' numeric order is a pool's currency order: this token is currency 0.
TOKEN = "0x1111111111111111111111111111111111111111"
# The third day before today.
FIRST = timezone.now().replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=3)


def shares(*recipients):
    """Return a launch's extensions with these fee recipients."""
    bps = 10_000 // len(recipients)
    fees = [{"admin": each, "recipient": each, "bps": bps, "token": "Both"} for each in recipients]
    unset = dict.fromkeys(["vault", "airdrop", "devBuy", "sniperTax", "positions"])
    kinds = {"type": "static", "clankerFee": 100, "pairedFee": 100, "baseFee": None, "maxFee": None}
    return unset | {"fees": {**kinds, "hook_address": None, "recipients": fees}}


def day(number):
    """Return a day after the first one as it is shown."""
    return (FIRST + timedelta(days=number)).date().isoformat()


def launch(*recipients, **columns):
    """Create a v4 launch by the creator, with a history that is stored completely."""
    if not Coverage.objects.exists():
        CoverageFactory(first_block=1, addresses=sorted(base().emitters | pool_makers(base())))
    values = {"contract_address": TOKEN, "msg_sender": CREATOR, "extensions": shares(*(recipients or (ALICE,)))}
    return TokenFactory(**values | columns)


def collect(token, first, second, *, days=0):
    """Store a collection with each share's amounts, in the pool's currencies."""
    amounts = {f"amount{place}": str(sum(each)) for place, each in enumerate((first, second))}
    rewards = {f"rewards{place}": [str(each) for each in part] for place, part in enumerate((first, second))}
    values = {"kind": "fees_collected", "token": token, "at": FIRST + timedelta(days=days)}
    return TokenEventFactory(**values, arguments={"token": token.contract_address} | amounts | rewards)


def hand_over(token, share, old, new):
    arguments = {"token": token.contract_address, "rewardIndex": str(share), "oldRecipient": old, "newRecipient": new}
    TokenEventFactory(kind="reward_recipient_updated", token=token, at=FIRST, arguments=arguments)


def multiply_events(count):
    """Store the newest event so many times more, in their own blocks."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO tokens_tokenevent (chain_id, tx_hash, log_index, block_number, block_hash, at, kind, emitter,
                token_id, arguments)
            SELECT chain_id, gen_random_uuid(), log_index, block_number + n, block_hash, at, kind, emitter, token_id,
                arguments
            FROM (SELECT * FROM tokens_tokenevent ORDER BY id DESC LIMIT 1) AS event, generate_series(1, %s) AS n
            """,
            [count],
        )
    newest = TokenEvent.objects.latest("block_number").block_number
    TokenEventFactory.reset_sequence(newest - 2_000_000 + 1, force=True)


def claim(recipient, currency, amount, *, token=None, days=0, **event):
    paid = TokenEventFactory(token=token, at=FIRST + timedelta(days=days), **event)
    return FeeClaimFactory(event=paid, recipient=recipient, currency=currency, amount=Decimal(amount))


def amounts(entry, name):
    """Return (recipient, symbol) -> the amount or the reason why it is unknown."""
    return {(fees["recipient"], fees["symbol"]): fees[name]["amount"] or fees[name]["reason"] for fees in entry["fees"]}
