"""`POST /api/droid/events`: partners tell of what their agents did."""

import json

import pytest

from accounts import keys
from accounts.models import Scope

pytestmark = pytest.mark.django_db

PATH = "/api/droid/events"
CAST = "0x" + "ab" * 20
AT = "2026-02-07T12:00:00Z"


@pytest.fixture
def agents_key():
    return {"x-api-key": keys.issue("Agency", scopes=[Scope.AGENTS])}


def tell(client, headers, *events):
    body = {"events": list(events)}
    return client.post(PATH, json.dumps(body), content_type="application/json", headers=headers)


def agent(id="a1", agent_id="one", **parts):
    return {"id": id, "type": "agent", "at": AT, "agentId": agent_id, **parts}


def test_it_adds(client, agents_key):
    answer = tell(
        client,
        agents_key,
        agent(fid=7),
        {
            "id": "i1",
            "type": "interaction",
            "kind": "like",
            "at": AT,
            "agentId": "one",
            "castHash": CAST,
            "actorFid": 8,
        },
    )
    assert answer.json() == {"success": True, "added": 2, "known": 0}
