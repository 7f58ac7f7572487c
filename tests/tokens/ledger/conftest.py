"""Requests for a creator's ledger, and complete fee sums."""

import pytest

from tests.config.api.test_described_answers import close_objects
from tests.rows.fee_sums import sum_all_chains
from tests.tokens.ledger.creator_launches import CREATOR


@pytest.fixture
def summed(db):
    """Complete all chains' sums, which later events are added to."""
    sum_all_chains()


@pytest.fixture
def fetch(client):
    """Request a creator's ledger."""
    return lambda creator=CREATOR, **parameters: client.get(f"/api/creators/{creator}", parameters)


@pytest.fixture
def read(fetch):
    """Return a creator ledger's `data`."""

    def read_data(creator=CREATOR, **parameters):
        answer = fetch(creator, **parameters)
        assert answer.status_code == 200, answer.content
        return answer.json()["data"]

    return read_data


@pytest.fixture
def description(client):
    document = client.get("/api/openapi.json").json()
    close_objects(document["components"]["schemas"])
    return document
