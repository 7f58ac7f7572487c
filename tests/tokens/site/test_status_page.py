"""The public page `/status`: chain states in words, and what it never shows."""

from datetime import timedelta

import pytest
from django.utils import timezone

from config.redis.connection import redis_client
from tests.html_pages import HOSTILE, read_page
from tests.rows.factories import (
    ChainHeadFactory,
    CoverageAlarmFactory,
    CoverageFactory,
    FollowedBlockFactory,
    TokenFactory,
)
from tokens.models import ChainHead, CoverageAlarm

pytestmark = pytest.mark.django_db

URL = "/status"
BASE, ETHEREUM, SOLANA = 8453, 1, 101


@pytest.fixture(autouse=True)
def _three_chains(settings, beat_runs):
    settings.RPC_URLS = dict.fromkeys((BASE, ETHEREUM, SOLANA), ("http://127.0.0.1:9/secret-node",))


def make_late_chain(*, chain_id=BASE, **ago):
    """Create a chain whose newest stored block is this old."""
    at = timezone.now() - timedelta(**ago)
    ChainHeadFactory(chain_id=chain_id, head=3_000_500, followed=3_000_000, head_at=timezone.now())
    FollowedBlockFactory(chain_id=chain_id, number=3_000_000, at=at)


def text_of(answer):
    return " ".join(" ".join(read_page(answer).texts).split())


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_it_is_only_read(client, method):
    assert getattr(client, method)(URL).status_code == 405


def test_it_states_that_no_chain_is_followed(client):
    answer = client.get(URL)
    assert "No chain is followed yet." in text_of(answer)
    assert "section" not in read_page(answer).elements


def test_a_chain_that_is_up_to_date(client):
    ChainHeadFactory(head_at=timezone.now() - timedelta(seconds=5))
    CoverageFactory(verified_to=2_999_100)
    text = text_of(client.get(URL))
    for part in ("All chains are up to date.", "Base Up to date", "3000000", "read twice up to block 2999100"):
        assert part in text
    for part in ("Trades counted", "Prices from the chain's own trades", "Last incident none"):
        assert part in text


LATE_TASKS = "Launches are read, but background tasks are late: other data may be old."


@pytest.mark.parametrize(
    ("task", "is_late"),
    [("tokens.tasks.maintain_partitions", True), ("tokens.tasks.watch_deployments", True), ("none", False)],
)
def test_nothing_is_up_to_date_while_urgent_tasks_are_late(client, task, is_late):
    ChainHeadFactory()
    long_ago = (timezone.now() - timedelta(minutes=25)).timestamp()
    redis_client().hset("launchboard:periodic_runs", task, long_ago)
    # A task that may wait.
    redis_client().hset("launchboard:periodic_runs", "leaderboard.tasks.make_rankings", long_ago)
    text = text_of(client.get(URL))
    assert (LATE_TASKS in text, "All chains are up to date." in text) == (is_late, not is_late)


def test_nothing_is_up_to_date_before_beat_or_without_redis(client, own_server):
    ChainHeadFactory()
    # Its Redis is empty: beat never ran.
    assert LATE_TASKS in text_of(client.get(URL))
    own_server.kill()
    assert LATE_TASKS in text_of(client.get(URL))
    ChainHeadFactory(chain_id=SOLANA, halted="final blocks were dropped")
    assert "New launches are not read at the moment: Solana." in text_of(client.get(URL))


@pytest.mark.parametrize(
    ("ago", "words"),
    [
        ({"seconds": 30}, "Up to date"),
        ({"seconds": 61}, "Behind by 1 minute"),
        ({"minutes": 3, "seconds": 5}, "Behind by 3 minutes"),
        ({"minutes": 119, "seconds": 5}, "Behind by 119 minutes"),
        ({"hours": 5, "seconds": 5}, "Behind by 5 hours"),
        ({"days": 9, "seconds": 5}, "Behind by 9 days"),
    ],
)
def test_a_lag_in_words(client, ago, words):
    make_late_chain(**ago)
    assert f"Base {words} Newest" in text_of(client.get(URL))


def test_the_alarm_of_an_operator_who_wants_a_short_lag_counts_here_too(client, settings):
    settings.FOLLOW_LAG_ALARM_SECONDS = 20
    make_late_chain(seconds=30)
    assert "Behind by 30 seconds" in text_of(client.get(URL))


def test_the_first_line_is_about_the_worst_state(client):
    ChainHeadFactory(chain_id=SOLANA)
    make_late_chain(minutes=10, chain_id=ETHEREUM)
    assert "Some lists are late: Ethereum." in text_of(client.get(URL))
    ChainHeadFactory(chain_id=BASE, halted="the node http://10.0.0.1/secret-node dropped final blocks")
    answer = client.get(URL)
    text = text_of(answer)
    assert "New launches are not read at the moment: Base." in text
    assert "Base Halted" in text and "an operator has checked it" in text
    assert text.index("Base Halted") < text.index("Ethereum Behind") < text.index("Solana Up to date")


