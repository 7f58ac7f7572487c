"""Daily fee sums: equal to a recount of all events after any sequence of writes, and filled while writers run."""

import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random

import pytest
from django.db import connection, transaction
from django.db.models import Max

from tests.processes.at_once import own_connection
from tests.rows.factories import FeeClaimFactory, TokenEventFactory, TokenFactory
from tests.rows.fee_sums import counted_sums, stored_sums, sum_all_chains
from tests.rows.written_facts import forget_all, recorded_facts, write_all
from tokens.fees.fee_sums import fill_next_blocks, fill_sums, summed_chains
from tokens.fees.tasks import fill_fee_sums
from tokens.indexing import chain_lock
from tokens.indexing.event_rows import delete_events
from tokens.indexing.unwinding import unwind_blocks
from tokens.ledger.earned_fees import CHANGES_READ, Payee, read_earned
from tokens.models import ALL_BLOCKS, CollectionSum, FeeClaim, FeeSumProgress, TokenEvent

pytestmark = pytest.mark.django_db

CHAIN_ID = 8453
BEGIN = datetime(2026, 1, 1, 22, tzinfo=UTC)
PEOPLE = [f"0x{digit * 40}" for digit in "abcd"]
UPDATED = ("token", "block_number", "block_hash", "at", "kind", "arguments")

# One event a minute; each 500th changes a recipient.
_MANY_EVENTS = """
INSERT INTO tokens_tokenevent (chain_id, tx_hash, log_index, block_number, block_hash, at, kind, emitter, token_id,
    arguments)
SELECT 8453, n::text, 0, n, '', timestamptz '2026-01-01Z' + n * interval '1 minute',
    CASE WHEN n %% 500 = 0 THEN 'reward_recipient_updated' ELSE 'fees_collected' END, '', %(token)s,
    '{"rewardIndex": "0", "rewards0": ["1"], "rewards1": ["2"]}'
FROM generate_series(1, 6000) AS n
"""


class History:
    """A chain whose events are written in any sequence, with some blocks stored."""

    def __init__(self, seed):
        self.random = Random(seed)
        self.tokens = [
            TokenFactory(contract_address=f"0x{number + 1:040x}", extensions=self._shares(PEOPLE[:2]))
            for number in range(2)
        ]
        self.recipients = {token.pk: PEOPLE[:2] for token in self.tokens}
        # Block number -> its events, as rows that are not stored. The blocks last five days.
        self.blocks = {number: self._draw_block(number) for number in range(1, 61)}
        for token in self.tokens:
            token.extensions = self._shares(self.recipients[token.pk])
            token.save()

    def _shares(self, recipients):
        kinds = {"type": "static", "clankerFee": 100, "pairedFee": 100, "baseFee": None, "maxFee": None}
        shares = [{"admin": each, "recipient": each, "bps": 5_000, "token": "Both"} for each in recipients]
        unset = dict.fromkeys(["vault", "airdrop", "devBuy", "sniperTax", "positions"])
        return unset | {"fees": {**kinds, "hook_address": None, "recipients": shares}}

    def _draw_block(self, number):
        return [self._draw_event(number, log_index) for log_index in range(self.random.randrange(5))]

    def _draw_event(self, number, log_index):
        token, kind = self.random.choice(self.tokens), "fees_collected"
        arguments = {
            f"rewards{place}": [str(self.random.choice((0, 10**30, 7))) for _ in PEOPLE[:2]] for place in (0, 1)
        }
        if self.random.random() < 0.3:
            share, now = self.random.randrange(2), self.recipients[token.pk]
            kind = "reward_recipient_updated"
            arguments = {
                "rewardIndex": str(share),
                "oldRecipient": now[share],
                "newRecipient": self.random.choice(PEOPLE),
            }
            self.recipients[token.pk] = [
                arguments["newRecipient"] if place == share else each for place, each in enumerate(now)
            ]
        return TokenEventFactory.build(
            tx_hash=f"0x{number:060x}{log_index:04x}",
            log_index=log_index,
            block_number=number,
            at=BEGIN + number * timedelta(hours=2),
            kind=kind,
            token=token,
            arguments=arguments,
        )

    def write(self, numbers):
        """Store blocks in one statement; some may be stored already."""
        rows = [row for number in numbers for row in self.blocks[number]]
        for row in rows:
            row.pk = None
        keys = ["chain_id", "tx_hash", "log_index"]
        TokenEvent.objects.bulk_create(rows, update_conflicts=True, unique_fields=keys, update_fields=UPDATED)

    def earned(self):
        """Return token id -> payee and day -> the amount, from the events in their order."""
        found = {}
        for token in self.tokens:
            recipients, amounts = list(PEOPLE[:2]), defaultdict(int)
            for event in token.events.order_by("block_number", "log_index"):
                values = event.arguments
                if event.kind == "reward_recipient_updated":
                    recipients[int(values["rewardIndex"])] = values["newRecipient"]
                    continue
                for place, currency in enumerate((token.contract_address, token.paired_token)):
                    for recipient, amount in zip(recipients, values[f"rewards{place}"], strict=True):
                        amounts[Payee(recipient, currency), event.at.date()] += int(amount)
            found[token.pk] = {key: amount for key, amount in amounts.items() if amount}
        return found


