"""A recorded chain: transactions of real launchpad contracts, run on a local chain with Base's id and addresses.

`data/recorded_chain.json` holds its blocks, receipts and the answers to `eth_call` at its head. For the transactions
that tests name, `data/transactions/<label>.json` holds what another decoder (viem, with the contracts' full ABIs) read
from the call and the logs.
"""

import copy
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tokens.chains.base import Launch
from tokens.chains.decoding import decode_launches
from tokens.chains.registry import ChainInfo, load

DATA = Path(__file__).parent / "data"

Json = dict[str, Any]

V4_LAUNCHES = (
    "deploy-airdrop",
    "deploy-devbuy",
    "deploy-dynamic-fee",
    "deploy-multi-recipients",
    "deploy-plain",
    "deploy-token1",
    "deploy-vault",
)
RECORDED_LAUNCHES = ("legacy-v0-deploy", "legacy-v2-deploy", "legacy-v31-deploy", *V4_LAUNCHES)


@dataclass
class Mined:
    """The JSON-RPC objects of one mined transaction; a test may change them."""

    transaction: Json
    receipt: Json
    block: Json

    @property
    def hash(self) -> str:
        return str(self.transaction["hash"])

    @property
    def logs(self) -> list[Json]:
        logs: list[Json] = self.receipt["logs"]
        return logs

    def decode(self, chain: ChainInfo | None = None) -> tuple[Launch, ...]:
        """Its launches, as the service decodes them without asking a node."""
        return decode_launches(chain or base(), transaction=self.transaction, receipt=self.receipt, block=self.block)


@cache
def base() -> ChainInfo:
    """The chain that was recorded, as the built-in registry knows it."""
    return load().chain(8453)


@cache
def recorded_chain() -> Json:
    """{"chainId", "blocks": [with full transactions], "receipts": {hash: receipt}, "calls": [...]}; don't change."""
    chain: Json = json.loads((DATA / "recorded_chain.json").read_text(encoding="utf-8"))
    return chain


@cache
def decoded(label: str) -> Json:
    """What the other decoder read: {"hash", "decodedCall", "decodedLogs", ...}; don't change."""
    found: Json = json.loads((DATA / "transactions" / f"{label}.json").read_text(encoding="utf-8"))
    return found


def mined(label: str) -> Mined:
    """A copy of a recorded transaction."""
    receipt = recorded_chain()["receipts"][decoded(label)["hash"]]
    block = recorded_chain()["blocks"][int(receipt["blockNumber"], 16)]
    (transaction,) = (entry for entry in block["transactions"] if entry["hash"] == receipt["transactionHash"])
    hashes = [entry["hash"] for entry in block["transactions"]]
    return copy.deepcopy(Mined(transaction, receipt, block | {"transactions": hashes}))
