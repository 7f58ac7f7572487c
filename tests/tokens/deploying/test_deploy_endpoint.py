"""Tests of `POST /api/tokens/deploy`."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial

import pytest
from django.test import Client
from redis.exceptions import RedisError
from web3 import Web3

from accounts.keys import credentials
from accounts.models import PartnerKey, Scope
from config.processes.concurrency_limits import SLOTS, node_slot
from config.redis.connection import redis_client
from development.devchain import node_client
from development.devchain.anvil import CHAIN_ID, DEPLOYER
from tests.processes.at_once import call_at_once
from tests.rows.factories import DeployWalletFactory, PartnerKeyFactory
from tests.rows.launch_requests import ADMIN, WALLET, allow_dev_buys, order
from tokens.deploying import request_keys
from tokens.models import AirdropEntry, AirdropTree, Deployment, DeploySwitch, DeployWallet

pytestmark = pytest.mark.django_db

PATH = "/api/tokens/deploy"
PRESALE = {"minEthGoal": 1, "maxEthGoal": 2, "presaleDuration": 60}


def send(client, headers, body, path=PATH):
    text = body if isinstance(body, str) else json.dumps(body)
    return client.post(path, text, content_type="application/json", headers=headers)


@pytest.fixture
def post(client, deploy_key, django_capture_on_commit_callbacks):
    """Send a launch request with a key and return the response."""

    def answer(body, path=PATH):
        # The test's own transaction is never committed.
        with django_capture_on_commit_callbacks(execute=True):
            return send(client, deploy_key, body, path)

    return answer


@pytest.fixture
def ready(launchpad):
    """Set up the service with a chain, and a wallet there that can send."""
    DeployWalletFactory(chain_id=CHAIN_ID, address=WALLET)
    return launchpad


@pytest.fixture
def nowhere(settings, forget_chains, unused_port):
    """Return a function that makes the chain's node unreachable."""

    def leave():
        settings.RPC_URLS = {CHAIN_ID: (f"http://secret:key@127.0.0.1:{unused_port}/path",)}
        settings.RPC_ATTEMPTS = 1
        forget_chains()

    return leave


def failed(answer, status):
    """Return an error's message; check its status, and that both keys have the message."""
    body = answer.json()
    assert (answer.status_code, body["success"]) == (status, False), body
    assert body["message"] == body["error"]
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Idempotency-Replayed" not in answer.headers
    return body["error"]


def test_it_refuses_what_the_chain_does_not_offer_us(ready, post):
    answer = post(order(presale=PRESALE))
    assert failed(answer, 400)
    assert answer.json()["details"][0]["field"] == "presale"
    assert not Deployment.objects.exists()


def test_it_names_the_error_with_which_the_contract_refuses(ready, without_hook, post, queue):
    for body in (order(), order(dryRun=True)):
        assert failed(post(body), 400) == "The deployment would be reverted: HookNotEnabled()"
    assert (Deployment.objects.count(), queue()) == (0, [])


def test_while_no_node_answers_no_key_is_used_up(ready, post, nowhere, queue, settings, forget_chains):
    urls, body = settings.RPC_URLS, order()
    nowhere()
    answer = post(body)
    assert failed(answer, 503) == "The chain is not available"
    assert answer.headers["Retry-After"]
    assert (Deployment.objects.count(), queue()) == (0, [])
    settings.RPC_URLS = urls
    forget_chains()
    # Another request may have the key, too.
    body["token"]["name"] = "Cat"
    assert post(body).status_code == 200


@pytest.mark.parametrize("columns", [{"signable": False}, {"enabled": False}])
def test_without_a_wallet_it_alerts_operators_why(ready, post, caplog, columns):
    DeployWallet.objects.update(**columns)
    body = order()
    answer = post(body)
    assert failed(answer, 503) == "Deployments on this chain are not possible at the moment"
    assert answer.headers["Retry-After"] == "60"
    assert f"no wallet of chain {CHAIN_ID} can send" in caplog.text
    DeployWallet.objects.update(signable=True, enabled=True)
    assert post(body).status_code == 200


