"""A decoded launch's token columns and their COPY lines, without operators' tags."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypedDict

from config.parsing.json_rules import LARGEST_JSON_NUMBER
from config.parsing.response_types import Timestamp
from config.parsing.timestamps import format_timestamp
from config.postgresql.bulk_load import format_copy_row
from tokens.chains.addresses import address_key
from tokens.chains.registry.chains import ChainInfo, Preset
from tokens.chains.types import DevBuy, Launch, Lockup, TransactionFacts, Vault, starting_market_cap
from tokens.indexing.fact_json import launch_facts
from tokens.indexing.launch_warnings import find_warnings
from tokens.indexing.metadata import (
    copy_key,
    cut_text,
    farcaster_fid,
    parse_context,
    parse_metadata,
)
from tokens.installation.installed_registry import registry

Json = dict[str, Any]
_Duration = Annotated[int, "Seconds, at most 2^53 - 1."]
_WholeText = Annotated[str, "Wei, in decimal digits."]


class DeployConfig(TypedDict):
    """Purchase and vault of the launch."""

    devBuyAmount: Annotated[str | None, "Wei of the native coin; 0 without a purchase."]
    lockupPercentage: Annotated[float | None, "Percent of the supply in the vault."]
    vestingUnlockDate: Annotated[Timestamp | None, "When the vault's lock ends."]


class PoolConfig(TypedDict):
    """Pool of the launch."""

    pairedToken: str | None
    tickIfToken0IsNewToken: Annotated[int | None, "Starting tick if the launched token were token0."]
    tickSpacing: int | None
    hook: str | None


class LaunchFeeRecipient(TypedDict):
    """Recipient of a share of the pool's fees."""

    admin: str
    recipient: str
    bps: int
    token: Literal["Both", "Paired", "Clanker"]


class LaunchFees(TypedDict):
    """Fees of the pool, with their recipients."""

    type: Literal["static", "dynamic"]
    clankerFee: Annotated[float | None, "Bps."]
    pairedFee: Annotated[float | None, "Bps."]
    baseFee: Annotated[float | None, "Bps."]
    maxFee: Annotated[float | None, "Bps."]
    hook_address: str | None
    recipients: list[LaunchFeeRecipient]


class LaunchLockup(TypedDict):
    """Times of a lock."""

    startedAt: Timestamp | None
    lockDuration: _Duration
    vestDuration: Annotated[int, "Seconds after the lock, at most 2^53 - 1."]


class LaunchVault(TypedDict):
    """Locked part of the supply."""

    amount: _WholeText
    lockup: LaunchLockup


class LaunchAirdrop(TypedDict):
    """Part of the supply for the entries of a Merkle tree."""

    amount: _WholeText
    merkleRoot: str
    admin: str | None
    lockup: LaunchLockup


class LaunchDevBuy(TypedDict):
    """Purchase in the launch's transaction."""

    amount: _WholeText
    amountEth: Annotated[str | None, "Wei."]
    recipient: str | None


class LaunchSniperTax(TypedDict):
    """Fee of the first trades, which falls with time."""

    startingFee: Annotated[int, "Parts per million."]
    endingFee: Annotated[int, "Parts per million."]
    secondsToDecay: int


class LaunchPosition(TypedDict):
    """Range of ticks with a part of the supply."""

    tickLower: int
    tickUpper: int
    positionBps: int


class Extensions(TypedDict):
    """Parts of the launch beside its pool."""

    fees: LaunchFees | None
    vault: LaunchVault | None
    airdrop: LaunchAirdrop | None
    devBuy: LaunchDevBuy | None
    sniperTax: LaunchSniperTax | None
    positions: list[LaunchPosition] | None


# Any contract may be the paired token, and return any symbol.
_MAX_SYMBOL = 100
# For declared launchpads: their launches may have purchases and locked parts, but the events of these are not read.
_UNKNOWN_CONFIG: DeployConfig = {"devBuyAmount": None, "lockupPercentage": None, "vestingUnlockDate": None}


