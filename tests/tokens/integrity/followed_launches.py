"""Followers for recorded and development chains that store each swap with its sender, and reports about launches."""

from typing import Any

from django.test import Client

from config.redis.connection import PREFIX, redis_client
from tests.nodes.followed import Followed
from tests.nodes.following_chain import control
from tests.nodes.recorded_node import Node
from tokens.following import coverage
from tokens.following.history import read_history
from tokens.installation.installed_chains import installed_chain
from tokens.models import Token

# The head grows by so many blocks a step, so that the follower reads each of them with its senders.
_BLOCKS_AT_ONCE = 10


def forget_reports() -> None:
    """Delete the cached reports and balances."""
    for key in redis_client().scan_iter(f"{PREFIX}shared:integrity*"):
        redis_client().delete(key)


def fetch_integrity(token: Token, **parameters: Any) -> dict[str, Any]:
    """Return a token's facts, computed now."""
    forget_reports()
    answer = Client().get(f"/api/tokens/{token.chain_id}/{token.contract_address}/integrity", parameters)
    assert answer.status_code == 200, answer.content
    facts: dict[str, Any] = answer.json()
    return facts


def follow_recorded_chain(node: Node, chain_id: int) -> None:
    """Follow the recorded chain from its first block to its last, as if it grew now, and its history."""
    newest, read_number = max(node.blocks), node.answers["eth_blockNumber"]
    numbers = [*range(0, newest, _BLOCKS_AT_ONCE), newest]
    try:
        followed = None
        for number in numbers:
            node.answers["eth_blockNumber"] = lambda number=number: hex(number)
            followed = followed or Followed(chain_id)
            followed.catch_up()
    finally:
        node.answers["eth_blockNumber"] = read_number
    chain = installed_chain(chain_id)
    row = coverage.open_live_coverage(chain.info, final=newest)[-1]
    for _ in read_history(row, chain=chain, target=lambda: newest, control=control()):
        pass
    Token.objects.on_chain().confirm()
