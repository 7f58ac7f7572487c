"""Token records of all responses, built from the columns that they need.

Serializer classes would spend more time on a page than the database does. `TokenRecordSerializer` only describes the
record, and a test compares the two.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from django.core.exceptions import EmptyResultSet

from accounts.profiles import social_refresh
from config.postgresql.compiled_queries import CompiledQuery
from config.timestamps import format_timestamp
from tokens.indexing.metadata import find_link, social_links
from tokens.installation.installed_chains import generation_label
from tokens.models import Token
from tokens.models.token import POSSIBLE_COPY, TokenQuerySet

Record = dict[str, Any]

TOKEN_COLUMNS = (
    "id",
    "created_at",
    "last_indexed",
    "deployed_at",
    "tx_hash",
    "contract_address",
    "chain_id",
    "generation",
    "name",
    "symbol",
    "description",
    "img_url",
    "supply",
    "admin",
    "msg_sender",
    "requestor_fid",
    "requestor_address",
    "cast_hash",
    "pool_address",
    "pair",
    "factory_address",
    "locker_address",
    "position_id",
    "presale_id",
    "metadata",
    "deploy_config",
    "social_context",
    "pool_config",
    "starting_market_cap",
    "champagne",
    "verified",
    "verified_on_chain",
    "known_interface_deployer",
    "blocked",
    "launch_warnings",
    "possible_copy",
    "extensions",
)
MARKET_COLUMNS = tuple(
    f"market__{name}"
    for name in (
        "market_cap",
        "price_usd",
        "volume_24h",
        "liquidity_usd",
        "tx_count_24h",
        "price_change_1h",
        "price_change_6h",
        "price_change_24h",
        "updated_at",
    )
)


@dataclass(frozen=True)
class Extras:
    """Optional parts of a token record."""

    market: bool = False
    user: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns to be read, in the sequence that `build_records` expects."""
        return TOKEN_COLUMNS + (MARKET_COLUMNS if self.market else ())


NO_EXTRAS = Extras()


def read_records(tokens: TokenQuerySet, extras: Extras = NO_EXTRAS) -> list[Record]:
    """Return the records of the tokens, in the queryset's sort: one query, and one more for users if requested."""
    try:
        statement = CompiledQuery.of(tokens.with_copies().values_list(*extras.columns))
    except EmptyResultSet:
        # Raised by the ORM for a filter by an empty list.
        return []
    return build_records(statement.fetch(), extras)


def build_records(rows: Sequence[tuple[Any, ...]], extras: Extras = NO_EXTRAS) -> list[Record]:
    """Build records from rows whose first columns are `extras.columns`."""
    records = [_build_token(row) for row in rows]
    if extras.market:
        for record, row in zip(records, rows, strict=True):
            _add_market(record, row[len(TOKEN_COLUMNS) :])
    if extras.user:
        _add_users(records)
    return records


def _build_token(row: Sequence[Any]) -> Record:
    (
        row_id, created_at, last_indexed, deployed_at, tx_hash, contract_address, chain_id, generation,
        name, symbol, description, img_url, supply, admin, msg_sender, requestor_fid, requestor_address, cast_hash,
        pool_address, pair, factory_address, locker_address, position_id, presale_id,
        metadata_text, deploy_config, social_context, pool_config, starting_market_cap,
        champagne, verified, verified_on_chain, known_interface_deployer, blocked, launch_warnings, possible_copy,
        extensions, *_,
    ) = row  # fmt: skip
    metadata = orjson.loads(metadata_text)
    return {
        "id": row_id,
        "created_at": format_timestamp(created_at),
        "last_indexed": format_timestamp(last_indexed),
        "deployed_at": format_timestamp(deployed_at),
        "tx_hash": tx_hash,
        "contract_address": contract_address,
        "chain_id": chain_id,
        "type": generation_label(generation),
        "name": name,
        "symbol": symbol,
        # Unknown text is empty in the database and null in responses.
        "description": description or None,
        "img_url": img_url or None,
        # A string, because JavaScript rounds large numbers.
        "supply": None if supply is None else str(int(supply)),
        "admin": admin or None,
        "msg_sender": msg_sender or None,
        "requestor_fid": requestor_fid,
        "requestor_address": requestor_address or None,
        "cast_hash": cast_hash or None,
        "pool_address": pool_address or None,
        "pair": pair or None,
        "factory_address": factory_address,
        "locker_address": locker_address or None,
        "position_id": position_id or None,
        "presale_id": presale_id or None,
        "metadata": metadata,
        "deploy_config": orjson.Fragment(deploy_config),
        "social_context": orjson.Fragment(social_context),
        "socialLinks": social_links(metadata),
        "pool_config": orjson.Fragment(pool_config),
        "starting_market_cap": starting_market_cap,
        "tags": {
            "champagne": champagne,
            "verified": verified or verified_on_chain,
            "knownInterfaceDeployer": known_interface_deployer,
            "blocked": blocked,
        },
        "warnings": [*launch_warnings, POSSIBLE_COPY] if possible_copy else launch_warnings,
        "extensions": orjson.Fragment(extensions),
        "priceUsd": None,
        "related": {},
    }


def _add_market(record: Record, columns: Iterable[Any]) -> None:
    market_cap, price, volume, liquidity, tx_count, change_1h, change_6h, change_24h, updated_at, *_ = columns
    record["priceUsd"] = price
    record["related"]["market"] = updated_at and {
        "marketCap": market_cap,
        "priceUsd": price,
        # Legacy name of the same number.
        "price": price,
        "volume24h": volume,
        "liquidityUsd": liquidity,
        "txCount24h": tx_count,
        "priceChangePercent1h": change_1h,
        "priceChangePercent6h": change_6h,
        "priceChangePercent24h": change_24h,
        "marketDataUpdatedAt": format_timestamp(updated_at),
    }


def _add_users(records: Sequence[Record]) -> None:
    fids = {record["requestor_fid"] for record in records if record["requestor_fid"] is not None}
    users: Mapping[int, Any] = social_refresh.users_by_fid(fids) if fids else {}
    for record in records:
        record["related"]["user"] = users.get(record["requestor_fid"])


def add_details(record: Record) -> Record:
    """Return the record with its deployer, the deployer's verified address and links by name; unknown is null."""
    fid, wallet = record["requestor_fid"], record["requestor_address"] or record["msg_sender"]
    user: dict[str, Any] = social_refresh.users_by_fid([fid]).get(fid, {}) if fid is not None else {}
    verified = (address for address in user.get("verifiedAddresses", ()) if address.startswith("0x"))
    metadata = record["metadata"]
    return record | {
        "farcasterVerifiedEthAddress": next(verified, None),
        "deployer": {
            "fid": fid,
            "username": user.get("username"),
            "displayName": user.get("displayName"),
            "pfpUrl": user.get("pfpUrl"),
            "address": wallet,
            "tokensDeployed": Token.objects.deployed_with(record["id"], fid=fid, wallet=wallet).count(),
        },
        "twitterUrl": find_link(metadata, "x", "twitter"),
        "websiteUrl": find_link(metadata, "website", "web"),
        "farcasterUrl": find_link(metadata, "farcaster", "warpcast"),
        "telegramUrl": find_link(metadata, "telegram"),
    }
