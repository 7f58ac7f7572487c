"""Times of the admin site in the zone of the operator's browser."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from accounts.models import PartnerKey
from config.operators.local_times import COOKIE, find_zone, local_time
from config.operators.time_fields import LocalDateTimeField, LocalDateTimeWidget
from tests.config.operators.admin_pages import page_of, panels
from tests.rows.factories import DeploymentFactory, IndexRequestFactory, PartnerKeyFactory, TokenFactory
from tokens.models import Token

pytestmark = pytest.mark.django_db

WINTER = datetime(2026, 11, 26, 9, 30, 5, tzinfo=UTC)
BERLIN, KOLKATA, NEW_YORK = "Europe/Berlin", "Asia/Kolkata", "America/New_York"
# 2:30 occurs twice in Berlin on this night.
FIRST_HALF_PAST_TWO = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
SECOND_HALF_PAST_TWO = FIRST_HALF_PAST_TWO + timedelta(hours=1)
NIGHT_OF_CHANGE = [FIRST_HALF_PAST_TWO, SECOND_HALF_PAST_TWO]


def test_a_moment_is_formatted_with_its_zone():
    with timezone.override(ZoneInfo(BERLIN)):
        assert local_time(WINTER) == "2026-11-26 10:30 CET"
        assert local_time(WINTER, "seconds") == "2026-11-26 10:30:05 CET"
        assert [local_time(moment) for moment in NIGHT_OF_CHANGE] == ["2026-10-25 02:30 CEST", "2026-10-25 02:30 CET"]
    assert local_time(WINTER) == "2026-11-26 09:30 UTC"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (BERLIN, f"Times in {BERLIN}"),
        ("Etc/GMT+5", "Times in Etc/GMT+5"),
        ("", "Times in UTC"),
        ("Mars/Olympus", "Times in UTC"),
        ("../../etc/passwd", "Times in UTC"),
        ("Europe", "Times in UTC"),
        ("europe/berlin\x00", "Times in UTC"),
        ("<script>", "Times in UTC"),
        ("\ud800", "Times in UTC"),
        ("x" * 3000, "Times in UTC"),
    ],
)
def test_each_page_names_the_zone_of_its_times(operator, name, shown):
    operator.cookies[COOKIE] = name.encode("utf-8", "replace").decode()
    # All kinds of pages have the header in common.
    others = ("/admin/", "/admin/tokens/token/") if name == BERLIN else ()
    for page in ("/admin/accounts/partnerkey/add/", *others):
        answer = operator.get(page)
        assert answer.status_code == 200
        assert answer.text.count(shown) == 1


def test_only_zones_of_the_database_are_loaded():
    assert str(find_zone(KOLKATA)) == KOLKATA
    assert find_zone("../zoneinfo/UTC") is None


def test_columns_and_fields_show_local_times(operator):
    request = IndexRequestFactory(due_at=WINTER)
    for zone, shown in ((BERLIN, "2026-11-26 10:30 CET"), (KOLKATA, "2026-11-26 15:00 IST")):
        operator.cookies[COOKIE] = zone
        assert shown in operator.get("/admin/tokens/indexrequest/").text
        assert shown in operator.get(page_of(request)).text


def test_the_zone_ends_with_the_request_and_is_not_that_of_the_api(operator, client):
    TokenFactory(deployed_at=WINTER)
    operator.cookies[COOKIE] = BERLIN
    operator.get("/admin/")
    assert timezone.get_current_timezone_name() == "UTC"
    assert operator.get("/api/tokens").json()["data"][0]["deployed_at"] == "2026-11-26T09:30:05.000Z"


@pytest.mark.parametrize("zone", [BERLIN, KOLKATA])
def test_launches_are_labelled_by_local_hours_and_all_counted(operator, zone):
    now = timezone.now()
    Token.objects.all().delete()
    TokenFactory.create_batch(3, deployed_at=now)
    operator.cookies[COOKIE] = zone
    panel = panels(operator)["Launches"]
    label, count = panel.chart.bars[-1]
    hour = now.replace(minute=0, second=0, microsecond=0).astimezone(ZoneInfo(zone))
    assert (label, count) == (f"{hour:%d %b, %H:%M}", 3)


def form_of(client, row):
    """Return the fields of a row's form as the browser submits them."""
    page = client.get(page_of(row)).text
    return {
        name: re.search(rf'<input[^>]* name="{name}"[^>]*>', page)[0].partition('value="')[2].partition('"')[0]
        for name in ("expires_at_0", "expires_at_1", "expires_at_shown")
    }


@pytest.mark.parametrize("expiry", NIGHT_OF_CHANGE)
def test_an_expiry_that_is_not_edited_stays_in_the_hour_that_occurs_twice(operator, expiry):
    key = PartnerKeyFactory(name="Acme", scopes=["read"], expires_at=expiry)
    operator.cookies[COOKIE] = BERLIN
    sent = form_of(operator, key)
    assert (sent["expires_at_0"], sent["expires_at_1"]) == ("2026-10-25", "02:30:00")
    assert operator.post(page_of(key), sent | {"name": "Renamed", "scopes": ["read"]}).status_code == 302
    key.refresh_from_db()
    assert (key.name, key.expires_at) == ("Renamed", expiry)


