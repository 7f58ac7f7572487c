"""POST /api/pretoken/v4, GET /api/pretoken/pending and DELETE /api/pretoken/{id}."""

import json
import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Person
from development.devchain.anvil import CHAIN_ID
from pretokens import lifecycle
from pretokens.models import Pretoken, PretokenState
from tests.rows.factories import PersonFactory, PretokenFactory
from tests.rows.launch_requests import pretoken
from tests.rows.refusals import assert_refused
from tests.rows.user_tokens import as_user, bearer
from tokens.models import Deployment

pytestmark = pytest.mark.django_db

CREATE, PENDING, ONE = "/api/pretoken/v4", "/api/pretoken/pending", "/api/pretoken/"
FID, OTHER_FID = 7001, 7002


@pytest.fixture
def me(issuer):
    """Return a user's header."""
    return as_user(issuer, FID)


@pytest.fixture
def other(issuer):
    return as_user(issuer, OTHER_FID)


def create(client, headers, body, **more):
    text = body if isinstance(body, str) else json.dumps(body)
    return client.post(CREATE, text, content_type="application/json", headers=headers | more)


def created(client, headers, body):
    """Create a pretoken from the body and return its id."""
    answer = create(client, headers, body)
    assert (answer.status_code, answer.json()["success"]) == (200, True), answer.content
    return answer.json()["id"]


def pending(client, headers):
    answer = client.get(PENDING, headers=headers)
    assert (answer.status_code, set(answer.json())) == (200, {"pendingPretokens"})
    return answer.json()["pendingPretokens"]


def person(fid):
    return Person.objects.get(fid=fid)


def create_row(fid=FID, **columns):
    """Create a pretoken for the user with this FID, before any call by the user."""
    owner = Person.objects.filter(fid=fid).first() or PersonFactory(fid=fid)
    return PretokenFactory(owner=owner, **columns)


def test_while_no_node_answers_it_is_503_and_nothing_is_kept(
    client, me, launchpad, settings, forget_chains, unused_port
):
    settings.RPC_URLS = {CHAIN_ID: (f"http://secret:key@127.0.0.1:{unused_port}/path",)}
    settings.RPC_ATTEMPTS = 1
    forget_chains()
    answer = create(client, me, pretoken())
    assert_refused(answer, 503, "The chain is not available")
    assert answer.headers["Retry-After"]
    assert not Pretoken.objects.exists()


def test_a_keyword_that_is_pending_is_409_until_it_is_deleted(client, me, other, launchpad):
    first = created(client, me, pretoken("Doge"))
    assert_refused(create(client, me, pretoken("doge")), 409, "A pretoken with this keyword is pending")
    # Other users' keywords don't matter.
    created(client, other, pretoken("Doge"))
    assert client.delete(ONE + first, headers=me).json() == {"success": True}
    created(client, me, pretoken("doge"))


def test_one_too_many_is_409(client, me, launchpad):
    # None counts.
    for columns in ({"deleted": True}, {"overdue": True}, {"fid": OTHER_FID}):
        create_row(**columns)
    PretokenFactory.create_batch(24, owner=person(FID))
    created(client, me, pretoken("last"))
    text = "25 pretokens are pending, which is the limit: delete one first"
    assert_refused(create(client, me, pretoken("more")), 409, text)
    assert len(pending(client, me)) == 25


def test_it_is_kept_and_listed_as_it_came_and_nothing_is_deployed(client, me, launchpad, queue):
    body = pretoken("  Doge ", vault_settings={"percentage": 12.5, "lockupDuration": 7}, settings={"image_url": ""})
    nulls = {"airdrop": None, "token_settings": body["token_settings"] | {"description": None}}
    number = created(client, me, body | nulls)
    [listed] = pending(client, me)
    made = Pretoken.objects.get()
    assert (number, made.owner) == (str(made.pk), person(FID))
    assert (made.keyword_key, made.expires_at - made.created_at) == ("doge", timedelta(days=7))
    facts = {key: listed.pop(key) for key in ("id", "created_at", "expires_at", "status")}
    assert listed == body
    stamps = [f"{moment:%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z" for moment in (made.created_at, made.expires_at)]
    assert facts == {"id": number, "created_at": stamps[0], "expires_at": stamps[1], "status": "pending"}
    assert (Deployment.objects.exists(), queue()) == (False, [])


def test_a_slash_at_the_end_loses_nothing(client, me, launchpad):
    answer = client.post(CREATE + "/", json.dumps(pretoken()), content_type="application/json", headers=me)
    assert answer.status_code == 200
    assert client.get(PENDING + "/", headers=me).status_code == 200
    assert client.delete(f"{ONE}{answer.json()['id']}/", headers=me).status_code == 200


