"""The dashboard on the operators' site: its panels, their permissions and the number of queries."""

import signal
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.utils import timezone
from django.utils.html import escape

from accounts.models import KeyUsage
from accounts.profiles import social_refresh
from config.http.errors import NoResponseError, RateLimitedError
from config.redis.connection import redis_client
from development.devchain.anvil import CHAIN_ID
from leaderboard.admin.dashboard import WEB_STARTED_AT, ranking_panels
from leaderboard.models import Interval
from tests.config.operators.admin_pages import figures, panels, shown
from tests.nodes.devchain_launches import UNKNOWN_HASH
from tests.rows.agent_factories import AgentFactory, SnapshotFactory
from tests.rows.factories import (
    ChainHeadFactory,
    CoverageAlarmFactory,
    CoverageFactory,
    DeployAttemptFactory,
    DeploymentFactory,
    IndexRequestFactory,
    PartnerKeyFactory,
    ProviderRefreshFactory,
    TokenFactory,
    WebhookDeliveryFactory,
    WebhookEndpointFactory,
)
from tokens.indexing import index_requests
from tokens.market import provider_rate_limit
from tokens.models import IndexRequest

pytestmark = pytest.mark.django_db

DASHBOARD = "/admin/"


def test_strangers_see_the_login(client):
    assert "/admin/login/" in client.get(DASHBOARD).headers["Location"]


@pytest.mark.parametrize(
    ("permission", "titles"),
    [
        ("view_token", ["Launches", "Launchpads", "Market data"]),
        ("view_indexrequest", ["Periodic tasks", "Index requests", "Nodes"]),
        ("view_chainhead", ["Following", "Trades"]),
        ("view_deployment", ["Deployments in flight"]),
        ("view_standing", ["Leaderboard"]),
        ("view_socialprofile", ["Deployers' profiles"]),
        ("view_webhookendpoint", ["Events"]),
        ("view_partnerkey", ["Calls with partner keys"]),
        ("view_group", []),
    ],
)
def test_panels_need_the_permission_to_see_their_rows(client, settings, permission, titles):
    settings.RPC_URLS = {}
    called(PartnerKeyFactory(), timezone.now().date(), 1)
    ChainHeadFactory()
    DeploymentFactory()
    AgentFactory()
    WebhookEndpointFactory()
    user = User.objects.create_user("support", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename=permission))
    client.force_login(user)
    assert list(panels(client)) == titles


def test_the_navigation_has_what_the_caller_may_see(client):
    user = User.objects.create_user("support", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="view_token"))
    client.force_login(user)
    text = client.get(DASHBOARD).text
    assert "/admin/tokens/token/" in text
    assert "/admin/accounts/partnerkey/" not in text
    assert "/admin/admin/logentry/" not in text


def test_each_panel_of_an_empty_installation_says_what_would_fill_it(operator, settings, beat_runs):
    settings.RPC_URLS, settings.SOCIAL_API_KEY, settings.FARCASTER_HUB_URL = {}, "", ""
    text, found = operator.get(DASHBOARD).text, panels(operator)
    # These panels show their providers' or beat's state, which is never empty.
    always = {"Market data", "Deployers' profiles", "Periodic tasks"}
    assert len(found) == 14
    for title in found.keys() - always:
        assert escape(found[title].empty_text) in text
        assert found[title].empty_text.endswith(".")
    assert "No figure is red." in text


def test_panels_with_red_figures_are_named_on_top(operator, settings, beat_runs):
    settings.RPC_URLS = {}
    IndexRequestFactory(status="failed")
    answer = operator.get(DASHBOARD)
    assert [panel.title for panel in answer.context["alarming"]] == ["Index requests"]
    assert 'href="#index-requests"' in answer.text and 'id="index-requests"' in answer.text
    assert "No figure is red." not in answer.text


def test_searches_are_offered_to_those_who_may_view_the_lists(client, operator):
    searches = operator.get(DASHBOARD).context["searches"]
    assert [search.label for search in searches] == [
        "Tokens",
        "Index requests",
        "Deployments",
        "Pretokens",
        "Partner keys",
        "Webhook endpoints",
        "Users",
    ]
    for search in searches:
        assert operator.get(search.page, {"q": "0x" + "ab" * 20}).status_code == 200
    reader = User.objects.create_user("reader", is_staff=True)
    reader.user_permissions.set(Permission.objects.filter(codename="view_deployment"))
    client.force_login(reader)
    assert [search.label for search in client.get(DASHBOARD).context["searches"]] == ["Deployments"]


