"""JSON Schemas (2020-12) for the token record's JSON objects, for the OpenAPI description."""

from typing import Any

Shape = dict[str, Any]


def _object(**properties: Shape) -> Shape:
    return {"type": "object", "required": list(properties), "properties": properties}


def _list(items: Shape) -> Shape:
    return {"type": "array", "items": items}


def _or_null(shape: Shape) -> Shape:
    return {"oneOf": [shape, {"type": "null"}]}


def _value(kind: str, description: str = "") -> Shape:
    shape: Shape = {"type": kind}
    return shape | ({"description": description} if description else {})


def _maybe(kind: str, description: str = "") -> Shape:
    return _value(kind, description) | {"type": [kind, "null"]}


_WEI = _value("string", "Wei, in decimal digits.")
_TIME = _value("string") | {"format": "date-time"}

_LOCKUP = _object(
    startedAt=_TIME | {"type": ["string", "null"]},
    lockDuration=_value("integer", "Seconds, at most 2^53 - 1."),
    vestDuration=_value("integer", "Seconds after the lock, at most 2^53 - 1."),
)

METADATA = _object(
    auditUrls=_list(_value("string", "An http, https or ipfs URL.")),
    description=_maybe("string"),
    socialMediaUrls=_list(_object(platform=_value("string"), url=_value("string"))),
)

SOCIAL_CONTEXT = _object(
    interface=_maybe("string"),
    platform=_maybe("string"),
    messageId=_maybe("string"),
    id=_maybe("string"),
) | {
    "additionalProperties": True,
    "description": "As written by the launcher, not verified; further keys are passed through.",
}

DEPLOY_CONFIG = _object(
    devBuyAmount=_maybe("string", "Wei of the native coin; 0 without a purchase."),
    lockupPercentage=_maybe("number", "Percent of the supply in the vault."),
    vestingUnlockDate=_TIME | {"type": ["string", "null"], "description": "When the vault's lock ends."},
)

POOL_CONFIG = _object(
    pairedToken=_maybe("string"),
    tickIfToken0IsNewToken=_maybe("integer", "Starting tick if the launched token were token0."),
    tickSpacing=_maybe("integer"),
    hook=_maybe("string"),
)

_FEES = _object(
    type=_value("string") | {"enum": ["static", "dynamic"]},
    clankerFee=_maybe("number", "Bps."),
    pairedFee=_maybe("number", "Bps."),
    baseFee=_maybe("number", "Bps."),
    maxFee=_maybe("number", "Bps."),
    hook_address=_maybe("string"),
    recipients=_list(
        _object(
            admin=_value("string"),
            recipient=_value("string"),
            bps=_value("integer"),
            token=_value("string") | {"enum": ["Both", "Paired", "Clanker"]},
        )
    ),
)

EXTENSIONS = _object(
    fees=_or_null(_FEES),
    vault=_or_null(_object(amount=_WEI, lockup=_LOCKUP)),
    airdrop=_or_null(_object(amount=_WEI, merkleRoot=_value("string"), admin=_maybe("string"), lockup=_LOCKUP)),
    devBuy=_or_null(_object(amount=_WEI, amountEth=_maybe("string", "Wei."), recipient=_maybe("string"))),
    sniperTax=_or_null(
        _object(
            startingFee=_value("integer", "Parts per million."),
            endingFee=_value("integer", "Parts per million."),
            secondsToDecay=_value("integer"),
        )
    ),
    positions=_or_null(
        _list(_object(tickLower=_value("integer"), tickUpper=_value("integer"), positionBps=_value("integer")))
    ),
)