def test_ones_own_pending_are_listed_newest_first_and_for_no_other_user(client, me, other):
    now = timezone.now()
    rows = [create_row(created_at=now - timedelta(hours=hours)) for hours in (3, 1, 2)]
    for columns in ({"deleted": True}, {"overdue": True}, {"state": "expired"}, {"deployed": True}):
        create_row(**columns)
    assert [row["id"] for row in pending(client, me)] == [str(rows[number].pk) for number in (1, 2, 0)]
    answer = client.get(PENDING, headers=other)
    assert (answer.content, answer.headers["Cache-Control"]) == (b'{"pendingPretokens":[]}', "private, no-store")


def test_a_list_takes_two_queries(client, me, django_assert_num_queries):
    create_row()
    PretokenFactory.create_batch(20, owner=person(FID))
    pending(client, me)
    with django_assert_num_queries(2):
        pending(client, me)


def test_what_is_not_ones_own_pending_one_is_not_found_all_alike(client, me):
    rows = [create_row(**columns) for columns in ({"deleted": True}, {"overdue": True}, {"state": "expired"})]
    rows += [create_row(deployed=True), create_row(OTHER_FID), PretokenFactory(owner=PersonFactory(fid=None))]
    before = list(Pretoken.objects.order_by("pk").values())
    names = [str(row.pk) for row in rows] + [
        str(uuid.uuid4()),
        "x",
        "5",
        "%00",
        "0" * 5_000,
        "{" + uuid.uuid4().hex + "}",
    ]
    answers = [client.delete(ONE + name, headers=me) for name in names]
    for answer in answers:
        assert_refused(answer, 404, "Pretoken not found")
    assert len({tuple(sorted(answer.headers)) for answer in answers}) == 1
    assert list(Pretoken.objects.order_by("pk").values()) == before


def test_it_is_deleted_once_and_its_row_stays(client, me):
    row = create_row()
    assert client.delete(f"{ONE}{row.pk}", headers=me).json() == {"success": True}
    assert_refused(client.delete(f"{ONE}{row.pk}", headers=me), 404, "Pretoken not found")
    row.refresh_from_db()
    assert (row.state, pending(client, me)) == (PretokenState.DELETED, [])
    lifecycle.restore_pretoken(row.pk)
    assert [listed["id"] for listed in pending(client, me)] == [str(row.pk)]


def test_a_user_has_them_with_any_token(client, issuer, launchpad):
    subject, fid = "did:privy:one", 7003
    access = issuer.privy(subject, app_id="sample-app")
    identity = issuer.privy(subject, app_id="sample-app", fid=fid)
    before = created(client, as_user(issuer, fid), pretoken("by fid"))
    unlinked = created(client, {"Authorization": f"Bearer {access}"}, pretoken("by subject"))
    assert [row["id"] for row in pending(client, {"Authorization": f"Bearer {identity}"})] == [unlinked, before]
    answer = create(client, as_user(issuer, fid), pretoken("BY SUBJECT"))
    assert_refused(answer, 409, "A pretoken with this keyword is pending")
    assert client.delete(ONE + unlinked, headers=as_user(issuer, fid)).status_code == 200


@pytest.fixture
def limited(settings, no_calls):
    """Set a limit: two calls an hour."""
    settings.RATE_LIMIT_PRETOKEN = 2


def test_linked_users_share_their_number(client, issuer, launchpad, limited):
    subject, fid = "did:privy:two", 7004
    access = bearer(issuer.privy(subject, app_id="sample-app"))
    created(client, bearer(issuer.privy(subject, app_id="sample-app", fid=fid)), pretoken("one"))
    created(client, as_user(issuer, fid), pretoken("two"))
    for headers in (access, as_user(issuer, fid)):
        assert create(client, headers, pretoken("three")).status_code == 429


def test_each_user_makes_so_many_in_an_hour_and_lists_and_deletes_any_number(client, me, other, launchpad, limited):
    numbers = [created(client, me, pretoken(name)) for name in ("one", "two")]
    answer = create(client, me, pretoken("three"))
    assert_refused(answer, 429, "Too many requests. Please try again later.")
    assert answer.headers["RateLimit-Limit"] == "2"
    assert 3_500 < int(answer.headers["Retry-After"]) <= 3_600
    for number in numbers:
        assert client.delete(ONE + number, headers=me).status_code == 200
    assert pending(client, me) == []
    created(client, other, pretoken("three"))


# The requestor.


def farcaster(identity):
    return pretoken(settings={"social_context": {"interface": "App", "platform": "Farcaster", "id": identity}})


def test_a_request_in_the_users_own_name_is_taken(client, me, launchpad):
    created(client, me, farcaster(str(FID)))
