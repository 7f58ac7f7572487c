"""Second factor of the admin site: enforced for users with a device, or for all by a setting; never in the API."""

import io
import logging
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connections
from django.test import Client
from django.utils import timezone
from django_otp.oath import totp
from django_otp.plugins.otp_totp.models import TOTPDevice

from accounts.operators import second_factor
from tests.processes.at_once import blocked_sessions, own_connection
from tests.processes.waiting import wait_for

pytestmark = pytest.mark.django_db

VERIFY_PAGE, SET_UP, REMOVE = "/admin/second-factor/", "/admin/second-factor/set-up/", "/admin/second-factor/remove/"
LIST = "/admin/accounts/partnerkey/"


@pytest.fixture
def user():
    return User.objects.create_superuser("operator")


@pytest.fixture
def operator(client, user):
    """Log in by password only."""
    client.force_login(user)
    return client


@pytest.fixture
def device(user):
    """Create the operator's TOTP device."""
    return TOTPDevice.objects.create(user=user, name="app")


def code_of(device):
    """Return the app's current code, and reset its use and throttling."""
    TOTPDevice.objects.filter(pk=device.pk).update(
        last_t=-1, throttling_failure_timestamp=None, throttling_failure_count=0
    )
    return f"{totp(device.bin_key):06}"


def wrong_code_of(device):
    return f"{(int(code_of(device)) + 500_000) % 1_000_000:06}"


def audit_log():
    return list(LogEntry.objects.order_by("id").values_list("user__username", "object_repr", "change_message"))


def log_in_anew(user):
    client = Client()
    client.force_login(user)
    return client


def refused(answer):
    return answer.status_code == 302 and answer.url.startswith(VERIFY_PAGE)


@pytest.mark.parametrize("address", ["/admin/", LIST, f"{LIST}add/", "/admin/auth/user/", "/admin/password_change/"])
def test_only_the_password_opens_nothing_with_a_device(operator, device, address):
    answer = operator.get(f"{address}?q=a&b=c")
    assert answer.status_code == 302
    assert answer.url == f"{VERIFY_PAGE}?next={address.replace('/', '%2F')}%3Fq%3Da%26b%3Dc"
    assert refused(operator.post(address, {"name": "Acme", "scopes": ["read"]}))


def test_nothing_is_set_up_or_removed_with_only_the_password(operator, device):
    assert refused(operator.get(SET_UP))
    assert refused(operator.post(SET_UP, {"code": code_of(device)}))
    operator.post(REMOVE, {"code": wrong_code_of(device)})
    assert list(TOTPDevice.objects.values_list("pk", "confirmed")) == [(device.pk, True)]


@pytest.mark.parametrize("is_visitor", [False, True])
def test_strangers_and_accounts_that_are_no_staff_are_sent_to_the_log_in(client, is_visitor):
    if is_visitor:
        client.force_login(User.objects.create_user("visitor"))
    for address in (VERIFY_PAGE, SET_UP):
        assert client.get(address).url == f"/admin/login/?next={address}"
    assert client.post(REMOVE).url == f"/admin/login/?next={REMOVE}"
    assert not TOTPDevice.objects.exists()


@pytest.mark.parametrize("code", ["", "abc", "12345678901234567890", "\N{ARABIC-INDIC DIGIT ONE}" * 6])
def test_it_takes_no_nonsense_for_a_code(operator, device, code):
    page = operator.post(VERIFY_PAGE, {"code": code})
    assert (page.status_code, "This code is wrong" in page.text) == (200, True)
    assert refused(operator.get(LIST))


def test_it_takes_no_wrong_code_and_throttles_after_one(operator, device):
    wrong = wrong_code_of(device)
    assert "This code is wrong" in operator.post(VERIFY_PAGE, {"code": wrong}).text
    assert TOTPDevice.objects.get().throttling_failure_count == 1
    TOTPDevice.objects.update(throttling_failure_timestamp=timezone.now(), throttling_failure_count=6)
    # Also the right one is refused now.
    page = operator.post(VERIFY_PAGE, {"code": f"{totp(device.bin_key):06}"})
    assert page.status_code == 429
    assert 1 <= int(page["Retry-After"]) <= 32
    assert "Too many wrong codes" in page.text
    assert refused(operator.get(LIST))