def test_launches_are_counted_by_the_hour(operator):
    now = timezone.now()
    TokenFactory.create_batch(3, deployed_at=now)
    TokenFactory.create_batch(2, deployed_at=now - timedelta(hours=5))
    TokenFactory(deployed_at=now - timedelta(hours=30))
    TokenFactory(deployed_at=now - timedelta(hours=49))
    TokenFactory(deployed_at=now, blocked=True)
    TokenFactory(deployed_at=now, unindexed=True)
    panel = panels(operator)["Launches"]
    counts = [count for _, count in panel.chart.bars]
    assert len(counts) == 48
    assert (counts[-1], counts[-6], counts[-31], sum(counts)) == (3, 2, 1, 6)
    assert [figure.value for figure in panel.figures] == ["5", "1"]
    assert [bar["height"] for bar in panel.chart.rectangles if bar["value"]] == [33, 66, 100]
    assert f"{now:%d %b, %H}:00: 3</title>" in operator.get(DASHBOARD).text


def test_launchpads_are_counted_by_chain(operator, settings):
    settings.RPC_URLS = {8453: ("https://a.example",), 1: ("https://b.example",), 101: ("https://c.example",)}
    settings.LAUNCHPADS = {8453: ("clanker", "zora")}
    now = timezone.now()
    for generation, age, number in (("v4", 2, 3), ("v0", 30, 2), ("zora", 2, 1), ("doppler", 30, 1)):
        TokenFactory.create_batch(number, generation=generation, deployed_at=now - timedelta(hours=age))
    TokenFactory(chain_id=1, deployed_at=now)
    TokenFactory(generation="zora", blocked=True)
    panel = figures(operator, "Launchpads")
    on_base = ["Clanker", "Liquid", "Zora", "Flaunch", "Doppler", "Virtuals", "Bankr"]
    assert [label for label in panel if label.endswith(" on Base")] == [f"{title} on Base" for title in on_base]
    others = [label for label in panel if not label.endswith(" on Base")]
    assert others == ["Clanker on Ethereum", "Doppler on Ethereum", "Clanker on Solana"]
    values = [panel[f"{title} on Base"].value for title in ("Clanker", "Zora", "Flaunch", "Doppler")]
    assert values == ["5 launches", "1 launch", "0 launches", "1 launch"]
    assert panel["Clanker on Ethereum"].value == "1 launch"
    assert panel["Clanker on Base"].note.startswith("3 in the last 24 hours; contracts 0x")
    address = "0x777777751622c0d3258f214F9DF38E35BF45baF3"
    assert panel["Zora on Base"].note == f"1 in the last 24 hours; contract {address}"
    assert panel["Doppler on Base"].note.startswith("off: not in LAUNCHPADS_8453; contract 0x")
    assert len(shown(operator, panel["Clanker on Base"].page)) == 5
    # Blocked ones are in the admin's list.
    assert len(shown(operator, panel["Zora on Base"].page)) == 2


def test_undecodable_logs_alarm_at_the_launchpad_of_their_contract(operator, settings):
    settings.RPC_URLS = {8453: ("https://a.example",)}
    settings.LAUNCHPADS = {8453: ("clanker", "zora")}
    factory, coin = "0x777777751622c0d3258f214F9DF38E35BF45baF3", "0x" + "Aa" * 20
    of_zora = {"chain_id": 8453, "undecodable": True, "launchpad": "zora"}
    IndexRequestFactory.create_batch(2, **of_zora, status="failed", contract=factory)
    # Beside a launch that is indexed.
    IndexRequestFactory(**of_zora, status="indexed", contract=coin)
    IndexRequestFactory(chain_id=1, undecodable=True, launchpad="zora", contract=factory)
    IndexRequestFactory(chain_id=8453)
    alarming = [figure for figure in panels(operator)["Launchpads"].figures if figure.is_alarming]
    assert {figure.label for figure in alarming} == {"Zora on Base: undecodable logs"}
    assert [(figure.value, figure.note.split()[1]) for figure in alarming] == [
        ("2 transactions", f"{factory}:"),
        ("1 transaction", f"{coin}:"),
    ]
    assert [len(shown(operator, figure.page)) for figure in alarming] == [2, 1]


def test_index_requests_are_counted_by_status_and_failures_alarm(operator):
    IndexRequestFactory.create_batch(2, due_at=timezone.now())
    IndexRequestFactory(status="failed")
    IndexRequestFactory.create_batch(3, status="confirmed")
    found = figures(operator, "Index requests")
    assert {label: figure.value for label, figure in found.items()} == {
        "Pending": "2",
        "Indexed": "0",
        "Confirmed": "3",
        "Failed": "1",
        "Orphaned": "0",
    }
    assert [label for label, figure in found.items() if figure.is_alarming] == ["Failed"]
    assert "requested just now" in found["Pending"].note
    IndexRequest.objects.filter(status="failed").update(updated_at=timezone.now() - timedelta(hours=25))
    assert not any(figure.is_alarming for figure in figures(operator, "Index requests").values())


