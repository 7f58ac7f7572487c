"""Stand-in for a Solana node: JSON-RPC over recorded transactions and accounts, which tests extend at run time.

Shapes: https://solana.com/docs/rpc/http, errors:
https://github.com/anza-xyz/agave/blob/master/rpc-client-api/src/custom_error.rs
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from development.standins.http_server import StandIn, StandInResponse
from development.standins.loopback import ReceivedRequest, RefusedError, answer_calls

RECORDING = Path(__file__).resolve().parents[2] / "tests" / "data" / "solana" / "recorded.json"
MAINNET_GENESIS_HASH = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"

_MOST_LISTED = 1000
_MOST_ACCOUNTS = 100
_API_VERSION = "2.3.0"

Json = dict[str, Any]


class SolanaStandIn(StandIn):
    """Recording behind a URL, up to its newest slot. Every transaction in it is finalised.

    A recording has `transactions` (signature -> responses by encoding), `accounts` (address -> account, in base64),
    `tokenSupply` (mint -> response) and `slot`.
    """

    TAKES_POSTS = True

    def __init__(self, port: int = 0, *, recording: Path = RECORDING, genesis_hash: str = MAINNET_GENESIS_HASH) -> None:
        super().__init__(port)
        recorded = json.loads(recording.read_text())
        self.genesis_hash = genesis_hash
        # Oldest first, also within a slot.
        self.transactions: dict[str, Json] = dict(
            sorted(recorded["transactions"].items(), key=lambda entry: entry[1]["json"]["slot"])
        )
        self.accounts: dict[str, Json] = recorded["accounts"]
        self.supplies: dict[str, Json] = recorded["tokenSupply"]
        self.slot: int = recorded["slot"]
        # Slots that its finalised commitment is behind.
        self.behind = 0
        # Transactions that it lists but does not return.
        self.missing: set[str] = set()
        # Hook for tests: a change to a transaction's response in an encoding.
        self.response_hook: Callable[[str, str, Json], Json | None] = lambda signature, encoding, answer: answer
        # Method -> its JSON-RPC error.
        self.refused: dict[str, Json] = {}
        # Every received call in sequence, with batches split.
        self.calls: list[Json] = []
        self._methods: dict[str, Callable[..., Any]] = {
            "getGenesisHash": lambda: self.genesis_hash,
            "getHealth": lambda: "ok",
            "getSlot": self._slot,
            "getBlock": self._block,
            "getBlockTime": self._block_time,
            "getTransaction": self._transaction,
            "getSignaturesForAddress": self._signatures,
            "getAccountInfo": self._account,
            "getMultipleAccounts": self._accounts,
            "getTokenSupply": self._supply,
        }

    def hold(self, forms: Json) -> str:
        """Add a transaction in its encodings; return its signature. A newer slot becomes the head."""
        signature: str = forms["json"]["transaction"]["signatures"][0]
        self.slot = max(self.slot, forms["json"]["slot"])
        transactions = {**self.transactions, signature: forms}
        self.transactions = dict(sorted(transactions.items(), key=lambda entry: entry[1]["json"]["slot"]))
        return signature

    def answer(self, received: ReceivedRequest) -> StandInResponse | None:
        """Return the response to a call, or to a batch."""
        try:
            body = json.loads(received.content)
        except ValueError:
            return StandInResponse({"jsonrpc": "2.0", "error": {"code": -32700, "message": "Parse error"}, "id": None})
        return StandInResponse(answer_calls(body, self._result))

    def _result(self, call: Any) -> Any:
        self.calls.append(call)
        if call["method"] in self.refused:
            raise RefusedError(**self.refused[call["method"]])
        if call["method"] not in self._methods:
            raise RefusedError(-32601, "Method not found")
        try:
            return self._methods[call["method"]](*call.get("params", []))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise RefusedError(-32602, "Invalid params") from error

    def _head(self, options: Json) -> int:
        """Return the newest slot at the requested commitment, `finalized` by default."""
        head = self.slot - (self.behind if options.get("commitment", "finalized") == "finalized" else 0)
        if head < options.get("minContextSlot", 0):
            raise RefusedError(-32016, "Minimum context slot has not been reached")
        return head

    def _in_context(self, options: Json, value: Any) -> Json:
        return {"context": {"apiVersion": _API_VERSION, "slot": self._head(options)}, "value": value}

    def _slot(self, options: Json | None = None) -> int:
        return self._head(options or {})

    def _block(self, slot: int, options: Json | None = None) -> Json:
        call_options = options or {}
        if call_options.get("transactionDetails") != "signatures":
            raise RefusedError(-32602, "Invalid param: this node returns only the signatures of blocks")
        if slot > self._head(call_options):
            raise RefusedError(-32004, f"Block not available for slot {slot}")
        forms = self._forms_in(slot)
        time = next(iter(forms.values()))["blockTime"]
        return {"blockHeight": slot, "blockTime": time, "parentSlot": slot - 1, "signatures": list(forms)}

    def _block_time(self, slot: int) -> int | None:
        time: int | None = next(iter(self._forms_in(slot).values()))["blockTime"]
        return time

    def _forms_in(self, slot: int) -> dict[str, Json]:
        """Return a slot's transactions by signature, in sequence. Raises RefusedError if there are none."""
        forms = {
            signature: entry["json"] for signature, entry in self.transactions.items() if entry["json"]["slot"] == slot
        }
        if not forms:
            raise RefusedError(-32009, f"Slot {slot} was skipped, or missing in long-term storage")
        return forms

    def _transaction(self, signature: str, options: Json | str | None = None) -> Json | None:
        call_options = {"encoding": options} if isinstance(options, str) else options or {}
        forms = self.transactions.get(signature)
        if forms is None or signature in self.missing or forms["json"]["slot"] > self._head(call_options):
            return None
        version, most = forms["json"]["version"], call_options.get("maxSupportedTransactionVersion")
        if version != "legacy" and (most is None or version > most):
            parameter = f'"maxSupportedTransactionVersion": {version}'
            raise RefusedError(
                -32015,
                f"Transaction version ({version}) is not supported by the requesting client. "
                f"Please try the request again with the following configuration parameter: {parameter}",
            )
        encoding = call_options.get("encoding", "json")
        answer: Json = forms[encoding]
        if most is None:
            # Without the parameter, the response has no version.
            answer = {name: value for name, value in answer.items() if name != "version"}
        return self.response_hook(signature, encoding, answer)

    def _signatures(self, address: str, options: Json | None = None) -> list[Json]:
        call_options = options or {}
        head, limit = self._head(call_options), call_options.get("limit", _MOST_LISTED)
        if not 0 < limit <= _MOST_LISTED:
            raise RefusedError(-32602, f"Invalid limit; max {_MOST_LISTED}")
        entries = [
            (signature, entry["json"])
            for signature, entry in reversed(self.transactions.items())
            if entry["json"]["slot"] <= head and address in _account_keys(entry["json"])
        ]
        newest_first = [signature for signature, _ in entries]
        start = self._place(newest_first, call_options.get("before"), otherwise=0, after=1)
        end = self._place(newest_first, call_options.get("until"), otherwise=len(entries), after=0)
        return [_listed(signature, form) for signature, form in entries[start:end][:limit]]

    def _place(self, newest_first: list[str], bound: str | None, *, otherwise: int, after: int) -> int:
        if bound is None:
            return otherwise
        # Nodes list nothing before an unknown transaction, and everything until an unknown one.
        return newest_first.index(bound) + after if bound in newest_first else len(newest_first)

    def _account(self, address: str, options: Json | None = None) -> Json:
        call_options = _require_base64(options)
        return self._in_context(call_options, self.accounts.get(address))

    def _accounts(self, addresses: list[str], options: Json | None = None) -> Json:
        if len(addresses) > _MOST_ACCOUNTS:
            raise RefusedError(-32602, f"Too many inputs provided; max {_MOST_ACCOUNTS}")
        call_options = _require_base64(options)
        return self._in_context(call_options, [self.accounts.get(address) for address in addresses])

    def _supply(self, mint: str, options: Json | None = None) -> Json:
        if mint not in self.supplies:
            raise RefusedError(-32602, "Invalid param: could not find account")
        return self._in_context(options or {}, self.supplies[mint]["value"])


def _require_base64(options: Json | None) -> Json:
    call_options = options or {}
    if call_options.get("encoding") != "base64":
        raise RefusedError(-32602, "Invalid param: this node returns accounts only in base64")
    return call_options


def _account_keys(form: Json) -> set[str]:
    """Return all accounts of a transaction, including accounts from lookup tables."""
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