def test_an_expiry_is_entered_in_the_zone_of_the_page_also_if_the_cookie_has_changed_since(operator):
    key = PartnerKeyFactory(name="Acme", scopes=["read"], expires_at=datetime(2030, 3, 30, 12, tzinfo=UTC))
    operator.cookies[COOKIE] = BERLIN
    sent = form_of(operator, key) | {"name": "Acme", "scopes": ["read"]}
    operator.cookies[COOKIE] = NEW_YORK
    # The clocks go forward in the night between both days.
    assert operator.post(page_of(key), sent | {"expires_at_0": "2030-03-31"}).status_code == 302
    key.refresh_from_db()
    assert key.expires_at == datetime(2030, 3, 31, 11, tzinfo=UTC)
    assert (
        operator.post(page_of(key), sent | {"expires_at_0": "2030-03-31", "expires_at_1": "02:30"}).status_code == 200
    )
    key.refresh_from_db()
    assert key.expires_at == datetime(2030, 3, 31, 11, tzinfo=UTC)


def test_a_new_key_expires_at_the_local_time(operator):
    operator.cookies[COOKIE] = KOLKATA
    fields = {"name": "Acme", "scopes": ["read"], "expires_at_0": "2030-07-01", "expires_at_1": "05:30"}
    assert operator.post("/admin/accounts/partnerkey/add/", fields).status_code == 200
    assert PartnerKey.objects.get().expires_at == datetime(2030, 7, 1, tzinfo=UTC)


def test_a_rejected_form_is_shown_as_it_was_submitted(operator):
    operator.cookies[COOKIE] = BERLIN
    fields = {"name": "", "expires_at_0": "2030-07-01", "expires_at_1": "05:30", "expires_at_shown": NEW_YORK}
    text = operator.post("/admin/accounts/partnerkey/add/", fields).text
    assert f'name="expires_at_shown" value="{NEW_YORK}"' in text


def test_dates_of_accounts_survive_the_form_of_another_zone(operator):
    joined = SECOND_HALF_PAST_TWO
    user = User.objects.create_user("anna", date_joined=joined)
    operator.cookies[COOKIE] = BERLIN
    shown = f"{BERLIN} {joined.isoformat()}"
    fields = {"date_joined_0": "2026-10-25", "date_joined_1": "02:30:00", "date_joined_shown": shown}
    assert operator.post(page_of(user), fields | {"username": "anna.b", "is_active": "on"}).status_code == 302
    user.refresh_from_db()
    assert (user.username, user.date_joined) == ("anna.b", joined)


@pytest.mark.parametrize(
    "shown", ["", "UTC", "nonsense", "Mars/Olympus 2026", "UTC 2026-99-99", "UTC 2026-11-26T09:00:00"]
)
def test_a_malformed_hidden_input_is_ignored(shown):
    field = LocalDateTimeField()
    data = {"at_0": "2026-11-26", "at_1": "10:00", "at_shown": shown}
    value = LocalDateTimeWidget().value_from_datadict(data, {}, "at")
    assert field.clean(value) == datetime(2026, 11, 26, 10, tzinfo=UTC)
    assert not field.has_changed(datetime(2026, 11, 26, 10, tzinfo=UTC), value)
    assert field.has_changed(None, value)


def test_days_of_utc_keep_their_label(operator):
    operator.cookies[COOKIE] = BERLIN
    key = PartnerKeyFactory()
    assert "Calls by day, UTC" in operator.get(page_of(key)).text
    assert "stored by week (UTC)" in operator.get("/admin/tokens/chainhead/partitions/").text
    assert "per day in UTC" in operator.get("/admin/tokens/spendinglimit/add/").text


def test_the_script_and_the_look_are_those_of_the_installation(operator, settings):
    settings.SITE_NAME = "Moonpad & Co"
    text = operator.get("/admin/").text
    assert re.search(r'<script src="/assets/time-zone\.[0-9a-f]{16}\.js">', text)
    assert re.search(r'<link rel="icon" href="/assets/icon\.[0-9a-f]{16}\.svg"', text)
    assert "Dashboard | Moonpad &amp; Co</title>" in text
    assert "Launchboard" not in text
    # The default icon belongs to the public site: here it is a symbol.
    assert not re.search(r'<img src="/assets/icon', text)


def test_an_icon_of_the_installation_replaces_the_symbol(operator, settings):
    settings.SITE_ICON = settings.BASE_DIR / "config" / "site" / "static_files" / "icon.svg"
    assert re.search(r'<img src="/assets/icon\.[0-9a-f]{16}\.svg"', operator.get("/admin/").text)


def test_row_links_leave_out_what_has_no_use(operator):
    failed, done = DeploymentFactory(status="failed"), DeploymentFactory(status="submitted")
    text = operator.get("/admin/tokens/deployment/").text
    assert f'href="/admin/tokens/deployment/{failed.pk}/retry/"' in text
    assert f'href="/admin/tokens/deployment/{done.pk}/retry/"' not in text
    blocked, free = TokenFactory(blocked=True), TokenFactory()
    text = operator.get("/admin/tokens/token/").text
    assert f"/{blocked.pk}/unblock" in text and f"/{blocked.pk}/block" not in text
    assert f"/{free.pk}/block" in text and f"/{free.pk}/unblock" not in text


def test_who_may_change_nothing_has_no_row_links(support):
    token = TokenFactory()
    assert f"/{token.pk}/block" not in support.get("/admin/tokens/token/").text
