"""What the body of a pretoken says: the keys that it has, with the rules of a deployment's body for their values."""

from dataclasses import dataclass
from typing import Any

from rest_framework.exceptions import ValidationError

from pretokens.models import MAX_KEYWORD
from tokens import deploy_config
from tokens.deploy_config import DeployOrder
from tokens.deploy_rules import fees, shares, texts, together, values
from tokens.deploy_rules.objects import FieldNames, Key, Problem, object_of, read_object
from tokens.metadata import farcaster_fid

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

_NO_METADATA = object_of(texts.METADATA)({})
_SETTINGS = {
    "name": Key(rule=texts.name),
    "symbol": Key(rule=texts.symbol),
    "image_url": Key(rule=texts.image, default=""),
    "description": Key(rule=texts.METADATA["description"].rule, default=None),
    "admins": Key(rule=shares.admins),
    "paired_token": Key(rule=together.paired_token, default=together.WRAPPED_NATIVE),
    "pool_config_type": Key(rule=deploy_config.preset, default="standard"),
    "starting_market_cap": Key(rule=values.market_cap, default=deploy_config.USUAL_MARKET_CAP),
    "fee_config_type": Key(rule=fees.kind, default=fees.STANDARD),
    "metadata": Key(rule=object_of(texts.METADATA), default=_NO_METADATA),
    "social_context": Key(rule=texts.context, default=texts.context({})),
}
_BODY = {
    "keyword": Key(rule=values.text(least=1, most=MAX_KEYWORD)),
    "chain_id": Key(rule=deploy_config.chain_id),
    "token_settings": Key(rule=object_of(_SETTINGS)),
    "vault_settings": Key(rule=shares.vault, default=None),
    "airdrop": Key(rule=shares.airdrop, default=None),
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
    order = deploy_config.order_of(_parts(taken, problems, request_key), problems, names=NAMES)
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
