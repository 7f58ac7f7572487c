"""Parsing of a pretoken's body: its own field names, with the rules of a launch request for the values."""

from dataclasses import dataclass
from typing import Any

from config import json_rules
from config.json_rules import FieldNames, FieldRule, Problem, object_of, parse_object
from pretokens.models import MAX_KEYWORD
from tokens.deploying import launch_request
from tokens.deploying.launch_request import LaunchRequest, LaunchRequestError
from tokens.deploying.rules import cross_field, pool_fee_rules, scalars, supply_shares, token_texts
from tokens.indexing.metadata import farcaster_fid

# Field of a launch request -> field of a pretoken's body.
FIELD_NAMES: FieldNames = {
    "token": "token_settings",
    "pool.pairedToken": "token_settings.paired_token",
    "pool.initialMarketCap": "token_settings.starting_market_cap",
    "fees.type": "token_settings.fee_config_type",
    "vault": "vault_settings",
    "vault.percentage": "vault_settings.percentage",
    "chainId": "chain_id",
}

_NO_METADATA = object_of(token_texts.METADATA)({})
_SETTINGS = {
    "name": FieldRule(rule=token_texts.name),
    "symbol": FieldRule(rule=token_texts.symbol),
    "image_url": FieldRule(rule=token_texts.image, default=""),
    "description": FieldRule(rule=token_texts.METADATA["description"].rule, default=None),
    "admins": FieldRule(rule=supply_shares.admins),
    "paired_token": FieldRule(rule=cross_field.paired_token, default=cross_field.WRAPPED_NATIVE),
    "pool_config_type": FieldRule(rule=launch_request.preset_rule, default="standard"),
    "starting_market_cap": FieldRule(rule=scalars.market_cap, default=launch_request.DEFAULT_MARKET_CAP),
    "fee_config_type": FieldRule(rule=pool_fee_rules.fees_of_type, default=pool_fee_rules.STANDARD),
    "metadata": FieldRule(rule=object_of(token_texts.METADATA), default=_NO_METADATA),
    "social_context": FieldRule(rule=token_texts.context, default=token_texts.context({})),
}
_BODY = {
    "keyword": FieldRule(rule=json_rules.text(least=1, most=MAX_KEYWORD)),
    "chain_id": FieldRule(rule=launch_request.chain_id_rule),
    "token_settings": FieldRule(rule=object_of(_SETTINGS)),
    "vault_settings": FieldRule(rule=supply_shares.vault, default=None),
    "airdrop": FieldRule(rule=supply_shares.airdrop, default=None),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class PretokenBody:
    """A valid body."""

    keyword: str
    launch_request: LaunchRequest


def parse_pretoken(body: Any, *, request_key: str) -> PretokenBody:
    """Parse a JSON body into a launch request under this key. Raises LaunchRequestError.

    The token's admin is the first of `admins`; all of them are reward recipients.
    """
    values, problems = parse_object(body, _BODY)
    launch = launch_request.combine_parts(_parts(values, problems, request_key), problems, names=FIELD_NAMES)
    return PretokenBody(keyword=values["keyword"], launch_request=launch)


def check_requestor(parsed: PretokenBody, *, fid: int | None) -> None:
    """Raise LaunchRequestError if the context names another FID than the user's verified one.

    A launched token is listed under the FID that the context names as its requestor.
    """
    if farcaster_fid(parsed.launch_request.context) not in (None, fid):
        at = "token_settings.social_context.id"
        raise LaunchRequestError([(at, "must be your own FID where the platform is Farcaster")])


def normalize_keyword(keyword: str) -> str:
    """Return the form in which two keywords are compared: without case and surrounding blanks."""
    return keyword.strip().casefold()


def without_nulls(value: Any) -> Any:
    """Return JSON without null keys, which count as absent."""
    if isinstance(value, dict):
        return {name: without_nulls(item) for name, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def _parts(values: dict[str, Any], problems: list[Problem], request_key: str) -> dict[str, Any]:
    """Return the parts of a launch request that the valid fields give; those with invalid fields are absent."""
    parts: dict[str, Any] = {"dryRun": False, "presale": None, "devBuy": None}
    names = {"chain_id": "chainId", "vault_settings": "vault", "airdrop": "airdrop"}
    parts |= {part: values[name] for name, part in names.items() if name in values}
    settings = values.get("token_settings")
    if settings is None:
        return parts
    metadata, description = settings["metadata"], settings["description"]
    # Forms send an empty string for no description.
    if not description:
        description = metadata["description"] or description
    elif metadata["description"] not in (None, "", description):
        at = "token_settings.metadata.description"
        problems.append((at, "must be the same as token_settings.description where both are given"))
    token = {
        "name": settings["name"],
        "symbol": settings["symbol"],
        "tokenAdmin": settings["admins"][0].admin,
        "image": settings["image_url"],
        **metadata,
        "description": description,
        "requestKey": request_key,
    }
    pool = {
        "type": settings["pool_config_type"],
        "pairedToken": settings["paired_token"],
        "initialMarketCap": settings["starting_market_cap"],
    }
    return parts | {
        "token": token,
        "rewards": settings["admins"],
        "pool": pool,
        "fees": settings["fee_config_type"],
        "context": settings["social_context"],
    }
