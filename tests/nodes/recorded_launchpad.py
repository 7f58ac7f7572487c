"""A launchpad's recording behind a node, with what a trial requests beside it: code, and state at earlier blocks."""

import json
import re
from pathlib import Path
from typing import Any

from development.standins.loopback import RefusedError
from tests.nodes.launchpad_recordings import CHAIN, NOWHERE, ROLES, hold_recording, load_recording, name_of
from tests.nodes.recorded_node import Node
from tokens.chains.addresses import checksum_address
from tokens.chains.registry import chains

DATA = Path("tests/data/launchpads")
# Quote token roles, for which recordings have no views.
_QUOTES = {"weth": "WETH", "quote_flETH": "flETH", "zora_token": "ZORA", "quote_VIRTUAL": "VIRTUAL"}
_CHAIN_KEYS = {"v4_pool_manager": "pool_manager", "v3_factory": "v3_factory", "v2_factory": "uniswap_v2_factory"}


class RecordedLaunchpad:
    """A recording that a node serves. Tests change it before they read from it."""

    def __init__(self, name: str, node: Node) -> None:
        self.recording = load_recording(DATA / f"{name}.json")
        # Whether it has no state but the newest block's.
        self.is_pruned = False
        # Address in lower case -> the first block after which it has code; others have none.
        created = int(self.launch["receipt"]["blockNumber"], 16)
        contracts = (address for address in self.recording["contracts"].values() if isinstance(address, str))
        self.code = {address.lower(): 0 for address in contracts}
        expected = self.recording["expected"]
        self.code |= {each["token"].lower(): created for each in expected.get("launches", [expected])}
        hold_recording(node, self.recording)
        self._recorded_view = node.recorded_view
        node.answers |= {"eth_getCode": self._code, "eth_call": self._view}

    @property
    def launch(self) -> dict[str, Any]:
        """The launch: transaction, receipt and block."""
        launch: dict[str, Any] = self.recording["transactions"][0]
        return launch

    @property
    def tx_hash(self) -> str:
        return str(self.launch["transaction"]["hash"])

    def contract(self, role: str) -> str:
        return checksum_address(self.recording["contracts"][role])

    def logs(self, topic0: str) -> list[dict[str, Any]]:
        """Return the launch's logs for an event."""
        return [log for log in self.launch["receipt"]["logs"] if log["topics"] and log["topics"][0] == topic0]

    def declaration(self) -> str:
        """Return the launchpad's built-in declaration with the recording's addresses."""
        text = Path(chains.__file__).with_name("launchpads.toml").read_text().replace("8453 = ", f"{CHAIN} = ")
        name = name_of(self.recording)
        (own,) = re.findall(rf"^\[launchpads\.{name}\]$.*?(?=^\[launchpads\.(?!{name}\])|\Z)", text, re.S | re.M)
        for address, role in ROLES.items():
            if role in self.recording["contracts"]:
                own = own.replace(address, self.contract(role))
        return str(own)

    def chain(self) -> str:
        """Return its chain's entry."""
        entry = {"name": "anvil", "native": "ETH", "finality_depth": 1}
        entry |= {
            key: self.contract(role) if role in self.recording["contracts"] else NOWHERE
            for key, role in _CHAIN_KEYS.items()
        }
        quotes = ", ".join(
            f'{{ symbol = "{symbol}", address = "{self.contract(role)}", decimals = 18 }}'
            for role, symbol in _QUOTES.items()
            if role in self.recording["contracts"]
        )
        lines = [f"{key} = {json.dumps(value)}" for key, value in entry.items()]
        return "\n".join([f"[chains.{CHAIN}]", *lines, f"quote_tokens = [{quotes}]", ""])

    def _code(self, address: str, block: str) -> str:
        created = self.code.get(address.lower())
        if block == "latest":
            return "0x" if created is None else "0x60"
        self._require_state()
        return "0x" if created is None or int(block, 16) < created else "0x60"

    def _view(self, call: dict[str, str], block: str) -> str:
        if block != "latest":
            self._require_state()
        return str(self._recorded_view(call, block)) if call["to"].lower() in self.code else "0x"

    def _require_state(self) -> None:
        if self.is_pruned:
            raise RefusedError(-32000, "missing trie node")