def test_requests_that_no_worker_claims_alarm(operator, settings):
    settings.INDEX_LEASE_SECONDS = 60
    IndexRequestFactory(due_at=timezone.now() - timedelta(seconds=125))
    IndexRequest.objects.update(created_at=timezone.now() - timedelta(hours=2))
    pending = figures(operator, "Index requests")["Pending"]
    assert pending.is_alarming
    assert pending.note == "the oldest requested 2 hours ago; overdue: are a worker and beat running?"


def test_nodes_are_shown_by_the_errors_of_index_requests(operator, settings):
    settings.RPC_URLS = {8453: ("https://a.example/key-a", "https://b.example/key-b"), 1: ("https://c.example",)}
    IndexRequestFactory(status="confirmed")
    IndexRequest.objects.update(updated_at=timezone.now() - timedelta(minutes=7))
    IndexRequestFactory(last_error="chain 8453: no node <answered>", node_outage=True)
    IndexRequestFactory(chain_id=1, status="failed", last_error="no launch")
    found = figures(operator, "Nodes")
    base, ethereum = found["Base"], found["Ethereum"]
    assert (base.value, base.is_alarming) == ("2 nodes", True)
    assert base.note == "last answer written 7 minutes ago; deferred: chain 8453: no node <answered>"
    assert (ethereum.value, ethereum.note, ethereum.is_alarming) == ("1 node", "last answer written never", False)
    text = operator.get(DASHBOARD).text
    assert "no node &lt;answered&gt;" in text
    assert "key-a" not in text


def test_a_transaction_that_no_block_has_is_no_fault_of_the_nodes(operator, launchpad):
    for last_error in ("its block was dropped by a reorg", ""):
        IndexRequestFactory(chain_id=CHAIN_ID, last_error=last_error)
    with pytest.raises(index_requests.IndexingPostponedError):
        index_requests.index_transaction(chain_id=CHAIN_ID, tx_hash=UNKNOWN_HASH)
    assert "has no such transaction" in IndexRequest.objects.get(tx_hash=UNKNOWN_HASH).last_error
    (node,) = figures(operator, "Nodes").values()
    assert (node.note, node.is_alarming) == ("last answer written never", False)


def test_a_node_that_is_away_alarms(operator, launchpad, settings, forget_chains):
    settings.RPC_URLS, settings.RPC_ATTEMPTS = {CHAIN_ID: ("http://127.0.0.1:9",)}, 1
    forget_chains()
    IndexRequestFactory(chain_id=CHAIN_ID, last_error=f"chain {CHAIN_ID} has no such transaction, yet")
    with pytest.raises(index_requests.IndexingPostponedError):
        index_requests.index_transaction(chain_id=CHAIN_ID, tx_hash=UNKNOWN_HASH)
    (node,) = figures(operator, "Nodes").values()
    assert "deferred: chain" in node.note and "is out of reach" in node.note
    assert node.is_alarming


def test_refreshes_that_are_due_are_counted(operator, settings):
    assert list(figures(operator, "Market data")) == ["Provider"]
    settings.MARKET_PROVIDER_CHAINS = (8453,)
    now = timezone.now()
    for minutes in (-60, 1, 3):
        ProviderRefreshFactory(due_at=now - timedelta(minutes=minutes))
    refreshes = figures(operator, "Market data")["Refreshes"]
    assert (refreshes.value, refreshes.note) == ("2 due", "the first since 3 minutes ago")


def test_a_market_data_provider_that_is_not_used_is_no_alarm(operator):
    provider = figures(operator, "Market data")["Provider"]
    assert (provider.value, provider.is_alarming) == ("not used", False)


@pytest.mark.parametrize(
    ("error", "note"),
    [
        (NoResponseError("cut"), "failures in a row: 1"),
        (RateLimitedError(429, retry_after=60), "rate limited, or the API key was rejected"),
    ],
)
def test_a_back_off_of_the_market_data_provider_alarms(operator, market, error, note):
    assert figures(operator, "Market data")["Provider"].value == "in use"
    with pytest.raises(type(error)), provider_rate_limit.call_slot(timeout=0):
        raise error
    provider = figures(operator, "Market data")["Provider"]
    assert provider.value.startswith("back-off for ")
    assert (provider.note, provider.is_alarming) == (note, True)