def test_it_takes_no_code_twice(operator, user, device):
    code = code_of(device)
    assert operator.post(VERIFY_PAGE, {"code": code}).status_code == 302
    again = log_in_anew(user)
    assert "was used before" in again.post(VERIFY_PAGE, {"code": code}).text
    assert refused(again.get(LIST))


@pytest.mark.django_db(transaction=True)
def test_of_equal_codes_at_once_one_is_right(user, device):
    code = code_of(device)

    @own_connection
    def verify(_):
        try:
            return second_factor.verify_code(user, code) is not None
        except (second_factor.WrongCodeError, second_factor.TooManyCodesError):
            return False

    other = connections["default"].copy()
    with ThreadPoolExecutor(4) as pool, other.cursor() as cursor:
        # The lock keeps each from storing its use of the code until all four have read the device.
        cursor.execute("BEGIN")
        cursor.execute("SELECT FROM otp_totp_totpdevice FOR UPDATE")
        calls = pool.map(verify, range(4))
        wait_for(lambda: blocked_sessions() == 4)
        cursor.execute("COMMIT")
        assert sorted(calls) == [False, False, False, True]
    other.close()


def test_it_takes_no_code_of_another_users_device(operator, device):
    other = TOTPDevice.objects.create(user=User.objects.create_superuser("other"), name="app")
    assert "This code is wrong" in operator.post(VERIFY_PAGE, {"code": f"{totp(other.bin_key):06}"}).text


@pytest.mark.parametrize("form", ["{}{}", " {} {} "])
def test_the_right_code_redirects_to_the_requested_page(operator, device, form):
    before, code = operator.session.session_key, code_of(device)
    answer = operator.post(VERIFY_PAGE, {"code": form.format(code[:3], code[3:]), "next": f"{LIST}?q=a"})
    assert (answer.status_code, answer.url) == (302, f"{LIST}?q=a")
    assert operator.session.session_key != before
    assert operator.get(LIST).status_code == 200


@pytest.mark.parametrize("wanted", ["", "https://evil.example/", "//evil.example/", "javascript:alert(1)", "/\\evil"])
def test_it_redirects_to_no_other_site(operator, device, wanted):
    assert operator.post(VERIFY_PAGE, {"code": code_of(device), "next": wanted}).url == "/admin/"


def test_users_without_a_code_can_log_out(operator, device):
    assert operator.post("/admin/logout/").status_code == 200
    assert operator.get(LIST).url.startswith("/admin/login/")


def test_the_code_page_shows_nothing_of_the_site_and_is_stored_nowhere(operator, device):
    page = operator.get(f"{VERIFY_PAGE}?next=%22%3E%3Cscript%3E")
    assert "no-store" in page["Cache-Control"]
    assert "<script>" not in page.text
    assert "partnerkey" not in page.text


def test_without_a_device_no_code_is_required(operator):
    assert operator.get(LIST).status_code == 200
    assert operator.get(VERIFY_PAGE).url == SET_UP


def test_a_device_is_set_up_by_its_first_code(operator, user):
    page = operator.get(SET_UP)
    device = TOTPDevice.objects.get()
    assert "no-store" in page["Cache-Control"]
    assert page.context["qr_code"].startswith("data:image/svg+xml;base64,")
    assert re.sub(" ", "", page.context["secret"]) in device.config_url
    assert page.context["secret"] in page.text and page.context["qr_code"] in page.text
    # It does not count yet, and a page that is loaded again shows the same one.
    assert log_in_anew(user).get(LIST).status_code == 200
    assert operator.get(SET_UP).context["secret"] == page.context["secret"]
    assert "This code is wrong" in operator.post(SET_UP, {"code": wrong_code_of(device)}).text

    assert operator.post(SET_UP, {"code": code_of(device)}).url == "/admin/"
    assert operator.get(LIST).status_code == 200
    assert refused(log_in_anew(user).get(LIST))
    assert audit_log() == [("operator", "operator", "second factor set up")]