def test_a_chain_that_has_just_started(client):
    ChainHeadFactory(followed=None)
    CoverageFactory(first_block=3_000_000, followed_to=2_999_999, verified_to=2_999_999)
    text = text_of(client.get(URL))
    for part in (
        "Waiting for the first blocks of Base.",
        "Waiting for the first block",
        "none yet",
        "Verified not yet",
    ):
        assert part in text


def test_solana_is_read_at_finality(client):
    ChainHeadFactory(chain_id=SOLANA)
    assert "Verified only final blocks are read" in text_of(client.get(URL))


def test_a_chain_without_a_node_is_no_longer_followed(client, settings):
    make_late_chain(days=40)
    ChainHeadFactory(chain_id=ETHEREUM)
    settings.RPC_URLS = {ETHEREUM: ("http://127.0.0.1:9",)}
    text = text_of(client.get(URL))
    assert "All chains are up to date." in text and "Base" not in text


@pytest.mark.parametrize(("repaired", "end"), [(True, "were corrected at once."), (False, "are not corrected yet.")])
def test_the_last_incident_of_each_chain(client, repaired, end):
    ChainHeadFactory()
    ChainHeadFactory(chain_id=ETHEREUM)
    CoverageAlarmFactory(missing=7, repaired=True)
    newest = CoverageAlarmFactory(missing=3, invented=1, repaired=repaired)
    text = text_of(client.get(URL))
    assert f"{newest.raised_at:%Y-%m-%d %H:%M} UTC:" in text
    assert f"blocks 2000000 to 2000999 found 3 missing and 1 wrong entries, which {end}" in text
    assert "7 missing" not in text and text.count("Last incident none") == 1


def test_a_halt_has_its_beginning_and_end(client):
    began, ended = timezone.now() - timedelta(hours=3), timezone.now() - timedelta(hours=1)
    begin, end = (f"{moment:%Y-%m-%d %H:%M} UTC" for moment in (began, ended))
    CoverageAlarmFactory()
    CoverageAlarm.objects.update(raised_at=began - timedelta(minutes=1))
    ChainHeadFactory(halted="final blocks were dropped", halted_at=began)
    text = text_of(client.get(URL))
    assert f"Halted since {begin}." in text and f"Last incident Since {begin}, not over yet:" in text
    # Final blocks are verified during a halt, too.
    CoverageAlarm.objects.update(raised_at=began + timedelta(minutes=1))
    assert "Last incident Since" in text_of(client.get(URL))
    ChainHead.objects.update(halted="", resumed_at=ended)
    text = text_of(client.get(URL))
    assert f"Last incident {begin} to {end}: no blocks were read" in text and "Halted" not in text
    CoverageAlarm.objects.update(raised_at=ended + timedelta(minutes=1))
    assert "which were corrected at once." in text_of(client.get(URL))


def test_a_halt_of_unknown_beginning(client):
    ChainHeadFactory(halted="final blocks were dropped")
    text = text_of(client.get(URL))
    assert "Base Halted The chain replaced blocks" in text and "Last incident none" in text


def test_a_chain_of_the_provider(client, settings):
    settings.MARKET_PROVIDER_CHAINS = (BASE,)
    ChainHeadFactory()
    assert "Trades not counted Prices from an outside provider" in text_of(client.get(URL))


def test_it_shows_no_internals(client):
    TokenFactory(name=HOSTILE)
    ChainHeadFactory(error=f"{HOSTILE} secret-node", halted=f"{HOSTILE} secret-node", follower="host-9:4711")
    alarm = CoverageAlarmFactory()
    page = client.get(URL).text
    for text in ("secret-node", "127.0.0.1:9", "host-9", "alert(1)", alarm.tx_hashes[0]):
        assert text not in page


def test_two_queries_for_any_number_of_chains(client, django_assert_num_queries):
    for chain_id in (BASE, ETHEREUM, SOLANA):
        ChainHeadFactory(chain_id=chain_id)
        CoverageFactory(chain_id=chain_id)
        CoverageAlarmFactory(chain_id=chain_id)
    with django_assert_num_queries(2):
        client.get(URL)


def test_caches_keep_it_for_five_seconds(client, settings):
    assert client.get(URL).headers["Cache-Control"] == "public, s-maxage=5"
    assert URL.startswith(settings.EDGE_CACHE_PREFIXES)


def test_an_installation_may_leave_it_out(client, settings):
    assert URL in read_page(client.get("/")).addresses
    settings.SITE_SECTIONS = frozenset({"docs"})
    assert client.get(URL).status_code == 404
    assert URL not in read_page(client.get("/")).addresses
