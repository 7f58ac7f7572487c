"""A node of Solana: JSON-RPC over a recording of transactions and accounts, which tests add to while it runs.

Shapes: https://solana.com/docs/rpc/http, refusals:
https://github.com/anza-xyz/agave/blob/master/rpc-client-api/src/custom_error.rs
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from development.standins.http_server import Answer, Asked, StandIn

RECORDING = Path(__file__).resolve().parents[2] / "tests" / "data" / "solana" / "recorded.json"
MAINNET_GENESIS_HASH = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"

_MOST_LISTED = 1000
_MOST_ACCOUNTS = 100
_API_VERSION = "2.3.0"

Json = dict[str, Any]


class Refused(Exception):
    """A JSON-RPC error as the answer to a call."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message}


class SolanaStandIn(StandIn):
    """The recording behind a URL, which ends with its newest slot. Every transaction of it is finalised.

    A recording has `transactions` (signature -> its answers by encoding), `accounts` (address -> the account, in
    base64), `tokenSupply` (mint -> the answer) and `slot`.
    """

    TAKES_POSTS = True

    def __init__(self, port: int = 0, *, recording: Path = RECORDING, genesis_hash: str = MAINNET_GENESIS_HASH) -> None:
        super().__init__(port)
        recorded = json.loads(recording.read_text())
        self.genesis_hash = genesis_hash
        # Oldest first, also where two are of one slot.
        self.transactions: dict[str, Json] = dict(
            sorted(recorded["transactions"].items(), key=lambda entry: entry[1]["json"]["slot"])
        )
        self.accounts: dict[str, Json] = recorded["accounts"]
        self.supplies: dict[str, Json] = recorded["tokenSupply"]
        self.slot: int = recorded["slot"]
        # By how many slots it is behind, as to what is final.
        self.behind = 0
        # Transactions that it does not know, though it lists them.
        self.missing: set[str] = set()
        # A test's own say: a change of a transaction's answer in an encoding.
        self.tell: Callable[[str, str, Json], Json | None] = lambda signature, encoding, answer: answer
        # Method -> the error that it answers with.
        self.refused: dict[str, Json] = {}
        # Every call that came, in order, batches taken apart.
        self.calls: list[Json] = []
        self._methods: dict[str, Callable[..., Any]] = {
            "getGenesisHash": lambda: self.genesis_hash,
            "getHealth": lambda: "ok",
            "getSlot": self._slot,
            "getBlockTime": self._block_time,
            "getTransaction": self._transaction,
            "getSignaturesForAddress": self._signatures,
            "getAccountInfo": self._account,
            "getMultipleAccounts": self._accounts,
            "getTokenSupply": self._supply,
        }

    def hold(self, forms: Json) -> str:
        """Serve this transaction, too, by its encodings; returns its signature. Slots after the newest move it."""
        signature: str = forms["json"]["transaction"]["signatures"][0]
        self.slot = max(self.slot, forms["json"]["slot"])
        held = {**self.transactions, signature: forms}
        self.transactions = dict(sorted(held.items(), key=lambda entry: entry[1]["json"]["slot"]))
        return signature

    def answer(self, asked: Asked) -> Answer | None:
        """The answer to a call, or to a batch."""
        try:
            body = json.loads(asked.content)
        except ValueError:
            return Answer({"jsonrpc": "2.0", "error": {"code": -32700, "message": "Parse error"}, "id": None})
        return Answer([self._reply(call) for call in body] if isinstance(body, list) else self._reply(body))

    def _reply(self, call: Any) -> Json:
        if not isinstance(call, dict) or not isinstance(call.get("method"), str):
            return {"jsonrpc": "2.0", "error": {"code": -32600, "message": "Invalid request"}, "id": None}
        self.calls.append(call)
        envelope = {"jsonrpc": "2.0", "id": call.get("id")}
        try:
            if call["method"] in self.refused:
                return envelope | {"error": self.refused[call["method"]]}
            if call["method"] not in self._methods:
                raise Refused(-32601, "Method not found")
            return envelope | {"result": self._methods[call["method"]](*call.get("params", []))}
        except Refused as refused:
            return envelope | {"error": refused.error}
        except (AttributeError, KeyError, TypeError, ValueError):
            return envelope | {"error": {"code": -32602, "message": "Invalid params"}}

    def _head(self, options: Json) -> int:
        """The newest slot at the commitment that is asked for, which is `finalized` where none is."""
        head = self.slot - (self.behind if options.get("commitment", "finalized") == "finalized" else 0)
        if head < options.get("minContextSlot", 0):
            raise Refused(-32016, "Minimum context slot has not been reached")
        return head

    def _in_context(self, options: Json, value: Any) -> Json:
        return {"context": {"apiVersion": _API_VERSION, "slot": self._head(options)}, "value": value}

    def _slot(self, options: Json | None = None) -> int:
        return self._head(options or {})

    def _block_time(self, slot: int) -> int | None:
        forms = [entry["json"] for entry in self.transactions.values() if entry["json"]["slot"] == slot]
        if not forms:
            raise Refused(-32009, f"Slot {slot} was skipped, or missing in long-term storage")
        time: int | None = forms[0]["blockTime"]
        return time

    def _transaction(self, signature: str, options: Json | str | None = None) -> Json | None:
        wanted = {"encoding": options} if isinstance(options, str) else options or {}
        forms = self.transactions.get(signature)
        if forms is None or signature in self.missing or forms["json"]["slot"] > self._head(wanted):
            return None
        version, most = forms["json"]["version"], wanted.get("maxSupportedTransactionVersion")
        if version != "legacy" and (most is None or version > most):
            parameter = f'"maxSupportedTransactionVersion": {version}'
            raise Refused(
                -32015,
                f"Transaction version ({version}) is not supported by the requesting client. "
                f"Please try the request again with the following configuration parameter: {parameter}",
            )
        encoding = wanted.get("encoding", "json")
        answer: Json = forms[encoding]
        if most is None:
            # Who asks for no versions is told of none.
            answer = {name: part for name, part in answer.items() if name != "version"}
        return self.tell(signature, encoding, answer)

    def _signatures(self, address: str, options: Json | None = None) -> list[Json]:
        wanted = options or {}
        head, limit = self._head(wanted), wanted.get("limit", _MOST_LISTED)
        if not 0 < limit <= _MOST_LISTED:
            raise Refused(-32602, f"Invalid limit; max {_MOST_LISTED}")
        named = [
            (signature, entry["json"])
            for signature, entry in reversed(self.transactions.items())
            if entry["json"]["slot"] <= head and address in _account_keys(entry["json"])
        ]
        newest_first = [signature for signature, _ in named]
        start = self._place(newest_first, wanted.get("before"), otherwise=0, after=1)
        end = self._place(newest_first, wanted.get("until"), otherwise=len(named), after=0)
        return [_listed(signature, form) for signature, form in named[start:end][:limit]]

    def _place(self, newest_first: list[str], bound: str | None, *, otherwise: int, after: int) -> int:
        if bound is None:
            return otherwise
        # Nodes list nothing before a transaction that they don't know, and everything until one.
        return newest_first.index(bound) + after if bound in newest_first else len(newest_first)

    def _account(self, address: str, options: Json | None = None) -> Json:
        wanted = _base64_alone(options)
        return self._in_context(wanted, self.accounts.get(address))

    def _accounts(self, addresses: list[str], options: Json | None = None) -> Json:
        if len(addresses) > _MOST_ACCOUNTS:
            raise Refused(-32602, f"Too many inputs provided; max {_MOST_ACCOUNTS}")
        wanted = _base64_alone(options)
        return self._in_context(wanted, [self.accounts.get(address) for address in addresses])

    def _supply(self, mint: str, options: Json | None = None) -> Json:
        if mint not in self.supplies:
            raise Refused(-32602, "Invalid param: could not find account")
        return self._in_context(options or {}, self.supplies[mint]["value"])


def _base64_alone(options: Json | None) -> Json:
    wanted = options or {}
    if wanted.get("encoding") != "base64":
        raise Refused(-32602, "Invalid param: this node tells of accounts in base64 alone")
    return wanted


def _account_keys(form: Json) -> set[str]:
    """All accounts that a transaction names, also by lookup tables."""
    loaded = form["meta"].get("loadedAddresses") or {"writable": [], "readonly": []}
    return {*form["transaction"]["message"]["accountKeys"], *loaded["writable"], *loaded["readonly"]}


def _listed(signature: str, form: Json) -> Json:
    return {
        "signature": signature,
        "slot": form["slot"],
        "err": form["meta"]["err"],
        "memo": None,
        "blockTime": form["blockTime"],
        "confirmationStatus": "finalized",
    }
