"""The slot of large bodies: one at a time in a process, and never instead of a small one."""

from functools import partial

import pytest
from django.http import HttpResponse
from django.test import Client

from config.concurrency_limits import LARGE_BODY_BYTES, large_body_slot
from tests.processes.at_once import call_at_once

pytestmark = pytest.mark.django_db

PATH = "/api/tokens/fetch-by-pool-addresses"
SMALL = '{"poolAddresses": []}'
BUSY = {"error": "Too many concurrent large bodies"}


def post(body: str, path: str = PATH, headers: dict[str, str] | None = None) -> HttpResponse:
    return Client().post(path, body, content_type="application/json", headers=headers or {})


def large(text: str = SMALL) -> str:
    """Return a body that is one byte too large to be small."""
    return text.ljust(LARGE_BODY_BYTES + 1)


def test_a_large_body_beside_another_one_is_refused_and_a_small_one_passes():
    with large_body_slot():
        refused, passed = post(large()), post(large()[:-1])
    assert (refused.status_code, refused.json(), refused["Retry-After"]) == (503, BUSY, "1")
    assert passed.status_code == 200
    assert post(large()).status_code == 200


def test_one_large_body_waits_for_another_one_and_all_others_are_refused_at_once():
    with large_body_slot():
        assert [answer.status_code for answer in call_at_once([partial(post, large())] * 6)] == [503] * 6
        assert post(SMALL).status_code == 200


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        (PATH, SMALL, 200),
        (PATH, "{", 400),
        (PATH, '{"poolAddresses": 5}', 400),
        ("/api/admin/verify", "{}", 400),
        ("/api/tokens/deploy", SMALL, 401),
        ("/api/nothing", SMALL, 404),
    ],
)
def test_however_a_request_ends_its_slot_is_free_again(path, body, status):
    assert [post(large(body), path).status_code for _ in range(3)] == [status] * 3


def test_a_caller_without_a_credential_takes_no_slot(deploy_key):
    with large_body_slot():
        assert post(large(), "/api/tokens/deploy").status_code == 401
        assert post(large(), "/api/tokens/deploy", deploy_key).status_code == 503


def test_an_error_within_a_deployment_has_its_keys(deploy_key):
    with large_body_slot():
        answer = post(large(), "/api/tokens/deploy", deploy_key)
    assert answer.json() == {"success": False, **BUSY, "message": BUSY["error"]}
