"""Authentication by the header x-api-key and its scopes, on views of this file."""

from datetime import timedelta

import pytest
from django.urls import path
from django.utils import timezone
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.authentication import PartnerKeyAuthentication
from accounts.keys import credentials
from accounts.models import PartnerKey, Scope
from accounts.permissions import HasScope


class KeyNameView(APIView):
    authentication_classes = [PartnerKeyAuthentication]
    permission_classes = [HasScope]
    required_scope = Scope.INDEX

    def get(self, request):
        """Return the name of the key."""
        return Response({"name": request.auth.name, "staff": request.user.is_staff})


class UnguardedView(KeyNameView):
    authentication_classes = []


urlpatterns = [path("api/who", KeyNameView.as_view()), path("api/unguarded", UnguardedView.as_view())]

pytestmark = [pytest.mark.django_db, pytest.mark.urls(__name__)]


def get_with_key(client, text):
    return client.get("/api/who", headers={"x-api-key": text})


@pytest.mark.parametrize("headers", [{}, {"x-api-key": ""}])
def test_it_requires_a_key_where_none_is_sent(client, headers, django_assert_num_queries):
    with django_assert_num_queries(0):
        answer = client.get("/api/who", headers=headers)
    assert (answer.status_code, answer.json()) == (401, {"error": "API key is required"})
    assert answer.headers["WWW-Authenticate"] == 'ApiKey realm="partners", header="x-api-key"'


def test_it_refuses_unknown_revoked_expired_and_retired_keys_in_the_same_words(client):
    body = credentials.PREFIX + "A" * 40
    refused = [body + credentials.key_checksum(body)]
    refused.append(credentials.issue_key("Revoked", scopes=[Scope.INDEX]))
    credentials.revoke_key(credentials.verify_key(refused[-1]))
    refused.append(
        credentials.issue_key("Expired", scopes=[Scope.INDEX], expires_at=timezone.now() + timedelta(days=1))
    )
    PartnerKey.objects.filter(name="Expired").update(expires_at=timezone.now())
    refused.append(credentials.issue_key("Retired", scopes=[Scope.INDEX]))
    for _ in range(2):
        credentials.rotate_key(PartnerKey.objects.get(name="Retired"))
    answers = [get_with_key(client, text) for text in refused]
    assert [(answer.status_code, answer.json()) for answer in answers] == [(401, {"error": "Unauthorized"})] * 4
    assert {answer.headers["WWW-Authenticate"] for answer in answers} == {'ApiKey realm="partners", header="x-api-key"'}


def test_a_view_that_requires_a_scope_without_authentication_refuses_all_callers(client):
    text = credentials.issue_key("Acme", scopes=[Scope.INDEX])
    answer = client.get("/api/unguarded", headers={"x-api-key": text})
    assert (answer.status_code, answer.json()) == (401, {"error": "API key is required"})


def test_it_lets_a_key_with_the_scope_pass_as_its_partner_with_one_query(client, django_assert_num_queries):
    text = credentials.issue_key("Acme", scopes=[Scope.INDEX])
    get_with_key(client, text)
    with django_assert_num_queries(1):
        answer = get_with_key(client, text)
    assert (answer.status_code, answer.json()) == (200, {"name": "Acme", "staff": False})


def test_it_records_that_the_key_was_used(client):
    text = credentials.issue_key("Acme", scopes=[Scope.READ])
    before = timezone.now()
    get_with_key(client, text)
    assert before <= PartnerKey.objects.get().last_used_at <= timezone.now()
