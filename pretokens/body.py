"""Pretoken body parsing: own field names, with the launch request's rules for the values."""

import hashlib
from dataclasses import dataclass, replace
from typing import Any

from config.parsing import json_rules
from config.parsing.json_rules import FieldNames, FieldRule, Problem, object_of, parse_object, refined
from config.parsing.unicode import visible_key
from pretokens.models import MAX_KEYWORD, MAX_KEYWORD_KEY
from tokens.deploying import launch_request
from tokens.deploying.launch_request import LaunchRequest, LaunchRequestError
from tokens.deploying.rules import cross_field, pool_fee_rules, scalars, supply_shares, token_texts
from tokens.indexing.metadata import farcaster_fid

# Launch request field -> pretoken body field.
FIELD_NAMES: FieldNames = {
    "token": "token_settings",
    "pool.pairedToken": "token_settings.paired_token",
    "pool.initialMarketCap": "token_settings.starting_market_cap",
    "fees.type": "token_settings.fee_config_type",
    "vault": "vault_settings",
    "vault.percentage": "vault_settings.percentage",
    "chainId": "chain_id",
}

_METADATA = object_of(
    token_texts.METADATA
    | {
        "description": replace(
            token_texts.METADATA["description"],
            description="The same as token_settings.description, if that is set.",
        )
    },
    name="PretokenMetadataShape",
    description="Metadata of the token, beside its name.",
)
# Each attribute is a LaunchConfig attribute.
_SETTINGS = {
    "name": FieldRule(rule=token_texts.name),
    "symbol": FieldRule(rule=token_texts.symbol),
    "image_url": FieldRule(rule=token_texts.image, attribute="image", default=""),
    "description": token_texts.METADATA["description"],
    "admins": FieldRule(rule=supply_shares.admins, attribute="rewards"),
    "paired_token": FieldRule(
        rule=cross_field.paired_token,
        default=cross_field.WRAPPED_NATIVE,
        description="An address, or WETH, which is the default.",
    ),
    "pool_config_type": FieldRule(
        rule=launch_request.preset_rule, attribute="preset", default="standard", description="Default: standard."
    ),
    "starting_market_cap": FieldRule(
        rule=scalars.market_cap,
        attribute="market_cap",
        default=launch_request.DEFAULT_MARKET_CAP,
        unit=1,
        description="In whole units of the paired token, above 0; default 10.",
    ),
    "fee_config_type": FieldRule(
        rule=pool_fee_rules.fees_of_type,
        attribute="fees",
        default=pool_fee_rules.STANDARD,
        description="Fees of a deployment with this type and no other fee fields. Default: static, 1 percent each.",
    ),
    "metadata": FieldRule(rule=_METADATA, default=_METADATA({})),
    "social_context": FieldRule(rule=token_texts.context, attribute="context", default=token_texts.context({})),
}


@refined(json_rules.text(least=1, most=MAX_KEYWORD))
def _keyword(parsed: str) -> str:
    if not visible_key(parsed):
        raise ValueError("must not be blank")
    return parsed


PRETOKEN_BODY = object_of(
    {
        "keyword": FieldRule(rule=_keyword, description="Unique among your pending pretokens, ignoring case."),
        "chain_id": FieldRule(rule=launch_request.chain_id_rule, description="Chain id."),
        "token_settings": FieldRule(
            rule=object_of(
                _SETTINGS,
                name="TokenSettingsShape",
                description="The token to launch. The first of the admins is the token's admin; all of them share the "
                "fees.",
            )
        ),
        "vault_settings": FieldRule(
            rule=supply_shares.vault, attribute="vault", default=None, description="Same as a deployment's vault."
        ),
        "airdrop": FieldRule(rule=supply_shares.airdrop, default=None, description="Same as a deployment's airdrop."),
    },
    name="PretokenShape",
    description="A token configuration stored under a keyword, with the rules for deployments.",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class PretokenBody:
    """A valid body."""

    keyword: str
    launch_request: LaunchRequest


def parse_pretoken(body: Any, *, request_key: str) -> PretokenBody:
    """Parse a JSON body into a launch request under this key. Raises LaunchRequestError.

    The first entry in `admins` is the token's admin; all entries are reward recipients.
    """
    values, problems = parse_object(body, PRETOKEN_BODY.keys)
    settings = values.pop("token_settings", None)
    if settings is not None:
        values |= settings | _metadata(settings, problems) | {"admin": settings["rewards"][0].admin}
    values |= {"presale": None, "own_buy": None, "request_key": request_key, "dry_run": False}
    launch = launch_request.combine_values(values, problems, names=FIELD_NAMES)
    return PretokenBody(keyword=values["keyword"], launch_request=launch)


def check_requestor(parsed: PretokenBody, *, fid: int | None) -> None:
    """Raise LaunchRequestError if the context names another FID than the user's verified one.

    A launched token is listed under its requestor's FID, which the context names.
    """
    if farcaster_fid(parsed.launch_request.config.context) not in (None, fid):
        path = "token_settings.social_context.id"
        raise LaunchRequestError([(path, "must be your own FID where the platform is Farcaster")])


def normalize_keyword(keyword: str) -> str:
    """Return a keyword's comparison key: `visible_key`, or its digest if the key is too long.

    One keyword character may become eighteen.
    """
    key = visible_key(keyword)
    return key if len(key) <= MAX_KEYWORD_KEY else hashlib.sha256(key.encode()).hexdigest()


def without_nulls(value: Any) -> Any:
    """Return JSON without null keys, which count as absent."""
    if isinstance(value, dict):
        return {name: without_nulls(item) for name, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def _metadata(settings: dict[str, Any], problems: list[Problem]) -> dict[str, Any]:
    """Return the metadata with the one description; two different ones are a problem."""
    metadata, description = settings["metadata"], settings["description"]
    # Forms send an empty string for no description.
    if not description:
        description = metadata["description"] or description
    elif metadata["description"] not in (None, "", description):
        path = "token_settings.metadata.description"
        problems.append((path, "must be the same as token_settings.description where both are given"))
    return {**metadata, "description": description}
