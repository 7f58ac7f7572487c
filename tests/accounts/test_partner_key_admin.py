"""The admin pages of partner keys."""

import re
from datetime import timedelta

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.urls import reverse
from django.utils import timezone

from accounts.admin.partner_key_pages import PartnerKeyForm
from accounts.keys import credentials
from accounts.models import KeyState, PartnerKey
from tests.rows.factories import PartnerKeyFactory, PartnerKeySecretFactory

pytestmark = pytest.mark.django_db

LIST = "/admin/accounts/partnerkey/"
ADD = "/admin/accounts/partnerkey/add/"


def key_shown_on(page):
    [text] = re.findall(r"lb_live_[0-9A-Za-z]{46}", page.content.decode())
    return text


def page_of(key, *, action="change"):
    return reverse(f"admin:accounts_partnerkey_{action}", args=[key.pk])


def test_it_refuses_issuing_to_support_and_shows_no_buttons(support):
    key = PartnerKeyFactory()
    assert support.post(ADD, {"name": "Acme", "scopes": ["read"]}).status_code == 403
    page = support.get(page_of(key))
    assert page.status_code == 200
    assert page_of(key, action="rotate") not in page.content.decode()
    assert page_of(key, action="revoke") not in page.content.decode()


@pytest.mark.parametrize("action", ["change", "rotate", "revoke"])
def test_it_sends_strangers_to_the_login_page(client, action):
    answer = client.post(page_of(PartnerKeyFactory(), action=action))
    assert (answer.status_code, answer.url.partition("?")[0]) == (302, "/admin/login/")
    assert PartnerKey.objects.get().revoked_at is None


def test_it_never_deletes_a_key(operator):
    key = PartnerKeyFactory()
    assert operator.post(f"{LIST}{key.pk}/delete/", {"post": "yes"}).status_code == 403
    operator.post(LIST, {"action": "delete_selected", "_selected_action": [key.pk], "post": "yes"})
    assert PartnerKey.objects.filter(pk=key.pk).exists()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"scopes": ["read"]}, "This field is required"),
        ({"name": "Acme"}, "This field is required"),
        ({"name": "Acme", "scopes": ["write"]}, "write is not one of the available choices"),
        (
            {"name": "Acme", "scopes": ["read"], "expires_at_0": "2020-01-01", "expires_at_1": "00:00:00"},
            "The expiry must be in the future",
        ),
    ],
)
def test_it_refuses_to_issue_nonsense(operator, fields, words):
    page = operator.post(ADD, fields)
    assert words in page.content.decode()
    assert not PartnerKey.objects.exists()


def test_it_shows_an_issued_key_that_verifies(operator):
    expiry = timezone.now() + timedelta(days=2)
    page = operator.post(
        ADD,
        {
            "name": "Acme",
            "scopes": ["read", "agents"],
            "expires_at_0": expiry.date().isoformat(),
            "expires_at_1": "12:00:00",
        },
    )
    assert page.status_code == 200
    assert "no-store" in page.headers["Cache-Control"]
    key = credentials.verify_key(key_shown_on(page))
    assert (key.name, key.scopes) == ("Acme", ["read", "agents"])
    assert (key.expires_at.date(), key.expires_at.hour) == (expiry.date(), 12)


def test_it_shows_an_issued_key_once_and_keeps_it_nowhere(operator):
    text = key_shown_on(operator.post(ADD, {"name": "Acme", "scopes": ["read"]}))
    key = credentials.verify_key(text)
    for address in (LIST, ADD, page_of(key), f"{LIST}{key.pk}/history/", "/admin/"):
        assert text[16:48] not in operator.get(address).content.decode()
    assert all(text not in str(session.get_decoded()) for session in Session.objects.all())
    assert all(text not in cookie.value for cookie in operator.cookies.values())
    assert all(text not in entry.change_message + entry.object_repr for entry in LogEntry.objects.all())


@pytest.mark.parametrize("button", ["_addanother", "_continue", "_popup"])
def test_it_shows_the_key_whichever_button_saved_it(operator, button):
    page = operator.post(ADD, {"name": "Acme", "scopes": ["read"], button: "1"})
    assert credentials.verify_key(key_shown_on(page)) is not None


def test_opening_the_rotation_page_changes_nothing(operator):
    text = credentials.issue_key("Acme", scopes=["read"])
    page = operator.get(page_of(credentials.verify_key(text), action="rotate"))
    assert text[8:16] in page.content.decode()
    assert credentials.verify_key(text).secrets.count() == 1


def test_rotating_shows_a_new_key_beside_which_the_old_one_stays_valid(operator):
    old = credentials.issue_key("Acme", scopes=["read"])
    key = credentials.verify_key(old)
    page = operator.post(page_of(key, action="rotate"))
    assert "no-store" in page.headers["Cache-Control"]
    new = key_shown_on(page)
    assert credentials.verify_key(old) == credentials.verify_key(new) == key
    third = key_shown_on(operator.post(page_of(key, action="rotate")))
    assert [credentials.verify_key(text) for text in (old, new, third)] == [None, key, key]


def test_it_refuses_to_rotate_a_revoked_key(operator):
    key = PartnerKeyFactory(revoked=True)
    page = operator.post(page_of(key, action="rotate"), follow=True)
    assert "This key is revoked, so it can&#x27;t be rotated." in page.content.decode()
    assert not key.secrets.exists()
    assert not LogEntry.objects.exists()


