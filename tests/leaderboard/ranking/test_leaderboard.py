"""Tests of `GET /api/droid/leaderboard`: the public response, walks through one ranking, and administrators' fields."""

import base64
import json
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client

from accounts.administrators import sessions
from leaderboard.models import Agent, Interval, Snapshot, Standing
from leaderboard.ranking.standing_cursors import StandingPosition, decode_cursor, encode_cursor
from leaderboard.ranking.standing_pages import read_standing_page
from tests.rows.agent_factories import AgentFactory, SnapshotFactory, StandingFactory
from tests.rows.factories import AdministratorFactory
from tests.rows.ranking_walks import ADMINISTRATOR, COMPUTED, PUBLIC, URL, kept, make_snapshot, ranks, replace, walk
from tests.rows.user_tokens import as_user, bearer
from tokens.models import Token

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def limits(settings):
    settings.RATE_LIMIT_PUBLIC = 1_000_000


def cursor_of(content):
    text = content if isinstance(content, str) else json.dumps(content)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def content_of(cursor):
    return json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))


@pytest.fixture
def staff():
    return User.objects.create_user("operator", is_staff=True)


@pytest.fixture
def administrator_client(staff):
    client = Client()
    client.cookies[sessions.COOKIE] = sessions.begin_session(staff).cookie
    return client


def test_it_reports_which_parameters_it_ignores(client):
    answer = client.get(URL, {"page": 2, "pageSize": 10})
    assert (answer.status_code, answer["X-Ignored-Params"]) == (200, "page,pageSize")


def test_it_is_empty_before_there_is_a_ranking(client):
    make_snapshot(interval="7d")
    answer = client.get(URL)
    assert (answer.status_code, answer.content) == (200, b'{"data":[],"cursor":null}')
    assert answer["Cache-Control"] == PUBLIC


def test_it_answers_with_these_keys_in_this_order(client, administrator_client):
    snapshot = SnapshotFactory(computed_at=COMPUTED, ranked=1)
    agent = AgentFactory(agent_id="qahwa", name="", fid=None)
    StandingFactory(
        snapshot=snapshot,
        agent=agent,
        token_chain_id=8453,
        token_address="0x3fbE62c928df8A3EE07873270516b03C16850A33",
        token_symbol="QAHWA",
        creator_fid=7,
        creator_score=0.5,
        last_active_at=COMPUTED - timedelta(milliseconds=1500),
        composite=62.5,
        components={"reliability": 0.25, "reach": 1.0},
        wash_flags=["NARROW"],
        wash_confidence=0.125,
    )
    public = (
        '{"rank":1,"agentId":"qahwa","agentName":null,"fid":null,'
        '"token":{"chainId":8453,"address":"0x3fbE62c928df8A3EE07873270516b03C16850A33","name":null,"symbol":"QAHWA"},'
        '"runs":{"total":4,"succeeded":3,"failed":1},"actions":{"posts":2,"replies":1,"quotes":0},'
        '"castMetrics":{"casts":3,"interactions":5},"creator":{"fid":7,"socialScore":0.5},'
        '"lastActiveAt":"2026-02-07T03:50:47.500Z","computedAt":"2026-02-07T03:50:49.000Z"'
    )
    score = (
        '"score":{"composite":62.5,"components":{"reach":1.0,"reliability":0.25},'
        '"washConfidence":0.125,"washFlags":["NARROW"]}'
    )
    assert client.get(URL).text == f'{{"data":[{public}}}],"cursor":null}}'
    assert administrator_client.get(URL).text == f'{{"data":[{public},{score}}}],"cursor":null}}'


def test_each_interval_has_its_ranking(client):
    for size, interval in enumerate(Interval.values, start=1):
        make_snapshot(size, interval=interval)
    assert [ranks([client.get(URL, {"interval": interval})]) for interval in Interval.values] == [
        [1],
        [1, 2],
        [1, 2, 3],
    ]
    assert client.get(URL).json() == client.get(URL, {"interval": "24h"}).json()


def test_a_walk_returns_every_rank_once(client):
    make_snapshot(7)
    StandingFactory(snapshot=Snapshot.objects.get(), rank=None)
    assert [len(page.json()["data"]) for page in walk(client, limit=3)] == [3, 3, 1]
    assert ranks(walk(client, limit=3)) == [1, 2, 3, 4, 5, 6, 7]
    assert ranks(walk(client, limit=7)) == [1, 2, 3, 4, 5, 6, 7]


def test_a_page_has_25_rows(client):
    make_snapshot(26)
    assert [len(page.json()["data"]) for page in walk(client)] == [25, 1]


def test_its_cursor_names_offset_interval_and_ranking(client):
    snapshot = make_snapshot(5, interval="7d")
    cursor = client.get(URL, {"interval": "7d", "limit": 2}).json()["cursor"]
    assert "=" not in cursor
    assert content_of(cursor) == {"offset": 2, "interval": "7d", "snapshot": snapshot.pk}