def test_the_dashboard_is_there_while_redis_is_not(operator, settings, own_server):
    settings.MARKET_PROVIDER_CHAINS, settings.SOCIAL_API_KEY = (8453,), "sample"
    own_server.stop(signal.SIGKILL)
    for title in ("Market data", "Deployers' profiles"):
        provider = figures(operator, title)["Provider"]
        assert (provider.value, provider.is_alarming) == ("unknown", True)
        assert provider.note.startswith("Redis does not")


def test_a_back_off_of_the_social_provider_alarms(operator, social):
    provider = figures(operator, "Deployers' profiles")["Provider"]
    assert (provider.value, provider.is_alarming) == ("in use", False)
    redis_client().set(social_refresh.CIRCUIT_BREAKER.key, 1, ex=60)
    provider = figures(operator, "Deployers' profiles")["Provider"]
    assert (provider.value, provider.is_alarming) == ("paused", True)


def test_no_social_provider_is_no_alarm(operator, settings):
    settings.SOCIAL_API_KEY = settings.FARCASTER_HUB_URL = ""
    provider = figures(operator, "Deployers' profiles")["Provider"]
    assert (provider.value, provider.is_alarming) == ("none", False)


def test_rankings_alarm_where_no_new_ones_come(operator, settings):
    settings.LEADERBOARD_SECONDS = {"24h": 300, "7d": 900, "30d": 3600}
    assert panels(operator)["Leaderboard"].empty_text.startswith("No agent yet: ")
    AgentFactory()
    now = timezone.now() + timedelta(minutes=6)
    for interval in ("24h", "7d"):
        SnapshotFactory(interval=interval, ranked=1234, computed_at=now - timedelta(minutes=16))
    found = next(iter(ranking_panels(now))).figures
    assert [(figure.label, figure.value, figure.is_alarming) for figure in found] == [
        ("Last 24h", "1,234 ranked", True),
        ("Last 7d", "1,234 ranked", False),
        ("Last 30d", "none yet", False),
    ]
    assert found[0].note == "built 16 minutes ago, in 1.5 s"
    assert operator.get(found[1].page).status_code == 200


def test_rankings_of_before_the_start_do_not_alarm_at_once(settings):
    settings.LEADERBOARD_SECONDS = {"24h": 300, "7d": 900, "30d": 3600}
    AgentFactory()
    start = WEB_STARTED_AT
    SnapshotFactory(interval="24h", computed_at=start - timedelta(days=2))
    figure, *_ = next(iter(ranking_panels(start + timedelta(minutes=1)))).figures
    assert not figure.is_alarming
    assert figure.note == "built 2 days ago, in 1.5 s; the service has just started, a worker will build it anew"
    figure, *_ = next(iter(ranking_panels(start + timedelta(minutes=6)))).figures
    assert figure.is_alarming and figure.note == "built 2 days ago, in 1.5 s"


def called(key, day, calls):
    KeyUsage.objects.create(partner_key=key, day=day, endpoint="token-list", calls=calls)


def test_calls_are_shown_by_key_and_by_day(operator):
    today = timezone.now().date()
    busy, quiet, idle = PartnerKeyFactory(name="Busy"), PartnerKeyFactory(name="Quiet"), PartnerKeyFactory(name="Idle")
    called(busy, today, 1200)
    called(busy, today - timedelta(days=1), 34)
    called(quiet, today - timedelta(days=1), 6)
    called(idle, today - timedelta(days=14), 1)
    panel = panels(operator)["Calls with partner keys"]
    assert [(figure.label, figure.value) for figure in panel.figures] == [("Busy", "1,234"), ("Quiet", "6")]
    assert [value for _, value in panel.chart.bars] == [0] * 12 + [40, 1200]


def test_it_takes_few_queries_whatever_there_is(client, settings, django_assert_max_num_queries):
    settings.RPC_URLS = {8453: ("https://a.example",), 1: ("https://b.example",)}
    TokenFactory.create_batch(30, deployed_at=timezone.now())
    IndexRequestFactory.create_batch(10)
    for key in PartnerKeyFactory.create_batch(20):
        called(key, timezone.now().date(), 5)
    for chain_id in range(1, 10):
        ChainHeadFactory(chain_id=chain_id)
        CoverageFactory.create_batch(5, chain_id=chain_id)
        CoverageAlarmFactory.create_batch(5, chain_id=chain_id)
        DeployAttemptFactory(deployment__chain_id=chain_id, wallet__chain_id=chain_id)
    for interval in Interval:
        SnapshotFactory(interval=interval)
    AgentFactory()
    WebhookDeliveryFactory.create_batch(20, endpoint__failing_since=timezone.now())
    user = User.objects.create_user("reader", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    client.force_login(user)
    with django_assert_max_num_queries(31):
        client.get(DASHBOARD)
