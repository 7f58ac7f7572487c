"""The admin pages about following, and the dashboard's panel."""

from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse
from django.utils import timezone

from tests.config.operators.admin_pages import figures, panels, shown
from tests.nodes.solana.recorded import CONFIG, PROGRAM
from tests.rows.factories import (
    ChainHeadFactory,
    CoverageAlarmFactory,
    CoverageFactory,
    FollowedAccountFactory,
    FollowedBlockFactory,
)
from tokens.models import CoverageAlarm, ListedSignature

pytestmark = pytest.mark.django_db

HEADS, COVERAGE, ALARMS, ACCOUNTS = (
    reverse(f"admin:tokens_{name}_changelist") for name in ("chainhead", "coverage", "coveragealarm", "followedaccount")
)
HASH = "0x" + "ab" * 32


def cells(client, page, column, **parameters):
    """Return one list column's cells, from the top."""
    context = client.get(page, parameters).context["cl"]
    show = getattr(context.model_admin, column)
    return [show(row) for row in context.result_list]


def test_a_chain_is_shown_by_name_with_its_lag(operator):
    now = timezone.now()
    ChainHeadFactory(head=100, followed=90, halted="block 80 was dropped", error="chain 8453: no answer")
    FollowedBlockFactory(number=90, at=now - timedelta(seconds=1000))
    CoverageFactory(first_block=1, followed_to=90, verified_to=40)
    CoverageFactory(first_block=2, followed_to=80, verified_to=60)
    # Coverage with an end contains nothing about later blocks.
    CoverageFactory(first_block=1, last_block=9, followed_to=5, verified_to=3)
    text = operator.get(HEADS).text
    assert "Base" in text and "block 80 was dropped" in text and "no answer" in text
    assert cells(operator, HEADS, "verified") == [40]
    assert cells(operator, HEADS, "covered") == [80]
    [lag] = cells(operator, HEADS, "lag")
    assert lag.startswith("10 blocks, 1,00")
    page = operator.get(reverse("admin:tokens_chainhead_change", args=[8453]))
    assert "host-1:4711" in page.text and lag[:9] in page.text


def test_a_chain_that_was_never_followed_has_no_lag(operator):
    ChainHeadFactory(followed=None)
    assert cells(operator, HEADS, "lag") == ["not followed yet"]
    assert cells(operator, HEADS, "verified") == [None]


@pytest.mark.parametrize(
    ("text", "found"), [("base", [8453]), ("1", [1]), ("8453", [8453]), ("nope", []), ("9" * 40, [])]
)
def test_chains_are_found_by_name_and_id(operator, text, found):
    ChainHeadFactory(), ChainHeadFactory(chain_id=1)
    assert shown(operator, HEADS, q=text) == found


def test_coverage_shows_how_much_is_read(operator):
    ChainHeadFactory(head=1099)
    CoverageFactory(first_block=100, followed_to=600)
    CoverageFactory(first_block=100, followed_to=1098)
    CoverageFactory(first_block=100, last_block=199, followed_to=149, verified_to=99)
    CoverageFactory(first_block=2000, followed_to=1999, verified_to=1999)
    CoverageFactory(chain_id=1)
    percents = dict(zip(shown(operator, COVERAGE), cells(operator, COVERAGE, "percent"), strict=True))
    behind = dict(zip(shown(operator, COVERAGE), cells(operator, COVERAGE, "behind_head"), strict=True))
    assert [percents[pk] for pk in sorted(percents)] == ["50.1 %", "99.9 %", "50.0 %", "100.0 %", ""]
    assert [behind[pk] for pk in sorted(behind)] == [499, 1, None, 0, None]


def test_coverage_shows_its_contracts_on_its_page_and_is_found_by_them(operator):
    address = "0x" + "ab" * 20
    coverage = CoverageFactory(addresses=[address, "0x" + "cd" * 20])
    other = CoverageFactory(chain_id=1)
    assert cells(operator, COVERAGE, "contracts", q=address) == [f"2 ({coverage.address_set[:8]})"]
    assert address in operator.get(reverse("admin:tokens_coverage_change", args=[coverage.pk])).text
    assert shown(operator, COVERAGE, q=address.upper().replace("0X", "0x")) == [coverage.pk]
    assert shown(operator, COVERAGE, q="ethereum") == [other.pk]
    assert shown(operator, COVERAGE, chain_id=8453) == [coverage.pk]


def test_alarms_come_newest_first_and_are_found_by_block_and_transaction(operator):
    first = CoverageAlarmFactory(first_block=10, last_block=20, tx_hashes=[HASH, "0x" + "cd" * 32])
    second = CoverageAlarmFactory(first_block=15, last_block=30, seen_at=timezone.now())
    assert shown(operator, ALARMS) == [second.pk, first.pk]
    assert shown(operator, ALARMS, q="10") == [first.pk]
    assert shown(operator, ALARMS, q="20") == [second.pk, first.pk]
    assert shown(operator, ALARMS, q="31") == []
    assert shown(operator, ALARMS, q=HASH.upper().replace("0X", "0x")) == [first.pk]
    assert shown(operator, ALARMS, seen_at__isempty=1) == [first.pk]
    assert HASH in operator.get(reverse("admin:tokens_coveragealarm_change", args=[first.pk])).text


