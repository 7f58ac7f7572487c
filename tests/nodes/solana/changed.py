"""Solana transactions derived from recorded ones, for a node on loopback, and such a node's faults."""

import copy
import hashlib
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from solders.pubkey import Pubkey
from solders.signature import Signature

from development.standins.solana_node import SolanaStandIn
from tests.nodes.solana.forms import base58
from tests.nodes.solana.recorded import CLAIM, CONFIG, LAUNCH, MINT, POOL, SWAP, install_solana
from tokens.chains.addresses import decode_base58, is_solana_address

Json = dict[str, Any]

_VAULTS = "33gyPYVgDU2W8nsoJYB8RZ9gaPTKh6XgMF6A7BbiWZSx", "2emUtRoDMdFmNgFinfYLzXDZj9XjQv1XGT32wq6HLhEL"
_METADATA = "7mtfbMPCe5iRzUmXnb5FCSpuf1m19buiy5ssK5dpBwCz"


def key(label: str) -> str:
    """Return an account that is the same for the same label."""
    return str(Pubkey(hashlib.sha256(label.encode()).digest()))


def signature(label: str) -> str:
    return str(Signature(hashlib.sha512(label.encode()).digest()))


def mint(label: str) -> str:
    """Return the mint that `FaultySolanaNode.launch` makes for this label."""
    return key(f"{label} {MINT}")


def pool(label: str) -> str:
    return key(f"{label} {POOL}")


class FaultySolanaNode(SolanaStandIn):
    """A node to which transactions are added; it lists them in short pages, late, or incompletely."""

    def __init__(self) -> None:
        super().__init__()
        # Its lists' page size.
        self.page = 1000
        # Transactions that are missing in its signature index.
        self.unlisted: set[str] = set()
        # It has pruned everything before this slot.
        self.kept_from = 0
        # Held while a list hides transactions: one that is added meanwhile, after a caller was killed, would be lost.
        self._hiding = threading.Lock()

    def hold(self, forms: Json) -> str:
        """Add a transaction, as the stand-in does."""
        with self._hiding:
            return super().hold(forms)

    def launch(self, label: str, *, slot: int | None = None, config: str = CONFIG) -> str:
        """Make another pool by a config; return the mint."""
        self._make(LAUNCH, label, slot=slot, keys=self._keys(label) | {CONFIG: config})
        return mint(label)

    def swap(
        self, label: str, *, of: str = "", slot: int | None = None, config: str = CONFIG, failed: bool = False
    ) -> str:
        """Add a purchase from the recorded pool, or from the pool that launch `of` made; return the signature."""
        keys = self._keys(of) if of else {}
        return self._make(SWAP, label, slot=slot, keys=keys | {CONFIG: config}, failed=failed)

    def claim(self, label: str, *, of: str, slot: int | None = None) -> str:
        """Add a claim by the pool creator in launch `of`, with the recorded claim's amounts."""
        return self._make(CLAIM, label, slot=slot, keys=self._keys(of))

    def signatures(self) -> list[Json]:
        return [call for call in self.calls if call["method"] == "getSignaturesForAddress"]

    def read(self) -> list[str]:
        """Return the requested transactions, in order of arrival."""
        requested = [call["params"][0] for call in self.calls if call["method"] == "getTransaction"]
        return list(dict.fromkeys(requested))

    def _keys(self, label: str) -> dict[str, str]:
        return {old: key(f"{label} {old}") for old in (MINT, POOL, *_VAULTS, _METADATA)}

    def _make(
        self, recorded: str, label: str, *, slot: int | None, keys: Mapping[str, str], failed: bool = False
    ) -> str:
        forms = varied(self.transactions[recorded], keys={**keys, recorded: signature(label)})
        place = self.slot + 1 if slot is None else slot
        for form in forms.values():
            form["slot"] = place
            if failed:
                form["meta"] |= {"err": {"InstructionError": [0, {"Custom": 1}]}}
        return self.hold(forms)

    def _signatures(self, address: str, options: Json | None = None) -> list[Json]:
        page_options = dict(options or {})
        page_options["limit"] = min(page_options.get("limit", self.page), self.page)
        with self._hiding:
            kept = self.transactions
            self.transactions = {
                name: forms
                for name, forms in kept.items()
                if name not in self.unlisted and forms["json"]["slot"] >= self.kept_from
            }
            try:
                return super()._signatures(address, page_options)
            finally:
                self.transactions = kept


@pytest.fixture
def faulty_solana(solana_file: Path, settings: Any, forget_chains: Callable[[], None]) -> Iterator[FaultySolanaNode]:
    """Run a node with changed transactions, with Solana installed on it and the recorded config allow-listed."""
    with FaultySolanaNode() as node:
        install_solana(node, file=solana_file, settings=settings, forget=forget_chains)
        yield node


def varied(forms: Json, *, keys: Mapping[str, str]) -> Json:
    """Copy a transaction's responses with other accounts or another signature, also within the data."""
    accounts = {old: new for old, new in keys.items() if is_solana_address(old)}
    data = {bytes(Pubkey.from_string(old)): bytes(Pubkey.from_string(new)) for old, new in accounts.items()}
    copied: Json = _replace(copy.deepcopy({name: forms[name] for name in ("json", "jsonParsed")}), keys, data)
    return copied


def _replace(value: Any, keys: Mapping[str, str], data: Mapping[bytes, bytes]) -> Any:
    if isinstance(value, dict):
        return {
            name: _replace_data(part, data) if name == "data" and isinstance(part, str) else _replace(part, keys, data)
            for name, part in value.items()
        }
    if isinstance(value, list):
        return [_replace(part, keys, data) for part in value]
    return keys.get(value, value) if isinstance(value, str) else value


def _replace_data(text: str, data: Mapping[bytes, bytes]) -> str:
    content = decode_base58(text)
    for old, new in data.items():
        content = content.replace(old, new)
    return base58(content)