def test_what_a_wallet_owns_is_no_business_of_partners(ready, post, caplog, settings):
    settings.DEPLOY_MAX_DEV_BUY_ETH = settings.DEPLOY_DAILY_DEV_BUY_ETH = 10**9
    allow_dev_buys(PartnerKey.objects.get(), own="1e9", together="1e9")
    answer = post(order(devBuy={"ethAmount": 10**6, "recipient": ADMIN}))
    assert failed(answer, 503) == "Deployments on this chain are not possible at the moment"
    assert f"no wallet of chain {CHAIN_ID} can send" in caplog.text
    assert not Deployment.objects.exists()


def test_an_operator_can_pause_a_chain(ready, post, queue):
    DeploySwitch.objects.create(chain_id=CHAIN_ID, paused=True, reason="Nobody's business")
    body = order()
    answer = post(body)
    assert (failed(answer, 503), answer.headers["Retry-After"]) == ("Deployments are paused", "60")
    assert (Deployment.objects.count(), queue()) == (0, [])
    DeploySwitch.objects.update(paused=False)
    DeploySwitch.objects.create(chain_id=1, paused=True)
    answer = post(body)
    assert answer.status_code == 200
    DeploySwitch.objects.update(paused=True)
    assert post(body).json() == answer.json()
    # A dry run sends nothing.
    assert post(order(dryRun=True)).status_code == 200


def test_it_stores_an_order_and_has_it_sent(ready, post, queue, settings):
    settings.SITE_URL = "https://launchboard.example"
    body = order()
    request_key = body["token"]["requestKey"]
    answer = post(body)
    stored = Deployment.objects.get()
    assert answer.status_code == 200
    assert "Idempotency-Replayed" not in answer.headers
    assert answer.json() == {
        "success": True,
        "message": "Token deployment enqueued",
        "expectedAddress": stored.expected_address,
        "requestKey": request_key,
        "chainId": CHAIN_ID,
        "status": "enqueued",
        "statusUrl": f"https://launchboard.example/api/tokens/deploy/status/{request_key}",
    }
    assert (stored.status, stored.partner_key, stored.request_key) == (
        "enqueued",
        PartnerKey.objects.get(),
        request_key,
    )
    assert (stored.to_address, stored.value, stored.attempts) == (ready.deployment.factory, 0, 0)
    [message] = queue()
    assert (message.task, message.args, message.eta) == ("tokens.tasks.submit_deployment", [stored.pk], None)


def test_the_token_gets_the_expected_address_for_every_sender(ready, post):
    allow_dev_buys(PartnerKey.objects.get())
    answer = post(order(devBuy={"ethAmount": 0.01, "recipient": ADMIN}))
    stored = Deployment.objects.get()
    assert stored.value == 10**16
    assert Web3.is_checksum_address(stored.expected_address)
    call = {"to": stored.to_address, "data": "0x" + bytes(stored.calldata).hex(), "value": int(stored.value)}
    url = ready.deployment.rpc_url
    node_client.wait_for_receipt(url, node_client.send_transaction(url, sender=ADMIN, gas=stored.gas, **call))
    token = node_client.bind_contract(url, "Token", answer.json()["expectedAddress"])
    assert (token.functions.name().call(), token.functions.admin().call()) == ("Dog", ADMIN)
    # The same salt again makes no second token.
    with pytest.raises(node_client.TransactionRevertedError):
        node_client.wait_for_receipt(url, node_client.send_transaction(url, sender=ADMIN, gas=stored.gas, **call))


def test_gas_is_reserved_above_the_estimate(ready, post):
    post(order())
    stored = Deployment.objects.get()
    data = "0x" + bytes(stored.calldata).hex()
    estimate = ready.web3.eth.estimate_gas({"from": WALLET, "to": stored.to_address, "data": data})
    assert stored.gas == estimate * 6 // 5 < 2**24


