"""Password checks: limits by address over all names, one check at a time, kinds of hashes, work of refusals."""

from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.hashers import PBKDF2PasswordHasher, make_password
from django.contrib.auth.models import User
from django.test import Client
from django_otp.plugins.otp_totp.models import TOTPDevice

from config.processes.concurrency_limits import password_slot
from config.settings import PASSWORD_HASHERS
from tests.accounts.test_second_factor import code_of, wrong_code_of

pytestmark = pytest.mark.django_db

LOGIN, VERIFY, LIST = "/admin/login/", "/api/admin/verify", "/admin/accounts/partnerkey/"
CODE, SET_UP, REMOVE = "/admin/second-factor/", "/admin/second-factor/set-up/", "/admin/second-factor/remove/"
PASSWORD = "correct horse battery staple"
OLD = "django.contrib.auth.hashers.PBKDF2PasswordHasher"


class CountedHasher(PBKDF2PasswordHasher):
    """Fast password hasher that notes its calls."""

    algorithm = "current"
    iterations = 1
    calls: list[str] = []

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        self.calls.append(self.algorithm)
        return str(super().encode(password, salt, iterations))


class OlderHasher(CountedHasher):
    algorithm = "older"


@pytest.fixture
def operator() -> User:
    return User.objects.create_superuser("operator", password=PASSWORD)


@pytest.fixture
def attempts(settings: Any, no_calls: None) -> Any:
    """Allow three attempts a minute."""
    settings.RATE_LIMIT_LOGIN = 3
    return settings


def try_password(name: str, word: str = "wrong", **options: Any) -> Any:
    return Client().post(LOGIN, {"username": name, "password": word, "next": LIST}, **options)


def verify(name: str, word: str = "wrong", **options: Any) -> Any:
    return Client().post(VERIFY, {"username": name, "password": word}, content_type="application/json", **options)


def test_an_address_has_a_limit_over_all_names(operator, attempts):
    answers = [try_password(f"name{number}") for number in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    refused = answers[-1]
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert refused["Cache-Control"] == "no-store"
    assert "too many log-in attempts" in refused.text
    assert try_password("operator", PASSWORD).status_code == 429
    assert try_password("operator", PASSWORD, REMOTE_ADDR="192.0.2.2").status_code == 302
    # Other pages of the address are not limited.
    assert Client().get(LOGIN).status_code == 200


def test_administrator_log_ins_count_for_the_same_limit(operator, attempts):
    assert [verify("a").status_code, try_password("b").status_code, verify("c").status_code] == [401, 200, 401]
    refused = verify("operator", PASSWORD)
    assert (refused.status_code, try_password("operator", PASSWORD).status_code) == (429, 429)
    assert refused.json() == {"error": "Too many requests. Please try again later."}
    assert 1 <= int(refused["Retry-After"]) <= 60


@pytest.mark.parametrize("path", [CODE, REMOVE, SET_UP])
def test_codes_count_for_the_same_limit(client, operator, attempts, path):
    device = TOTPDevice.objects.create(user=operator, name="app", confirmed=path != SET_UP)
    client.force_login(operator)
    for _ in range(3):
        assert client.post(path, {"code": wrong_code_of(device)}).status_code == 200
    refused = client.post(path, {"code": code_of(device)})
    assert (refused.status_code, try_password("operator", PASSWORD).status_code) == (429, 429)


def test_a_form_without_a_token_of_this_site_counts_for_nobody(operator, attempts):
    other_site = Client(enforce_csrf_checks=True)
    fields = {"username": "operator", "password": "wrong"}
    assert {other_site.post(LOGIN, fields).status_code for _ in range(5)} == {403}
    assert try_password("operator", PASSWORD).status_code == 302


def test_0_is_no_limit_and_without_redis_log_ins_pass(operator, attempts, unused_port):
    attempts.RATE_LIMIT_LOGIN = 0
    assert {try_password(f"name{number}").status_code for number in range(5)} == {200}
    attempts.RATE_LIMIT_LOGIN = 1
    attempts.REDIS_URL = f"redis://127.0.0.1:{unused_port}/0"
    assert {try_password(f"other{number}").status_code for number in range(3)} == {200}


def test_a_process_checks_one_password_at_a_time(operator, settings):
    settings.PASSWORD_HASHERS = [f"{__name__}.CountedHasher"]
    before = len(CountedHasher.calls)
    with password_slot():
        page, answer = try_password("operator", PASSWORD), verify("operator", PASSWORD)
        assert (page.status_code, page["Retry-After"], page["Cache-Control"]) == (503, "1", "no-store")
        assert "Try again in a second" in page.text
        assert (answer.status_code, answer["Retry-After"]) == (503, "1")
        assert answer.json() == {"error": "Too many concurrent log-ins"}
        assert Client().get(LOGIN).status_code == 200
    assert len(CountedHasher.calls) == before
    assert try_password("nobody").status_code == 200


def test_a_new_hash_has_the_parameters_of_owasp(settings):
    settings.PASSWORD_HASHERS = PASSWORD_HASHERS
    assert make_password(PASSWORD).startswith("argon2$argon2id$v=19$m=19456,t=2,p=1$")


@pytest.mark.parametrize("log_in", [try_password, verify])
def test_a_hash_of_an_earlier_release_is_valid_and_replaced_at_the_next_log_in(operator, settings, log_in):
    settings.PASSWORD_HASHERS = [OLD]
    earlier = make_password(PASSWORD)
    User.objects.update(password=earlier)
    settings.PASSWORD_HASHERS = PASSWORD_HASHERS
    log_in("operator")
    assert User.objects.get().password == earlier
    for _ in range(2):
        assert log_in("operator", PASSWORD).status_code in (200, 302)
        assert User.objects.get().password.startswith("argon2$")


NAMES = ["nobody", "current", "older", "unusable"]


@pytest.mark.parametrize("log_in", [try_password, verify])
@pytest.mark.parametrize(("has_older", "work"), [(True, ["current", "older"]), (False, ["current"])])
def test_every_refused_name_costs_the_same_work(settings, log_in, has_older, work):
    kinds = {kind: f"{__name__}.{kind.title()}Hasher" for kind in ("counted", "older")}
    settings.PASSWORD_HASHERS = list(kinds.values())
    User.objects.create_superuser("current", password=PASSWORD)
    User.objects.create_superuser("unusable")
    if has_older:
        User.objects.create(username="older", password=make_password(PASSWORD, hasher="older"), is_staff=True)
    for name in NAMES:
        CountedHasher.calls.clear()
        log_in(name)
        assert sorted(CountedHasher.calls) == work, name


def test_a_locked_out_name_costs_the_same_work_at_the_api(settings):
    settings.PASSWORD_HASHERS = [f"{__name__}.CountedHasher", f"{__name__}.OlderHasher"]
    settings.AXES_FAILURE_LIMIT = 2
    User.objects.create(username="older", password=make_password(PASSWORD, hasher="older"), is_staff=True)
    for _ in range(4):
        CountedHasher.calls.clear()
        assert verify("older").status_code == 401
        assert sorted(CountedHasher.calls) == ["current", "older"]


@pytest.mark.parametrize("name", ["a" * 151, "a" * 300])
def test_a_name_longer_than_any_is_refused_by_the_form(client, name):
    page = client.post("/admin/login/", {"username": name, "password": "x"})
    assert page.status_code == 200
    assert "A name has at most 150 characters." in page.text
    assert not AccessAttempt.objects.exists()
