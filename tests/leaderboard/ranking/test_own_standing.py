"""Tests of `/api/droid/standing` and `/api/droid/standing/owned`: what only an agent's owner sees."""

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
from tests.rows.factories import PartnerKeyFactory
from tests.rows.user_tokens import APP_ID, as_user, bearer

pytestmark = pytest.mark.django_db

URL, OWNED_URL = "/api/droid/standing", "/api/droid/standing/owned"
CREATOR, AGENT_FID = 5001, 5002


@pytest.fixture
def headers(db):
    return {"x-api-key": credentials.issue_key("Agency", scopes=[Scope.AGENTS])}


def own_agent(**parts):
    return AgentFactory(partner_key=PartnerKey.objects.get(name="Agency"), **parts)


def read(client, headers, agent, interval="24h"):
    answer = client.get(URL, {"agentId": agent.agent_id, "interval": interval}, headers=headers)
    assert answer.status_code == 200 and answer["Cache-Control"] == "private, no-store"
    return answer.json()["data"]


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


# With a user's token.


def status(client, agent, headers):
    return client.get(OWNED_URL, {"agentId": agent.agent_id}, headers=headers).status_code


@pytest.mark.parametrize("has_key", [True, False])
def test_the_described_creator_sees_what_the_key_sees(client, headers, issuer, has_key):
    key = PartnerKey.objects.get(name="Agency") if has_key else None
    agent = AgentFactory(partner_key=key, creator_fid=CREATOR, fid=AGENT_FID)
    answer = client.get(OWNED_URL, {"agentId": agent.agent_id}, headers=as_user(issuer, CREATOR))
    assert answer.status_code == 200 and answer["Cache-Control"] == "private, no-store"
    row = answer.json()["data"]
    assert row["fidProofCode"] == (proof_code(agent) if has_key else None)
    assert not has_key or row == read(client, headers, agent)


def test_the_agent_s_own_account_sees_its_standing_once_it_is_proven(client, issuer):
    agent = AgentFactory(partner_key=PartnerKeyFactory(), creator_fid=CREATOR, fid=AGENT_FID)
    account = as_user(issuer, AGENT_FID)
    assert status(client, agent, account) == 404
    agent.proven_fid = AGENT_FID
    agent.save()
    assert status(client, agent, account) == 200
    # The proof is of this FID only.
    agent.fid = AGENT_FID + 1
    agent.save()
    assert [status(client, agent, as_user(issuer, fid)) for fid in (AGENT_FID, AGENT_FID + 1)] == [404, 404]


def test_nobody_else_sees_it(client, headers, issuer):
    agent = own_agent(creator_fid=CREATOR, fid=AGENT_FID)
    without_fid = bearer(issuer.privy("did:privy:someone", app_id=APP_ID))
    nameless = own_agent(creator_fid=None, fid=None)
    for caller in (as_user(issuer, 5003), without_fid):
        assert [status(client, each, caller) for each in (agent, nameless)] == [404, 404]
    # A key is no user's token, and the other way round.
    assert status(client, agent, headers) == status(client, agent, {}) == 401
    answer = client.get(URL, {"agentId": agent.agent_id}, headers=as_user(issuer, CREATOR))
    assert answer.status_code == 401
