"""Tests of `GET /api/droid/standing`: what an agent's owner sees of its score, and nobody else."""

import pytest

from accounts.keys import credentials
from accounts.models import PartnerKey, Scope
from leaderboard.hub.fid_proofs import proof_code
from leaderboard.models import Interval
from leaderboard.ranking.snapshot_building import build_snapshot
from tests.rows.agent_factories import (
    ActionFactory,
    AgentFactory,
    InteractionFactory,
    SocialScoreFactory,
)

pytestmark = pytest.mark.django_db

URL = "/api/droid/standing"


@pytest.fixture
def headers(db):
    return {"x-api-key": credentials.issue_key("Agency", scopes=[Scope.AGENTS])}


def own_agent(**parts):
    return AgentFactory(partner_key=PartnerKey.objects.get(name="Agency"), **parts)


def read(client, headers, agent, interval="24h"):
    answer = client.get(URL, {"agentId": agent.agent_id, "interval": interval}, headers=headers)
    assert answer.status_code == 200 and answer["Cache-Control"] == "private, no-store"
    return answer.json()["data"]


@pytest.mark.parametrize("owner", ["another key", "the operator", "nobody"])
def test_an_agent_of_another_reporter_is_not_found(client, headers, owner):
    credentials.issue_key("Other", scopes=[Scope.AGENTS])
    keys = {"another key": PartnerKey.objects.get(name="Other"), "the operator": None}
    agent_id = "unknown" if owner == "nobody" else AgentFactory(partner_key=keys[owner]).agent_id
    answer = client.get(URL, {"agentId": agent_id}, headers=headers)
    assert (answer.status_code, answer.json()["error"]) == (404, "Agent not found")


def test_the_query_is_validated(client, headers):
    for query in ({}, {"agentId": "a", "interval": "1h"}, {"agentId": "x" * 101}):
        assert client.get(URL, query, headers=headers).status_code == 400


def test_without_a_ranking_there_is_the_proof_of_the_fid_only(client, headers):
    agent = own_agent(fid=77)
    row = read(client, headers, agent)
    assert (row["fid"], row["fidProven"], row["fidProofCode"]) == (77, False, proof_code(agent))
    assert {row[key] for key in ("computedAt", "rank", "composite", "components", "audience", "discounts")} == {None}
    agent.proven_fid = 77
    agent.save()
    assert read(client, headers, agent)["fidProofCode"] is None and read(client, headers, agent)["fidProven"]
    nameless = read(client, headers, own_agent(fid=None))
    assert (nameless["fidProven"], nameless["fidProofCode"]) == (False, None)


@pytest.mark.django_db(transaction=True)
def test_an_owner_sees_audience_weights_and_discounts(client, headers):
    agent, quiet = own_agent(launched=True), own_agent()
    cast = ActionFactory(agent=agent)
    for fid in range(1, 41):
        SocialScoreFactory(fid=fid, score=0.5)
        InteractionFactory(agent=agent, actor_fid=fid, cast_key=cast.cast_key)
    build_snapshot(Interval.WEEK)
    row = read(client, headers, agent, "7d")
    assert row["rank"] == 1 and row["interval"] == "7d" and 0 < row["composite"] < 100
    assert row["components"].keys() == {"audience", "reliability", "activity", "consistency", "creator"}
    counted = pytest.approx(10 * 8 / (10 + 8), abs=1e-6)
    assert row["audience"] == {"accounts": 40, "weight": 10.0, "independent": 0.0, "counted": counted}
    (discount,) = row["discounts"]
    assert (discount["flag"], discount["limit"], discount["accounts"]) == ("NARROW", 8.0, 40)
    assert discount["listed"][0] == {"fid": 1, "interactions": 1, "score": 0.5, "weight": 0.25}
    silent = read(client, headers, quiet, "7d")
    assert silent["audience"]["accounts"] == 0 and silent["discounts"] == [] and silent["rank"] is None
