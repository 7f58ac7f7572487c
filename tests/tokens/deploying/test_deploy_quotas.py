"""Quotas of deployments (tokens/deploying/quotas.py): launches per partner and day, and partners that are excluded."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone
from redis.exceptions import RedisError

from accounts.keys import credentials
from accounts.models import PartnerKey, Scope
from config.redis.connection import redis_client
from development.devchain.anvil import CHAIN_ID
from tests.processes.at_once import blocked_sessions, call_at_once, own_connection
from tests.processes.waiting import wait_for
from tests.rows.factories import DeploymentFactory, DeployWalletFactory, PartnerKeyFactory
from tests.rows.launch_requests import WALLET, allow_dev_buys, order
from tokens.deploying import quotas
from tokens.models import Deployment, DeployQuota, SpendingLimit

pytestmark = pytest.mark.django_db

PATH = "/api/tokens/deploy"
TOO_MANY = "Too many requests. Please try again later."


@pytest.fixture
def partner(deploy_key):
    return PartnerKey.objects.get()


@pytest.fixture
def post(client, launchpad, deploy_key):
    """Send a launch request with a key and return the response."""
    DeployWalletFactory(chain_id=CHAIN_ID, address=WALLET)

    def answer(body, headers=deploy_key):
        return client.post(PATH, json.dumps(body), content_type="application/json", headers=headers)

    return answer


def seconds_left():
    now = timezone.now()
    return (datetime.combine(now.date() + timedelta(days=1), datetime.min.time(), tzinfo=UTC) - now).total_seconds()


def test_an_order_beyond_the_quota_is_refused_until_midnight(post, partner):
    DeployQuota.objects.create(partner_key=partner, chain_id=CHAIN_ID, per_day=2)
    bodies = [order() for _ in range(3)]
    assert [post(body).status_code for body in bodies] == [200, 200, 429]
    answer = post(bodies[2])
    assert answer.json() == {"success": False, "error": TOO_MANY, "message": TOO_MANY}
    assert abs(int(answer.headers["Retry-After"]) - seconds_left()) < 60
    assert Deployment.objects.count() == 2
    # A stored deployment is returned, and a dry run costs nothing.
    assert [post(body).status_code for body in bodies[:2]] == [200, 200]
    assert post(bodies[2] | {"dryRun": True}).status_code == 200


def test_a_quota_of_none_refuses_all(post, partner):
    DeployQuota.objects.create(partner_key=partner, chain_id=CHAIN_ID, per_day=0)
    assert post(order()).status_code == 429
    DeployQuota.objects.update(chain_id=1)
    assert post(order()).status_code == 200


def test_a_quota_is_one_keys_on_one_chain_for_one_day(post, partner):
    now = timezone.now()
    DeployQuota.objects.create(partner_key=partner, chain_id=CHAIN_ID, per_day=1)
    DeploymentFactory(partner_key=partner, chain_id=1, created_at=now)
    DeploymentFactory(chain_id=CHAIN_ID, created_at=now)
    DeploymentFactory(chain_id=CHAIN_ID, created_at=now, partner_key=None)
    midnight = datetime.combine(now.date(), datetime.min.time(), tzinfo=UTC)
    DeploymentFactory(partner_key=partner, chain_id=CHAIN_ID, created_at=midnight - timedelta(microseconds=1))
    assert post(order()).status_code == 200
    Deployment.objects.filter(partner_key=partner, chain_id=CHAIN_ID, created_at__gte=midnight).update(
        created_at=midnight
    )
    assert post(order()).status_code == 429


@pytest.mark.parametrize(("calls", "status"), [(2, 429), (0, 200)])
def test_without_a_quota_as_many_orders_pass_as_calls_do(partner, settings, calls, status):
    settings.RATE_LIMIT_DEPLOY = calls
    *_, last = DeploymentFactory.create_batch(3, partner_key=partner, chain_id=CHAIN_ID)
    with transaction.atomic():
        if status == 200:
            quotas.check_quota(last, partner=partner)
        else:
            with pytest.raises(quotas.QuotaExceededError) as caught:
                quotas.check_quota(last, partner=partner)
            assert 0 < caught.value.wait <= 86_400


def test_what_is_bought_within_launches_is_bounded_for_each_day(post, partner, settings):
    settings.RATE_LIMIT_DEPLOY = 0
    allow_dev_buys(partner, own="0.05")
    bought = {"ethAmount": 0.02, "recipient": WALLET}
    assert [post(order(devBuy=bought)).status_code for _ in range(3)] == [200, 200, 429]
    # Requests without a dev buy are accepted, and the next day begins anew.
    assert post(order()).status_code == 200
    Deployment.objects.update(created_at=timezone.now() - timedelta(days=1))
    assert post(order(devBuy=bought)).status_code == 200


def forbidden(answer):
    """Return the field and the rule of a dev buy that is refused for good."""
    [detail] = answer.json()["details"]
    assert answer.status_code == 403
    assert answer.json()["error"] == f"{detail['field']} {detail['message']}"
    return detail["field"], detail["message"]


def test_a_key_buys_nothing_until_an_operator_allows_it_for_the_key_and_for_the_chain(post, partner):
    body = order(devBuy={"ethAmount": 1e-18})
    not_allowed = ("devBuy", "must not be given: this key is not allowed to spend on this chain")
    assert forbidden(post(body)) == forbidden(post(body | {"dryRun": True})) == not_allowed
    SpendingLimit.objects.create(partner_key=partner, chain_id=CHAIN_ID, eth_per_day=1)
    assert forbidden(post(body)) == not_allowed
    SpendingLimit.objects.update(partner_key=None)
    assert forbidden(post(body)) == not_allowed
    allow_dev_buys(partner, chain_id=1)
    allow_dev_buys(PartnerKeyFactory())
    assert forbidden(post(body)) == not_allowed
    assert post(order()).status_code == 200
    allow_dev_buys(partner)
    assert post(body | {"dryRun": True}).status_code == post(body).status_code == 200
    # A stored deployment is returned whatever is allowed now.
    SpendingLimit.objects.all().delete()
    assert post(body).headers["Idempotency-Replayed"] == "true"


@pytest.mark.parametrize(("own", "together", "setting"), [("0.5", "9", "9"), ("9", "0.5", "9"), ("9", "9", "0.5")])
def test_a_dev_buy_above_what_a_day_allows_is_refused_for_good(post, partner, settings, own, together, setting):
    settings.DEPLOY_DAILY_DEV_BUY_ETH = Decimal(setting)
    allow_dev_buys(partner, own=own, together=together)
    field, rule = forbidden(post(order(devBuy={"ethAmount": 0.6})))
    assert (field, rule) == ("devBuy.ethAmount", "must be at most 0.5, in ETH: this key may spend no more in a day")
    assert post(order(devBuy={"ethAmount": 0.5})).status_code == 200


def test_all_keys_together_have_a_limit_on_a_chain(post, partner):
    allow_dev_buys(partner, together="0.05")
    now = timezone.now()
    DeploymentFactory(chain_id=CHAIN_ID, created_at=now, value=3 * 10**16)
    # Other chains, other days and operators' own deployments do not count.
    DeploymentFactory(chain_id=1, created_at=now, value=10**18)
    DeploymentFactory(chain_id=CHAIN_ID, created_at=now - timedelta(days=1), value=10**18)
    DeploymentFactory(chain_id=CHAIN_ID, created_at=now, value=10**18, partner_key=None)
    bought = {"ethAmount": 0.01}
    assert [post(order(devBuy=bought)).status_code for _ in range(3)] == [200, 200, 429]
    assert post(order()).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_dev_buys_of_all_keys_are_counted_one_after_another(partner):
    other = PartnerKeyFactory()
    for key in (partner, other):
        allow_dev_buys(key, together="0.01")

    @transaction.atomic
    def buy(key):
        quotas.check_quota(DeploymentFactory(partner_key=key, chain_id=CHAIN_ID, value=10**16), partner=key)

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            buy(partner)
            second = pool.submit(own_connection(partial(buy, other)))
            wait_for(lambda: second.done() or blocked_sessions())
        with pytest.raises(quotas.QuotaExceededError):
            second.result()
    assert Deployment.objects.count() == 1


def test_every_call_counts_against_the_days_limit(post, settings):
    settings.RATE_LIMIT_DEPLOY = 3
    body = order()
    answers = [post(body | {"dryRun": True}), post(body), post(body), post(body)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert [answer.headers["RateLimit-Remaining"] for answer in answers] == ["2", "1", "0", "0"]
    assert 86_000 < int(answers[3].headers["Retry-After"]) <= 86_400
    assert answers[3].json()["success"] is False


def test_orders_are_counted_while_calls_can_not_be(post, partner, settings, unused_port):
    DeployQuota.objects.create(partner_key=partner, chain_id=CHAIN_ID, per_day=1)
    settings.REDIS_URL = f"redis://127.0.0.1:{unused_port}/0"
    with pytest.raises(RedisError):
        redis_client().ping()
    assert [post(order()).status_code for _ in range(2)] == [200, 429]


@pytest.mark.django_db(transaction=True)
def test_of_orders_at_once_exactly_the_quota_passes(post, partner, deploy_key):
    DeployQuota.objects.create(partner_key=partner, chain_id=CHAIN_ID, per_day=3)
    other = {"x-api-key": credentials.issue_key("Other", scopes=[Scope.DEPLOY])}

    def deploy_one(headers):
        return Client().post(PATH, json.dumps(order()), content_type="application/json", headers=headers).status_code

    statuses = call_at_once([partial(deploy_one, headers) for headers in [deploy_key] * 7 + [other]])
    assert sorted(statuses[:7]) == [200] * 3 + [429] * 4
    assert statuses[7] == 200
    assert Deployment.objects.filter(partner_key=partner).count() == 3


@pytest.mark.django_db(transaction=True)
def test_an_order_is_counted_after_those_that_are_being_stored(partner):
    DeployQuota.objects.create(partner_key=partner, chain_id=CHAIN_ID, per_day=1)

    @transaction.atomic
    def take():
        quotas.check_quota(DeploymentFactory(partner_key=partner, chain_id=CHAIN_ID), partner=partner)

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            take()
            other = pool.submit(own_connection(take))
            wait_for(lambda: other.done() or blocked_sessions())
        with pytest.raises(quotas.QuotaExceededError):
            other.result()
    assert Deployment.objects.count() == 1