def test_no_second_device_is_set_up_beside_the_first(operator, user, device):
    TOTPDevice.objects.create(user=user, name="new", confirmed=False)
    for new in TOTPDevice.objects.filter(confirmed=False):
        with pytest.raises(second_factor.WrongCodeError):
            second_factor.confirm_device(user, code_of(new))
    assert TOTPDevice.objects.get(confirmed=True) == device


def test_the_secret_is_never_shown_afterwards(operator, device):
    operator.post(VERIFY_PAGE, {"code": code_of(device)})
    secret = second_factor.secret_text(device)
    for address in (SET_UP, f"/admin/auth/user/{device.user_id}/change/", "/admin/"):
        page = operator.get(address)
        assert page.status_code == 200
        assert secret not in page.text and device.key not in page.text
    assert operator.get("/admin/otp_totp/totpdevice/").status_code == 404


def test_a_device_is_removed_by_one_of_its_codes(operator, user, device):
    operator.post(VERIFY_PAGE, {"code": code_of(device)})
    assert "This code is wrong" in operator.post(REMOVE, {"code": wrong_code_of(device)}).text
    assert TOTPDevice.objects.exists()
    assert audit_log() == []
    assert operator.post(REMOVE, {"code": code_of(device)}).url == SET_UP
    assert audit_log() == [("operator", "operator", "second factor removed")]
    assert log_in_anew(user).get(LIST).status_code == 200


def test_a_session_of_a_device_that_was_removed_is_no_better_than_others(operator, user, device):
    operator.post(VERIFY_PAGE, {"code": code_of(device)})
    second_factor.reset_second_factor(user)
    TOTPDevice.objects.create(user=user, name="new")
    assert refused(operator.get(LIST))


def test_by_setting_every_user_has_to_set_one_up(operator, user, settings):
    settings.ADMIN_TOTP_REQUIRED = True
    assert operator.get(LIST, follow=True).redirect_chain[-1][0] == SET_UP
    operator.post(SET_UP, {"code": code_of(TOTPDevice.objects.get())})
    assert operator.get(LIST).status_code == 200


@pytest.mark.parametrize("required", [True, False])
def test_the_api_and_public_pages_require_no_code(operator, device, settings, required, read_key):
    settings.ADMIN_TOTP_REQUIRED = required
    assert operator.get("/api/tokens").status_code == 200
    assert operator.get("/api/tokens/authenticated", headers=read_key).status_code == 200
    assert operator.get("/").status_code == 200
    assert operator.get("/admin/login/").status_code == 302


def test_the_api_loads_no_session(operator, device, django_assert_num_queries):
    with django_assert_num_queries(0):
        operator.get("/api/nothing")


def test_a_user_without_the_app_is_let_in_by_a_command(operator, user, device, caplog):
    out = io.StringIO()
    with caplog.at_level(logging.WARNING, logger="accounts"):
        call_command("forget_second_factor", "operator", stdout=out)
    assert out.getvalue() == "operator logs in without a code now.\n"
    assert "was removed" in caplog.text
    assert operator.get(LIST).status_code == 200
    call_command("forget_second_factor", "operator", stdout=out)
    assert out.getvalue().endswith("operator had no second factor.\n")
    # There is no other account that could have done it.
    assert audit_log() == [("operator", "operator", "second factor removed by manage.py forget_second_factor")]


def test_the_command_names_an_account_that_is_none():
    with pytest.raises(CommandError, match="no account is named nobody"):
        call_command("forget_second_factor", "nobody")


def test_the_page_of_the_code_is_english_and_names_no_other_language(operator, device, settings):
    settings.SITE_LANGUAGES, settings.SITE_NAME = ("de", "en"), "Moonpad"
    text = operator.get(VERIFY_PAGE).text
    assert '<html lang="en">' in text and "<span>Moonpad</span>" in text
    assert "hreflang" not in text