def token_columns(launch: Launch, *, chain: ChainInfo, presets: Iterable[Preset]) -> Json:
    """Return column name -> value for `tokens.models.Token`.

    Unknown text becomes the empty string. In JSON, wei are decimal strings and times are ISO 8601.
    """
    metadata, context = parse_metadata(launch.metadata), parse_context(launch.context)
    market_cap = _market_cap(launch)
    return {
        "chain_id": launch.chain_id,
        "contract_address": launch.token,
        "generation": launch.generation,
        "unindexed": False,
        "tx_hash": launch.tx_hash,
        "log_index": launch.log_index,
        "block_number": launch.block_number,
        "block_hash": launch.block_hash,
        "deployed_at": datetime.fromtimestamp(launch.block_time, UTC),
        "name": cut_text(launch.name),
        "symbol": cut_text(launch.symbol),
        "description": metadata["description"] or "",
        "img_url": cut_text(launch.image),
        "supply": launch.supply,
        "decimals": launch.decimals,
        "admin": launch.admin or "",
        "msg_sender": launch.msg_sender or "",
        "requestor_fid": launch.requestor_fid or farcaster_fid(context),
        "requestor_address": launch.requestor_address or "",
        "cast_hash": cut_text(launch.cast_hash or context["messageId"]),
        "pool_address": (launch.pool and launch.pool.address) or "",
        "paired_token": launch.pool.paired_token if launch.pool else "",
        "pair": cut_text(launch.pool.pair_symbol if launch.pool else None, _MAX_SYMBOL),
        "factory_address": launch.factory,
        "locker_address": launch.locker or "",
        "position_id": _digits(launch.position_id),
        "presale_id": _digits(launch.presale_id),
        "metadata": metadata,
        "social_context": context,
        "deploy_config": _UNKNOWN_CONFIG if launch.generation in chain.declared else _deploy_config(launch),
        "pool_config": _pool_config(launch),
        "extensions": _extensions(launch),
        "starting_market_cap": market_cap,
        "launch_warnings": find_warnings(launch, chain=chain, presets=presets, starting_market_cap=market_cap),
        "copy_key": copy_key(cut_text(launch.name), cut_text(launch.symbol)),
        "verified_on_chain": False,
        "known_interface_deployer": address_key(launch.msg_sender or "") in chain.known_deployers,
    }


def _market_cap(launch: Launch) -> float | None:
    pool = launch.pool
    if pool is None or pool.tick is None or pool.pair_decimals is None or launch.supply is None:
        return None
    return starting_market_cap(pool.tick, supply=launch.supply, quote_decimals=pool.pair_decimals)


def _digits(number: int | None) -> str:
    return "" if number is None else str(number)


def _wei(amount: int | None) -> str | None:
    return None if amount is None else str(amount)


def _timestamp(seconds: int) -> str | None:
    """Return ISO 8601 in UTC; None for a time beyond the calendar, since contracts accept any number as a duration."""
    try:
        return format_timestamp(datetime.fromtimestamp(seconds, UTC))
    except (OverflowError, ValueError, OSError):
        return None


def _deploy_config(launch: Launch) -> DeployConfig:
    vault = launch.vault
    return {
        "devBuyAmount": _wei(launch.dev_buy.amount_eth if launch.dev_buy else 0),
        "lockupPercentage": _percent_of_supply(vault, launch.supply),
        "vestingUnlockDate": _timestamp(vault.lockup.started_at + vault.lockup.lock_duration) if vault else None,
    }


def _percent_of_supply(vault: Vault | None, supply: int | None) -> float | None:
    if vault is None:
        return 0
    percent = round(vault.amount * 100 / supply, 4) if supply else None
    return int(percent) if percent is not None and percent.is_integer() else percent


