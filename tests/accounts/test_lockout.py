"""Lock-out of a name at an address after wrong passwords."""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import requests
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import RequestFactory
from django.utils import timezone

from accounts import tasks
from accounts.operators import lockout
from tests.processes.service_processes import web_service

LOGIN, LIST = "/admin/login/", "/admin/accounts/partnerkey/"
PASSWORD = "correct horse battery staple"
VICTIM, ATTACKER = "198.51.100.8", "198.51.100.7"


@pytest.fixture(autouse=True)
def limit(settings: Any) -> None:
    settings.AXES_FAILURE_LIMIT = 3


@pytest.fixture
def operator(db: None) -> User:
    return User.objects.create_superuser("operator", password=PASSWORD)


def try_password(client, word="wrong", *, name="operator", **options):
    return client.post(LOGIN, {"username": name, "password": word, "next": LIST}, **options)


def statuses(client, number, **options):
    return [try_password(client, **options).status_code for _ in range(number)]


def test_it_refuses_even_the_right_password_after_wrong_ones(client, operator):
    assert statuses(client, 4) == [200, 200, 429, 429]
    refused = try_password(client, PASSWORD)
    assert refused.status_code == 429
    assert 14 * 60 < int(refused["Retry-After"]) <= 15 * 60
    assert refused["Cache-Control"] == "no-store"
    assert "locked out here for 15 more minutes" in refused.text
    assert "_auth_user_id" not in client.session


def test_trying_meanwhile_makes_it_no_longer(client, operator):
    assert statuses(client, 3)[-1] == 429
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=10))
    assert 4 * 60 < int(try_password(client, PASSWORD)["Retry-After"]) <= 5 * 60
    assert AccessAttempt.objects.get().failures_since_start == 3


def test_it_lets_in_again_when_the_time_is_over(client, operator):
    assert statuses(client, 3)[-1] == 429
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=15, seconds=1))
    assert try_password(client, PASSWORD).status_code == 302
    assert not AccessAttempt.objects.exists()


def test_the_addresses_of_an_ipv6_network_count_together(client, operator):
    answers = [try_password(client, REMOTE_ADDR=f"2001:db8:1:2::{number}") for number in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert try_password(client, PASSWORD, REMOTE_ADDR="2001:db8:1:3::1").status_code == 302


def test_the_name_is_free_at_other_addresses_and_other_names_at_this_one(client, operator):
    User.objects.create_superuser("other", password=PASSWORD)
    assert statuses(client, 3)[-1] == 429
    assert try_password(client, PASSWORD, name="other").status_code == 302
    assert try_password(client, PASSWORD, REMOTE_ADDR="192.0.2.2").status_code == 302


def test_unknown_names_are_locked_out_as_well(client, operator):
    assert statuses(client, 3, name="nobody") == [200, 200, 429]


def test_the_right_password_makes_earlier_mistakes_forgotten(client, operator):
    for _ in range(2):
        assert statuses(client, 2) == [200, 200]
        assert try_password(client, PASSWORD).status_code == 302
        client.post("/admin/logout/")


def test_it_keeps_no_password_and_no_log_of_who_came(client, operator):
    try_password(client, "a secret slip")
    attempt = AccessAttempt.objects.get()
    assert "a secret slip" not in attempt.post_data + attempt.get_data + str(attempt.__dict__)


@pytest.mark.parametrize(
    ("address", "expected"),
    [("192.0.2.1", "192.0.2.1"), ("2001:db8:1:2:3::4", "2001:db8:1:2::"), ("", "::"), ("nonsense", "::")],
)
def test_it_counts_by_an_address_that_a_column_takes(address, expected):
    assert lockout.login_address(RequestFactory().get("/", REMOTE_ADDR=address)) == expected


def test_sessions_that_are_over_are_pruned(client, operator):
    client.force_login(operator)
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    other = type(client)()
    other.force_login(operator)
    tasks.prune_sessions()
    assert Session.objects.get().session_key == other.session.session_key


@pytest.fixture
def served(service_environment: dict[str, str], unused_port: int) -> Iterator[str]:
    """Run the service behind one proxy, with two processes, and return its address."""
    changes = {"TRUSTED_PROXIES": "1", "OVERRIDE_AXES_FAILURE_LIMIT": "3"}
    with web_service(service_environment | changes, unused_port) as url:
        yield url


def log_in(served: str, password: str, forwarded: str) -> tuple[requests.Response, requests.Session]:
    """Log in as a browser does, in a new session."""
    browser = requests.Session()
    page = browser.get(served + LOGIN, timeout=60)
    [token] = set(re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text))
    fields = {"username": "operator", "password": password, "next": LIST, "csrfmiddlewaretoken": token}
    headers = {"X-Forwarded-For": forwarded}
    return browser.post(served + LOGIN, fields, headers=headers, timeout=60, allow_redirects=False), browser


@pytest.mark.django_db(transaction=True)
def test_a_forged_address_neither_evades_the_lock_nor_locks_others_out(settings, served):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]
    User.objects.create_superuser("operator", password=PASSWORD)
    # The header sent by the attacker has another address each time, or the victim's; the proxy appends the real one.
    forged = ["203.0.113.1", "203.0.113.2", VICTIM, f"{VICTIM}, {VICTIM}"]
    answered = [log_in(served, "wrong", f"{written}, {ATTACKER}")[0] for written in forged]
    assert [answer.status_code for answer in answered] == [200, 200, 429, 429]
    assert all(1 <= int(answer.headers["Retry-After"]) <= 900 for answer in answered[2:])
    assert log_in(served, PASSWORD, f"203.0.113.9, {ATTACKER}")[0].status_code == 429

    answer, browser = log_in(served, PASSWORD, VICTIM)
    assert (answer.status_code, answer.headers["Location"]) == (302, LIST)
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie and "Max-Age=43200" in cookie
    assert browser.get(served + LIST, timeout=60).status_code == 200
    # The API has no lock-out.
    public = requests.get(f"{served}/api/tokens", headers={"X-Forwarded-For": ATTACKER}, timeout=60)
    assert public.status_code == 200
