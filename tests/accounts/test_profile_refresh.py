"""accounts/profiles/social_refresh.py: due profiles and stored rows; test_social_provider.py tests the responses."""

import logging
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts import tasks
from accounts.models import SocialProfile
from accounts.profiles import social_refresh
from config.redis.connection import redis_client
from development.devchain.anvil import CHAIN_ID
from development.devchain.launch_transactions import DevLaunchConfig
from development.standins.http_server import Mode
from development.standins.social_server import display_name, is_known, neynar_user, username
from tests.processes.at_once import blocked_sessions, own_connection
from tests.processes.waiting import wait_for
from tests.rows.factories import SocialProfileFactory, TokenFactory
from tokens.indexing import index_requests

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


def rows():
    return {row.fid: row for row in SocialProfile.objects.all()}


def due_in():
    """Return the time until the only row is due."""
    return SocialProfile.objects.get().due_at - timezone.now()


def breaker_ttl():
    """Return the TTL of the provider's open circuit breaker, in seconds."""
    return redis_client().ttl(social_refresh.CIRCUIT_BREAKER.key)


def make_due(**changes):
    SocialProfile.objects.update(due_at=timezone.now() - timedelta(seconds=1), **changes)


def requested_fids(social):
    """Return the FIDs of each request."""
    return [[int(fid) for fid in received.query["fids"].split(",")] for received in social.received]


def test_what_is_no_fid_is_not_enqueued():
    SocialProfile.objects.enqueue([0, -1, 2**63])
    SocialProfile.objects.enqueue([])
    assert rows() == {}


def test_an_enqueued_fid_is_due_now_once():
    SocialProfile.objects.enqueue(iter([9, 5, 9, 2**63 - 1]))
    assert set(rows()) == {5, 9, 2**63 - 1}
    assert all(row.due_at <= timezone.now() and row.fetched_at is None for row in rows().values())


def test_a_known_profile_stays_as_it_is():
    before = SocialProfileFactory(fid=5)
    SocialProfile.objects.enqueue([5, 6])
    after = rows()[5]
    assert (after.username, after.due_at, after.fetched_at) == (before.username, before.due_at, before.fetched_at)
    assert 6 in rows()


@pytest.mark.parametrize(
    "nonsense", [{"fid": 0}, {"fid": -5}, {"score": 1.1}, {"score": -0.1}, {"score": float("nan")}]
)
def test_the_database_takes_no_nonsense(nonsense):
    with pytest.raises(IntegrityError), transaction.atomic():
        SocialProfileFactory(**nonsense)


def test_a_profile_that_is_not_due_is_not_fetched(social):
    SocialProfileFactory()
    assert social_refresh.refresh_due_profiles() == 0
    assert not social.received


def test_a_due_profile_is_fetched_and_due_again_tomorrow(social, settings):
    settings.SOCIAL_REFRESH_HOURS = 5
    SocialProfileFactory(fid=5, wanted=True, attempts=2)
    assert social_refresh.refresh_due_profiles() == 1
    (row,) = rows().values()
    expected = neynar_user(5)
    assert (row.username, row.display_name, row.score) == (username(5), display_name(5), expected["score"])
    assert (row.pfp_url, row.bio) == (expected["pfp_url"] or "", expected["profile"]["bio"]["text"])
    assert [address.lower() for address in row.verified_addresses if address.startswith("0x")] == list(
        reversed(expected["verified_addresses"]["eth_addresses"])
    )
    assert (row.attempts, timezone.now() - row.fetched_at < HOUR) == (0, True)
    assert timedelta(hours=4) < due_in() <= timedelta(hours=5)
    assert social_refresh.refresh_due_profiles() == 0
    assert len(social.received) == 1


def test_a_profile_that_changed_is_written_over(social):
    SocialProfileFactory(fid=5, username="before", pfp_url="https://before", score=0.1, verified_addresses=["0x1"])
    make_due()
    social.change = lambda received, body: {"users": [{"fid": 5, "username": "after"}]}
    social_refresh.refresh_due_profiles()
    row = rows()[5]
    assert (row.username, row.pfp_url, row.score, row.verified_addresses) == ("after", "", None, [])


