"""The admin pages of tokens and index requests."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.db.models import JSONField
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from config.operators.admin_pages import MAX_ACTION_ROWS
from tests.config.operators.admin_pages import page_of, shown
from tests.rows.factories import IndexRequestFactory, TokenFactory
from tests.rows.many_tokens import multiply
from tokens.admin.token_fields import REPLACED_COLUMNS, fieldsets, json_line
from tokens.models import IndexRequest, Market, Token
from tokens.site.pictures.picture_files import read_picture, store_picture
from tokens.site.pictures.wanted_pictures import picture_key

pytestmark = pytest.mark.django_db

TOKENS, REQUESTS = "admin:tokens_token_changelist", "admin:tokens_indexrequest_changelist"


@pytest.fixture
def viewer(client):
    """Return the client of a user who may view tokens and requests, and change neither."""
    user = User.objects.create_user("viewer", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=["view_token", "view_indexrequest"]))
    client.force_login(user)
    return client


def act(client, page, action, *rows, **answers):
    body = {"action": action, "_selected_action": [row.pk for row in rows], **answers}
    return client.post(reverse(page), body, follow=True)


def lines_of_history():
    return list(LogEntry.objects.order_by("id").values_list("object_id", "change_message"))


def test_an_edit_keeps_what_a_refresh_wrote_meanwhile(operator):
    token = TokenFactory()
    page = reverse("admin:tokens_token_change", args=[token.pk])
    with CaptureQueriesContext(connection) as queries:
        assert operator.post(page, {"champagne": "on"}).status_code == 302
    (update,) = [query["sql"] for query in queries if query["sql"].startswith('UPDATE "tokens_token"')]
    assert update.split(" WHERE ")[0] == 'UPDATE "tokens_token" SET "champagne" = true'


@pytest.mark.parametrize(
    "action",
    ["block", "unblock", "add_champagne", "remove_champagne", "verify", "unverify", "reindex"],
)
def test_view_permission_cannot_act_on_tokens(viewer, action):
    token = TokenFactory(
        blocked=action == "unblock", champagne=action == "remove_champagne", verified=action == "unverify"
    )
    before = Token.objects.values().get(), Market.objects.values().get()
    act(viewer, TOKENS, action, token, reason="scam")
    assert (Token.objects.values().get(), Market.objects.values().get()) == before
    assert not LogEntry.objects.exists()


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("action", ["block", "unblock", "reindex"])
def test_view_permission_finds_no_way_from_a_tokens_page(viewer, action, method):
    token = TokenFactory()
    page = reverse(f"admin:tokens_token_{action}_this", args=[token.pk])
    assert page not in viewer.get(page_of(token)).text
    assert getattr(viewer, method)(page, {"reason": "scam"}).status_code == 403
    token.refresh_from_db()
    assert token.blocked is False
    assert not LogEntry.objects.exists()


def test_an_action_on_no_token_is_not_found(operator):
    for row in ("0", "x"):
        assert operator.get(reverse("admin:tokens_token_block_this", args=[row])).status_code == 404


def test_view_permission_cannot_have_a_transaction_indexed_again(viewer, queue, django_capture_on_commit_callbacks):
    request = IndexRequestFactory(status="failed")
    with django_capture_on_commit_callbacks(execute=True):
        act(viewer, REQUESTS, "retry", request)
    assert (IndexRequest.objects.get().status, queue()) == ("failed", [])


def test_on_chain_fields_are_read_only(operator):
    token = TokenFactory(name="Higher")
    page = reverse("admin:tokens_token_change", args=[token.pk])
    (form,) = re.findall(r'<form[^>]* id="token_form".*?</form>', operator.get(page).text, re.DOTALL)
    inputs = set(re.findall(r'<(?:input|textarea|select)[^>]* name="([^"]+)"', form))
    assert {name for name in inputs if not name.startswith(("_", "csrf"))} == {"champagne", "verified"}
    operator.post(page, {"name": "Lower", "contract_address": "0x0", "chain_id": 1, "verified": "on", "blocked": "on"})
    token.refresh_from_db()
    assert (token.name, token.chain_id, token.verified, token.blocked) == ("Higher", 8453, True, False)


def test_an_index_request_is_read_only(operator):
    request = IndexRequestFactory(last_error="no launch")
    page = reverse("admin:tokens_indexrequest_change", args=[request.pk])
    assert "no launch" in operator.get(page).text
    operator.post(page, {"status": "indexed"})
    assert IndexRequest.objects.get().status == "pending"


@pytest.mark.parametrize(
    ("action", "tag", "value"),
    [
        ("unblock", "blocked", False),
        ("add_champagne", "champagne", True),
        ("remove_champagne", "champagne", False),
        ("verify", "verified", True),
        ("unverify", "verified", False),
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


@pytest.mark.parametrize("reason", ["", "   ", "x" * 501])
def test_blocking_wants_a_reason(operator, reason):
    token = TokenFactory()
    for page in (
        act(operator, TOKENS, "block", token, reason=reason),
        operator.post(reverse("admin:tokens_token_block_this", args=[token.pk]), {"reason": reason}),
    ):
        assert ("This field is required" in page.text) or ("at most 500 characters" in page.text)
    token.refresh_from_db()
    assert token.blocked is False
    assert not LogEntry.objects.exists()


@pytest.mark.parametrize("place", ["page", "list"])
def test_a_blocked_tokens_picture_is_removed_from_the_disk(
    operator, settings, tmp_path, django_capture_on_commit_callbacks, place
):
    settings.SITE_PICTURE_DIR = tmp_path
    token, other = TokenFactory(img_url="https://a.example/1"), TokenFactory(img_url="https://a.example/2")
    for each in (token, other):
        store_picture(picture_key(each.img_url), b"picture")
    with django_capture_on_commit_callbacks(execute=True):
        act(operator, TOKENS, "add_champagne", token)
    assert read_picture(picture_key(token.img_url)) == b"picture"
    with django_capture_on_commit_callbacks(execute=True):
        if place == "list":
            act(operator, TOKENS, "block", token, reason="a scam")
        else:
            operator.post(reverse("admin:tokens_token_block_this", args=[token.pk]), {"reason": "a scam"})
    assert read_picture(picture_key(token.img_url)) is None
    assert read_picture(picture_key(other.img_url)) == b"picture"


@pytest.mark.parametrize("place", ["", "/dev/null"])
def test_blocking_does_not_need_the_pictures(operator, settings, tmp_path, django_capture_on_commit_callbacks, place):
    settings.SITE_PICTURE_DIR = place or tmp_path / "missing"
    token = TokenFactory(img_url="https://a.example/1")
    with django_capture_on_commit_callbacks(execute=True):
        act(operator, TOKENS, "block", token, reason="a scam")
    token.refresh_from_db()
    assert token.blocked


def test_blocking_from_the_list_requires_the_reason_and_keeps_the_selection(operator):
    tokens, other = TokenFactory.create_batch(2), TokenFactory()
    requested = act(operator, TOKENS, "block", *tokens)
    assert "Block 2 tokens" in requested.text
    assert not Token.objects.filter(blocked=True).exists()
    (form,) = re.findall(r'<form method="post".*?</form>', requested.text, re.DOTALL)
    hidden = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]+)"', form)
    body = {name: [value for key, value in hidden if key == name] for name, _ in hidden}
    operator.post(reverse(TOKENS), body | {"reason": "copies a brand"})
    assert set(Token.objects.filter(blocked=True)) == set(tokens)
    assert other.pk not in Token.objects.filter(blocked=True).values_list("pk", flat=True)
    assert {line for _, line in lines_of_history()} == {"blocked = True: copies a brand"}


def test_blocking_from_the_page_confirms_first_and_then_shows_who_and_why(operator):
    token = TokenFactory()
    action = reverse("admin:tokens_token_block_this", args=[token.pk])
    assert action in operator.get(page_of(token)).text
    assert 'name="reason"' in operator.get(action).text
    assert Token.objects.get().blocked is False
    shown_then = operator.post(action, {"reason": "a <b>scam</b>: reported"}, follow=True).text
    assert "by operator: a &lt;b&gt;scam&lt;/b&gt;: reported" in shown_then
    assert action not in shown_then
    assert lines_of_history() == [(str(token.pk), "blocked = True: a <b>scam</b>: reported")]
    assert operator.get("/api/tokens").json()["total"] == 0


def test_a_token_that_is_blocked_already_keeps_its_reason(operator):
    token = TokenFactory()
    for reason in ("first", "second"):
        act(operator, TOKENS, "block", token, reason=reason)
    assert lines_of_history() == [(str(token.pk), "blocked = True: first")]


def test_unblocking_from_the_page_confirms_first(operator):
    token = TokenFactory(blocked=True)
    action = reverse("admin:tokens_token_unblock_this", args=[token.pk])
    assert "Yes, do it" in operator.get(action).text
    assert Token.objects.get().blocked is True
    operator.post(action)
    assert Token.objects.get().blocked is False
    assert lines_of_history() == [(str(token.pk), "blocked = False")]


def test_a_tag_that_is_saved_on_the_page_leaves_the_line_of_the_action(operator):
    token = TokenFactory(verified=True)
    operator.post(page_of(token), {"champagne": "on"})
    assert lines_of_history() == [(str(token.pk), "champagne = True, verified = False")]


@pytest.mark.parametrize("door", ["list", "page"])
def test_the_transactions_of_tokens_are_indexed_again(operator, queue, door, django_capture_on_commit_callbacks):
    token, strange = TokenFactory(), TokenFactory()
    request = IndexRequestFactory(tx_hash=token.tx_hash, status="confirmed", attempts=3)
    same_hash = IndexRequestFactory(tx_hash=token.tx_hash, chain_id=1, status="confirmed")
    with django_capture_on_commit_callbacks(execute=True):
        if door == "list":
            answer = act(operator, TOKENS, "reindex", token, strange)
        else:
            answer = operator.post(reverse("admin:tokens_token_reindex_this", args=[token.pk]), follow=True)
    assert "1 enqueued." in answer.text
    assert ("Skipped, without an index request: 1." in answer.text) == (door == "list")
    assert [message.args for message in queue()] == [[token.chain_id, token.tx_hash]]
    request.refresh_from_db()
    same_hash.refresh_from_db()
    assert (request.status, request.attempts, same_hash.status) == ("pending", 0, "confirmed")
    assert lines_of_history() == [(str(request.pk), "index again"), (str(token.pk), "index again")]


def test_a_token_without_an_index_request_is_shown_to_have_none(operator, queue, django_capture_on_commit_callbacks):
    token = TokenFactory()
    IndexRequestFactory(tx_hash=token.tx_hash, chain_id=1)
    with django_capture_on_commit_callbacks(execute=True):
        answer = operator.post(reverse("admin:tokens_token_reindex_this", args=[token.pk]), follow=True)
    assert "Nothing enqueued. Skipped, without an index request: 1." in answer.text
    assert (queue(), lines_of_history()) == ([], [])


def test_an_action_on_very_many_tokens_is_refused(operator, queue, django_capture_on_commit_callbacks):
    columns = {"id": "nextval('tokens_token_id_seq')", "contract_address": "'0x' || lpad(n::text, 40, '0')"}
    multiply(TokenFactory(), columns, rows=MAX_ACTION_ROWS + 1)
    before = list(Token.objects.order_by("pk").values()), list(Market.objects.order_by("pk").values())
    tags = ("block", "unblock", "add_champagne", "remove_champagne", "verify", "unverify")
    for action in (*tags, "reindex"):
        with django_capture_on_commit_callbacks(execute=True):
            answer = act(operator, TOKENS, action, Token.objects.first(), select_across="1", reason="scam")
        assert "at most 1,000 rows at a time" in answer.text, action
    assert (list(Token.objects.order_by("pk").values()), list(Market.objects.order_by("pk").values())) == before
    assert (queue(), LogEntry.objects.count()) == ([], 0)


def test_having_very_many_transactions_indexed_again_is_refused(operator, queue, django_capture_on_commit_callbacks):
    columns = {"id": "nextval('tokens_indexrequest_id_seq')", "tx_hash": "'0x' || lpad(n::text, 64, '0')"}
    multiply(IndexRequestFactory(status="failed"), columns, rows=MAX_ACTION_ROWS + 1)
    with django_capture_on_commit_callbacks(execute=True):
        answer = act(operator, REQUESTS, "retry", IndexRequest.objects.first(), select_across="1")
    assert "at most 1,000 rows at a time" in answer.text
    assert (queue(), LogEntry.objects.count()) == ([], 0)
    assert not IndexRequest.objects.filter(status="pending").exists()


def test_an_action_locks_rows_in_the_order_of_all_writers_and_writes_their_history_at_once(operator):
    tokens = TokenFactory.create_batch(20)
    with CaptureQueriesContext(connection) as queries:
        act(operator, TOKENS, "verify", *tokens)
    (lock,) = [query["sql"] for query in queries if "FOR " in query["sql"] and 'FROM "tokens_token"' in query["sql"]]
    assert lock.endswith("ASC FOR NO KEY UPDATE")
    assert len([query for query in queries if query["sql"].startswith('INSERT INTO "django_admin_log"')]) == 1
    assert LogEntry.objects.count() == 20


def test_the_page_of_a_token_leads_to_its_public_page_its_pool_and_its_request(operator):
    token = TokenFactory(extensions={"fees": {"type": "static", "clankerFee": 1234}})
    request = IndexRequestFactory(tx_hash=token.tx_hash, status="failed", last_error="no <launch>")
    text = operator.get(page_of(token)).text
    assert reverse("token-page", args=[token.chain_id, token.contract_address]) in text
    assert f"{reverse(TOKENS)}?q={token.pool_address}" in text
    assert page_of(request) in text
    assert "no &lt;launch&gt;" in text
    assert "Base (8453)" in text
    assert "\n    &quot;clankerFee&quot;: 1234\n" in text
    assert f"{reverse(TOKENS)}?q={token.tx_hash}" in operator.get(page_of(request)).text


def test_the_page_of_a_token_has_its_market(operator):
    token = TokenFactory()
    assert "nothing yet" in operator.get(page_of(token)).text
    Market.objects.filter(token=token).update(price_usd=0.25, market_cap=30_000, updated_at=timezone.now())
    assert "price 0.25 USD, cap 30,000 USD, as of " in operator.get(page_of(token)).text


def test_every_column_of_a_token_is_on_its_page():
    lines = {line for _, options in fieldsets() for line in options["fields"]}
    missing = {field for field in Token._meta.fields if field.name not in lines | REPLACED_COLUMNS}
    assert all(isinstance(field, JSONField) and json_line(field.name) in lines for field in missing)


@pytest.mark.parametrize("fields", [{"unindexed": True}, {"chain_id": 5}, {"generation": "gone"}, {"pool_address": ""}])
def test_a_token_of_which_little_is_known_has_its_page(operator, fields):
    assert operator.get(page_of(TokenFactory(**fields))).status_code == 200


def test_the_page_of_a_token_takes_few_queries(operator, django_assert_max_num_queries):
    token = TokenFactory()
    act(operator, TOKENS, "block", token, reason="scam")
    IndexRequestFactory(tx_hash=token.tx_hash)
    with django_assert_max_num_queries(9):
        operator.get(page_of(token))


def test_it_finds_tokens_by_text_and_by_whole_hashes_in_any_case(operator):
    token, other = TokenFactory(name="Higher ground", symbol="HI"), TokenFactory(name="Lower", symbol="LO")
    for text in ("higher gr", "hi", token.contract_address.lower(), token.pool_address, token.tx_hash.upper()):
        assert shown(operator, TOKENS, q=text) == [token.pk]
    assert shown(operator, TOKENS, q=token.contract_address[:20]) == []
    assert set(shown(operator, TOKENS)) == {token.pk, other.pk}


@pytest.mark.parametrize("text", ["%", "\\", "o'x", "<b>"])
def test_a_search_for_odd_characters_finds_nothing(operator, text):
    TokenFactory()
    assert shown(operator, TOKENS, q=text) == []


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
    assert shown(operator, TOKENS, **parameters) == [token.pk]


def test_it_filters_and_finds_requests(operator):
    failed, pending = IndexRequestFactory(status="failed"), IndexRequestFactory(chain_id=1)
    assert shown(operator, REQUESTS, status__exact="failed") == [failed.pk]
    assert shown(operator, REQUESTS, chain_id="1") == [pending.pk]
    assert shown(operator, REQUESTS, q=failed.tx_hash.upper()) == [failed.pk]


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


def test_names_are_escaped(operator):
    TokenFactory(name="<script>alert(1)</script>", symbol="<img src=x onerror=alert(1)>")
    text = operator.get(reverse(TOKENS)).text
    assert "<script>alert" not in text
    assert "<img src=x" not in text
