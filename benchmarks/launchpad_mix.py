"""Zora's and Doppler's launches and trades on the development chain: recorded logs, emitted again for each new token.

The contracts that emit them have code that emits what its caller names. The pool manager keeps its own behind that.
Tokens answer the recorded views. Launch numbers are as on Base: three by Zora for each one by Doppler.
"""

import json
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

from eth_utils.crypto import keccak
from hexbytes import HexBytes
from web3.types import RPCEndpoint

from development.devchain import node_client
from development.devchain.deploy_contracts import DevelopmentContracts
from tests.nodes.launchpad_recordings import NOWHERE, ROLES
from tokens.chains.registry import chains

_DATA = Path("tests/data/launchpads")
# For one round, with their launchpads' part in Base's launches.
_ROUND = ("zora-creator_coin_1", "zora-creator_coin_1", "zora-creator_coin_1", "doppler-multicurve_1_weth")
LAUNCHES_A_ROUND = len(_ROUND)
# The pool manager's own code, once it also emits logs.
_MANAGER_CODE = "0x" + "7e" * 20
_TRANSACTION_GAS = 1_000_000
_SELECTOR_DIGITS = 10
# Contract roles whose logs are emitted, besides the pool manager: nobody reads transfers here.
_EMITTING = ("factory_proxy", "hook", "airlock_factory", "initializer_v4_multicurve_and_hook")
# Code that returns 18 to each call, as a token's decimals.
_EIGHTEEN = "0x60125f5260205ff3"
# As many digits in a token's address stay, so that it sorts as the recorded one.
_SORTING_DIGITS = 10


class LaunchpadMix:
    """Recorded launches and trades at a node, for tokens that no other call has had."""

    def __init__(self, deployment: DevelopmentContracts) -> None:
        """Put the emitting code to the launchpads' contract addresses."""
        self._url, self._at = deployment.rpc_url, deployment
        self._recordings = [json.loads((_DATA / f"{name}.json").read_text(encoding="utf-8")) for name in _ROUND]
        self._numbers = count(1)
        # Token in lower case -> the transaction that launches it.
        self.launched: dict[str, HexBytes] = {}
        code = self._code(deployment.pool_manager)
        self._request("anvil_setCode", _MANAGER_CODE, code)
        self._request("anvil_setCode", deployment.pool_manager, _emitter(_MANAGER_CODE))
        self._emitters = {deployment.pool_manager.lower()}
        for recording in self._recordings:
            quote = recording["expected"]["quote"]
            if self._code(quote) == "0x":
                self._request("anvil_setCode", quote, _EIGHTEEN)
            for role in _EMITTING:
                if role in recording["contracts"]:
                    address = self._replace(recording, {})(recording["contracts"][role])
                    self._request("anvil_setCode", address, _emitter())
                    self._emitters.add(address)

    def declare(self, path: Path) -> dict[str, str]:
        """Write the built-in launchpads for this chain to a registry file; return the setting that indexes them."""
        text = Path(chains.__file__).with_name("launchpads.toml").read_text(encoding="utf-8")
        factories = f'[chains.{self._at.chain_id}]\nv2_factory = "{NOWHERE}"\nv3_factory = "{NOWHERE}"\n'
        path.write_text(text.replace("8453 = ", f"{self._at.chain_id} = ") + factories, encoding="utf-8")
        return {f"LAUNCHPADS_{self._at.chain_id}": "clanker,zora,doppler"}

    def send_next(self, sender: str) -> None:
        """Send the next launch in a round with the trades that were recorded after it, without waiting."""
        number = next(self._numbers)
        recording = self._recordings[number % LAUNCHES_A_ROUND]
        recorded = recording["expected"]
        token = recorded["token"][:_SORTING_DIGITS].lower() + keccak(text=f"token {number}").hex()[:32]
        replacements = {recorded["token"]: token, recorded["pool_id"]: "0x" + keccak(text=f"pool {number}").hex()}
        replaced = self._replace(recording, replacements)
        self._request("anvil_setCode", token, _viewed(recording))
        for place, entry in enumerate(recording["transactions"]):
            logs = [{name: log[name] for name in ("address", "topics", "data")} for log in entry["receipt"]["logs"]]
            logs = [log for log in json.loads(replaced(json.dumps(logs))) if log["address"] in self._emitters]
            if not logs:
                continue
            data = _calls(logs)
            sent = node_client.send_transaction(self._url, sender=sender, to=None, data=data, gas=_TRANSACTION_GAS)
            if place == 0:
                self.launched[token] = sent

    def _replace(self, recording: Mapping[str, Any], addresses: Mapping[str, str]) -> Any:
        """Return a function that replaces the recording's contracts, token and pool in a text, in lower case."""
        contracts = {role: address for role, address in recording["contracts"].items() if isinstance(address, str)}
        names = {contracts[role]: real for real, role in ROLES.items() if role in contracts}
        names |= {contracts["pool_manager"]: self._at.pool_manager} | addresses
        if "weth" in contracts:
            names[contracts["weth"]] = self._at.wrapped_native
        # A hook may have a contract address on the development chain.
        digits = {
            before.lower().removeprefix("0x"): after.lower().removeprefix("0x") for before, after in names.items()
        }

        def replace(text: str) -> str:
            text = text.lower()
            for place, before in enumerate(digits):
                text = text.replace(before, f"<{place}>")
            for place, after in enumerate(digits.values()):
                text = text.replace(f"<{place}>", after)
            return text

        return replace

    def _code(self, address: str) -> str:
        return str(self._request("eth_getCode", address, "latest"))

    def _request(self, method: str, *params: Any) -> Any:
        return node_client.connect(self._url).manager.request_blocking(RPCEndpoint(method), list(params))


