"""Dev accounts behind a launch, and the token amounts that stored claims paid to them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from tokens.chains.evm.generations.event_decoding import EventKind
from tokens.models import Token, TokenEvent

DEPLOYER, REQUESTOR, ADMIN, CURRENT_ADMIN, LAUNCH_BUYER = DEV_ROLES = (
    "deployer", "requestor", "admin", "currentAdmin", "launchBuyer",
)  # fmt: skip
# The most event and claim rows that are read, newest first.
MOST_CLAIMS = 1_000
_COLUMNS = (
    "kind", "arguments", "tx_hash", "block_number", "log_index", "claims__recipient", "claims__currency",
    "claims__amount",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class DevAccount:
    """An account behind a launch, with its roles."""

    address: str
    roles: tuple[str, ...]


class VaultClaim(NamedTuple):
    """A claim from the launch's vault, in the token's smallest units, with its event's position."""

    amount: int
    tx_hash: str
    block: int
    log_index: int


@dataclass(frozen=True, slots=True)
class StoredClaims:
    """Claims paid in the token itself: account -> fees and airdrop, and vault claims; incomplete if rows were cut."""

    received: Mapping[str, int]
    vault: tuple[VaultClaim, ...]
    is_complete: bool


def find_dev_accounts(token: Token) -> list[DevAccount]:
    """Return the accounts behind a launch, each once, sorted as DEV_ROLES; no query if `launch` is loaded."""
    facts: Mapping[str, Any] = token.launch.facts if hasattr(token, "launch") else {}
    at_launch = facts.get("admin") or token.admin
    addresses = {
        DEPLOYER: token.msg_sender,
        REQUESTOR: token.requestor_address,
        ADMIN: at_launch,
        CURRENT_ADMIN: token.admin,
        LAUNCH_BUYER: (token.extensions["devBuy"] or {}).get("recipient"),
    }
    roles: dict[str, list[str]] = {}
    for role, address in addresses.items():
        if address:
            roles.setdefault(address, []).append(role)
    return [DevAccount(address, tuple(of_address)) for address, of_address in roles.items()]


def read_claims_of(token: Token, accounts: Collection[str]) -> StoredClaims:
    """Return stored claims paid in the token itself: these accounts' fees and airdrop, and all vault claims. One query.

    The vault's event does not name the paid account.
    """
    newest = TokenEvent.objects.filter(token=token).order_by("-block_number", "-log_index", "claims__pk")
    rows = list(newest.values_list(*_COLUMNS)[: MOST_CLAIMS + 1])
    fees: dict[str, int] = {}
    airdropped: dict[str, int] = {}
    vault = []
    for kind, arguments, tx_hash, block, log_index, recipient, currency, amount in rows[:MOST_CLAIMS]:
        if recipient in accounts and currency == token.contract_address:
            fees[recipient] = fees.get(recipient, 0) + int(amount)
        elif kind == EventKind.AIRDROP_CLAIMED and arguments["user"] in accounts:
            # The event has the account's running total.
            total = int(arguments["totalUserAmountClaimed"])
            airdropped[arguments["user"]] = max(total, airdropped.get(arguments["user"], 0))
        elif kind == EventKind.VAULT_CLAIMED:
            vault.append(VaultClaim(int(arguments["amount"]), tx_hash, block, log_index))
    received = {account: fees.get(account, 0) + airdropped.get(account, 0) for account in {*fees, *airdropped}}
    return StoredClaims(received, tuple(vault), is_complete=len(rows) <= MOST_CLAIMS)
