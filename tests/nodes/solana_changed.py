"""Transactions of Solana made out of recorded ones, for a node on loopback, and what can go wrong with such a node."""

import copy
import hashlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from solders.pubkey import Pubkey
from solders.signature import Signature

from development.standins.solana_node import SolanaStandIn
from tests.nodes.solana_forms import base58
from tests.nodes.solana_recorded import CLAIM, CONFIG, LAUNCH, MINT, POOL, SWAP, install_solana
from tokens.chains.base58 import decode, is_account

Json = dict[str, Any]

_VAULTS = "33gyPYVgDU2W8nsoJYB8RZ9gaPTKh6XgMF6A7BbiWZSx", "2emUtRoDMdFmNgFinfYLzXDZj9XjQv1XGT32wq6HLhEL"
_METADATA = "7mtfbMPCe5iRzUmXnb5FCSpuf1m19buiy5ssK5dpBwCz"


def key(label: str) -> str:
    """An account that is the same for the same label."""
    return str(Pubkey(hashlib.sha256(label.encode()).digest()))


def signature(label: str) -> str:
    return str(Signature(hashlib.sha512(label.encode()).digest()))


def mint(label: str) -> str:
    """The mint that `TroubledNode.launch` of this label makes."""
    return key(f"{label} {MINT}")


def pool(label: str) -> str:
    return key(f"{label} {POOL}")


class TroubledNode(SolanaStandIn):
    """A node to which transactions are added, and that lists them by short pages, late, or not all of them."""

    def __init__(self) -> None:
        super().__init__()
        # The most that it lists at once.
        self.page = 1000
        # Transactions that its index of signatures lacks.
        self.unlisted: set[str] = set()
        # It has forgotten all before this slot.
        self.kept_from = 0

    def launch(self, label: str, *, slot: int | None = None, config: str = CONFIG) -> str:
        """Make another pool by a config; returns the mint."""
        self._make(LAUNCH, label, slot=slot, keys=self._keys(label) | {CONFIG: config})
        return mint(label)

    def swap(self, label: str, *, slot: int | None = None, config: str = CONFIG, failed: bool = False) -> str:
        """Have somebody buy of the recorded pool, which names the config; returns the signature."""
        return self._make(SWAP, label, slot=slot, keys={CONFIG: config}, failed=failed)

    def claim(self, label: str, *, of: str, slot: int | None = None) -> str:
        """Have the creator of the pool that the launch `of` made claim what the recorded one claimed."""
        return self._make(CLAIM, label, slot=slot, keys=self._keys(of))

    def signatures(self) -> list[Json]:
        return [call for call in self.calls if call["method"] == "getSignaturesForAddress"]

    def read(self) -> list[str]:
        """The transactions that it was asked for, in order."""
        asked = [call["params"][0] for call in self.calls if call["method"] == "getTransaction"]
        return list(dict.fromkeys(asked))

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
        wanted = dict(options or {})
        wanted["limit"] = min(wanted.get("limit", self.page), self.page)
        kept = self.transactions
        self.transactions = {
            name: forms
            for name, forms in kept.items()
            if name not in self.unlisted and forms["json"]["slot"] >= self.kept_from
        }
        try:
            return super()._signatures(address, wanted)
        finally:
            self.transactions = kept


@pytest.fixture
def troubled_solana(solana_file: Path, settings: Any, forget_chains: Callable[[], None]) -> Iterator[TroubledNode]:
    """Such a node, with which the service has Solana installed, and the recorded config allow-listed."""
    with TroubledNode() as node:
        install_solana(node, file=solana_file, settings=settings, forget=forget_chains)
        yield node


def varied(forms: Json, *, keys: Mapping[str, str]) -> Json:
    """A copy of a transaction's answers with other accounts or another signature, also within the data."""
    accounts = {old: new for old, new in keys.items() if is_account(old)}
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
    content = decode(text)
    for old, new in data.items():
        content = content.replace(old, new)
    return base58(content)
