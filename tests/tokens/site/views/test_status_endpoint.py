"""`GET /api/status`: chain states for programs."""

from datetime import timedelta

import pytest
from django.utils import timezone

from config.parsing.timestamps import format_timestamp
from tests.config.api.test_described_answers import check, close_objects
from tests.rows.factories import ChainHeadFactory, CoverageFactory, FollowedBlockFactory
from tokens.models import ChainHead

pytestmark = pytest.mark.django_db

URL = "/api/status"
BASE, ETHEREUM = 8453, 1


@pytest.fixture(autouse=True)
def _two_chains(settings):
    settings.RPC_URLS = dict.fromkeys((BASE, ETHEREUM), ("http://127.0.0.1:9/secret-node",))


@pytest.fixture
def described(client):
    """Return the description with `additionalProperties: false` wherever it is not set."""
    document = client.get("/api/openapi.json").json()
    close_objects(document["components"]["schemas"])
    return document


def test_without_a_followed_chain_it_is_empty(client, described):
    assert client.get(URL).json() == {"chains": []}
    check(described, URL, {"chains": []})


def test_it_has_each_chain_in_two_queries(client, described, django_assert_num_queries):
    at = timezone.now() - timedelta(seconds=5)
    ChainHeadFactory(head_at=at)
    CoverageFactory(verified_to=2_999_100)
    ChainHeadFactory(chain_id=ETHEREUM, head=3_000_500, followed=3_000_000)
    late = timezone.now() - timedelta(minutes=10)
    FollowedBlockFactory(chain_id=ETHEREUM, number=3_000_000, at=late)
    with django_assert_num_queries(2):
        answer = client.get(URL)
    assert answer.headers["Cache-Control"] == "public, s-maxage=5"
    base, ethereum = answer.json()["chains"]
    assert base == {
        "chainId": BASE,
        "name": "Base",
        "state": "current",
        "block": 3_000_000,
        "blockAt": format_timestamp(at),
        "verifiedBlock": 2_999_100,
        "hasTrades": True,
        "haltedSince": None,
    }
    assert (ethereum["chainId"], ethereum["state"], ethereum["verifiedBlock"]) == (ETHEREUM, "behind", None)
    assert ethereum["blockAt"] == format_timestamp(late)
    check(described, URL, answer.json())
    assert "secret-node" not in answer.text


def test_a_halt_and_a_chain_without_a_block(client, described):
    halted_at = timezone.now() - timedelta(hours=1)
    ChainHeadFactory()
    ChainHead.objects.update(halted="reorg", halted_at=halted_at)
    ChainHeadFactory(chain_id=ETHEREUM, followed=None)
    base, ethereum = client.get(URL).json()["chains"]
    assert (base["state"], base["haltedSince"]) == ("halted", format_timestamp(halted_at))
    assert (ethereum["state"], ethereum["block"], ethereum["blockAt"]) == ("starting", None, None)
    check(described, URL, {"chains": [base, ethereum]})
