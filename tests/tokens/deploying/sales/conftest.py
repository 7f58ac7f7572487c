"""Fixtures of the tests of presales: contracts on a node, and requests."""

import pytest

from config.redis.connection import PREFIX, redis_client


@pytest.fixture
def contracts(own_launchpad):
    return own_launchpad.deployment


@pytest.fixture
def forget_presales():
    """Return a function that drops what is cached of presales under names that begin so, as if it were old."""

    def forget(begin="presale"):
        for key in redis_client().scan_iter(f"{PREFIX}shared:{begin}*"):
            redis_client().delete(key)

    return forget


@pytest.fixture(autouse=True)
def forget_other_nodes(forget_presales):
    """Drop what is cached of presales on the nodes of other tests."""
    forget_presales()


@pytest.fixture
def get(client):
    """Request a path; return the body of its 200."""

    def get(path, **parameters):
        answer = client.get(path, parameters)
        assert answer.status_code == 200, answer.content
        return answer.json()

    return get
