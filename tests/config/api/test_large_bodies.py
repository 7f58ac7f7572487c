"""The slot for large bodies: one at a time in a process, and never instead of a small one."""

from functools import partial

import pytest
from django.http import HttpResponse
from django.test import Client

from config.processes.concurrency_limits import LARGE_BODY_BYTES, large_body_slot
from config.web.body_limits import body_limit
from tests.processes.at_once import call_at_once

pytestmark = pytest.mark.django_db

PATH = "/api/airdrops"
SMALL = '{"entries": [{"account": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", "amount": 1000}]}'
BUSY = {"error": "Too many concurrent large bodies"}


def post(body: str, path: str = PATH, headers: dict[str, str] | None = None) -> HttpResponse:
    return Client().post(path, body, content_type="application/json", headers=headers or {})


def large(text: str = SMALL) -> str:
    """Return a body that is one byte too large to be small."""
    return text.ljust(LARGE_BODY_BYTES + 1)


def test_a_large_body_beside_another_one_is_refused_and_a_small_one_passes(deploy_key):
    with large_body_slot():
        refused, passed = post(large(), headers=deploy_key), post(large()[:-1], headers=deploy_key)
    assert (refused.status_code, refused.json(), refused["Retry-After"]) == (503, BUSY, "1")
    assert passed.status_code == 200
    assert post(large(), headers=deploy_key).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_one_large_body_waits_for_another_one_and_all_others_are_refused_at_once(deploy_key):
    with large_body_slot():
        calls = [partial(post, large(), headers=deploy_key)] * 6
        assert [answer.status_code for answer in call_at_once(calls)] == [503] * 6
        assert post(SMALL, headers=deploy_key).status_code == 200


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        (PATH, SMALL, 200),
        (PATH, "{", 400),
        (PATH, '{"entries": 5}', 400),
        ("/api/nothing", SMALL, 404),
    ],
)
def test_however_a_request_ends_its_slot_is_free_again(path, body, status, deploy_key):
    assert [post(large(body), path, deploy_key).status_code for _ in range(3)] == [status] * 3


def test_no_caller_without_a_credential_sends_a_large_body():
    # The tools' own endpoint is not described.
    addresses = {"/mcp"}
    for path, methods in Client().get("/api/openapi.json").json()["paths"].items():
        public = [each for each in methods.values() if "requestBody" in each and not all(each["security"] or [{}])]
        addresses |= {path} if public else set()
    assert len(addresses) >= 4
    for path in addresses:
        environ = {"REQUEST_METHOD": "POST", "PATH_INFO": path}
        assert 0 < body_limit(environ) <= LARGE_BODY_BYTES


def test_a_caller_without_a_credential_takes_no_slot(deploy_key):
    with large_body_slot():
        assert post(large(), "/api/tokens/deploy").status_code == 401
        assert post(large(), "/api/tokens/deploy", deploy_key).status_code == 503


def test_an_error_within_a_deployment_has_its_keys(deploy_key):
    with large_body_slot():
        answer = post(large(), "/api/tokens/deploy", deploy_key)
    assert answer.json() == {"success": False, **BUSY, "message": BUSY["error"]}