def test_the_tree_of_an_airdrop_is_kept_with_the_order(ready, post):
    entries = [{"account": ADMIN, "amount": str(10**27)}, {"account": WALLET, "amount": "1"}]
    answer = post(order(airdrop={"entries": entries, "lockupDuration": 1}))
    assert answer.status_code == 200, answer.json()
    tree, stored = AirdropTree.objects.get(), Deployment.objects.get()
    assert (tree.deployment, bytes.fromhex(tree.root[2:]) in bytes(stored.calldata)) == (stored, True)
    assert set(AirdropEntry.objects.values_list("account", "amount")) == {
        (ADMIN, 10**27),
        (WALLET, 1),
    }
    assert WALLET not in json.dumps(stored.config)


def test_a_presale_has_no_address_and_never_returns_one(launchpad, post):
    DeployWalletFactory(chain_id=CHAIN_ID, address=DEPLOYER)
    body = order(presale=PRESALE)
    answer = post(body)
    assert (answer.status_code, answer.json()["expectedAddress"]) == (200, None), answer.json()
    stored = Deployment.objects.get()
    assert (stored.to_address, stored.expected_address) == (launchpad.deployment.presale, "")
    # Long after, when its launch is listed.
    Deployment.objects.update(status="indexed", expected_address=ADMIN)
    assert post(body).content == answer.content


def test_a_repeated_order_has_the_same_answer_and_is_not_sent_again(ready, post, queue, nowhere):
    body = order()
    first = post(body)
    # The chain is not queried; the status has its own endpoint.
    nowhere()
    Deployment.objects.update(status="failed", error="Words", attempts=3)
    # Key sequence and spaces are irrelevant.
    again = json.dumps(dict(reversed(body.items())), indent=1)
    for path in (PATH, PATH + "/v4", PATH + "/"):
        answer = post(again, path)
        assert (answer.status_code, answer.content) == (200, first.content)
        assert answer.headers["Idempotency-Replayed"] == "true"
    assert (Deployment.objects.count(), len(queue())) == (1, 1)


def test_a_repeated_request_waits_for_no_node_slot(ready, post):
    body = order()
    first = post(body)
    with ExitStack() as taken:
        for _ in range(SLOTS):
            taken.enter_context(node_slot())
        assert post(body).content == first.content


def test_a_long_timeout_gets_a_slot_once_one_is_free():
    asks = threading.Event()

    def wait():
        asks.set()
        with node_slot(timeout=30):
            return True

    with ThreadPoolExecutor(1) as pool, ExitStack() as taken:
        for _ in range(SLOTS):
            taken.enter_context(node_slot())
        waiting = pool.submit(wait)
        assert asks.wait(120)
        assert not waiting.done()
        taken.close()
        assert waiting.result()


@pytest.mark.parametrize("change", [{"token": {"name": "Cat"}}, {"chainId": 1}, {"vault": {}}, {"more": None}])
def test_a_key_stands_for_one_body(ready, post, queue, change):
    body = order()
    first = post(body)
    other = body | change | {"token": body["token"] | change.get("token", {})}
    for dry_run in (False, True):
        text = failed(post(other | {"dryRun": dry_run}), 409)
        assert text == "This requestKey was used with another body"
    assert post(body).content == first.content
    assert (Deployment.objects.count(), len(queue())) == (1, 1)


def test_keys_are_each_partners_own(ready, post, client):
    body = order()
    mine = post(body).json()
    theirs = send(client, {"x-api-key": credentials.issue_key("Other", scopes=[Scope.DEPLOY])}, body)
    assert theirs.status_code == 200
    assert "Idempotency-Replayed" not in theirs.headers
    assert theirs.json()["expectedAddress"] != mine["expectedAddress"]
    assert Deployment.objects.count() == 2


def test_a_dry_run_shows_the_largest_market_cap(ready, post):
    body = order(pool={"initialMarketCap": 1e15}, dryRun=True)
    assert post(body).json()["config"]["pool"]["initialMarketCap"] == 10**15


