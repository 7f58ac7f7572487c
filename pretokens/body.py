"""What the body of a pretoken says: the keys that it has, with the rules of a deployment's body for their values."""

from dataclasses import dataclass
from typing import Any

from rest_framework.exceptions import ValidationError

from config.json_rules import FieldNames, Key, Problem, object_of, read_object
from pretokens.models import MAX_KEYWORD
from tokens.deploying import launch_request
from tokens.deploying.launch_request import DeployOrder
from tokens.deploying.rules import cross_field, pool_fee_rules, scalars, supply_shares, token_texts
from tokens.indexing.metadata import farcaster_fid

# Where a pretoken has what a deployment's body has elsewhere.
NAMES: FieldNames = {
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
    "name": Key(rule=token_texts.name),
    "symbol": Key(rule=token_texts.symbol),
    "image_url": Key(rule=token_texts.image, default=""),
    "description": Key(rule=token_texts.METADATA["description"].rule, default=None),
    "admins": Key(rule=supply_shares.admins),
    "paired_token": Key(rule=cross_field.paired_token, default=cross_field.WRAPPED_NATIVE),
    "pool_config_type": Key(rule=launch_request.preset, default="standard"),
    "starting_market_cap": Key(rule=scalars.market_cap, default=launch_request.USUAL_MARKET_CAP),
    "fee_config_type": Key(rule=pool_fee_rules.kind, default=pool_fee_rules.STANDARD),
    "metadata": Key(rule=object_of(token_texts.METADATA), default=_NO_METADATA),
    "social_context": Key(rule=token_texts.context, default=token_texts.context({})),
}
_BODY = {
    "keyword": Key(rule=scalars.text(least=1, most=MAX_KEYWORD)),
    "chain_id": Key(rule=launch_request.chain_id),
    "token_settings": Key(rule=object_of(_SETTINGS)),
    "vault_settings": Key(rule=supply_shares.vault, default=None),
    "airdrop": Key(rule=supply_shares.airdrop, default=None),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class PretokenBody:
    """A body that keeps every rule."""

    keyword: str
    order: DeployOrder


def read(body: Any, *, request_key: str) -> PretokenBody:
    """What a parsed JSON body says, as an order under this key. Raises ValidationError as `deploy_config.read` does.

    The token's admin is the first of `admins`, who all are its rewards' recipients.
    """
    taken, problems = read_object(body, _BODY)
    order = launch_request.order_of(_parts(taken, problems, request_key), problems, names=NAMES)
    return PretokenBody(keyword=taken["keyword"], order=order)


def refuse_foreign_requestor(read: PretokenBody, *, fid: int | None) -> None:
    """Raises ValidationError where the context names another FID than that of the user, whose token proves it.

    What is launched of it is listed as asked for by the FID that the context names.
    """
    if farcaster_fid(read.order.context) not in (None, fid):
        at = "token_settings.social_context.id"
        raise ValidationError({at: ["must be your own FID where the platform is Farcaster"]})


def keyword_key(keyword: str) -> str:
    """What two keywords have in common that people can't tell apart, or don't mean to be different."""
    return keyword.strip().casefold()


def without_nulls(value: Any) -> Any:
    """JSON without the keys that are null, which count as absent."""
    if isinstance(value, dict):
        return {name: without_nulls(item) for name, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def _parts(taken: dict[str, Any], problems: list[Problem], request_key: str) -> dict[str, Any]:
    """What was taken of a pretoken, as the parts of a deployment's body; those are absent that rest on what was not."""
    parts: dict[str, Any] = {"dryRun": False, "presale": None, "devBuy": None}
    names = {"chain_id": "chainId", "vault_settings": "vault", "airdrop": "airdrop"}
    parts |= {part: taken[name] for name, part in names.items() if name in taken}
    settings = taken.get("token_settings")
    if settings is None:
        return parts
    metadata, description = settings["metadata"], settings["description"]
    # Forms send an empty text for none.
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
