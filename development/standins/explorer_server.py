"""Stand-in for a Blockscout explorer's holder lists, which it computes from a node's transfers.

Shapes: https://docs.blockscout.com/devs/apis/rpc/token and https://docs.blockscout.com/openapi-specs/blockscout-pro-api.yaml.
"""

import re
from collections import Counter
from typing import Any

import requests
from web3 import Web3

from development.standins.http_server import StandIn, StandInResponse
from development.standins.loopback import ReceivedRequest

_TRANSFER = Web3.keccak(text="Transfer(address,address,uint256)").to_0x_hex()
_ZERO = "0x" + "00" * 20
_COUNTERS = re.compile("/api/v2/tokens/(0x[0-9a-fA-F]{40})/counters")
_ADDRESS = re.compile("0x[0-9a-fA-F]{40}")
# The explorer's default and its maximum.
_PAGE_SIZE, _MAX_PAGE_SIZE = 10, 10_000


class ExplorerStandIn(StandIn):
    """Explorer for a node's chain. It accepts any key, and none."""

    ERRORS = {404: {"message": "Not found"}, 429: {"message": "Too many requests"}}

    def __init__(self, port: int = 0, *, node: str = "") -> None:
        super().__init__(port)
        # The node's JSON-RPC URL.
        self.node = node
        # Other tokens' holders with balances in smallest units, largest first, by lower-case token address.
        self.listed: dict[str, list[tuple[str, int]]] = {}

    def answer(self, received: ReceivedRequest) -> StandInResponse | None:
        """Return a token's counters, or a page with its holders."""
        if counted := _COUNTERS.fullmatch(received.path):
            holders = self._holders(counted[1])
            # Text, as all the explorer's counters.
            body = {"token_holders_count": str(len(holders)), "transfers_count": "0"}
            return StandInResponse(body) if holders else None
        query = received.query
        if received.path != "/api" or query.get("module") != "token" or query.get("action") != "getTokenHolders":
            return None
        token = query.get("contractaddress", "")
        if not _ADDRESS.fullmatch(token):
            return StandInResponse({"status": "0", "message": "Invalid contract address hash", "result": None})
        size = int(query.get("offset", _PAGE_SIZE))
        size = size if 0 < size <= _MAX_PAGE_SIZE else _PAGE_SIZE
        start = (max(int(query.get("page", 1)), 1) - 1) * size
        rows = [
            {"address": account, "value": str(amount)} for account, amount in self._holders(token)[start : start + size]
        ]
        return StandInResponse({"status": "1", "message": "OK", "result": rows})

    def _holders(self, token: str) -> list[tuple[str, int]]:
        """Return all holders' accounts and balances in smallest units, largest first."""
        if token.lower() in self.listed or not self.node:
            return self.listed.get(token.lower(), [])
        balances: Counter[str] = Counter()
        for log in self._transfers(token):
            sender, receiver = (f"0x{topic[-40:]}" for topic in log["topics"][1:3])
            amount = int(log["data"], 16)
            balances[sender] -= amount
            balances[receiver] += amount
        del balances[_ZERO]
        return sorted((+balances).items(), key=lambda holder: (holder[1], holder[0]), reverse=True)

    def _transfers(self, token: str) -> list[dict[str, Any]]:
        log_filter = {"address": token, "topics": [_TRANSFER], "fromBlock": "earliest", "toBlock": "latest"}
        call = {"jsonrpc": "2.0", "id": 1, "method": "eth_getLogs", "params": [log_filter]}
        logs: list[dict[str, Any]] = requests.post(self.node, json=call, timeout=10).json()["result"]
        return logs
