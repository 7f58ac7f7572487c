"""`python -m development.run` with a Solana node: the recorded launch and its claim, up to the API responses."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from development.standins.solana_node import SolanaStandIn
from tests.development.test_run import Run, end_in_time
from tests.nodes.solana.recorded import CONFIG, CREATOR, LAUNCH, MINT, PARTNER, SPL_MINT, WRAPPED_SOL
from tests.processes.waiting import wait_for

pytestmark = pytest.mark.slow


@pytest.fixture
def run(make_directory: Callable[[], Path], solana_node: SolanaStandIn, solana_file: Path) -> Iterator[Run]:
    # The other chain's node gets no requests: without it a development chain would be started, too.
    settings = {
        "RPC_URLS_101": solana_node.url,
        "RPC_URLS_8453": "http://127.0.0.1:9",
        "CHAINS_FILE": str(solana_file),
        "FOLLOW_CLAIMS_SECONDS": "1",
        "FETCH_DOCUMENTS": "false",
    }
    yield from end_in_time(Run(make_directory() / "local", **settings))


def test_a_launch_and_a_claim_are_found_and_served(run: Run) -> None:
    run.wait_for_greeting()
    assert "Chains            chain 8453; Solana as chain 101\n" in run.output()
    assert f"http://127.0.0.1:{run.port}/readyz?chain=101 " in run.output()
    key = {"x-api-key": (run.local / "partner-key").read_text().strip()}

    def get_json(path: str) -> Any:
        return json.loads(run.get(path, **key)[1])

    # There is no index request for the transaction.
    (token,) = wait_for(lambda: get_json("/api/tokens?chainId=101")["data"])
    assert (token["contract_address"], token["tx_hash"], token["type"]) == (MINT, LAUNCH, "clanker_solana")
    assert (token["pair"], token["supply"], token["admin"]) == ("SOL", "1000000000000000", CREATOR)
    assert [found["symbol"] for found in get_json(f"/api/tokens?q={MINT}")["data"]] == ["LSOL"]
    status, page = run.get(f"/tokens/101/{MINT}")
    assert (status, "<h1>" in page, f"https://solscan.io/token/{MINT}" in page) == (200, True, True)

    claimed = f"/api/get-claimed-fees/{WRAPPED_SOL}/{CREATOR}?chainId=101"
    assert wait_for(lambda: get_json(claimed)["claimCount"]) == 1
    assert get_json(claimed)["totalClaimed"] == "4000000"
    waiting = {each["recipient"]: each["fees"][1]["pending"] for each in uncollected(get_json)}
    assert waiting == {CREATOR: "0", PARTNER: "4000000"}

    ready = wait_for(lambda: followed_to_the_end(get_json))
    assert (ready["status"], ready["chain"]["halted"]) == ("ok", False)
    assert f"account={CONFIG} transactions=" in run.output()

    assert index(run, key, LAUNCH)["address"] == MINT
    assert index(run, key, SPL_MINT) == {"error": "Failed to index transaction"}


def uncollected(get_json: Any) -> Any:
    return get_json(f"/api/get-uncollected-fees/{MINT}")["recipients"]


def followed_to_the_end(get_json: Any) -> Any:
    state = get_json("/readyz?chain=101")
    return state if state["chain"]["lagBlocks"] == 0 else None


def index(run: Run, key: dict[str, str], signature: str) -> Any:
    url = f"http://127.0.0.1:{run.port}/api/tokens/index"
    return requests.post(url, json={"txHash": signature, "chainId": 101}, headers=key, timeout=30).json()
