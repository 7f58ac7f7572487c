"""pretokens/lifecycle.py: pretokens' creation, deletion, expiry and restoration."""

from datetime import timedelta
from secrets import token_bytes

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.users import calling_users
from development.devchain.anvil import CHAIN_ID
from development.devchain.launch_transactions import DevLaunchConfig
from pretokens import lifecycle, storage_quota, tasks
from pretokens.models import Pretoken, PretokenState
from tests.nodes.devchain_tests import launch_token
from tests.nodes.relay import relay
from tests.processes.at_once import call_at_once
from tests.rows.factories import DeployWalletFactory, PersonFactory, PretokenFactory
from tests.rows.launch_requests import ADMIN, WALLET, pretoken
from tokens.chains.addresses import checksum_address
from tokens.chains.errors import WouldRevertError
from tokens.deploying.launch_request import LaunchRequestError

pytestmark = pytest.mark.django_db

PENNILESS = "0x00000000000000000000000000000000DeaDBeef"


@pytest.fixture
def owner():
    return PersonFactory()


def states():
    return sorted(Pretoken.objects.values_list("state", flat=True))


def shown(person):
    with transaction.atomic():
        return list(Pretoken.objects.owned_by(calling_users.lock_user(person.pk)).pending().newest_first())


def restored(row):
    lifecycle.restore_pretoken(row.pk)
    return Pretoken.objects.get(pk=row.pk)


def at_once(*calls):
    """Make calls at the same time and return each one's result or error."""
    errors = (storage_quota.KeywordTakenError, storage_quota.PretokenQuotaError, lifecycle.NotRestorableError)
    return call_at_once(calls, errors=errors)


@pytest.mark.parametrize(
    "columns",
    [
        {"state": "kept"},
        {"state": PretokenState.DEPLOYED},
        {"state": PretokenState.DELETED},
        {"deleted_at": timezone.now()},
        {"keyword_key": " "},
        {"expires_at": timezone.now() - timedelta(days=1)},
    ],
)
def test_the_database_refuses_rows_that_contradict_themselves(columns):
    with pytest.raises(IntegrityError), transaction.atomic():
        PretokenFactory(**columns)
    assert not Pretoken.objects.exists()


@pytest.mark.parametrize(
    ("paired", "market_cap", "field"),
    [("wallet", 10, "token_settings.paired_token"), ("token", 10**60, "token_settings.starting_market_cap")],
)
def test_a_pair_that_is_refused_by_the_chain_is_refused_by_its_field(launchpad, owner, paired, market_cap, field):
    token = launch_token(launchpad.deployment, DevLaunchConfig(salt=token_bytes(32)))
    values = {"paired_token": token if paired == "token" else ADMIN, "starting_market_cap": market_cap}
    with pytest.raises(LaunchRequestError) as caught:
        lifecycle.create_pretoken(pretoken(settings=values), person_id=owner.pk)
    assert [path for path, _ in caught.value.problems] == [field]


def test_what_the_chain_would_revert_is_not_kept(without_hook, owner):
    with pytest.raises(WouldRevertError, match="HookNotEnabled"):
        lifecycle.create_pretoken(pretoken(), person_id=owner.pk)
    assert not Pretoken.objects.exists()


def test_an_owners_wallet_needs_no_funds_and_the_service_no_wallet(launchpad, owner):
    admins = [{"admin": PENNILESS, "recipient": ADMIN, "bps": 10_000}]
    assert launchpad.web3.eth.get_balance(PENNILESS) == 0
    assert lifecycle.create_pretoken(pretoken(settings={"admins": admins}), person_id=owner.pk)


def test_it_is_tried_as_sent_by_the_tokens_admin(launchpad, owner, settings, forget_chains):
    DeployWalletFactory(chain_id=CHAIN_ID, address=WALLET)
    requests = []
    admins = [{"admin": PENNILESS, "recipient": ADMIN, "bps": 1}, {"admin": ADMIN, "recipient": ADMIN, "bps": 9_999}]
    with relay(launchpad.deployment.rpc_url, before=requests.append) as url:
        settings.RPC_URLS = {CHAIN_ID: (url,)}
        forget_chains()
        lifecycle.create_pretoken(pretoken(settings={"admins": admins}), person_id=owner.pk)
    # The simulation is the one batch.
    [calls] = [body for body in requests if isinstance(body, list)]
    tried = {call["method"]: call["params"][0]["from"] for call in calls}
    assert tried == dict.fromkeys(("eth_call", "eth_estimateGas"), checksum_address(PENNILESS))