def test_a_dry_run_stores_nothing_and_uses_no_key_up(ready, post, queue):
    body = order()
    request_key = body["token"]["requestKey"]
    answer = post(body | {"dryRun": True})
    assert answer.status_code == 200, answer.json()
    result = answer.json()
    assert (Deployment.objects.count(), queue()) == (0, [])
    assert set(result) == {
        "success",
        "message",
        "dryRun",
        "expectedAddress",
        "requestKey",
        "chainId",
        "gas",
        "config",
    }
    assert (result["success"], result["dryRun"], result["requestKey"], result["chainId"]) == (
        True,
        True,
        request_key,
        CHAIN_ID,
    )
    assert 10**6 < result["gas"] < 2**24
    # Another body may have the key, and the response contains the first one's address.
    assert post(order(token={"name": "Cat", "requestKey": request_key}, dryRun=True)).status_code == 200
    assert post(body).json()["expectedAddress"] == result["expectedAddress"]
    # For a stored deployment the response comes from the row, and the flag does not make it another body.
    repeated = post(body | {"dryRun": True})
    assert (repeated.headers["Idempotency-Replayed"], repeated.json()) == ("true", result)
    assert len(queue()) == 1


def test_a_flag_that_is_none_is_refused_even_where_the_order_is_stored(ready, post):
    body = order()
    post(body)
    for flag in ("maybe", 2, [], {}, 1.0):
        answer = post(body | {"dryRun": flag})
        failed(answer, 400)
        assert answer.json()["details"][0]["field"] == "dryRun"


def test_a_false_flag_has_no_effect(ready, post):
    body = order()
    first = post(body | {"dryRun": False})
    assert (first.status_code, Deployment.objects.count()) == (200, 1)
    for same in (body, body | {"dryRun": None}, body | {"dryRun": "false"}, body | {"dryRun": 0}):
        assert post(same).content == first.content


def test_a_broker_that_is_away_costs_no_order(ready, post, settings, unused_port):
    settings.REDIS_URL = f"redis://127.0.0.1:{unused_port}/0"
    with pytest.raises(RedisError):
        redis_client().ping()
    body = order()
    answer = post(body)
    assert (answer.status_code, Deployment.objects.count()) == (200, 1)
    assert post(body).content == answer.content


def at_once(bodies, headers):
    """Return the responses to requests that are sent at the same time, each by its own client."""
    return call_at_once([partial(send, Client(), headers, body) for body in bodies])


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("count", [1, 2])
def test_clients_at_once_order_one_launch_for_each_key(ready, deploy_key, queue, count):
    bodies = [order() for _ in range(count)] * (8 // count)
    answers = at_once(bodies, deploy_key)
    assert [answer.status_code for answer in answers] == [200] * 8
    result = {(body["token"]["requestKey"], answer.content) for body, answer in zip(bodies, answers, strict=True)}
    replayed = [answer for answer in answers if "Idempotency-Replayed" in answer.headers]
    assert (len(result), len(replayed)) == (count, 8 - count)
    assert (Deployment.objects.count(), len(queue())) == (count, count)


@pytest.mark.django_db(transaction=True)
def test_of_bodies_that_come_at_once_under_one_key_one_is_taken(ready, deploy_key, queue):
    bodies = [order(token={"name": name, "requestKey": "k" * 32}) for name in ("Dog", "Cat") * 3]
    answers = at_once(bodies, deploy_key)
    taken = Deployment.objects.get().config["token"]["name"]
    expected = [200 if body["token"]["name"] == taken else 409 for body in bodies]
    assert ([answer.status_code for answer in answers], len(queue())) == (expected, 1)


def test_a_salt_is_of_one_partner_and_key():
    first, second = PartnerKeyFactory(), PartnerKeyFactory()
    salts = [
        request_keys.create2_salt(text, partner=owner)
        for owner in (first, second, None)
        for text in ("a" * 32, "b" * 32)
    ]
    assert len(set(salts)) == 6
    assert {len(salt) for salt in salts} == {66}
    assert request_keys.create2_salt("a" * 32, partner=first) == salts[0]