def read_days(tokens, first_day=date.min):
    """Return token id -> payee and day -> the amount that the ledger reads."""
    found = {}
    for token_id, earned in read_earned(tokens, first_day).items():
        assert all(each.total == sum(each.days.values()) for each in earned.amounts.values())
        found[token_id] = {
            (payee, day): amount for payee, each in earned.amounts.items() for day, amount in each.days.items()
        }
    return found


@pytest.mark.parametrize("seed", range(12))
def test_sums_equal_a_recount_after_writes_in_any_sequence(seed):
    history = History(seed)
    random, filled = Random(seed), False
    for step in range(30):
        first = random.randrange(1, 61)
        numbers = list(range(first, min(first + random.randrange(1, 20), 61)))
        if random.random() < 0.7:
            history.write(random.sample(numbers, len(numbers)))
        else:
            delete_events(list(TokenEvent.objects.filter(block_number__in=numbers).values_list("pk", flat=True)))
        if step >= 5 and not filled and random.random() < 0.5:
            filled = fill_next_blocks(CHAIN_ID, batch=5)
        if filled:
            assert stored_sums() == counted_sums()
    history.write(history.blocks)
    while not fill_next_blocks(CHAIN_ID, batch=5):
        pass
    assert stored_sums() == counted_sums()
    assert read_days(history.tokens) == history.earned()
    TokenEvent.objects.all().delete()
    assert stored_sums() == counted_sums() == ({}, {}, {})


def test_an_event_that_is_written_otherwise_moves_its_amounts():
    sum_all_chains()
    history = History(1)
    history.write(history.blocks)
    for row in TokenEvent.objects.filter(block_number__lt=30):
        row.at += timedelta(days=3)
        row.block_number, row.log_index = row.block_number + 36, row.log_index + 10
        row.save()
    TokenEvent.objects.filter(token=history.tokens[0], kind="fees_collected").update(
        arguments={"rewards0": ["5"], "rewards1": []}
    )
    TokenEvent.objects.filter(block_number__gt=80).update(token=history.tokens[1])
    assert stored_sums() == counted_sums()