@pytest.mark.parametrize("columns", [{"deleted": True}, {"deployed": True}, {"overdue": True}, {"state": "expired"}])
def test_a_keyword_is_free_again_once_its_pretoken_is_not_pending(launchpad, owner, columns):
    PretokenFactory(owner=owner, keyword="doge", **columns)
    made = lifecycle.create_pretoken(pretoken("doge"), person_id=owner.pk)
    assert [row.pk for row in shown(owner)] == [made.pk]


def test_all_pending_bodies_of_an_owner_have_a_length_together(launchpad, owner):
    row = PretokenFactory(owner=owner, size=storage_quota.MAX_PENDING_BYTES - 100)
    with pytest.raises(storage_quota.PretokenQuotaError, match="16777216 bytes"):
        lifecycle.create_pretoken(pretoken("more"), person_id=owner.pk)
    assert lifecycle.delete_pretoken(row.pk, person_ids=[owner.pk])
    assert lifecycle.create_pretoken(pretoken("more"), person_id=owner.pk)


@pytest.mark.django_db(transaction=True)
def test_of_creations_at_once_under_one_keyword_one_is_kept(launchpad):
    owner = PersonFactory()
    came = at_once(
        *[lambda name=name: lifecycle.create_pretoken(pretoken(name), person_id=owner.pk) for name in ("a", "A") * 2]
    )
    assert sorted(type(result).__name__ for result in came) == ["KeywordTakenError"] * 3 + ["Pretoken"]
    assert Pretoken.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_creations_at_once_are_as_many_as_there_is_room_for(launchpad):
    owner = PersonFactory()
    PretokenFactory.create_batch(23, owner=owner)
    names = [f"at once {number}" for number in range(6)]
    came = at_once(*[lambda name=name: lifecycle.create_pretoken(pretoken(name), person_id=owner.pk) for name in names])
    assert sorted(type(result).__name__ for result in came) == ["Pretoken"] * 2 + ["PretokenQuotaError"] * 4
    assert len(shown(owner)) == 25


def test_what_a_linked_user_deleted_is_not_restored_beside_another_of_its_keyword(owner):
    row = PretokenFactory(owner=PersonFactory(linked=True, linked_to=owner), keyword="doge", deleted=True)
    PretokenFactory(owner=owner, keyword="doge")
    with pytest.raises(lifecycle.NotRestorableError, match="keyword is pending"):
        lifecycle.restore_pretoken(row.pk)


def test_beat_marks_what_is_past_its_time_and_nothing_else():
    PretokenFactory(overdue=True)
    PretokenFactory()
    PretokenFactory(overdue=True, deleted=True)
    tasks.expire_pretokens()
    assert states() == ["deleted", "expired", "pending"]
    assert lifecycle.expire_overdue() == 0


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({}, "only a deleted pretoken"),
        ({"deployed": True}, "only a deleted pretoken"),
        ({"state": "expired"}, "only a deleted pretoken"),
        ({"deleted": True, "overdue": True}, "it expired 7 days after its creation"),
    ],
)
def test_only_what_was_deleted_and_has_time_left_is_restored(columns, why):
    row = PretokenFactory(**columns)
    before = Pretoken.objects.values().get()
    with pytest.raises(lifecycle.NotRestorableError, match=why):
        lifecycle.restore_pretoken(row.pk)
    assert Pretoken.objects.values().get() == before


def test_a_restored_one_lasts_as_long_as_it_would_have(owner):
    row = PretokenFactory(owner=owner, deleted=True, created_at=timezone.now() - timedelta(days=6))
    back = restored(row)
    assert (back.state, back.deleted_at, back.expires_at) == (PretokenState.PENDING, None, row.expires_at)
    assert shown(owner) == [back]


@pytest.mark.django_db(transaction=True)
def test_restorers_at_once_make_no_more_pending_than_there_is_room_for():
    owner = PersonFactory()
    PretokenFactory.create_batch(24, owner=owner)
    rows = PretokenFactory.create_batch(4, owner=owner, deleted=True)
    came = at_once(*[lambda row=row: lifecycle.restore_pretoken(row.pk) for row in rows])
    assert sorted(type(result).__name__ for result in came) == ["NoneType"] + ["NotRestorableError"] * 3
    assert len(shown(owner)) == 25