def _emitter(implementation: str = "") -> str:
    """Return code that emits a log with the topics and the data in its calldata, and delegates other calls.

    Calldata: topic count, places for four topics, data; a word each but the data.
    """
    blocks = []
    for topics in range(1, 5):
        copy = "60a03603" + "8060a05f37"
        pushed = "".join(f"60{32 * place:02x}35" for place in range(topics, 0, -1))
        blocks.append(f"5b{copy}{pushed}{0x80 + topics:02x}5fa{topics}00")
    dispatch_bytes = 4 * 9
    delegated = ""
    if implementation:
        called = f"365f5f375f5f365f73{implementation[2:]}5af43d5f5f3e"
        end = dispatch_bytes + len(called) // 2 + 3 + 3
        delegated = f"{called}60{end:02x}57" + "3d5ffd" + "5b3d5ff3"
    body, starts, place = delegated or "00", [], dispatch_bytes + len(delegated or "00") // 2
    for block in blocks:
        starts.append(place)
        body, place = body + block, place + len(block) // 2
    dispatch = "".join(f"5f3560{topics:02x}1461{start:04x}57" for topics, start in enumerate(starts, start=1))
    return f"0x{dispatch}{body}"


def _viewed(recording: Mapping[str, Any]) -> str:
    """Return code that answers the launched token's recorded views without arguments."""
    token = recording["expected"]["token"].lower()
    views = {
        view["data"][2:]: view["result"][2:]
        for view in recording["calls"]
        if view["to"].lower() == token and len(view["data"]) == _SELECTOR_DIGITS and view.get("result")
    }
    # Per view: a comparison of 11 bytes, and 14 bytes that return its result.
    start = 5 + 11 * len(views) + 3
    data_start = start + 14 * len(views)
    compared, answers, data = "5f3560e01c", "", ""
    for place, (selector, result) in enumerate(views.items()):
        compared += f"8063{selector}1461{start + 14 * place:04x}57"
        size, offset = f"61{len(result) // 2:04x}", f"61{data_start + len(data) // 2:04x}"
        answers += f"5b{size}{offset}5f39{size}5ff3"
        data += result
    return f"0x{compared}5f5ffd{answers}{data}"


def _calls(logs: list[dict[str, Any]]) -> str:
    """Return a creation's code that has each log emitted, in sequence."""
    payloads = [
        f"{len(log['topics']):064x}" + "".join(topic[2:] for topic in log["topics"]).ljust(256, "0") + log["data"][2:]
        for log in logs
    ]
    # Per log: 9 bytes that copy its payload, and 31 that call.
    place, code = 40 * len(logs) + 1, ""
    for log, payload in zip(logs, payloads, strict=True):
        size = f"61{len(payload) // 2:04x}"
        code += f"{size}62{place:06x}5f39" + f"5f5f{size}5f5f73{log['address'][2:]}5af150"
        place += len(payload) // 2
    return "0x" + code + "00" + "".join(payloads)