def test_new_people_come_before_known_ones_and_the_longest_wait_first(social):
    now = timezone.now()
    for fid, minutes in ((1, 9), (2, 8)):
        SocialProfileFactory(fid=fid, due_at=now - timedelta(minutes=minutes))
    for fid, minutes in ((3, 1), (4, 2)):
        SocialProfileFactory(fid=fid, wanted=True, due_at=now - timedelta(minutes=minutes))
    social_refresh.refresh_due_profiles()
    assert requested_fids(social) == [[4, 3, 1, 2]]


def test_a_hundred_are_fetched_at_a_time(social):
    for fid in range(1, 131):
        SocialProfileFactory(fid=fid, wanted=fid <= 40)
    make_due()
    assert social_refresh.refresh_due_profiles() == 100
    assert len(requested_fids(social)[0]) == 100
    assert social_refresh.refresh_due_profiles() == 30
    assert sorted(requested_fids(social)[0] + requested_fids(social)[1]) == list(range(1, 131))


@pytest.mark.parametrize(
    ("attempts", "backoff"), [(0, HOUR), (1, 24 * HOUR), (2, 7 * 24 * HOUR), (3, 30 * 24 * HOUR), (50, 30 * 24 * HOUR)]
)
def test_an_unknown_fid_is_due_again_after_growing_delays(social, attempts, backoff):
    SocialProfileFactory(fid=7, wanted=True, attempts=attempts)
    assert social_refresh.refresh_due_profiles() == 1
    assert backoff - timedelta(minutes=1) < due_in() <= backoff
    assert rows()[7].attempts == attempts + 1
    assert rows()[7].fetched_at is None


def test_a_fid_that_the_provider_no_longer_has_keeps_its_profile(social):
    before = SocialProfileFactory(fid=7)
    make_due()
    social_refresh.refresh_due_profiles()
    after = rows()[7]
    assert (after.username, after.fetched_at, after.attempts) == (before.username, before.fetched_at, 1)


@pytest.mark.parametrize(
    ("mode", "backoff"),
    [(Mode.FAIL, 60), (Mode.RATE_LIMIT, 40), (Mode.WRONG_KEY, 600)],
)
def test_a_failing_provider_opens_the_circuit_breaker_and_no_row_is_lost(social, mode, backoff):
    SocialProfileFactory(fid=5, wanted=True)
    social.behave(mode, seconds=40)
    assert social_refresh.refresh_due_profiles() == 0
    row = rows()[5]
    assert (row.attempts, row.fetched_at) == (0, None)
    assert timedelta(seconds=backoff - 10) < due_in() <= timedelta(seconds=backoff)
    assert backoff - 10 < breaker_ttl() <= backoff

    # A new FID doesn't change the back-off.
    SocialProfile.objects.enqueue([6])
    assert social_refresh.refresh_due_profiles() == 0
    assert len(social.received) == 1

    social.behave(Mode.OK)
    redis_client().delete(social_refresh.CIRCUIT_BREAKER.key)
    make_due()
    assert social_refresh.refresh_due_profiles() == 2
    assert rows()[5].username == username(5)


def test_half_an_answer_is_kept_and_the_rest_stays_due(social, settings):
    settings.SOCIAL_API_KEY, settings.FARCASTER_HUB_URL = "", social.url
    now = timezone.now()
    for fid in (5, 7, 8, 9):
        SocialProfileFactory(fid=fid, wanted=True, due_at=now - timedelta(minutes=30 - fid))
    social.refuse = lambda received: 503 if received.query["fid"] == "8" else None
    assert social_refresh.refresh_due_profiles() == 2
    assert rows()[5].username == username(5)
    assert rows()[7].attempts == 1
    for fid in (8, 9):
        assert rows()[fid].attempts == 0
        assert timezone.now() < rows()[fid].due_at < now + timedelta(minutes=2)


def test_the_log_has_the_reason_without_the_key(social, settings, caplog):
    settings.SOCIAL_API_KEY = "s3cret"
    SocialProfileFactory(fid=5, wanted=True)
    social.behave(Mode.WRONG_KEY)
    social_refresh.refresh_due_profiles()
    (record,) = [record for record in caplog.records if record.name == "config.redis.shared_circuit_breaker"]
    assert record.levelno == logging.ERROR
    assert record.getMessage() == "Circuit breaker of the social provider opened for 600 s: HTTP status 401"
    assert "s3cret" not in caplog.text


