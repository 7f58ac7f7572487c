"""The admin pages of tokens and index requests."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from tests.factories import IndexRequestFactory, TokenFactory
from tokens.models import IndexRequest, Token

pytestmark = pytest.mark.django_db

TOKENS, REQUESTS = "admin:tokens_token_changelist", "admin:tokens_indexrequest_changelist"


@pytest.fixture
def operator(client):
    """The client of a superuser."""
    client.force_login(User.objects.create_superuser("operator"))
    return client


@pytest.fixture
def viewer(client):
    """The client of somebody who may look at tokens and requests, and change neither."""
    user = User.objects.create_user("viewer", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=["view_token", "view_indexrequest"]))
    client.force_login(user)
    return client


def act(client, page, action, *rows):
    body = {"action": action, "_selected_action": [row.pk for row in rows]}
    return client.post(reverse(page), body, follow=True)


def shown(client, page, **parameters):
    """The ids of the listed rows."""
    answer = client.get(reverse(page), parameters)
    assert answer.status_code == 200
    return {row.pk for row in answer.context["cl"].result_list}


@pytest.mark.parametrize("page", [TOKENS, REQUESTS])
def test_strangers_see_the_login(client, page):
    answer = client.get(reverse(page))
    assert answer.status_code == 302
    assert "/admin/login/" in answer.headers["Location"]


def test_an_edit_keeps_what_a_refresh_wrote_meanwhile(operator):
    token = TokenFactory()
    page = reverse("admin:tokens_token_change", args=[token.pk])
    with CaptureQueriesContext(connection) as queries:
        assert operator.post(page, {"champagne": "on"}).status_code == 302
    (update,) = [query["sql"] for query in queries if query["sql"].startswith('UPDATE "tokens_token"')]
    assert update.split(" WHERE ")[0] == 'UPDATE "tokens_token" SET "champagne" = true'


@pytest.mark.parametrize("action", ["block", "unblock", "add_champagne", "remove_champagne"])
def test_who_may_only_look_cannot_tag(viewer, action):
    token = TokenFactory(blocked=action == "unblock", champagne=action == "remove_champagne")
    before = Token.objects.values().get()
    act(viewer, TOKENS, action, token)
    assert Token.objects.values().get() == before
    assert not LogEntry.objects.exists()


def test_who_may_only_look_cannot_have_a_transaction_indexed_again(viewer, queue, django_capture_on_commit_callbacks):
    request = IndexRequestFactory(status="failed")
    with django_capture_on_commit_callbacks(execute=True):
        act(viewer, REQUESTS, "retry", request)
    assert (IndexRequest.objects.get().status, queue()) == ("failed", [])


@pytest.mark.parametrize(("model", "factory"), [("token", TokenFactory), ("indexrequest", IndexRequestFactory)])
def test_nobody_adds_or_deletes_rows_by_hand(operator, model, factory):
    row = factory()
    assert operator.get(reverse(f"admin:tokens_{model}_add")).status_code == 403
    assert operator.post(reverse(f"admin:tokens_{model}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403
    answer = act(operator, f"admin:tokens_{model}_changelist", "delete_selected", row)
    assert "No action selected" in answer.text
    assert type(row).objects.count() == 1


def test_what_the_chain_says_is_read_only(operator):
    token = TokenFactory(name="Higher")
    page = reverse("admin:tokens_token_change", args=[token.pk])
    inputs = set(re.findall(r'<(?:input|textarea|select)[^>]* name="([^"]+)"', operator.get(page).text))
    assert {name for name in inputs if not name.startswith(("_", "csrf"))} == {"champagne", "verified", "blocked"}
    operator.post(page, {"name": "Lower", "contract_address": "0x0", "chain_id": 1, "verified": "on"})
    token.refresh_from_db()
    assert (token.name, token.chain_id, token.verified) == ("Higher", 8453, True)


def test_an_index_request_is_read_only(operator):
    request = IndexRequestFactory(last_error="no launch")
    page = reverse("admin:tokens_indexrequest_change", args=[request.pk])
    assert "no launch" in operator.get(page).text
    operator.post(page, {"status": "indexed"})
    assert IndexRequest.objects.get().status == "pending"


@pytest.mark.parametrize(
    ("action", "tag", "value"),
    [
        ("block", "blocked", True),
        ("unblock", "blocked", False),
        ("add_champagne", "champagne", True),
        ("remove_champagne", "champagne", False),
    ],
)
def test_an_action_tags_and_leaves_a_line_where_something_changed(operator, action, tag, value):
    changed, same, other = TokenFactory(**{tag: not value}), TokenFactory(**{tag: value}), TokenFactory()
    answer = act(operator, TOKENS, action, changed, same)
    assert "1 changed." in answer.text
    assert Token.objects.filter(**{tag: value}, pk__in=[changed.pk, same.pk]).count() == 2
    other.refresh_from_db()
    assert getattr(other, tag) is False
    (entry,) = LogEntry.objects.all()
    assert (entry.object_id, entry.change_message) == (str(changed.pk), f"{tag} = {value}")


def test_a_blocked_token_leaves_the_list(operator):
    token = TokenFactory()
    act(operator, TOKENS, "block", token)
    assert operator.get("/api/tokens").json()["total"] == 0


def test_it_finds_tokens_by_text_and_by_whole_hashes_in_any_case(operator):
    token, other = TokenFactory(name="Higher ground", symbol="HI"), TokenFactory(name="Lower", symbol="LO")
    for text in ("higher gr", "hi", token.contract_address.lower(), token.pool_address, token.tx_hash.upper()):
        assert shown(operator, TOKENS, q=text) == {token.pk}
    assert shown(operator, TOKENS, q=token.contract_address[:20]) == set()
    assert shown(operator, TOKENS) == {token.pk, other.pk}


@pytest.mark.parametrize("text", ["%", "\\", "o'x", "<b>"])
def test_a_search_for_odd_characters_finds_nothing(operator, text):
    TokenFactory()
    assert shown(operator, TOKENS, q=text) == set()


@pytest.mark.parametrize(
    ("parameters", "fields"),
    [
        ({"blocked__exact": "1"}, {"blocked": True}),
        ({"champagne__exact": "1"}, {"champagne": True}),
        ({"verified__exact": "1"}, {"verified": True}),
        ({"unindexed__exact": "1"}, {"unindexed": True}),
        ({"chain_id": "1"}, {"chain_id": 1}),
        ({"generation": "v1"}, {"generation": "v1"}),
    ],
)
def test_it_filters_tokens(operator, parameters, fields):
    token = TokenFactory(**fields)
    TokenFactory()
    assert shown(operator, TOKENS, **parameters) == {token.pk}


def test_it_filters_and_finds_requests(operator):
    failed, pending = IndexRequestFactory(status="failed"), IndexRequestFactory(chain_id=1)
    assert shown(operator, REQUESTS, status__exact="failed") == {failed.pk}
    assert shown(operator, REQUESTS, chain_id="1") == {pending.pk}
    assert shown(operator, REQUESTS, q=failed.tx_hash.upper()) == {failed.pk}


@pytest.mark.parametrize("status", ["failed", "orphaned", "pending", "confirmed"])
def test_a_request_is_indexed_again_once_that_is_committed(operator, queue, status, django_capture_on_commit_callbacks):
    request = IndexRequestFactory(status=status, attempts=12, last_error="gone")
    with django_capture_on_commit_callbacks(execute=False) as callbacks:
        answer = act(operator, REQUESTS, "retry", request)
    assert queue() == []
    assert "1 enqueued." in answer.text
    for callback in callbacks:
        callback()
    (message,) = queue()
    assert message.args == [request.chain_id, request.tx_hash]
    request.refresh_from_db()
    assert (request.status, request.attempts, request.last_error) == ("pending", 0, "")
    assert LogEntry.objects.get().change_message == "index again"


@pytest.mark.parametrize(("page", "factory"), [(TOKENS, TokenFactory), (REQUESTS, IndexRequestFactory)])
def test_a_page_takes_few_queries_however_long_it_is(operator, page, factory, django_assert_max_num_queries):
    factory.create_batch(60)
    with django_assert_max_num_queries(9):
        assert len(shown(operator, page)) == 50


def test_names_are_escaped(operator):
    TokenFactory(name="<script>alert(1)</script>", symbol="<img src=x onerror=alert(1)>")
    text = operator.get(reverse(TOKENS)).text
    assert "<script>alert" not in text
    assert "<img src=x" not in text
