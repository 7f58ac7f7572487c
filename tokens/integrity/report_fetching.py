"""Launch reports from a cache that all processes share, with balances from the chain's nodes."""

import hashlib
from typing import Any, TypeVar

from django.conf import settings

from config.http.errors import NoResponseError, PermanentError, RetryableError
from config.processes.concurrency_limits import BusyError, node_slot
from config.redis.single_flight import CacheTimes, fetch_shared
from tokens.chains.rpc.client import query_deadline
from tokens.installation.installed_chains import installed_chain
from tokens.integrity.integrity_report import build_report
from tokens.integrity.responses import DevAccountJson, Integrity, LaunchHolder
from tokens.integrity.unknown_facts import describe_unknown
from tokens.models import Token

# Cache seconds for reports and balances.
FRESH_SECONDS = 15
# Increment with every change to a cached value.
CACHE_VERSION = 2
_TIMES = CacheTimes(fresh=FRESH_SECONDS, ttl=60, wait_timeout=5.0, lock_ttl=10.0)
# The longest time that a thread waits for the nodes.
_NODE_SECONDS = 2.0

_Row = TypeVar("_Row", DevAccountJson, LaunchHolder)


def fetch_report(token: Token, *, seconds: int) -> Integrity:
    """Return the report that `build_report` computes, once in FRESH_SECONDS for all callers; do not change it."""
    # A reorg that replaced the launch changes its transaction hash.
    name = f"integrity:{CACHE_VERSION}:{token.chain_id}:{token.contract_address}:{token.tx_hash}:{seconds}"
    try:
        report: Integrity = fetch_shared(name, lambda: build_report(token, seconds=seconds), times=_TIMES).value
    except (BusyError, NoResponseError):
        # Threads may wait for nodes or for another process: a few queries are faster.
        return build_report(token, seconds=seconds)
    return report


def with_balances(token: Token, report: Integrity) -> Integrity:
    """Return the report with its accounts' balances; null, and listed as unknown, if no node returns them."""
    developers, holders = report["dev"]["accounts"], report["holders"]
    accounts = sorted({row["account"] for row in (*developers, *holders["atLaunch"], *holders["now"])})
    is_solana = token.chain_id == settings.SOLANA_CHAIN_ID
    balances = None if is_solana or not accounts else _fetch_balances(token, accounts)
    amounts: dict[str, str | None] = balances["amounts"] if balances else {}

    def add_balances(rows: list[_Row]) -> list[_Row]:
        return [row | {"balance": amounts.get(row["account"])} for row in rows]

    unknown = describe_unknown(["solanaBalances" if is_solana else "balances"] if accounts and not balances else [])
    return {
        **report,
        "dev": {**report["dev"], "accounts": add_balances(developers)},
        "holders": {"atLaunch": add_balances(holders["atLaunch"]), "now": add_balances(holders["now"])},
        "balancesBlock": balances["block"] if balances else None,
        "unknown": [*report["unknown"], *unknown],
    }


def _fetch_balances(token: Token, accounts: list[str]) -> dict[str, Any] | None:
    """Return the block and account -> balance; None if no node returns them now."""
    digest = hashlib.sha256(",".join(accounts).encode()).hexdigest()[:32]
    name = f"integrity-balances:{CACHE_VERSION}:{token.chain_id}:{token.contract_address}:{digest}"
    try:
        balances: dict[str, Any] | None = fetch_shared(
            name, lambda: _read_balances(token, accounts), times=_TIMES
        ).value
    except (BusyError, NoResponseError):
        return None
    return balances


def _read_balances(token: Token, accounts: list[str]) -> dict[str, Any] | None:
    """Return the value that `_fetch_balances` caches. A failure is cached, too: a hanging node blocks few threads."""
    try:
        with node_slot(), query_deadline(_NODE_SECONDS):
            balances = installed_chain(token.chain_id).read_token_balances(token.contract_address, accounts)
    except (PermanentError, RetryableError):
        return None
    amounts = {account: None if amount is None else str(amount) for account, amount in balances.amounts.items()}
    return {"block": balances.block_number, "amounts": amounts}