@pytest.mark.parametrize("is_filled", [False, True])
def test_recorded_events_and_claims_are_summed_written_again_and_unwound(is_filled):
    facts = recorded_facts()
    if is_filled:
        sum_all_chains()
    write_all(facts)
    if not is_filled:
        assert stored_sums() == ({}, {}, {})
        sum_all_chains()
    everything = stored_sums()
    assert everything == counted_sums()
    assert all(everything)
    write_all(facts)
    assert stored_sums() == everything
    with transaction.atomic():
        chain_lock.lock_exclusive(CHAIN_ID)
        unwind_blocks(CHAIN_ID, above=facts[len(facts) // 2].block_number)
    assert stored_sums() == counted_sums() != everything
    write_all(facts)
    assert stored_sums() == everything
    forget_all()
    assert stored_sums() == ({}, {}, {})


def test_claims_in_a_currency_are_of_no_single_token():
    sum_all_chains()
    token = TokenFactory()
    own = TokenEventFactory(token=token, arguments={"claimer": PEOPLE[0]})
    for amount, event in (
        (3, own),
        (5, TokenEventFactory(token=token, arguments={"feeOwner": PEOPLE[0], "token": token.contract_address})),
        (7, TokenEventFactory(token=token, kind="team_fees_claimed")),
        (9, TokenEventFactory()),
    ):
        FeeClaimFactory(event=event, recipient=PEOPLE[0], amount=Decimal(amount))
    assert stored_sums() == counted_sums()
    assert list(stored_sums().claims.values()) == [3]
    assert list(stored_sums().accounts.values()) == [24]
    FeeClaim.objects.filter(event=own).update(amount=30)
    assert stored_sums() == counted_sums()


def test_each_chain_is_filled_on_its_own():
    for chain_id in (8453, 1):
        event = TokenEventFactory(token=TokenFactory(chain_id=chain_id), chain_id=chain_id)
        FeeClaimFactory(event=event)
    assert fill_sums([8453], seconds=60) == {8453}
    assert fill_sums([8453, 1], seconds=0) == set()
    assert summed_chains([8453, 1]) == {8453}
    assert {key[0] for key in stored_sums().accounts} == {8453}
    fill_fee_sums()
    assert {8453, 1, 101} <= summed_chains([8453, 1, 101])
    assert stored_sums() == counted_sums()


def test_an_interrupted_fill_continues():
    history = History(3)
    history.write(history.blocks)
    assert not fill_next_blocks(CHAIN_ID, batch=10)
    reached = FeeSumProgress.objects.get().summed_to
    assert 0 < reached < ALL_BLOCKS
    before = TokenEvent.objects.filter(kind="fees_collected", block_number__lte=reached)
    assert (
        CollectionSum.objects.aggregate(last=Max("last_block"))["last"]
        <= before.aggregate(last=Max("block_number"))["last"]
    )
    sum_all_chains()
    assert stored_sums() == counted_sums()


def test_sums_are_written_and_read_by_indexes():
    token = History(13).tokens[0]
    with connection.cursor() as cursor:
        cursor.execute(_MANY_EVENTS, {"token": token.pk})
        sum_all_chains()
        cursor.execute("ANALYZE tokens_tokenevent, tokens_collectionsum")
        for name in ("log_min_duration TO 0", "log_nested_statements TO on"):
            cursor.execute(f"LOAD 'auto_explain'; SET LOCAL auto_explain.{name}")
        cursor.execute("SET LOCAL client_min_messages TO log")
        plans = []
        connection.connection.add_notice_handler(lambda notice: plans.append(notice.message_primary))
        arguments = {"rewardIndex": "0", "rewards0": ["1"], "rewards1": []}
        for number, kind in ((5_900, "reward_recipient_updated"), (5_990, "fees_collected")):
            at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=number)
            TokenEventFactory(token=token, kind=kind, block_number=number, log_index=7, at=at, arguments=arguments)
        read_earned([token], date.min)
    of_events = [plan for plan in plans if "on tokens_tokenevent" in plan]
    # The new collection, the change's day, and the reading.
    assert sum("token_event_folded" in plan for plan in of_events) >= 3
    assert [plan for plan in of_events if "last_of_day" in plan and "Cond: ((block_number >=" in plan]
    assert not [plan for plan in of_events if "Seq Scan on tokens_tokenevent" in plan]
    assert stored_sums() == counted_sums()


@pytest.mark.django_db(transaction=True)
def test_writers_and_the_fill_lose_no_event():
    history = History(5)
    history.write(range(1, 40))
    stop = threading.Event()

    def write():
        random = Random(1)
        while not stop.is_set():
            first = random.randrange(1, 55)
            with transaction.atomic():
                chain_lock.lock_exclusive(CHAIN_ID)
                doomed = TokenEvent.objects.filter(block_number__range=(first, first + 5), chain_id=CHAIN_ID)
                delete_events(list(doomed.values_list("pk", flat=True)))
            with transaction.atomic():
                chain_lock.lock_exclusive(CHAIN_ID)
                history.write(range(first, first + 6))

    def fill():
        while not fill_next_blocks(CHAIN_ID, batch=3):
            pass

    with ThreadPoolExecutor(2) as pool:
        writer = pool.submit(own_connection(write))
        pool.submit(own_connection(fill)).result()
        stop.set()
        writer.result()
    assert stored_sums() == counted_sums()


def test_more_changes_of_recipients_than_are_read_are_no_amount():
    sum_all_chains()
    history = History(7)
    token, other = history.tokens
    history.write(history.blocks)
    known = read_days(history.tokens)
    missing = CHANGES_READ - token.events.filter(kind="reward_recipient_updated").count()
    arguments = {"rewardIndex": "1", "oldRecipient": PEOPLE[0], "newRecipient": PEOPLE[0]}
    rows = {"kind": "reward_recipient_updated", "token": token, "at": BEGIN, "arguments": arguments}
    TokenEvent.objects.bulk_create(TokenEventFactory.build(**rows) for _ in range(missing))
    assert not read_earned(history.tokens, date.min)[token.pk].is_cut
    TokenEventFactory(**rows)
    found = read_earned(history.tokens, date.min)
    assert (found[token.pk].is_cut, found[token.pk].amounts, found[other.pk].is_cut) == (True, {}, False)
    assert read_days([other]) == {other.pk: known[other.pk]}


def test_days_before_the_first_are_in_the_total_only():
    sum_all_chains()
    history = History(9)
    history.write(history.blocks)
    day = (BEGIN + timedelta(days=2)).date()
    whole, part = (read_earned(history.tokens, first) for first in (date.min, day))
    for token in history.tokens:
        for payee, amounts in whole[token.pk].amounts.items():
            assert part[token.pk].amounts[payee].total == amounts.total
            days = {each: amount for each, amount in amounts.days.items() if each >= day}
            assert part[token.pk].amounts[payee].days == days
