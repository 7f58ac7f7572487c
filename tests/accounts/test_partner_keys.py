"""Partner keys: format, storage, verification, rotation and revocation."""

import re
import zlib
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import product

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from accounts.keys import credentials
from accounts.models import KeyState, PartnerKey, PartnerKeySecret, Scope
from tests.processes.at_once import blocked_sessions, own_connection
from tests.processes.waiting import wait_for
from tests.rows.factories import PartnerKeyFactory, PartnerKeySecretFactory

pytestmark = pytest.mark.django_db

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
JUNK = [
    "",
    " ",
    "lb_live_",
    "Bearer abc",
    "lb_live_" + "a" * 46,
    "lb_live_" + "é" * 46,
    "lb_live_" + "\0" * 46,
    "lb_live_" + "٣" * 46,
    "x" * 100_000,
]


@pytest.mark.parametrize("junk", JUNK)
def test_junk_is_no_key_and_costs_no_query(junk, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert credentials.verify_key(junk) is None


def test_it_refuses_a_key_with_anything_around_it_without_a_query(django_assert_num_queries):
    text = credentials.issue_key("Acme", scopes=[Scope.READ])
    with django_assert_num_queries(0):
        for around in (f" {text}", f"{text}\n", f"{text}{text}", f"{text}x", text.upper(), text[:-1]):
            assert credentials.verify_key(around) is None


def test_it_refuses_a_key_with_any_one_character_changed(django_assert_num_queries):
    text = credentials.issue_key("Acme", scopes=[Scope.READ])
    with django_assert_num_queries(0):
        for position, character in product(range(len(text)), f"{BASE62}_ é\0"):
            changed = text[:position] + character + text[position + 1 :]
            assert changed == text or credentials.verify_key(changed) is None
    assert credentials.verify_key(text) is not None


def test_it_refuses_a_well_formed_key_that_was_never_issued(django_assert_num_queries):
    body = credentials.PREFIX + "A" * 40
    with django_assert_num_queries(1):
        assert credentials.verify_key(body + credentials.key_checksum(body)) is None


def test_it_refuses_another_secret_under_an_issued_id():
    text = credentials.issue_key("Acme", scopes=[Scope.READ])
    body = text[:16] + "A" * 32
    assert credentials.verify_key(body + credentials.key_checksum(body)) is None


def test_it_refuses_every_key_under_another_pepper(settings):
    text = credentials.issue_key("Acme", scopes=[Scope.READ])
    settings.PARTNER_KEY_PEPPER = settings.PARTNER_KEY_PEPPER + "x"
    assert credentials.verify_key(text) is None


@pytest.mark.parametrize(
    ("name", "scopes", "field"),
    [
        ("", ["read"], "name"),
        (" \t", ["read"], "name"),
        ("a" * 101, ["read"], "name"),
        ("Acme", [], "scopes"),
        ("Acme", ["write"], "scopes"),
        ("Acme", ["read", ""], "scopes"),
    ],
)
def test_it_refuses_to_issue_nonsense_and_names_the_field(name, scopes, field):
    with pytest.raises(ValidationError) as refused:
        credentials.issue_key(name, scopes=scopes)
    assert field in refused.value.message_dict
    assert not PartnerKey.objects.exists()


def test_it_refuses_to_issue_a_key_that_has_expired_already():
    with pytest.raises(ValidationError) as refused:
        credentials.issue_key("Acme", scopes=[Scope.READ], expires_at=timezone.now())
    assert "expires_at" in refused.value.message_dict


@pytest.mark.parametrize("scopes", [[], ["write"], ["read", "write"], ["read", None]])
def test_the_database_refuses_unknown_scopes_and_keys_without_any(scopes):
    key = PartnerKeyFactory()
    with pytest.raises(IntegrityError, match="partner_key_scopes_known"), transaction.atomic():
        PartnerKey.objects.filter(pk=key.pk).update(scopes=scopes)


@pytest.mark.parametrize(
    ("constraint", "create"),
    [
        ("partner_key_name_not_blank", lambda: PartnerKeyFactory(name="  ")),
        ("partner_key_secret_digest_form", lambda: PartnerKeySecretFactory(digest="lb_live_" + "a" * 46)),
        ("partner_key_secret_key_id_unique", lambda: PartnerKeySecretFactory.create_batch(2, key_id="AbCd1234")),
    ],
)
def test_the_database_keeps_the_rules_of_keys_and_secrets(constraint, create):
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        create()


@pytest.mark.parametrize("state", [KeyState.REVOKED, KeyState.EXPIRED])
def test_it_refuses_to_rotate_a_key_that_is_not_active(state):
    key = PartnerKeyFactory(revoked=state == KeyState.REVOKED, expired=state == KeyState.EXPIRED)
    with pytest.raises(credentials.KeyNotActiveError, match=state):
        credentials.rotate_key(key)
    assert not key.secrets.exists()


@pytest.mark.django_db(transaction=True)
def test_a_rotation_that_waits_for_a_revocation_is_refused():
    key = PartnerKeyFactory()
    with ThreadPoolExecutor(max_workers=1) as pool:
        with transaction.atomic():
            assert credentials.revoke_key(key)
            outcome = pool.submit(own_connection(credentials.rotate_key), key)
            wait_for(blocked_sessions)
        with pytest.raises(credentials.KeyNotActiveError):
            outcome.result(timeout=120)


def test_a_key_has_the_form_that_scanners_recognise_and_ends_in_its_crc32():
    text = credentials.issue_key("Acme", scopes=[Scope.READ])
    assert re.fullmatch(r"lb_live_[0-9A-Za-z]{46}", text)
    number = 0
    for character in text[-6:]:
        number = number * 62 + BASE62.index(character)
    assert number == zlib.crc32(text[:-6].encode())


def test_two_keys_share_neither_id_nor_secret():
    one, other = (credentials.issue_key("Acme", scopes=[Scope.READ]) for _ in range(2))
    assert one[8:16] != other[8:16]
    assert one[16:48] != other[16:48]


def test_it_verifies_an_issued_key_with_one_query(django_assert_num_queries):
    text = credentials.issue_key(" Acme ", scopes=[Scope.INDEX, Scope.READ, Scope.INDEX])
    with django_assert_num_queries(1):
        key = credentials.verify_key(text)
        assert (key.name, key.scopes, key.state) == ("Acme", ["read", "index"], KeyState.ACTIVE)


def test_of_a_key_only_its_id_and_an_hmac_are_stored():
    text = credentials.issue_key("Acme", scopes=[Scope.READ])
    with connection.cursor() as cursor:
        cursor.execute("SELECT s::text || k::text FROM accounts_partnerkeysecret s, accounts_partnerkey k")
        [(stored,)] = cursor.fetchall()
    assert text[8:16] in stored
    assert text[16:48] not in stored
    assert PartnerKeySecret.objects.get().digest == credentials.key_digest(text)


def test_rotation_keeps_the_two_newest_keys_and_retires_the_rest():
    texts = [credentials.issue_key("Acme", scopes=[Scope.READ])]
    key = credentials.verify_key(texts[0])
    texts.append(credentials.rotate_key(key))
    assert [credentials.verify_key(text) for text in texts] == [key, key]
    texts.append(credentials.rotate_key(key))
    assert [credentials.verify_key(text) for text in texts] == [None, key, key]
    retired = PartnerKeySecret.objects.get(key_id=texts[0][8:16]).expires_at
    texts.append(credentials.rotate_key(key))
    assert [credentials.verify_key(text) for text in texts] == [None, None, key, key]
    assert PartnerKeySecret.objects.get(key_id=texts[0][8:16]).expires_at == retired


def test_rotation_changes_nothing_for_other_partners():
    other = credentials.issue_key("Other", scopes=[Scope.READ])
    key = credentials.verify_key(credentials.issue_key("Acme", scopes=[Scope.READ]))
    for _ in range(3):
        credentials.rotate_key(key)
    assert credentials.verify_key(other).name == "Other"


def test_revoking_refuses_every_secret_of_the_key_once_and_for_all():
    texts = [credentials.issue_key("Acme", scopes=[Scope.READ])]
    key = credentials.verify_key(texts[0])
    texts.append(credentials.rotate_key(key))
    assert credentials.revoke_key(key) is True
    assert [credentials.verify_key(text) for text in texts] == [None, None]
    revoked = PartnerKey.objects.get()
    assert (revoked.state, credentials.revoke_key(key)) == (KeyState.REVOKED, False)
    assert PartnerKey.objects.get().revoked_at == revoked.revoked_at


def test_a_use_is_recorded_at_most_once_a_minute(django_assert_num_queries):
    text = credentials.issue_key("Acme", scopes=[Scope.READ])
    credentials.record_key_use(credentials.verify_key(text))
    first = PartnerKey.objects.get().last_used_at
    assert timezone.now() - first < timedelta(minutes=1)
    key = credentials.verify_key(text)
    with django_assert_num_queries(0):
        credentials.record_key_use(key)
    PartnerKey.objects.update(last_used_at=first - timedelta(seconds=61))
    credentials.record_key_use(credentials.verify_key(text))
    assert PartnerKey.objects.get().last_used_at > first


def test_of_two_calls_that_read_the_same_stale_time_one_records_its_use():
    stale = PartnerKeyFactory()
    credentials.record_key_use(stale)
    first = PartnerKey.objects.get().last_used_at
    credentials.record_key_use(stale)
    assert PartnerKey.objects.get().last_used_at == first


def test_keys_are_found_by_their_state():
    rows = {
        KeyState.ACTIVE: [PartnerKeyFactory(), PartnerKeyFactory(expires_at=timezone.now() + timedelta(days=1))],
        KeyState.EXPIRED: [PartnerKeyFactory(expired=True)],
        KeyState.REVOKED: [PartnerKeyFactory(revoked=True), PartnerKeyFactory(revoked=True, expired=True)],
    }
    for state, expected in rows.items():
        found = list(PartnerKey.objects.in_state(state).order_by("id"))
        assert found == expected
        assert {key.state for key in found} == {state}
