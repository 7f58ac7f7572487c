"""Token records for all responses, built from the columns that `record_fields.py` lists.

Serializer classes would take more time per page than the database does.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from django.core.exceptions import EmptyResultSet

from accounts.profiles import social_refresh
from config.parsing.timestamps import format_timestamp
from config.postgresql.compiled_queries import CompiledQuery
from tokens.catalogue.record_fields import MAYBE_TEXT, RECORD_FIELDS
from tokens.catalogue.responses import CombinedFields, DetailFields, RelatedMarket, TokenDetail, TokenRecord
from tokens.catalogue.token_trust import TrustFacts, describe_trust
from tokens.indexing.metadata import find_link, social_links, web_link, with_web_links
from tokens.installation.installed_launchpads import launchpad_of
from tokens.models import Token
from tokens.models.token import TokenQuerySet, all_warnings

# Columns for fields that combine several columns; a page reads them after the columns in RECORD_FIELDS.
_STATE_COLUMNS = (
    "champagne",
    "verified",
    "verified_on_chain",
    "known_interface_deployer",
    "blocked",
    "confirmed",
    "launch_warnings",
    "possible_copy",
    "has_unsupported_price",
    "user_verified",
)
TOKEN_COLUMNS = (*(field.column for field in RECORD_FIELDS), *_STATE_COLUMNS)
_NAMES = tuple(field.name for field in RECORD_FIELDS)
# Copying all keys takes less time than adding them one by one.
_EMPTY_RECORD: TokenRecord = dict.fromkeys((*_NAMES, *CombinedFields.__annotations__))
_GENERATION, _METADATA, _CONTEXT = map(TOKEN_COLUMNS.index, ("generation", "metadata", "social_context"))
_MAYBE_TEXTS = tuple(field.name for field in RECORD_FIELDS if field.kind is MAYBE_TEXT)
_CONVERSIONS = tuple((field.name, field.kind.convert) for field in RECORD_FIELDS if field.kind.convert)
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
    """Optional token record parts."""

    market: bool = False
    user: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns to read, in the sequence that `build_records` expects."""
        return TOKEN_COLUMNS + (MARKET_COLUMNS if self.market else ())


NO_EXTRAS = Extras()


def read_records(tokens: TokenQuerySet, extras: Extras = NO_EXTRAS) -> list[TokenRecord]:
    """Return the tokens' records, in the queryset's sort: one query, and one more for users if requested."""
    try:
        statement = CompiledQuery.of(tokens.with_record_facts().values_list(*extras.columns))
    except EmptyResultSet:
        # The ORM raises this for a filter by an empty list.
        return []
    return build_records(statement.fetch(), extras)


def build_records(rows: Sequence[tuple[Any, ...]], extras: Extras = NO_EXTRAS) -> list[TokenRecord]:
    """Build records from rows whose first columns are `extras.columns`."""
    records = [_build_token(row) for row in rows]
    if extras.market:
        for record, row in zip(records, rows, strict=True):
            _add_market(record, row[len(TOKEN_COLUMNS) :])
    if extras.user:
        _add_users(records)
    return records


def _build_token(row: Sequence[Any]) -> TokenRecord:
    record = _EMPTY_RECORD.copy()
    record.update(zip(_NAMES, row, strict=False))
    for name in _MAYBE_TEXTS:
        record[name] = record[name] or None
    for name, convert in _CONVERSIONS:
        record[name] = convert(record[name])
    champagne, verified, verified_on_chain, known_deployer, blocked, confirmed, launch_warnings, *facts = row[
        len(_NAMES) : len(TOKEN_COLUMNS)
    ]
    possible_copy, has_unsupported_price, user_verified = facts
    launchpad = launchpad_of(row[_GENERATION])
    record["img_url"] = web_link(record["img_url"])
    stored = orjson.loads(row[_METADATA])
    metadata = with_web_links(stored)
    if metadata is not stored:
        record["metadata"] = metadata
    warnings = all_warnings(launch_warnings, possible_copy, has_unsupported_price)
    combined: CombinedFields = {
        "launchpad": launchpad.name,
        "launchpadTitle": launchpad.title,
        "socialLinks": social_links(stored),
        "tags": {
            "champagne": champagne,
            "verified": verified or verified_on_chain,
            "knownInterfaceDeployer": known_deployer,
            "blocked": blocked,
        },
        "warnings": warnings,
        "trust": describe_trust(
            TrustFacts(
                is_operator_verified=verified,
                is_admin_verified=verified_on_chain,
                is_deployer_known=known_deployer,
                is_user_verified=user_verified,
                is_final=confirmed,
                is_blocked=blocked,
                names_interface=bool(orjson.loads(row[_CONTEXT]).get("interface")),
                names_user=record["requestor_fid"] is not None,
                warnings=warnings,
            )
        ),
        "priceUsd": None,
        "related": {},
    }
    record.update(combined)
    return record


def _add_market(record: TokenRecord, columns: Iterable[Any]) -> None:
    market_cap, price, volume, liquidity, tx_count, change_1h, change_6h, change_24h, updated_at, *_ = columns
    market: RelatedMarket | None = None
    if updated_at:
        market = {
            "marketCap": market_cap,
            "priceUsd": price,
            # Legacy name for the same number.
            "price": price,
            "volume24h": volume,
            "liquidityUsd": liquidity,
            "txCount24h": tx_count,
            "priceChangePercent1h": change_1h,
            "priceChangePercent6h": change_6h,
            "priceChangePercent24h": change_24h,
            "marketDataUpdatedAt": format_timestamp(updated_at),
        }
    record["priceUsd"], record["related"]["market"] = price, market


def _add_users(records: Sequence[TokenRecord]) -> None:
    fids = {record["requestor_fid"] for record in records if record["requestor_fid"] is not None}
    users: Mapping[int, Any] = social_refresh.users_by_fid(fids) if fids else {}
    for record in records:
        record["related"]["user"] = users.get(record["requestor_fid"])


def add_details(record: TokenRecord) -> TokenDetail:
    """Return the record with its deployer, the deployer's verified address and links by name; unknown is null."""
    fid, wallet = record["requestor_fid"], record["requestor_address"] or record["msg_sender"]
    user: Mapping[str, Any] = social_refresh.users_by_fid([fid]).get(fid, {}) if fid is not None else {}
    verified = (address for address in user.get("verifiedAddresses", ()) if address.startswith("0x"))
    links = record["socialLinks"]
    details: DetailFields = {
        "farcasterVerifiedEthAddress": next(verified, None),
        "deployer": {
            "fid": fid,
            "username": user.get("username"),
            "displayName": user.get("displayName"),
            "pfpUrl": user.get("pfpUrl"),
            "address": wallet,
            "tokensDeployed": Token.objects.deployed_with(record["id"], fid=fid, wallet=wallet).count(),
        },
        "twitterUrl": find_link(links, "x", "twitter"),
        "websiteUrl": find_link(links, "website", "web"),
        "farcasterUrl": find_link(links, "farcaster", "warpcast"),
        "telegramUrl": find_link(links, "telegram"),
    }
    return record | details