def _pool_config(launch: Launch) -> PoolConfig:
    pool = launch.pool
    return {
        "pairedToken": pool.paired_token if pool else None,
        "tickIfToken0IsNewToken": pool.tick if pool else None,
        "tickSpacing": pool.tick_spacing if pool else None,
        "hook": pool.hook if pool else None,
    }


def _extensions(launch: Launch) -> Extensions:
    vault, airdrop, tax = launch.vault, launch.airdrop, launch.sniper_tax
    positions: list[LaunchPosition] = [
        {"tickLower": position.tick_lower, "tickUpper": position.tick_upper, "positionBps": position.bps}
        for position in launch.positions
    ]
    return {
        "fees": _fees(launch),
        "vault": {"amount": str(vault.amount), "lockup": _lockup(vault.lockup)} if vault else None,
        "airdrop": {
            "amount": str(airdrop.amount),
            "merkleRoot": airdrop.merkle_root,
            "admin": airdrop.admin,
            "lockup": _lockup(airdrop.lockup),
        }
        if airdrop
        else None,
        "devBuy": _dev_buy(launch.dev_buy),
        "sniperTax": {
            "startingFee": tax.starting_fee,
            "endingFee": tax.ending_fee,
            "secondsToDecay": _seconds(tax.seconds_to_decay),
        }
        if tax
        else None,
        "positions": positions or None,
    }


def _fees(launch: Launch) -> LaunchFees | None:
    fees = launch.fees
    if fees is None:
        return None
    return {
        "type": fees.type,
        "clankerFee": fees.clanker_fee,
        "pairedFee": fees.paired_fee,
        "baseFee": fees.base_fee,
        "maxFee": fees.max_fee,
        "hook_address": fees.hook,
        "recipients": [
            {"admin": share.admin, "recipient": share.recipient, "bps": share.bps, "token": share.token}
            for share in launch.fee_recipients
        ],
    }


def _dev_buy(dev_buy: DevBuy | None) -> LaunchDevBuy | None:
    if dev_buy is None:
        return None
    return {
        "amount": str(dev_buy.amount),
        "amountEth": _wei(dev_buy.amount_eth),
        "recipient": dev_buy.recipient,
    }


def _lockup(lockup: Lockup) -> LaunchLockup:
    return {
        "startedAt": _timestamp(lockup.started_at),
        "lockDuration": _seconds(lockup.lock_duration),
        "vestDuration": _seconds(lockup.vest_duration),
    }


def _seconds(duration: int) -> int:
    """Return a duration that JSON can represent. Contracts accept any 256 bits; a larger one makes no difference."""
    return min(duration, LARGEST_JSON_NUMBER)


# Making COPY lines is pure: the threads that read a chain make them while another thread waits for PostgreSQL.
LaunchKey = tuple[str, int, str]


@dataclass(frozen=True, slots=True)
class LaunchLine:
    """A COPY line with a token's columns and, as `facts`, the JSON from which its current columns are folded."""

    columns: tuple[str, ...]
    line: bytes
    # Farcaster account whose social profile is to be fetched.
    requestor_fid: int | None


def launch_key(launch: Launch) -> LaunchKey:
    """Return a launch's key."""
    return launch.tx_hash, launch.log_index, launch.block_hash


def make_launch_line(launch: Launch, *, chain: ChainInfo) -> LaunchLine:
    """Return a launch's COPY line."""
    row = token_columns(launch, chain=chain, presets=registry().presets.values())
    fid: int | None = row["requestor_fid"]
    row["facts"] = launch_facts(launch)
    return LaunchLine(tuple(row), format_copy_row(row).encode(), fid)


def make_launch_lines(transactions: Iterable[TransactionFacts], *, chain: ChainInfo) -> dict[LaunchKey, LaunchLine]:
    """Return the COPY lines for all launches in the transactions."""
    return {
        launch_key(launch): make_launch_line(launch, chain=chain) for facts in transactions for launch in facts.launches
    }
