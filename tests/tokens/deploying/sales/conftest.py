"""Fixtures for tests of presales: contracts on a node, and requests."""

from typing import Any

import pytest
from eth_abi.abi import encode
from eth_utils.crypto import keccak

from config.redis.connection import PREFIX, redis_client


def set_root(launchpad: Any, presale_id: int, root: str) -> None:
    """Replace a presale's allow-list root, as its owner may; the development contract has no function for it."""
    _set_member(launchpad, presale_id, 1, root)


def set_enabled(launchpad: Any, presale_id: int, enabled: bool) -> None:
    """Enable or disable a presale's allow-list likewise."""
    _set_member(launchpad, presale_id, 2, f"0x{int(enabled):064x}")


def _set_member(launchpad: Any, presale_id: int, member: int, word: str) -> None:
    # The mapping in slot 0 has presaleOwner, merkleRoot and enabled for each presale.
    slot = int.from_bytes(keccak(encode(["uint256", "uint256"], [presale_id, 0])))
    launchpad.rpc("anvil_setStorageAt", launchpad.deployment.presale_allowlist, hex(slot + member), word)


@pytest.fixture
def contracts(own_launchpad):
    return own_launchpad.deployment


@pytest.fixture
def forget_presales():
    """Return a function that deletes cached presale data under names with this beginning, as if it had expired."""

    def forget(begin="presale"):
        for key in redis_client().scan_iter(f"{PREFIX}shared:{begin}*"):
            redis_client().delete(key)

    return forget


@pytest.fixture
def get(client):
    """Return a function that requests a path, expects 200, and returns the body."""

    def get(path, **parameters):
        answer = client.get(path, parameters)
        assert answer.status_code == 200, answer.content
        return answer.json()

    return get
