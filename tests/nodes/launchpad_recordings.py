"""Launchpads' recorded transactions, with their contracts instead of those that the built-in file declares."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.nodes.recorded_node import Node, serve_recorded_chain
from tests.nodes.recordings import Json, Mined
from tokens.chains.addresses import checksum_address
from tokens.chains.registry import chains

CHAIN = 31337
RECORDINGS = sorted(Path("tests/data/launchpads").glob("*.json"))
# Real address in the built-in file -> the contract's role in the recordings.
ROLES = {
    "0x777777751622c0d3258f214F9DF38E35BF45baF3": "factory_proxy",
    "0x23321f11a6d44Fd1ab790044FdFDE5758c902FDc": "positionManager_factory_and_hook",
    "0x516af52d0c629b5e378da4dc64ecb0744ce10109": "flaunch_erc721",
    "0x660eAaEdEBc968f8f3694354FA8EC0b4c5Ba8D12": "airlock_factory",
    "0xBDF938149ac6a781F94FAa0ed45E6A0e984c6544": "initializer_v4_multicurve_and_hook",
    "0xE0dC4012AC9C868F09c6e4b20d66ED46D6F258d0": "initializer_v3",
    "0xBF4195ab0B03e1eB3345dd1e83BeD7650b1ed123": "doppler_hook_rehype",
    "0x1A540088125d00dD3990f9dA45CA0859af4d3B01": "bonding_v5_factory",
    "0x0b3e328455c4059EEb9e3f84b5543F74E24e7E1b": "quote_VIRTUAL",
}
# For chains whose recording has none: no contract is there.
NOWHERE = "0x" + "11" * 20


def load_recording(path: Path) -> Json:
    recording: Json = json.loads(path.read_text())
    return recording


def name_of(recording: Json) -> str:
    """Return a recording's launchpad name, which may have a version behind it."""
    name: str = recording["launchpad"].partition(" ")[0]
    return name


def write_registry(recording: Json, place: Path, *, more: str = "") -> Path:
    """Write a registry file with the recording's contracts instead of Base's, and more lines for the chain."""
    contracts = recording["contracts"]
    text = Path(chains.__file__).with_name("launchpads.toml").read_text().replace("8453 = ", f"{CHAIN} = ")
    for address, role in ROLES.items():
        if role in contracts:
            text = text.replace(address, checksum_address(contracts[role]))
    chain = {"name": "anvil", "native": "ETH", "finality_depth": 1, "market_network": "none"}
    chain |= {
        key: contracts.get(role, NOWHERE)
        for key, role in (("v4_pool_manager", "pool_manager"), ("v3_factory", "v3_factory"))
    }
    chain["v2_factory"] = contracts.get("v2_factory") or contracts.get("uniswap_v2_factory") or NOWHERE
    lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in chain.items())
    file = place / "own.toml"
    file.write_text(f"{text}\n[chains.{CHAIN}]\n{lines}\n{more}\n")
    return file


def hold_recording(node: Node, recording: Json) -> None:
    """Serve the recording alone; views that it lacks revert, as they do at contracts that have none.

    The block before the first one, and those in between that were left out, are empty.
    """
    for held in (node.transactions, node.receipts, node.blocks):
        held.clear()
    for entry in recording["transactions"]:
        node.hold(Mined(entry["transaction"], entry["receipt"], entry["block"]))
    for number in range(max(node.blocks) - 1, min(node.blocks) - 2, -1):
        if number not in node.blocks:
            later, earlier = node.blocks[number + 1], node.blocks.get(number - 1, {"hash": f"0x{number - 1:064x}"})
            header = {
                "number": hex(number),
                "hash": later["parentHash"],
                "parentHash": earlier["hash"],
                "transactions": [],
            }
            node.blocks[number] = later | header
    node.views = {(view["to"].lower(), view["data"]): view for view in recording["calls"]}
    node.answers["eth_chainId"] = lambda: hex(CHAIN)
    node.answers["eth_blockNumber"] = lambda: hex(max(node.blocks))


def add_empty_block(node: Node) -> None:
    """Serve an empty block above the newest one, which is final then."""
    newest = node.blocks[max(node.blocks)]
    number = int(newest["number"], 16) + 1
    header = {"number": hex(number), "hash": f"0x{number:064x}", "parentHash": newest["hash"], "transactions": []}
    node.blocks[number] = newest | header


def hold_view(node: Node, contract: str, selector: str, result: str | None) -> None:
    """Serve this result from a view without arguments; None reverts."""
    view = {"result": result} if result else {"error": {"code": 3, "message": "execution reverted"}}
    node.views[contract.lower(), selector] = view


@pytest.fixture
def recorded_node() -> Iterator[Callable[[Json], Node]]:
    """Return a function that serves a recording."""
    with serve_recorded_chain() as node:

        def hold(recording: Json) -> Node:
            hold_recording(node, recording)
            return node

        yield hold