@pytest.mark.django_db(transaction=True)
def test_two_that_enqueue_the_same_people_do_not_deadlock():
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            SocialProfile.objects.enqueue([5])
            other = pool.submit(own_connection(SocialProfile.objects.enqueue), [9, 5])
            wait_for(blocked_sessions)
            # If the other one had begun with 9, both would wait now.
            SocialProfile.objects.enqueue([9])
        other.result(timeout=120)
    assert set(rows()) == {5, 9}


def test_the_task_goes_on_while_many_are_due(social):
    SocialProfileFactory.create_batch(250, wanted=True)
    tasks.refresh_social_profiles()
    assert [len(fids) for fids in requested_fids(social)] == [100, 100, 50]
    assert all(row.fetched_at if is_known(fid) else row.attempts == 1 for fid, row in rows().items())


def test_the_task_stops_at_an_error(social):
    SocialProfileFactory.create_batch(101, wanted=True)
    social.behave(Mode.FAIL)
    tasks.refresh_social_profiles()
    assert len(social.received) == 1


def test_without_a_provider_nothing_is_fetched_and_that_is_logged_once(social, settings, caplog):
    settings.SOCIAL_API_KEY = settings.FARCASTER_HUB_URL = ""
    caplog.set_level(logging.INFO)
    SocialProfileFactory(fid=5, wanted=True)
    tasks.log_provider_missing.cache_clear()
    for _ in range(3):
        tasks.refresh_social_profiles()
    assert [record.getMessage() for record in caplog.records if record.name == "accounts.tasks"] == [
        "no profiles are fetched: neither SOCIAL_API_KEY nor FARCASTER_HUB_URL is set"
    ]
    assert not social.received
    assert rows()[5].due_at < timezone.now()


def test_a_profile_that_was_never_fetched_is_not_returned():
    SocialProfileFactory(fid=5, wanted=True)
    assert social_refresh.users_by_fid([5, 6, None]) == {}


def test_it_returns_people_as_the_records_show_them_in_one_query(django_assert_num_queries):
    SocialProfileFactory(
        fid=5,
        username="a",
        display_name="A 🐈",
        pfp_url="https://host/a.png",
        bio="Bio",
        verified_addresses=["0xAb", "So1"],
        score=0.5,
    )
    SocialProfileFactory(fid=6, username="", display_name="")
    with django_assert_num_queries(1):
        users = social_refresh.users_by_fid([5, 6, 5, 7, None])
    assert users == {
        5: {
            "fid": 5,
            "username": "a",
            "displayName": "A 🐈",
            "display_name": "A 🐈",
            "pfpUrl": "https://host/a.png",
            "pfp_url": "https://host/a.png",
            "bio": "Bio",
            "verifiedAddresses": ["0xAb", "So1"],
        },
        6: dict.fromkeys(users[5]) | {"fid": 6, "verifiedAddresses": []},
    }


def test_no_fids_cost_no_query(django_assert_num_queries):
    with django_assert_num_queries(0):
        assert social_refresh.users_by_fid([None, None]) == {}


def test_lists_show_known_people_where_they_are_requested(client, django_assert_num_queries):
    SocialProfileFactory(fid=5, username="a")
    SocialProfileFactory(fid=6, wanted=True)
    for fid in (5, 6, 7, None, 5):
        TokenFactory(requestor_fid=fid)
    with django_assert_num_queries(1 + 1 + 1 + 1):
        tokens = client.get("/api/tokens?includeUser=true").json()["data"]
    shown = {token["requestor_fid"]: token["related"]["user"] for token in tokens}
    assert (shown[5]["username"], shown[6], shown[7], shown[None]) == ("a", None, None, None)
    plain = client.get("/api/tokens").json()["data"]
    assert [token["related"] for token in plain] == [{}] * 5


def test_the_launcher_is_enqueued_with_the_token(launchpad):
    context = '{{"platform":"{}","id":"{}"}}'
    tx_hash = launchpad.launch_batch(
        DevLaunchConfig(context=context.format("farcaster", 9)),
        DevLaunchConfig(context=context.format("Farcaster", 5)),
        DevLaunchConfig(context=context.format("farcaster", 9)),
        DevLaunchConfig(context=context.format("x", 6)),
    )
    index_requests.index_transaction(chain_id=CHAIN_ID, tx_hash=tx_hash)
    assert set(rows()) == {5, 9}
    SocialProfile.objects.filter(fid=5).update(username="kept")
    index_requests.index_transaction(chain_id=CHAIN_ID, tx_hash=tx_hash)
    assert rows()[5].username == "kept"
