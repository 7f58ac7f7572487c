"""A recorded chain: real launchpad contracts' transactions, run on a local chain with Base's id and addresses.

`data/recorded_chain.json` holds its blocks, receipts and the responses to `eth_call` at its head. For the transactions
that tests name, `data/transactions/<label>.json` holds another decoder's result (viem, with the contracts' full
ABIs) for the call and the logs.
"""

import copy
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tokens.chains.evm.generations.mined_transactions import read_mined
from tokens.chains.evm.generations.transaction_decoding import decode_mined
from tokens.chains.registry.chains import ChainInfo, load_registry
from tokens.chains.types import Launch, TransactionFacts

DATA = Path(__file__).parents[1] / "data"

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
# Each transaction's launch, in the chain's sequence; None where fees were claimed in a currency.
EVENT_TRANSACTIONS = {
    "deploy-devbuy": "deploy-devbuy",
    "swap-buy-plain": "deploy-plain",
    "swap-sell-plain": "deploy-plain",
    "swap-buy-token1": "deploy-token1",
    "swap-sell-token1": "deploy-token1",
    "swap-buy-vault": "deploy-vault",
    "swap-sell-vault": "deploy-vault",
    "swap-buy-airdrop": "deploy-airdrop",
    "swap-sell-airdrop": "deploy-airdrop",
    "swap-buy-devbuy": "deploy-devbuy",
    "swap-sell-devbuy": "deploy-devbuy",
    "swap-buy-dynamic-fee": "deploy-dynamic-fee",
    "swap-sell-dynamic-fee": "deploy-dynamic-fee",
    "swap-buy-multi-recipients": "deploy-multi-recipients",
    "swap-sell-multi-recipients": "deploy-multi-recipients",
    "collect-plain": "deploy-plain",
    "claim-weth-plain": None,
    "claim-token-plain": "deploy-plain",
    "token-update-image": "deploy-plain",
    "token-verify": "deploy-plain",
    "token-update-admin": "deploy-plain",
    "locker-update-reward-recipient": "deploy-multi-recipients",
    "locker-update-fee-preference": "deploy-multi-recipients",
    "team-fees-claim": None,
    "airdrop-claim": "deploy-airdrop",
    "vault-claim": "deploy-vault",
    "legacy-v31-claim": "legacy-v31-deploy",
    "legacy-v2-claim": "legacy-v2-deploy",
    "legacy-v0-claim": "legacy-v0-deploy",
}


@dataclass
class Mined:
    """One mined transaction's JSON-RPC objects; a test may change them."""

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
        """Return its launches, as decoded without calling a node."""
        return self.read(chain).launches

    def read(self, chain: ChainInfo | None = None) -> TransactionFacts:
        """Return everything that is decoded from it without calling a node."""
        mined = read_mined(chain or base(), transaction=self.transaction, receipt=self.receipt, block=self.block)
        return decode_mined(mined)


@cache
def base() -> ChainInfo:
    """Return the recorded chain, as in the built-in registry."""
    return load_registry().chain(8453)


@cache
def recorded_chain() -> Json:
    """Return {"chainId", "blocks": [full transactions], "receipts": {hash: receipt}, "calls": [...]}; don't change."""
    chain: Json = json.loads((DATA / "recorded_chain.json").read_text(encoding="utf-8"))
    return chain


@cache
def decoded(label: str) -> Json:
    """Return the other decoder's {"hash", "decodedCall", "decodedLogs", ...}; don't change."""
    found: Json = json.loads((DATA / "transactions" / f"{label}.json").read_text(encoding="utf-8"))
    return found


def mined(label: str) -> Mined:
    """Return a copy of a recorded transaction."""
    receipt = recorded_chain()["receipts"][decoded(label)["hash"]]
    block = recorded_chain()["blocks"][int(receipt["blockNumber"], 16)]
    (transaction,) = (entry for entry in block["transactions"] if entry["hash"] == receipt["transactionHash"])
    hashes = [entry["hash"] for entry in block["transactions"]]
    return copy.deepcopy(Mined(transaction, receipt, block | {"transactions": hashes}))