def test_revoking_needs_a_confirmation_and_then_refuses_the_key(operator):
    text = credentials.issue_key("Acme", scopes=["read"])
    key = credentials.verify_key(text)
    assert "be undone" in operator.get(page_of(key, action="revoke")).content.decode()
    assert credentials.verify_key(text) == key
    page = operator.post(page_of(key, action="revoke"), follow=True)
    assert "The key of Acme is revoked." in page.content.decode()
    assert credentials.verify_key(text) is None


@pytest.mark.parametrize(
    ("fields", "actions"),
    [({}, {"rotate", "revoke"}), ({"expired": True}, {"revoke"}), ({"revoked": True}, set())],
)
def test_the_page_offers_what_the_keys_state_leaves_a_use_for(operator, fields, actions):
    key = PartnerKeyFactory(**fields)
    text = operator.get(page_of(key)).content.decode()
    assert {action for action in ("rotate", "revoke") if page_of(key, action=action) in text} == actions


def test_revoking_twice_is_logged_once(operator):
    key = PartnerKeyFactory()
    for _ in range(2):
        operator.post(page_of(key, action="revoke"))
    assert LogEntry.objects.count() == 1


def test_issue_rotation_and_revocation_are_logged_with_who_did_it(operator):
    key = credentials.verify_key(key_shown_on(operator.post(ADD, {"name": "Acme", "scopes": ["read"]})))
    operator.post(page_of(key, action="rotate"))
    operator.post(page_of(key, action="revoke"))
    entries = LogEntry.objects.order_by("id")
    assert [entry.get_change_message() for entry in entries] == ["Added.", "Rotated.", "Revoked."]
    assert {(entry.user, entry.object_id) for entry in entries} == {(User.objects.get(), str(key.pk))}


def test_editing_changes_name_scopes_and_expiry_but_neither_state_nor_secrets(operator):
    text = credentials.issue_key("Acme", scopes=["read"])
    key = credentials.verify_key(text)
    before = list(key.secrets.values())
    sent = {"name": "Acme Inc", "scopes": ["index"], "revoked_at": "2020-01-01", "key_ids": "x", "digest": "0" * 64}
    assert operator.post(page_of(key), sent).status_code == 302
    key = credentials.verify_key(text)
    assert (key.name, key.scopes, key.revoked_at) == ("Acme Inc", ["index"], None)
    assert list(key.secrets.values()) == before


def test_saving_an_edit_keeps_a_revocation_that_came_in_between():
    key = PartnerKeyFactory()
    form = PartnerKeyForm({"name": "Acme Inc", "scopes": ["index"]}, instance=PartnerKey.objects.get())
    assert form.is_valid()
    credentials.revoke_key(key)
    admin.site.get_model_admin(PartnerKey).save_model(None, form.instance, form, change=True)
    key.refresh_from_db()
    assert (key.name, key.scopes, key.state) == ("Acme Inc", ["index"], KeyState.REVOKED)


def test_an_expired_key_can_be_renamed_without_a_new_expiry(operator):
    expiry = timezone.now().replace(microsecond=0) - timedelta(days=1)
    key = PartnerKeyFactory(expires_at=expiry)
    sent = {
        "name": "Acme Inc",
        "scopes": ["index"],
        "expires_at_0": expiry.date().isoformat(),
        "expires_at_1": expiry.time().isoformat(),
    }
    assert operator.post(page_of(key), sent).status_code == 302
    key.refresh_from_db()
    assert (key.name, key.expires_at) == ("Acme Inc", expiry)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", {"Live", "Over", "Shut"}),
        ("?q=liv", {"Live"}),
        ("?q=AbCd1234", {"Live"}),
        ("?state=active", {"Live"}),
        ("?state=expired", {"Over"}),
        ("?state=revoked", {"Shut"}),
        ("?scope=deploy", {"Over"}),
        ("?scope=read", {"Live", "Over", "Shut"}),
        ("?state=nonsense&scope=nonsense", {"Live", "Over", "Shut"}),
    ],
)
def test_the_list_is_searched_and_filtered(operator, query, names):
    PartnerKeySecretFactory(partner_key=PartnerKeyFactory(name="Live"), key_id="AbCd1234")
    PartnerKeyFactory(name="Over", expired=True, scopes=["read", "deploy"])
    PartnerKeyFactory(name="Shut", revoked=True)
    page = operator.get(LIST + query)
    assert {key.name for key in page.context["cl"].result_list} == names


def test_the_list_names_the_ids_of_current_secrets_only(operator):
    texts = [credentials.issue_key("Acme", scopes=["read"])]
    texts += [credentials.rotate_key(credentials.verify_key(texts[0])) for _ in range(2)]
    page = operator.get(LIST).content.decode()
    assert f"{texts[2][8:16]}, {texts[1][8:16]}<" in page
    assert texts[0][8:16] not in page


def test_the_list_takes_the_same_few_queries_however_many_keys_there_are(operator, django_assert_max_num_queries):
    for key in PartnerKeyFactory.create_batch(30):
        PartnerKeySecretFactory.create_batch(2, partner_key=key)
    with django_assert_max_num_queries(9):
        operator.get(LIST)