def test_an_alarm_is_marked_as_seen_once_and_the_audit_log_records_it(operator):
    before = timezone.now() - timedelta(days=1)
    new, old = CoverageAlarmFactory(), CoverageAlarmFactory(seen_at=before)
    operator.post(ALARMS, {"action": "see", "_selected_action": [new.pk, old.pk]})
    assert CoverageAlarm.objects.get(pk=new.pk).seen_at > before
    assert CoverageAlarm.objects.get(pk=old.pk).seen_at == before
    [entry] = LogEntry.objects.all()
    assert (entry.object_id, entry.change_message) == (str(new.pk), "seen")


def test_an_alarms_own_page_confirms_before_it_marks_it(operator):
    alarm = CoverageAlarmFactory()
    page = reverse("admin:tokens_coveragealarm_change", args=[alarm.pk])
    mark = page.replace("/change/", "/see/")
    assert mark in operator.get(page).text
    assert "Yes, do it" in operator.get(mark).text
    assert CoverageAlarm.objects.get().seen_at is None
    assert operator.post(mark).headers["Location"] == page
    assert CoverageAlarm.objects.get().seen_at
    assert LogEntry.objects.count() == 1
    assert mark not in operator.get(page).text


def test_without_nodes_and_chains_the_panel_says_what_to_set(operator, settings):
    settings.RPC_URLS = {}
    panel = panels(operator)["Following"]
    assert (panel.figures, "RPC_URLS_<chainId>" in panel.empty_text) == ((), True)


def test_the_panel_names_a_chain_that_has_nodes_and_was_never_followed(operator, settings):
    settings.RPC_URLS = {8453: ("https://a.example",)}
    figure = figures(operator, "Following")["Base"]
    assert (figure.value, figure.is_alarming) == ("not followed", False)


def test_the_panel_lists_each_chain_and_leads_to_it(operator, settings):
    # The chain has no trades of its own, and so no reference prices.
    settings.RPC_URLS, settings.MARKET_PROVIDER_CHAINS = {}, (8453,)
    ChainHeadFactory(head=2000, followed=2000)
    CoverageFactory(first_block=1, followed_to=2000, verified_to=1100)
    figure = figures(operator, "Following")["Base"]
    assert (figure.value, figure.is_alarming) == ("up to date", False)
    assert figure.note == "block 2,000 of 2,000, verified up to 1,100"
    assert operator.get(figure.page).status_code == 200
    assert figures(operator, "Following")["Coverage alarms"].value == "none unseen"


def test_lag_halts_and_alarms_alarm(operator, settings):
    settings.RPC_URLS, settings.FOLLOW_LAG_ALARM_SECONDS = {}, 60
    settings.MARKET_PROVIDER_CHAINS = (8453, 1, 10, 56)
    now = timezone.now()
    ChainHeadFactory(head=100, followed=98)
    FollowedBlockFactory(number=98, at=now - timedelta(seconds=50))
    ChainHeadFactory(chain_id=1, head=100, followed=98)
    FollowedBlockFactory(chain_id=1, number=98, at=now - timedelta(seconds=70))
    ChainHeadFactory(chain_id=10, halted="deeper than finality")
    ChainHeadFactory(chain_id=56, seen_at=now - timedelta(seconds=70), error="no answer")
    CoverageAlarmFactory()
    CoverageAlarmFactory(seen_at=now)
    found = figures(operator, "Following")
    values = [figure.value for figure in found.values()]
    assert values[0].startswith("2 blocks, 7") and values[-2].startswith("2 blocks, 5")
    assert [figure.is_alarming for figure in found.values()] == [True, True, True, False, True]
    assert values[1] == "halted" and values[2].startswith("no new block for 7") and values[-1] == "1 unseen"
    assert "the last attempt failed" in list(found.values())[2].note
    assert shown(operator, found["Coverage alarms"].page) == [CoverageAlarm.objects.get(seen_at=None).pk]


def test_accounts_of_solana_are_shown_with_what_they_wait_for(operator, installed_solana_node):
    reading = FollowedAccountFactory(address=CONFIG, listing_slot=900, listed=True, complete_to=500)
    ListedSignature.objects.create(account=reading, signature="1", slot=600, read=True)
    ListedSignature.objects.create(account=reading, signature="2", slot=700)
    ListedSignature.objects.create(account=reading, signature="3", slot=800)
    listing, resting = FollowedAccountFactory(listing_slot=900), FollowedAccountFactory()
    assert shown(operator, ACCOUNTS) == [resting.pk, listing.pk, reading.pk]
    assert cells(operator, ACCOUNTS, "state") == ["up to date", "being listed", "being read"]
    assert cells(operator, ACCOUNTS, "oldest_unread") == [None, None, 700]
    assert cells(operator, ACCOUNTS, "role")[2] == "config"
    assert shown(operator, ACCOUNTS, q=CONFIG) == [reading.pk]
    assert shown(operator, ACCOUNTS, q=PROGRAM) == []


def test_the_panel_shows_solana_as_final(operator, installed_solana_node):
    ChainHeadFactory(chain_id=101, head=1000, final=1000, followed=1000)
    assert figures(operator, "Following")["Solana"].note == "block 1,000 of 1,000, all of it final"