def test_a_walk_stays_on_the_ranking_that_it_began_with(client):
    first = make_snapshot(4)
    page = client.get(URL, {"limit": 2}).json()
    second = replace(first, size=9)
    following = client.get(URL, {"limit": 2, "cursor": page["cursor"]}).json()
    assert [row["rank"] for row in following["data"]] == [3, 4]
    assert {row["computedAt"] for row in following["data"]} == {"2026-02-07T03:50:49.000Z"}
    assert following["cursor"] is None
    assert client.get(URL, {"limit": 2}).json()["data"][0]["computedAt"] == "2026-02-07T03:55:49.000Z"
    assert content_of(client.get(URL, {"limit": 2}).json()["cursor"])["snapshot"] == second.pk


def test_a_cursor_without_a_ranking_goes_on_in_the_current_one(client):
    replace(make_snapshot(4), size=4)
    page = client.get(URL, {"cursor": cursor_of({"offset": 2, "interval": "24h"})}).json()
    assert [row["rank"] for row in page["data"]] == [3, 4]
    assert page["data"][0]["computedAt"] == "2026-02-07T03:55:49.000Z"
    padded = base64.b64encode(b'{"offset": 3, "interval": "24h"}').decode()
    assert ranks([client.get(URL, {"cursor": padded})]) == [4]


@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        "%00",
        "=====",
        "é",
        "a" * 5000,
        cursor_of("[]"),
        cursor_of("null"),
        cursor_of("{"),
        cursor_of("[" * 300),
        cursor_of({"offset": 2}),
        cursor_of({"interval": "24h"}),
        cursor_of({"offset": 2, "interval": "7d"}),
        cursor_of({"offset": 2, "interval": ["24h"]}),
        cursor_of({"offset": "2", "interval": "24h"}),
        cursor_of({"offset": 2.0, "interval": "24h"}),
        cursor_of({"offset": True, "interval": "24h"}),
        cursor_of({"offset": None, "interval": "24h"}),
        cursor_of({"offset": -1, "interval": "24h"}),
        cursor_of({"offset": 10**30, "interval": "24h"}),
        cursor_of({"offset": 2**31, "interval": "24h"}),
        cursor_of({"offset": 2, "interval": "24h", "snapshot": "x"}),
        cursor_of({"offset": 2, "interval": "24h", "snapshot": -1}),
        cursor_of({"offset": 2, "interval": "24h", "snapshot": 10**30}),
        cursor_of({"offset": 2, "interval": "24h", "snapshot": False}),
        cursor_of({"offset": 2, "interval": "24h", "snapshot": 2**62}),
    ],
)
def test_a_cursor_that_is_none_is_ignored(client, cursor):
    make_snapshot(4)
    answer = client.get(URL, {"cursor": cursor})
    assert (answer.status_code, ranks([answer])) == (200, [1, 2, 3, 4])


def test_a_cursor_of_another_intervals_ranking_is_ignored(client):
    make_snapshot(4)
    other = make_snapshot(4, interval="7d")
    cursor = cursor_of({"offset": 2, "interval": "24h", "snapshot": other.pk})
    assert ranks([client.get(URL, {"cursor": cursor})]) == [1, 2, 3, 4]


def test_a_walk_whose_ranking_is_gone_begins_anew(client):
    first = make_snapshot(4)
    cursor = client.get(URL, {"limit": 2}).json()["cursor"]
    replace(first)
    first.delete()
    assert ranks([client.get(URL, {"limit": 2, "cursor": cursor})]) == [1, 2]


@pytest.mark.parametrize("offset", [3, 4, 2**31 - 1])
def test_beyond_the_end_there_is_nothing(client, offset):
    snapshot = make_snapshot(3)
    for more in ({}, {"snapshot": snapshot.pk}):
        cursor = cursor_of({"offset": offset, "interval": "24h", **more})
        assert client.get(URL, {"cursor": cursor}).json() == {"data": [], "cursor": None}


def test_cursors_are_read_as_they_are_written():
    for place in (StandingPosition(25, 7), StandingPosition(2**31 - 1, 2**63 - 1)):
        assert decode_cursor(encode_cursor(place, interval=Interval.WEEK), interval=Interval.WEEK) == place


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer x.y.z", "Basic b3BlcmF0b3I6eA==", "nonsense"])
def test_a_bad_token_is_401_also_beside_a_good_cookie(administrator_client, issuer, header):
    make_snapshot()
    answer = administrator_client.get(URL, headers={"Authorization": header})
    assert (answer.status_code, answer.json()) == (401, {"error": "Unauthorized"})
    assert answer["WWW-Authenticate"] == 'Bearer realm="users"'
    assert kept(answer) == ("no-store", "Cookie")


