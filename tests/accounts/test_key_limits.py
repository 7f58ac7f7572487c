"""Rate limits of single partner keys, which override the default limit of keys."""

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from accounts.keys import credentials
from accounts.models import PartnerKey, Scope
from tests.config.api.test_throttling import rate_limit_of
from tests.rows.factories import PartnerKeyFactory

pytestmark = pytest.mark.django_db

READ = "/api/tokens/authenticated"
ADMIN = "/admin/accounts/partnerkey/"


@pytest.fixture(autouse=True)
def limits(settings, no_calls):
    """Set default limits that tests can reach."""
    settings.RATE_LIMIT_KEYED, settings.RATE_LIMIT_INDEX = 3, 2
    return settings


def key_with(calls_per_minute, *, name="Partner"):
    """Issue a key with this limit and return its header."""
    text = credentials.issue_key(name, scopes=[Scope.READ, Scope.INDEX])
    PartnerKey.objects.filter(name=name).update(calls_per_minute=calls_per_minute)
    return {"x-api-key": text}


@pytest.mark.parametrize("number", [-1, 1_000_001])
def test_it_takes_no_limit_out_of_bounds(number):
    with pytest.raises(ValidationError) as caught:
        PartnerKeyFactory.build(calls_per_minute=number).full_clean()
    assert set(caught.value.message_dict) == {"calls_per_minute"}
    with pytest.raises(IntegrityError), transaction.atomic():
        PartnerKeyFactory(calls_per_minute=number)


@pytest.mark.parametrize(("limit", "passed"), [(1, 1), (5, 5), (0, 6)])
def test_a_key_has_its_own_limit_and_0_is_none(client, limit, passed):
    header = key_with(limit)
    statuses = [client.get(READ, headers=header).status_code for _ in range(6)]
    assert statuses == [200] * passed + [429] * (6 - passed)


def test_it_limits_a_key_while_the_others_have_no_limit(client, limits):
    limits.RATE_LIMIT_KEYED = 0
    limited, other = key_with(1), key_with(None, name="Other")
    assert [rate_limit_of(client.get(READ, headers=limited))[0] for _ in range(2)] == [200, 429]
    assert {rate_limit_of(client.get(READ, headers=other)) for _ in range(4)} == {(200, None, None)}


def test_a_new_limit_holds_from_the_next_call_on(client):
    header = key_with(1)
    assert [rate_limit_of(client.get(READ, headers=header))[0] for _ in range(2)] == [200, 429]
    PartnerKey.objects.update(calls_per_minute=4)
    assert rate_limit_of(client.get(READ, headers=header)) == (200, "4", "1")


def test_indexing_keeps_its_limit(client):
    header = key_with(100)
    answers = [
        client.post("/api/tokens/index", "{}", content_type="application/json", headers=header) for _ in range(3)
    ]
    assert [rate_limit_of(answer)[:2] for answer in answers] == [(400, "2"), (400, "2"), (429, "2")]


def test_an_operator_gives_a_key_a_limit_and_takes_it_away(operator):
    operator.post(f"{ADMIN}add/", {"name": "Acme", "scopes": ["read"], "calls_per_minute": "7"})
    key = PartnerKey.objects.get()
    assert key.calls_per_minute == 7
    operator.post(f"{ADMIN}{key.pk}/change/", {"name": "Acme", "scopes": ["read"], "calls_per_minute": ""})
    key.refresh_from_db()
    assert key.calls_per_minute is None