def test_an_administrators_cookie_shows_the_score_on_every_page(administrator_client):
    make_snapshot(5)
    pages = walk(administrator_client, limit=2)
    rows = [row for page in pages for row in page.json()["data"]]
    assert [row["rank"] for row in rows] == [1, 2, 3, 4, 5]
    assert all(
        row["score"]
        == {
            "composite": 77.123,
            "components": {"reliability": 0.4321},
            "washConfidence": 0.8765,
            "washFlags": ["NARROW"],
        }
        for row in rows
    )
    for page in pages:
        assert kept(page) == (ADMINISTRATOR, "Cookie")
        assert "ETag" not in page


def test_an_administrators_token_shows_the_score(client, issuer):
    AdministratorFactory(issuer=issuer.url, subject="5")
    make_snapshot(1)
    answer = client.get(URL, headers=as_user(issuer, 5))
    assert answer.json()["data"][0]["score"]["composite"] == 77.123
    assert kept(answer) == (ADMINISTRATOR, "Cookie")


def test_an_etag_of_the_public_answer_gives_an_administrator_no_304(client, administrator_client):
    make_snapshot(1)
    public = client.get(URL)
    again = client.get(URL, headers={"If-None-Match": public["ETag"]})
    assert (again.status_code, kept(again)) == (304, (PUBLIC, "Cookie"))
    answer = administrator_client.get(URL, headers={"If-None-Match": public["ETag"]})
    assert (answer.status_code, "score" in answer.json()["data"][0]) == (200, True)
    assert administrator_client.get(URL, headers={"If-None-Match": "*"}).status_code == 200


def test_it_counts_as_a_public_read(client, settings):
    settings.RATE_LIMIT_PUBLIC = 120
    answer = client.get(URL, REMOTE_ADDR="192.0.2.77")
    assert answer["RateLimit-Limit"] == "120"


@pytest.mark.parametrize("caller", ["nobody", "an administrator", "an administrator by token", "a bad token"])
def test_one_call_too_many_is_429_for_every_caller(client, administrator_client, issuer, settings, caller):
    settings.RATE_LIMIT_PUBLIC = 1
    AdministratorFactory(issuer=issuer.url, subject="5")
    make_snapshot(1)
    who = administrator_client if caller == "an administrator" else client
    tokens = {"an administrator by token": as_user(issuer, 5), "a bad token": bearer("x.y.z")}
    # An address of its own, which no other test uses.
    calls = {"headers": tokens.get(caller, {}), "REMOTE_ADDR": f"2001:db8:{len(caller):x}::1"}
    first, second = (who.get(URL, **calls) for _ in range(2))
    assert first.status_code == (401 if caller == "a bad token" else 200)
    assert (second.status_code, second.json()) == (429, {"error": "Too many requests. Please try again later."})
    assert kept(second) == ("no-store", "Cookie")
    assert 1 <= int(second["Retry-After"]) <= 60 and second["RateLimit-Remaining"] == "0"


def test_a_page_is_one_query(client, django_assert_num_queries):
    make_snapshot(5)
    with django_assert_num_queries(1):
        cursor = client.get(URL, {"limit": 2}).json()["cursor"]
    with django_assert_num_queries(1):
        client.get(URL, {"limit": 2, "cursor": cursor})


def test_the_score_is_not_even_read_for_strangers(client, django_assert_num_queries):
    make_snapshot(1)
    with django_assert_num_queries(1) as queries:
        client.get(URL)
    assert not any(word in queries[0]["sql"] for word in ("composite", "components", "wash", "evidence"))


def test_the_description_has_both_schemas(client):
    document = client.get("/api/openapi.json").json()
    row = document["components"]["schemas"]["StandingShape"]
    assert list(row["properties"])[-1] == "score" and "score" not in row["required"]
    assert set(row["properties"]) - {"score"} == set(row["required"])
    operation = document["paths"][URL]["get"]
    assert {"200", "304", "400", "401", "429"} <= set(operation["responses"])
    assert {"userToken": []} in operation["security"] and {} in operation["security"]


def test_what_is_blocked_or_hidden_after_a_ranking_is_shown_no_more():
    snapshot = SnapshotFactory(ranked=4)
    standings = [
        StandingFactory(snapshot=snapshot, agent=AgentFactory(launched=True), rank=rank) for rank in range(1, 5)
    ]
    for standing in standings:
        Standing.objects.filter(pk=standing.pk).update(
            token_chain_id=standing.agent.token_chain_id, token_address=standing.agent.token_address
        )
    Token.objects.filter(contract_address=standings[1].agent.token_address).update(blocked=True)
    Agent.objects.filter(pk=standings[3].agent_id).update(is_hidden=True)
    first = read_standing_page(Interval.DAY, StandingPosition(), limit=2, with_score=False)
    assert [row["rank"] for row in first.rows] == [1]
    second = read_standing_page(Interval.DAY, first.next_position, limit=2, with_score=True)
    assert [row["rank"] for row in second.rows] == [3]
    assert second.next_position is None
